//! Claims and counters for targets that only load and store: no instruction there reads and changes
//! a word in one step.
//!
//! Cores like Cortex-M0 and RV32IMC have neither compare-and-exchange nor an atomic swap. A flag
//! that is loaded and then stored lets two callers in if an interrupt comes between the load and
//! the store. A *splitter* keeps at most one caller, whoever interrupts whom, on any number of
//! cores. The price: if callers meet in it, it may keep none of them.
//!
//! ```text
//! enter   closed?              ─▶ yes: not kept
//!         last ← me            me: the address of a local variable, so no two calls in progress have the same
//!         closed?              ─▶ yes: not kept
//!         closed ← yes
//!         last = me?           ─▶ no: not kept; the splitter stays closed
//! leave   closed ← no          by the caller that was kept, or never
//! ```
//!
//! # Invariants
//! - D1 Of the callers of a splitter that nobody leaves, at most one is kept. Proof: let p and q
//!   both be kept. Each finds its own name in `last` at the end, and each has written `last` once.
//!   So one of them, say q, wrote its name after p had read its own. By then p had closed the
//!   splitter. So q, which looks at `closed` after writing `last`, was not kept: a contradiction.
//!   Callers that share a `last` with other splitters only overwrite each other's names.
//! - D2 In a splitter that is left, at most one kept caller at a time is between closing it and
//!   leaving. Proof: as for D1 if nobody opened the splitter between p's closing and q's look.
//!   Otherwise, whoever opened it was kept, had closed it before, and leaves only now. So it was
//!   there together with p, and that meeting began before the one of p and q. But the first such
//!   meeting has no earlier one.
//! - D3 A caller is kept if it meets nobody in an open splitter, nor in one with the same `last`.
//!   If one of two callers interrupts the other and finishes first, in a splitter that nobody
//!   leaves, exactly one of them is kept.
//!
//! Every step is a load or a store of a whole word. All cores see these steps in one order, which
//! keeps the order of each program. So a property of every interleaving holds on the machine.
//!
//! # Drawbacks
//! All threads or cores that meet may be turned away, and callers that meet may leave the splitter
//! closed for ever. This is acceptable here: a region is claimed once, and heaps are made one after
//! another. The feature `portable-atomic` has neither drawback.
//!
//! # Source
//! L. Lamport: "A Fast Mutual Exclusion Algorithm" (1987), its entry without contention; M. Moir,
//! J. Anderson: "Wait-Free Algorithms for Fast, Long-Lived Renaming" (1995), which calls this entry
//! a splitter.

mod entry;
#[cfg(test)]
mod models;
#[cfg_attr(
    test,
    allow(dead_code, reason = "the tests have registers of their own")
)]
mod registers;
#[cfg(test)]
mod tests;

#[cfg(not(any(target_has_atomic = "32", feature = "portable-atomic")))]
pub(crate) use registers::{Counter, claim};
