//! What happens when a program frees an address of no object.

use core::ptr::NonNull;

use surefit_direct::shared::Misuse;
use surefit_interpose::system;

use crate::process::options;
use crate::text::say;

/// Says what was found, in one line on standard error, and ends the process; or goes on, if
/// SUREFIT_MISUSE says so.
#[cold]
pub(crate) fn found(misuse: Misuse, object: NonNull<u8>) {
    let before = system::errno();
    // SAFETY: it answers this thread's number.
    let thread = unsafe { system::syscall(system::SYS_GETTID) };
    say!("misuse at {object:p} by thread {thread}: {misuse}");
    if !options().ignores_misuse {
        // SAFETY: it ends the process.
        unsafe { system::abort() };
    }
    system::set_errno(before);
}

/// Ends the process because of a defect of this library, with a line on standard error.
pub(crate) fn defect(why: &dyn core::fmt::Display) -> ! {
    say!("a defect: {why}");
    // SAFETY: it ends the process.
    unsafe { system::abort() }
}
