//! The program's function that is called when the heap rises above the soft limit.

use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, Ordering};

/// A function of the program, and what it is called with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Callback {
    pub(crate) function: extern "C" fn(*mut c_void),
    pub(crate) argument: *mut c_void,
}

/// The current callback; null for none. Its predecessors are never freed: another thread may be
/// reading one.
static CALLBACK: AtomicPtr<Callback> = AtomicPtr::new(null_mut());

/// Makes this the current callback.
///
/// # Safety
/// It points to a callback that lives as long as the process.
pub(crate) unsafe fn set(callback: NonNull<Callback>) {
    CALLBACK.store(callback.as_ptr(), Ordering::Release);
}

/// Removes the callback.
pub(crate) fn unset() {
    CALLBACK.store(null_mut(), Ordering::Release);
}

/// Calls it. The caller holds no lock and has changed nothing halfway.
pub(crate) fn call() {
    // SAFETY: `set`'s caller.
    if let Some(callback) = unsafe { CALLBACK.load(Ordering::Acquire).as_ref() } {
        (callback.function)(callback.argument);
    }
}
