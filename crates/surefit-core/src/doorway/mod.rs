//! Claims and counters on targets that only load and store: no instruction there reads and changes a word in one step.
//!
//! Cores like Cortex-M0 and RV32IMC have neither compare-and-exchange nor an atomic swap, and a flag that is loaded, then
//! stored, lets two callers in: an interrupt between the load and the store does it. A *doorway* keeps at most one caller,
//! whoever interrupts whom, on however many cores. The price: if callers meet in it, it may keep none of them.
//!
//! ```text
//! enter   closed?              ─▶ yes: not kept
//!         last ← me            me: the address of a local variable, so no two calls in progress have the same
//!         closed?              ─▶ yes: not kept
//!         closed ← yes
//!         last = me?           ─▶ no: not kept; the doorway stays closed
//! leave   closed ← no          by the caller that was kept, or never
//! ```
//!
//! # Invariants
//! - D1 Of the callers of a doorway that nobody leaves, at most one is kept.
//!   Let p and q both be kept. Each finds its own name in `last` at the end, and each has written `last` once; so one of them, say
//!   q, wrote its name after p had read its own. By then p had closed the doorway. So q, which looks at `closed` after
//!   writing `last`, was not kept. Callers that share a `last` with other doorways only overwrite each other's names.
//! - D2 In a doorway that is left, of the callers that are kept at most one is between closing it and leaving.
//!   As for D1, if nobody opened it between p's closing and q's look. Whoever opened it then was kept, had closed it before and
//!   leaves only now: it was there together with p, and that began before p was there together with q. The first such meeting
//!   has no earlier one.
//! - D3 A caller that meets nobody in an open doorway, nor in one with the same `last`, is kept. Of two callers of one doorway
//!   that nobody leaves, of which one interrupts the other and comes to its end first, exactly one is kept.
//!
//! Every step is a load or a store of a whole word. All cores see them in one order that keeps the order of each program,
//! so what holds for every interleaving holds.
//!
//! # Drawbacks
//! Threads or cores that meet may all be turned away, and callers that meet may leave the doorway closed for ever. A region is
//! claimed once, and heaps are made one after another, so it is not worth more; the feature `portable-atomic` has neither
//! drawback.
//!
//! # Source
//! L. Lamport: "A Fast Mutual Exclusion Algorithm" (1987), its way in without contention; M. Moir, J. Anderson: "Wait-Free
//! Algorithms for Fast, Long-Lived Renaming" (1995), where the way in is called a splitter.

#[cfg(test)]
mod models;
#[cfg_attr(
    test,
    allow(dead_code, reason = "the tests have registers of their own")
)]
mod registers;
#[cfg(test)]
mod tests;

use core::hint::black_box;

#[cfg(not(any(target_has_atomic = "32", feature = "portable-atomic")))]
pub(crate) use registers::{Counter, claim};

/// A word that is loaded and stored as a whole, by whoever and at any time; accesses are seen by all in one order.
trait Register {
    fn load(&self) -> usize;
    fn store(&self, value: usize);
}

/// The registers of a doorway.
struct Doorway<'a, L, C> {
    last: &'a L,
    closed: &'a C,
}

impl<L: Register, C: Register> Doorway<'_, L, C> {
    /// Calls `kept` if this caller, named `me`, was kept.
    fn enter<T>(&self, me: usize, kept: impl FnOnce() -> T) -> Option<T> {
        if self.closed.load() != 0 {
            return None;
        }
        self.last.store(me);
        if self.closed.load() != 0 {
            return None;
        }
        self.closed.store(1);
        (self.last.load() == me).then(kept)
    }

    /// Opens the doorway again; only for a caller that was kept.
    fn leave(&self) {
        self.closed.store(0);
    }
}

/// Calls `f` with a number that no other call in progress has, and that is not zero.
fn named<T>(f: impl FnOnce(usize) -> T) -> T {
    let here = 0_u8;
    let result = f(core::ptr::from_ref(black_box(&here)).addr());
    // The variable, and with it its address, is this call's until here.
    black_box(&here);
    result
}

/// The number after `next`, which nobody else has: from one upwards.
fn count<L: Register, C: Register>(
    doorway: &Doorway<'_, L, C>,
    next: &impl Register,
    me: usize,
) -> Option<u32> {
    doorway.enter(me, || {
        let number = next.load().checked_add(1);
        if let Some(number) = number {
            next.store(number);
        }
        doorway.leave();
        number.and_then(|number| u32::try_from(number).ok())
    })?
}
