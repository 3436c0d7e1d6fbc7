//! The lock of a heap that one thread uses.

use core::cell::Cell;

use lock_api::{GuardNoSend, RawMutex};

/// A lock for heaps that one thread uses: a flag, which no other thread can see. A `static` cannot
/// hold it.
///
/// # Panics
/// Where others would wait for ever: if the heap is used inside
/// [`inspect`](crate::Locked::inspect), or by the function that makes it.
#[derive(Debug)]
pub struct OneThread {
    held: Cell<bool>,
}

// SAFETY: a `Cell` is not `Sync`, so one thread at a time can name the lock. The flag lets one of
// its callers in at a time.
unsafe impl RawMutex for OneThread {
    const INIT: Self = Self {
        held: Cell::new(false),
    };

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        assert!(
            self.try_lock(),
            "a heap of one thread is used inside a use of it"
        );
    }

    #[inline]
    fn try_lock(&self) -> bool {
        !self.held.replace(true)
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.held.set(false);
    }
}
