//! The caller's lock, made so that taking it either succeeds or ends the process.
//!
//! A thread that takes a lock in the middle of a free or a move has already changed a part of what
//! other locks guard. If the lock unwound there, the rest would never change, and later calls would
//! give one page-block to two objects. The lock is the caller's code, which may unwind; so this
//! wrapper prevents it.

use lock_api::RawMutex;

/// The lock, as it lies in the region.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct AbortOnUnwind<R>(R);

/// Panics when it is dropped. During an unwind that ends the process.
struct Unwinding;

impl Drop for Unwinding {
    #[cold]
    fn drop(&mut self) {
        // The permutation tester unwinds the threads of a failed schedule, wherever they wait.
        if cfg!(not(surefit_shuttle)) {
            panic!("a lock has unwound in the middle of a heap's work");
        }
    }
}

/// Calls a function that must not unwind.
#[inline]
fn abort_on_unwind<T>(call: impl FnOnce() -> T) -> T {
    let unwinding = Unwinding;
    let result = call();
    core::mem::forget(unwinding);
    result
}

// SAFETY: the lock is the caller's, which excludes as its implementation promises; this only adds
// an end of the process.
unsafe impl<R: RawMutex> RawMutex for AbortOnUnwind<R> {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "the trait asks for it"
    )]
    const INIT: Self = Self(R::INIT);
    type GuardMarker = R::GuardMarker;

    #[inline]
    fn lock(&self) {
        abort_on_unwind(|| self.0.lock());
    }

    #[inline]
    fn try_lock(&self) -> bool {
        abort_on_unwind(|| self.0.try_lock())
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        abort_on_unwind(|| unsafe { self.0.unlock() });
    }
}
