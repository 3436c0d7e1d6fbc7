//! n-CF(∞, ∞) without abstract addresses: raw pointers, many threads, objects that never move.
//!
//! Each thread has an *instance*: pages of its own for each size-class. What it frees it allocates
//! again, whoever allocated it before: memory that a thread just used serves it again, without a
//! lock or an atomic read-modify-write. Its free lists have room for so much of it; more, and what
//! they hold when it leaves, goes back to the pages. What other threads free of an instance there
//! (*remote frees*) arrives in batches.
//!
//! ```text
//! allocate(bytes):
//!   free list of the class?         take its first page-block              (no page is looked at)
//!   else, of the instance           the current page's free page-blocks, or some never used
//!                                   some of what other threads freed, into free lists
//!                                   the first page that is not full
//!                                   all of what other threads freed
//!                                   what is free in a mixed page                           N1, N2
//!                                   a new page: a buffered unit, or the pool's             M1
//!                                   if there is none, the free lists are emptied, and again
//!                                   what is free in pages of any class                     N1, N2
//!   over 32 KiB                     units of the pool, under its lock
//! free(object):
//!   record of its unit, by shift    a page: into the free list of the class, while it has room  F0
//!                                   else, of this instance: into the page's list      F1, F4, F5
//!                                   of another: into a batch for it; a full batch is sent
//!                                   a mixed page: as a page                                   N3
//!                                   a large object: back to the pool
//! ```
//!
//! | module | holds |
//! | --- | --- |
//! | `sizes` | request → class → β, π, units of a page |
//! | `memory`, `chain` | the region, slots and records of units, links in free page-blocks |
//! | `runs`, `pool` | free units, under one lock: what goes back to the source after a delay, or as surplus |
//! | `instance`, `free_list`, `small` | pages and free lists of one instance, and the automaton |
//! | `mixed`, `division`, `cold` | pages of classes that are no longer used, for others |
//! | `remote_frees` | frees by other threads |
//! | `common`, `local`, `heap`, `units` | what all share, what a thread does, the heap, the quickest free |
//! | `source`, `misuse` | where memory comes from; what is found wrong with a free |
//! | `certify`, `stats`, `check` | bytes that are enough for a demand; what the heap holds; its invariants |
//!
//! # Threads that end
//! A thread that leaves gives back the memory that its instance does not need, and leaves the
//! instance idle, with its objects. The next thread that joins takes an idle instance with all its
//! pages. Remote frees of an idle instance are served by the thread that frees, under a lock;
//! threads that join meanwhile wait for it. So a thousand threads, one after another, need no more
//! memory than one.
//!
//! # Bounds
//! - Time: O(1) without a lock for page-blocks; draining the inbox is O(1) for each free that
//!   arrived. Opening a page and large objects take the pool's lock for O(1), and for what goes
//!   back to the source. A large object that fits no run which holds memory looks at sixteen of
//!   those, and at what is free beside them. If no free run is long enough, runs that hold memory
//!   and runs whose memory went back are joined until one is: O(1) for each of the latter, which
//!   holds memory from then on.
//!   A call that finds no unit for a page empties its instance's free lists, then looks at 64 mixed
//!   pages and at four pages of each class, and divides one.
//! - Space: a class opens a page in an instance only if none of its pages there has room and
//!   nothing has arrived, and its free list is empty. So an instance has at most ⌈(H + U) / π'⌉
//!   pages of a class, π' the least that a full page has used (15/16 of π), H the most objects of
//!   the class that were live at once, U the page-blocks that other threads freed and have in their
//!   batches and free lists: for each other thread at most b = [`BATCH`], and 128, or 16 KiB of
//!   them. See [`certify`].
//! - Over a source that takes memory back ([`Source::PURGES`]), a page of a class that is no longer
//!   used may become a mixed page, which serves other classes; where no page can be opened, so may
//!   one of any class. It holds an object, as other pages do. But the bound above is not one of
//!   such a heap; [`certify`] is for regions.
//!
//! # Departures
//! κ is ∞: F2 and F3 never happen. Pages that were full queue at the end of their class, so that
//! they collect frees before allocations look at them again: a look at a page then finds more than
//! one.
//!
//! # Source
//! Craciunas et al. (2008): the optimised non-compacting variant, and (2009) n-CF with private
//! instances and a shared pool of pages.

mod certify;
#[allow(unsafe_code, reason = "links in free page-blocks")]
mod chain;
mod check;
mod cold;
#[allow(unsafe_code, reason = "instances in the region")]
mod common;
mod division;
mod free_list;
#[allow(unsafe_code, reason = "the region and its tables")]
mod heap;
mod instance;
#[allow(unsafe_code, reason = "the contract of raw pointers")]
mod local;
#[allow(unsafe_code, reason = "the records of the region")]
mod memory;
mod misuse;
mod mixed;
mod pool;
#[allow(unsafe_code, reason = "batches")]
mod remote_frees;
mod runs;
#[allow(unsafe_code, reason = "classes without bounds checks")]
mod sizes;
mod small;
#[allow(unsafe_code, reason = "the contract of memory")]
mod source;
mod stats;
#[cfg(test)]
mod tests;
#[allow(unsafe_code, reason = "the contract of raw pointers")]
mod units;

pub use certify::{SharedDemand, certify};
pub use common::GROUPS;
pub use heap::{Settings, SharedDirect};
pub use local::Local;
pub use misuse::Misuse;
pub use remote_frees::BATCH;
pub use sizes::{GRANULE, LARGEST_BLOCK, UNIT_BYTES};
pub use source::{Fixed, Source};
pub use stats::{ClassStats, SharedDirectStats};
pub use units::{Nobody, Units};
