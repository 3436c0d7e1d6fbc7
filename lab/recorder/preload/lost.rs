//! The page on which a process says that it has no log, for one that can say it nowhere else: see
//! [`crate::log::lost`].

use core::ffi::CStr;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use surefit_interpose::system;

use crate::caller;
use crate::file::{self, File, PATH_BYTES};
use crate::log::lost::{BYTES, Entry, FILE, NAME_BYTES, Page};
use crate::text::Text;

/// Forked children have the mapping too. Null in a process that nobody records.
static PAGE: AtomicPtr<Page> = AtomicPtr::new(null_mut());

/// Maps the page, unless it is. `path` is a place for its name.
pub(crate) fn map(path: &mut Text<PATH_BYTES>, folder: &CStr) {
    if !is_mapped() {
        if let Some(page) = try_map(path, folder) {
            PAGE.store(page, Ordering::Release);
        }
    }
}

fn try_map(path: &mut Text<PATH_BYTES>, folder: &CStr) -> Option<*mut Page> {
    file::name(path, folder, FILE.as_bytes())?;
    let at = File::open(path).ok()?.map_for_all(BYTES as u64)?;
    Some(at.cast())
}

/// Whether this process, or one that it was copied from, began a log or tried to.
pub(crate) fn is_mapped() -> bool {
    !PAGE.load(Ordering::Acquire).is_null()
}

/// Says that this process has no log, and why.
pub(crate) fn note(error: u32) {
    // SAFETY: null, or a mapping of a file of so many bytes, which stays.
    let Some(page) = (unsafe { PAGE.load(Ordering::Acquire).as_ref() }) else {
        return;
    };
    let taken = page.taken.fetch_add(1, Ordering::Relaxed);
    if let Some(entry) = page.entries.get(taken as usize) {
        write(entry, error);
    }
}

fn write(entry: &Entry, error: u32) {
    // SAFETY: it asks for a number.
    let pid = unsafe { system::getpid() }.unsigned_abs();
    entry.pid.store(pid, Ordering::Relaxed);
    entry.error.store(error, Ordering::Relaxed);
    // The last part of it is of more use.
    let name = caller::called();
    let name = &name[name.len().saturating_sub(NAME_BYTES)..];
    for (to, byte) in entry.name.iter().zip(name) {
        to.store(*byte, Ordering::Relaxed);
    }
    entry.is_written.store(1, Ordering::Release);
}
