//! CF(∞) without abstract addresses: raw pointers, objects that never move, every call O(1).
//!
//! Some programs need plain pointers. Then nothing can be compacted, and a heap must do its best
//! with partitioning alone: pages of equal page-blocks for small objects, runs of small units for
//! all others.
//!
//! ```text
//! allocate(bytes, align):
//!   c = class of (bytes, align), by table       no class: over P/4 bytes, or over a unit aligned
//!   c: p = newest not-full page of c            none: open an aligned page out of a free run    M1
//!      take p's first free page-block           p's last one: p leaves the not-full pages   M2, M3
//!   none: take the shortest free run of ⌈bytes / unit⌉ units, or of a length next to it;
//!         its rest stays free
//! free(object):
//!   p = page of the object's address, by shift  p holds no page-blocks: give a run back
//!   list the page-block in p                    p was full: now the newest not-full page    F4, F1
//!   it was p's last object: p leaves its class, its units become a free run and coalesce        F5
//! resize(object, bytes):
//!   a page-block stays within its class; a run shrinks in place, or grows into a free run behind
//!   (a run that must move to grow looks for a place with room behind); else allocate, copy, free
//! ```
//!
//! The picture shows the region, low addresses left. In a [`Standard`] heap units have 1 KiB, and
//! pages 8 KiB; any other [`Partition`] is a type parameter, for small regions. Pages are aligned
//! to their size from the base, so a shift finds a page's record. Runs begin at any unit. Records
//! and tags lie in one table each: in front of their pages, their equal offsets would compete for
//! the same few sets of the cache.
//!
//! ```text
//! | heads | page records | unit tags | lists | pad || page of 40-byte blocks | 2-unit run | free run | page … |
//!                                                  || P                      |            |
//! ```
//!
//! # Certified mode
//! Where pages and runs share free units, a run may pin units that a page needs: a demand with runs
//! then takes a multiple of its bytes ([`certify_general`]). A [`PooledHeap`] has [`Pools`]
//! instead: pages and the runs of each length are carved once, and never become anything else. Its
//! bytes are known from the demand ([`certify`]), and what exceeds the demand is refused. Only an
//! object that shrinks is always served: if the demand has no room for the new size, it stays where
//! it is, and counts for its old line. Demands without runs have nearly the same certificate in the
//! general mode ([`certify_blocks`]).
//!
//! # Invariants
//! D1 to D5 (the region, `memory`), P1 to P4 (pages, `pages`), R1 to R5 (runs, `runs`) and Q1 to Q3
//! (pools, `pools`) are stated in those modules. [`check`](surefit_core::RawHeap::check) verifies
//! P, R and Q and reports the number; D holds by construction.
//!
//! # Bounds
//! - Time: every call is O(1), whatever the heap holds, except for the bytes that `resize` copies.
//!   There are no searches: opening a page writes its record, and one two-level bitmap finds the
//!   lists. (Pools: a run's pool is found in O(log of the demand's lines).)
//! - Space: a class with h live page-blocks now and at most H ever, π per page, has at most min(h,
//!   ⌈H/π⌉) pages. Nothing else bounds size-class fragmentation: that is the price of pointers.
//!   Runs fragment as Robson's bound says.
//! - Administrative space: 4 bytes per unit and 16 bytes per page (0.6 % of a standard region, 9 %
//!   of a tiny one), 4 per class and list, and what a page and a unit lose to alignment.
//!
//! # Departures
//! 1. κ is ∞, so F2 and F3 never happen. Only debug builds ask the automaton, to assert its
//!    answers; the branches *are* its transitions. Whether a page becomes full or not-full is
//!    selected without a branch: with random victims a processor mispredicts such branches, which
//!    cost a quarter of the time.
//! 2. Free page-blocks are linked through their own first two bytes, instead of a bitmap.
//!    Page-blocks that were never used are not linked (`frontier`).
//! 3. Objects over P/4 are runs of units. A class of P/3, P/2 or P wastes up to half a page per
//!    object. For example, python keeps 492 objects of 8,224 bytes: each takes 9 KiB here, and
//!    would take a page of 16 KiB.
//!
//! # Drawbacks
//! 1. Where sizes drift, pages of old classes stay with a few objects each: 2.3 × the live bytes on
//!    redis-drift, where compaction needs 1.14 ×. Use `Heap` of `surefit-compact` there. (Meshing
//!    such pages would leave 1.62 × there, and saves less than a tenth elsewhere:
//!    `surefit experiment meshing`.)
//! 2. A large request may be refused although a run exists that would serve it: of the runs of more
//!    than 31 units in the list of the request's own length, only the first one is tried. Such a
//!    run is at most 1/16 longer than the request.
//! 3. A request of up to P/4 needs a whole aligned page if its class has none, even if shorter runs
//!    are free.
//! 4. Only `check()` detects a double free of a page-block; in debug builds, `free` also does if
//!    the page-block is the last one freed.
//!
//! # Measured
//! Smallest region in which a recorded program completes ÷ its peak live bytes, all objects
//! contiguous (2026-11-20; talc 5.1.1, rlsf 0.2.3). Programs whose large objects grow (cc1, redis)
//! are chaotic: any change of placement changes their result by ± 0.05 and more.
//!
//! | page / unit | emacs | python | cc1 | rustc | redis | varnish | redis-drift |
//! |---|---|---|---|---|---|---|---|
//! | **8 KiB / 1 KiB** | 1.032 | 1.116 | 1.053 | 1.052 | 1.390 | 1.081 | 2.328 |
//! | 8 KiB / 512 B | 1.038 | 1.111 | 1.059 | 1.050 | 1.413 | 1.084 | 2.337 |
//! | 4 KiB / 1 KiB | 1.034 | 1.109 | 1.216 | 1.062 | 1.404 | 1.081 | 2.077 |
//! | 4 KiB / 512 B | 1.035 | 1.100 | 1.221 | 1.052 | 1.414 | 1.081 | 2.086 |
//! | 16 KiB / 1 KiB | 1.053 | 1.117 | 1.229 | 1.057 | 1.409 | 1.089 | 2.584 |
//! | 8 KiB / 1 KiB, runs from P/8 | 1.035 | 1.122 | 1.062 | 1.060 | 1.409 | 1.081 | 2.439 |
//! | talc | 1.069 | 1.202 | 1.167 | 1.034 | 1.430 | 1.257 | 1.281 |
//! | rlsf | 1.092 | 1.256 | 1.178 | 1.048 | 1.484 | 1.182 | 1.575 |
//!
//! Most instructions seen on x86-64 (callgrind, with the caller's; the same with 10² and 10⁴ live
//! objects):
//!
//! | | M2, M3 | M1 | a run | F1, F4 | F5 | a run |
//! |---|---|---|---|---|---|---|
//! | `DirectHeap` | 42 | 332 | 255 | 33 | 225 | 195 |
//! | with [`Tiny`] pages | 42 | 195 | 248 | 33 | 125 | 195 |
//! | `PooledHeap` | 42 | 114 | 125 | 33 | 61 | 100 |
//!
//! # Source
//! Craciunas et al., "Concurrency and Scalability versus Fragmentation and Compaction with
//! Compact-fit" (2009), the optimised non-compacting variant. The two-level bitmap over lengths is
//! that of TLSF (Masmano et al. 2004).
#![deny(unsafe_code)]

mod choice;
mod demand;
mod heap;
#[allow(unsafe_code, reason = "the one module that touches the region's bytes")]
mod memory;
mod pages;
mod partition;
mod pools;
mod runs;
mod space;
mod stats;
mod tags;
#[cfg(test)]
mod tests;

pub use demand::{
    DirectCertificate, DirectDemand, certify, certify_blocks, certify_general, region_bytes,
};
pub use heap::{DirectHeap, PooledHeap};
pub use partition::{Partition, Partitioning, Small, Standard, Tiny};
pub use pools::Pools;
pub use runs::{FreeRuns, MAX_ALIGN};
pub use stats::{DirectClassStats, DirectStats};
