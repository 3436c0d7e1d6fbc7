//! The platform's unwinder, of libgcc: it knows every table, and takes about a tenth of a
//! microsecond a frame.

use core::ffi::{c_int, c_void};

use super::addresses::Addresses;
use crate::thread::unrecorded;

/// What the unwinder says of a frame.
enum Context {}

unsafe extern "C" {
    fn _Unwind_Backtrace(
        each: unsafe extern "C" fn(*mut Context, *mut c_void) -> c_int,
        argument: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut Context) -> usize;
}

/// Go on with the caller.
const NO_REASON: c_int = 0;
/// Do not.
const END_OF_STACK: c_int = 5;

/// The callers, at most so many.
pub(crate) fn found(most: usize) -> Addresses {
    let mut found = Addresses::new(most);
    // SAFETY: `step` takes what is given to it here; both live until the call returns.
    unrecorded(|| unsafe { _Unwind_Backtrace(step, (&raw mut found).cast()) });
    found
}

unsafe extern "C" fn step(context: *mut Context, found: *mut c_void) -> c_int {
    // SAFETY: what `found` gave.
    let found = unsafe { &mut *found.cast::<Addresses>() };
    // SAFETY: the unwinder's own.
    let address = unsafe { _Unwind_GetIP(context) };
    if address != 0 && found.push(address) {
        NO_REASON
    } else {
        END_OF_STACK
    }
}
