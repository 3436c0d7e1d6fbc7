//! CF(∞) without abstract addresses: raw pointers, objects that never move, every call O(1).
//!
//! Some programs need plain pointers. Then nothing can be compacted, and a heap must do its best
//! with partitioning alone: pages of equal page-blocks for small objects, runs of small units for
//! all others.
//!
//! ```text
//! allocate(bytes, align):
//!   c = class of (bytes, align), by table       no class: over P/4 bytes, or over 1 KiB aligned
//!   c: p = newest not-full page of c            none: open an aligned page out of a free run    M1
//!      take p's first free page-block           p's last one: p leaves the not-full pages   M2, M3
//!   none: take the shortest free run of ⌈bytes / 1 KiB⌉ units, or of a length next to it;
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
//! The picture shows the region, low addresses left. Units have 1 KiB. Pages have 8 KiB and are
//! aligned to 8 KiB from the base, so a shift finds a page's record. Runs begin at any unit.
//! Records and tags lie in one table each: in front of their pages, their equal offsets would
//! compete for the same few sets of the cache.
//!
//! ```text
//! 0            16·pages       4·units
//! | page records | unit tags | pad || page of 40-byte blocks | 2-unit run | free run | page … |
//!                                  || P = 8192               | 2048       |
//! ```
//!
//! # Invariants
//! D1 to D4 (the region, `memory`), P1 to P4 (pages, `pages`) and R1 to R5 (runs, `runs`) are
//! stated in those modules. [`check`](surefit_core::RawHeap::check) verifies P and R and reports
//! the number; D holds by construction.
//!
//! # Bounds
//! - Time: every call is O(1), whatever the heap holds, except for the bytes that `resize` copies.
//!   There are no searches: opening a page writes its record, and one two-level bitmap finds the
//!   lists.
//! - Space: a class with h live page-blocks now and at most H ever, π per page, has at most min(h,
//!   ⌈H/π⌉) pages. Nothing else bounds size-class fragmentation: that is the price of pointers.
//!   Runs fragment as Robson's bound says.
//! - Administrative space: 4 bytes per unit and 16 bytes per page, 0.6 % of the region, and up to 2
//!   KiB for alignment.
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
//!    redis-drift, where compaction needs 1.14 ×. Use [`Heap`](crate::Heap) there.
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
//! Instructions on x86-64, the same with 10³ and 10⁶ live objects: allocate 33 (M2, M3), 254 (M1),
//! 293 (a run); free 33 (F1, F4), 165 (F5), 160 (a run). On the synthetic Emacs mix a pair takes
//! 66, with talc 114.
//!
//! # Source
//! Craciunas et al., "A Compacting Real-Time Memory Management System" (2008), the optimised
//! non-compacting variant. The two-level bitmap over lengths is that of TLSF (Masmano et al. 2004).
#![deny(unsafe_code)]

mod choice;
mod classes;
mod heap;
#[allow(unsafe_code, reason = "the one module that touches the region's bytes")]
mod memory;
mod pages;
mod runs;
mod stats;
#[cfg(test)]
mod tests;

pub use heap::{DirectHeap, MAX_ALIGN};
pub use stats::{DirectClassStats, DirectStats};
