//! What is written when the process ends.

use core::ffi::CStr;

use surefit_interpose::system;

use crate::errors;
use crate::options::Statistics;
use crate::process::{heap_if_begun, options};
use crate::report::{Json, Lines};
use crate::text::{Descriptor, say, write};

/// Called at the end of the process, after the program's own functions. It is here, and not in the
/// library to preload, so that Rust programs with this allocator write too.
#[used]
#[unsafe(link_section = ".fini_array")]
static FINISH: extern "C" fn() = write_statistics;

/// Writes the statistics that SUREFIT_STATS asks for. Files are appended to, so that processes of
/// one program do not overwrite each other's.
extern "C" fn write_statistics() {
    let options = options();
    let to = match (options.statistics, options.file()) {
        (Statistics::None, _) => return,
        (_, None) => errors::kept(),
        (_, Some(name)) => match opened(name) {
            Some(file) => file,
            None => return say!("SUREFIT_STATS: the file cannot be opened"),
        },
    };
    if let Some(heap) = heap_if_begun() {
        let stats = heap.stats();
        // SAFETY: it answers a number.
        let process = unsafe { system::getpid() };
        match options.statistics {
            Statistics::Json => write(to, format_args!("{}", Json(&stats, process))),
            _ => write(to, format_args!("{}", Lines(&stats, process))),
        }
    }
    if options.file().is_some() {
        // SAFETY: opened above.
        unsafe { system::close(to.0) };
    }
}

fn opened(name: &CStr) -> Option<Descriptor> {
    let flags = system::O_WRONLY | system::O_CREAT | system::O_APPEND | system::O_CLOEXEC;
    // SAFETY: a name that ends with zero, and the mode that O_CREAT wants.
    let file = unsafe { system::open(name.as_ptr(), flags, 0o644) };
    (file >= 0).then_some(Descriptor(file))
}
