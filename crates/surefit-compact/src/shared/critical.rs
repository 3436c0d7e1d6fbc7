//! A lock for bare metal: the `critical-section` crate's critical section as a [`lock_api::RawMutex`].
//!
//! ```text
//! lock      acquire ─▶ is this lock held? ─▶ no: the first lock held keeps what to restore; later ones count
//! unlock    the last lock held restores what the first one found
//! ```
//! Whoever holds a critical section excludes every interrupt handler and core that could take a lock, so locks never
//! wait: a heap with these locks may be used in interrupt handlers. What is excluded is excluded for one section of
//! the heap: min(β, ι) copied bytes and a constant.
//!
//! # Invariants
//! - K1 `held` and [`NESTING`] are touched only inside a critical section.
//! - K2 While locks are held, the critical section that the first of them acquired has not been released. In whatever order
//!   they are unlocked, the last unlock releases it.
//!
//! # Source
//! The `critical-section` crate says what acquire and release ask for: pairs, nested, on one thread. Guards of these locks
//! are not `Send`, so K2 gives that.

use core::cell::{Cell, UnsafeCell};
use core::fmt;

use critical_section::RestoreState;
use lock_api::{GuardNoSend, RawMutex};

/// A lock that is a critical section: for heaps on microcontrollers.
///
/// The program provides the critical section itself, as the `critical-section` crate says. Do not take a guard of such a
/// lock out of a `critical_section::with` that it was made in: interrupts would be on while it is held, and whoever
/// takes the same lock then panics.
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

// SAFETY: K1: the cell is touched only inside a critical section, which excludes all other threads.
unsafe impl Sync for CriticalSection {}

/// Locks that are held, and what the critical section of the first restores.
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
    /// Takes the lock unless it is held; in either case no critical section is left without a lock.
    fn acquire(&self) -> bool {
        // SAFETY: released below, or, if this is the first lock held, by the last unlock on this thread (K2).
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

// SAFETY: `held` is looked at and set in one critical section, so nobody has a lock that somebody else has; what is done
// under a lock comes before the next acquire, which orders memory.
unsafe impl RawMutex for CriticalSection {
    const INIT: Self = Self {
        held: Cell::new(false),
    };

    type GuardMarker = GuardNoSend;

    /// # Panics
    /// If the lock is held: by this thread, for no other one runs.
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
            // SAFETY: K2: the first lock held acquired it on this thread, and nothing inside it is left.
            unsafe { critical_section::release(outer) };
        }
    }
}
