//! A lock for bare metal: the critical section of the `critical-section` crate as a
//! [`lock_api::RawMutex`].
//!
//! ```text
//! lock      acquire ─▶ is this lock held? ─▶ no: the first lock that is held keeps the state to
//!                                                restore; others only count
//! unlock    the last lock that is held restores the state that the first one found
//! ```
//! A critical section excludes every interrupt handler and every core that could take a lock. So
//! locks never wait, and interrupt handlers may use a heap with these locks. They are excluded for
//! one section of the heap: at most min(β, ι) copied bytes and a constant.
//!
//! # Invariants
//! - K1 `held` and [`NESTING`] are accessed only inside a critical section.
//! - K2 While locks are held, the critical section that the first of them acquired has not been
//!   released. Whatever the order of the unlocks, the last one releases it.
//!
//! # Source
//! The `critical-section` crate requires that acquires and releases are paired and nested, on one
//! thread. Guards of these locks are not `Send`, so K2 ensures that.

use core::cell::{Cell, UnsafeCell};
use core::fmt;

use critical_section::RestoreState;
use lock_api::{GuardNoSend, RawMutex};

/// A lock that is a critical section, for heaps on microcontrollers.
///
/// The program provides the critical section itself, as the `critical-section` crate describes. If
/// a guard of such a lock is created inside `critical_section::with`, do not move it out of that
/// call: interrupts would be enabled while the lock is held, and a caller that takes the same lock
/// then panics.
///
/// # Examples
/// ```
/// use surefit_compact::shared::{CriticalSection, PerHeap, SharedConfig, SharedHeap};
/// use surefit_compact::Config;
/// use surefit_core::{Page16K, Region};
///
/// static CONFIG: SharedConfig<PerHeap> = SharedConfig::new(Config::DEFAULT);
/// static MEMORY: Region<{ 1 << 18 }, Page16K> = Region::new();
///
/// let heap: SharedHeap<CriticalSection, PerHeap> =
///     SharedHeap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
/// let main = heap.register()?;
/// let interrupt = heap.register()?; // for a handler
/// let sample = interrupt.insert(400_u16)?;
/// assert_eq!(main.remove(sample)?, 400);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CriticalSection {
    held: Cell<bool>,
}

impl fmt::Debug for CriticalSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CriticalSection")
    }
}

// SAFETY: K1: the cell is accessed only inside a critical section, which excludes all other
// threads.
unsafe impl Sync for CriticalSection {}

/// The number of locks that are held, and the state that the critical section of the first one
/// restores.
struct Nesting {
    locks: Cell<u32>,
    outer: UnsafeCell<RestoreState>,
}

// SAFETY: K1, as above.
unsafe impl Sync for Nesting {}

static NESTING: Nesting = Nesting {
    locks: Cell::new(0),
    outer: UnsafeCell::new(RestoreState::invalid()),
};

impl CriticalSection {
    /// Takes the lock unless it is held. When it returns, a critical section is held only if a lock
    /// is.
    fn acquire(&self) -> bool {
        // SAFETY: released below, or, if this is the first lock held, by the last unlock on this
        // thread (K2).
        let restore = unsafe { critical_section::acquire() };
        let free = !self.held.replace(true);
        if free {
            let locks = NESTING.locks.get();
            NESTING.locks.set(locks + 1);
            if locks == 0 {
                // SAFETY: K1.
                unsafe { *NESTING.outer.get() = restore };
                return true;
            }
        }
        // SAFETY: pairs with the acquire above, innermost.
        unsafe { critical_section::release(restore) };
        free
    }
}

// SAFETY: `held` is read and set in one critical section, so no two callers hold the lock at once.
// What a caller does under the lock happens before the next acquire, which orders memory.
unsafe impl RawMutex for CriticalSection {
    const INIT: Self = Self {
        held: Cell::new(false),
    };

    type GuardMarker = GuardNoSend;

    /// # Panics
    /// If the lock is held. Only this thread can hold it, because no other one runs.
    fn lock(&self) {
        assert!(
            self.acquire(),
            "a critical section that is held is entered again"
        );
    }

    fn try_lock(&self) -> bool {
        self.acquire()
    }

    unsafe fn unlock(&self) {
        // SAFETY: released below.
        let inner = unsafe { critical_section::acquire() };
        self.held.set(false);
        let locks = NESTING.locks.get() - 1;
        NESTING.locks.set(locks);
        // SAFETY: K1.
        let outer = unsafe { *NESTING.outer.get() };
        // SAFETY: pairs with the acquire above, innermost.
        unsafe { critical_section::release(inner) };
        if locks == 0 {
            // SAFETY: K2: the first lock that was held acquired it on this thread, and nothing
            // inside it is left.
            unsafe { critical_section::release(outer) };
        }
    }
}
