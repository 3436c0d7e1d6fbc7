//! `cf-paper`: Compact-fit without moves and without abstract addresses, as the papers measured it
//! in their comparison with TLSF.
//!
//! `cf-direct` is our heap of this kind, with other pages, other size-classes and other free lists.
//! This one is for comparisons with the papers' figures only.
//!
//! ```text
//! allocate(bytes):
//!   c = class of bytes, by table          none: over 16,200 bytes, a run of whole pages
//!   p = oldest not-full page of c         none: a free page becomes one                      M1
//!       take p's first free page-block, by a bitmap of two levels; full: p leaves the list  M2, M3
//! free(object):
//!   p = page of the object's address, by shift; clear its bit
//!   p was full: now the newest not-full page of its class; p is empty: a free page     F1, F4, F5
//! ```
//! Pages have 16 KiB, of which a header takes 184 bytes: D = 16,200. Size-classes begin at 16 or 32
//! bytes (`min=`); each is an eighth larger than the one before, rounded up to four bytes, up to
//! 8000; the last one has a page-block per page. There is one instance, κ = ∞, and no
//! back-reference.
//!
//! # Invariants
//! - Q1 The bitmap of a page, its upper level and its count agree; its class exists.
//! - Q2 Each free page is in the free list; each page with a used and a free page-block is in the
//!   list of its class; no other page is in a list.
//! - Q3 A run covers as many pages as its first record says, and no others.
//!
//! M1 to M4 are those of `memory`.
//!
//! # Departures
//! 1. Objects over 16,200 bytes are runs of whole pages, found by a linear search. The papers leave
//!    such objects out. A run has no header; 8 bytes per page outside the pages describe it.
//! 2. There is no list of full pages: nothing reads it without moves.
//! 3. A request whose size is the size of a class is served by this class. In the published code it
//!    goes to the next one.
//! 4. There is no lock, because the tables are of one thread.
//!
//! # Drawbacks
//! Objects are aligned to four bytes, as on the papers' 32-bit machine, whatever a program asks
//! for. Replays need no more. Because of this, the heap hands out no pointers to programs.
//!
//! # Source
//! Craciunas et al. (2009), tables 3 and 4: "optimized, non-compacting CF". The size-classes, the
//! header and the order of the pages are those of the published code.

mod classes;
mod header;
mod heap;
mod memory;

pub use classes::{Classes, FROM_16, FROM_32, GRANULE};
pub use heap::Published;
