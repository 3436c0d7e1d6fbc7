//! What is written when the process ends.

use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, Ordering};

use surefit_interpose::system;

use crate::errors;
use crate::options::Statistics;
use crate::process::{heap_if_begun, options};
use crate::report::{Json, Lines};
use crate::text::{Descriptor, say, write};

/// Called at the end of the process, after the program's own functions. It is here, and not in the
/// library to preload, so that Rust programs with this allocator write too.
///
/// The C library calls each address of this section once, after the functions of `atexit` and in
/// the order in which what holds them depends on each other: the program first.
// SAFETY: the section holds addresses of functions without arguments or result, and this is one. It
// may run then: the heap is never taken down, and nothing here needs Rust's runtime.
#[used]
#[unsafe(link_section = ".fini_array")]
static FINISH: extern "C" fn() = write_statistics;

/// Writes the statistics that SUREFIT_STATS asks for. Files are appended to, so that processes of
/// one program do not overwrite each other's.
extern "C" fn write_statistics() {
    let options = options();
    let to = match (options.statistics, options.file()) {
        (Statistics::None, _) => return,
        _ if !is_first() => return,
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

/// Whether nobody wrote yet, in a process with the library to preload: a Rust program with this
/// allocator has a heap of its own there. The program ends first, and writes.
fn is_first() -> bool {
    // SAFETY: a name that ends with zero.
    let found = unsafe { system::dlsym(system::RTLD_DEFAULT, c"surefit_malloc_written".as_ptr()) };
    // SAFETY: null, or what the library exports by that name, which stays loaded.
    let written: Option<&AtomicBool> = unsafe { found.cast::<AtomicBool>().as_ref() };
    written.is_none_or(|written| !written.swap(true, Ordering::AcqRel))
}

fn opened(name: &CStr) -> Option<Descriptor> {
    let flags = system::O_WRONLY | system::O_CREAT | system::O_APPEND | system::O_CLOEXEC;
    // SAFETY: a name that ends with zero, and the mode that O_CREAT wants.
    let file = unsafe { system::open(name.as_ptr(), flags, 0o644) };
    (file >= 0).then_some(Descriptor(file))
}
