//! What the experiments with several threads have in common.
//!
//! ```text
//! load      what every thread does: a seeded script of allocations and frees
//! worker    one thread's way into a heap: 1-CF, n-CF, or a raw heap, its own or shared
//! lock      locks that count, and locks that time, in the place of the heap's
//! drive     the threads, from a common start to the last one's end
//! raw       loads on raw heaps
//! heaps     the configurations of the papers, each run with any of the locks
//! probe     one size-class driven to its worst, by one thread that plays all of them
//! figures   rounds, medians, exponents
//! ```
//! Throughput is timed with the bare lock; counts and latencies come from runs of their own, so
//! that neither disturbs the other. What is counted for each call does not depend on the number of
//! cores, except for contention.

pub(crate) mod drive;
pub(crate) mod figures;
pub(crate) mod heaps;
pub(crate) mod load;
pub(crate) mod lock;
pub(crate) mod probe;
mod raw;
pub(crate) mod worker;
