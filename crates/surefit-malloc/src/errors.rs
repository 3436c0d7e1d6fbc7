//! Where statistics go if no file is named: standard error, also after the program closed it.
//!
//! GNU's programs close it before they end, to see whether all was written; this library's turn comes later.

use core::ffi::c_int;
use core::sync::atomic::{AtomicI32, Ordering};

use surefit_interpose::system;

use crate::os::keeping_errno;
use crate::text::Descriptor;

/// A copy of standard error, or -1.
static COPY: AtomicI32 = AtomicI32::new(-1);
/// The least number of the copy: a program that closes all files and opens others does not get it for one of them.
const LEAST: c_int = 1000;

/// Copies standard error, if there is one.
pub(crate) fn keep() {
    let (errors, what) = (Descriptor::ERRORS.0, system::F_DUPFD_CLOEXEC);
    // SAFETY: it answers a new descriptor, or -1.
    let copy = keeping_errno(|| unsafe { system::fcntl(errors, what, LEAST) });
    COPY.store(copy, Ordering::Relaxed);
}

/// Standard error, or its copy if the program closed it.
pub(crate) fn kept() -> Descriptor {
    // SAFETY: it answers flags, or -1.
    let flags = unsafe { system::fcntl(Descriptor::ERRORS.0, system::F_GETFD) };
    match flags {
        0.. => Descriptor::ERRORS,
        _ => Descriptor(COPY.load(Ordering::Relaxed)),
    }
}
