//! A lock of the caller's that either is taken, or ends the process.
//!
//! Whoever takes a lock in the middle of a free or a move has changed a part of what the other locks guard. If the lock unwound
//! there, the rest would never be changed, and later calls would give one page-block to two objects. A lock may unwind, it is the
//! caller's; so the heap does not let it.

use lock_api::RawMutex;

/// The lock, as it lies in the region.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct Sure<R>(R);

/// Panics when it is dropped: while something unwinds, that ends the process.
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

/// Calls what must not unwind.
#[inline]
fn surely<T>(call: impl FnOnce() -> T) -> T {
    let unwinding = Unwinding;
    let result = call();
    core::mem::forget(unwinding);
    result
}

// SAFETY: the lock is the caller's, which excludes as its implementation promises; nothing is added but an end.
unsafe impl<R: RawMutex> RawMutex for Sure<R> {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "the trait asks for it"
    )]
    const INIT: Self = Self(R::INIT);
    type GuardMarker = R::GuardMarker;

    #[inline]
    fn lock(&self) {
        surely(|| self.0.lock());
    }

    #[inline]
    fn try_lock(&self) -> bool {
        surely(|| self.0.try_lock())
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        surely(|| unsafe { self.0.unlock() });
    }
}
