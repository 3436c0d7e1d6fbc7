//! Claims and counters for targets where the processor, or `portable-atomic`, reads and changes a
//! word in one step.

#[cfg(target_has_atomic = "32")]
use core::sync::atomic::{AtomicU8, AtomicU32};
#[cfg(not(target_has_atomic = "32"))]
use portable_atomic::{AtomicU8, AtomicU32};

use core::sync::atomic::Ordering;

/// Claims a byte that was zero at first; one caller gets true.
///
/// # Safety
/// S1: the byte is initialised, outlives the call, and only this function ever accesses it.
pub(crate) unsafe fn claim(byte: *mut u8) -> bool {
    // SAFETY: S1; a byte needs no alignment.
    let taken = unsafe { AtomicU8::from_ptr(byte) };
    taken.swap(1, Ordering::Acquire) == 0
}

/// Counts up from one; gives no number twice.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU32);

impl Counter {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(1))
    }

    pub(crate) fn next(&self) -> Option<u32> {
        let up = |number: u32| number.checked_add(1);
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, up)
            .ok()
    }
}
