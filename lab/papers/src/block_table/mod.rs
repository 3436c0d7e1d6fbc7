//! `BlockTableHeap`: the non-moving Compact-fit, with frames behind a block table.
//!
//! Compaction bounds fragmentation, but it copies objects, so objects have no fixed address. Here
//! an object lies in frames of equal size, in any frames, and a *row* of the block table names
//! them. Compaction moves rows, which are f / 4 times shorter than the objects. No byte of an
//! object ever moves.
//!
//! ```text
//! malloc(bytes):   k = ⌈bytes / f⌉
//!                  take a row of k entries: a page-block of an abstract page            M1, M2, M3
//!                  pop k free frames, name them in the row; the handle names the row          O(k)
//! access(offset):  frame[table[first + offset / f]] · f + offset mod f                   two loads
//! free(handle):    push the k frames
//!                  give the row back, which may move at most two other rows     O(k), F1 … F5
//! ```
//! ```text
//! handle ──► entry ──► row: | 7 | 2 | 9 | none |    frames 0 … 9 of f bytes; addresses never change
//!            (abstract       │   │   └────────────────► | … | tail of the object          |
//!             address table) │   └► | … | middle |
//!                            └────► | … | head   |
//! ```
//! The table is an [`EntryHeap`]: rows are its objects, long ones in pieces, and abstract pages its
//! pages. So size-classes, automaton, both bounds, back-references and checks are those of the
//! moving Compact-fit, at the size of rows. Pages of frames come from the same heap: each is a
//! page-sized object, with π = 1, and never moves. So frames and rows share one pool of pages: a
//! table page that compaction empties can become frames.
//!
//! ```text
//! 0          P          2P                    Q·P     fixed                            end
//! | frames   | rows     | frames  | … | entries, ←   | rest  | class states | page records |
//! ```
//!
//! # Invariants
//! - B1, B2 (frames, `frames`) and B3 (rows, `rows`), and those of the table's heap: P, A and H.
//!   [`check`](BlockTableHeap::check) verifies all of them and reports the number.
//!
//! # Bounds
//! F frames are live now, at most F̂ at once so far; h rows of a class are live, at most Ĥ at once
//! so far; P is the bytes of a page, f of a frame:
//! - **Exact**: the frames in use are those of the live objects, ⌈bytes / f⌉ each. Any free frame
//!   serves any object, so the payload has no size-class fragmentation, and its only
//!   page-block-internal fragmentation is at the end of each object's last frame. There are ⌈F̂·f /
//!   P⌉ frame pages, whatever the order of events.
//! - **Bounded**: a class of the table has at most min(h, the compaction bound at h, ⌈Ĥ/π⌉)
//!   abstract pages, as in a [`Heap`]. With k entries per row, a page has π ≈ P / (4k + 4) rows (of
//!   at least 8-byte page-blocks). So an abstract page stands for P·f / 12 bytes of objects of one
//!   frame, and for up to P·f / 4 bytes of long objects.
//! - The region that is enough is the sum: [`certify`] computes it. Frames and table peak
//!   separately, because neither frame pages nor entry pages are returned. A program needs at most
//!   the sum of the three peaks.
//! - Time: alloc and free are O(k), with at most two moves per page-block of the row, of at most
//!   P/4 bytes each; access is O(1).
//!
//! # What does not move
//! No method needs an exclusive heap, not even [`free`](BlockTableHeap::free) and
//! [`compact`](BlockTableHeap::compact): references stay valid while other objects are allocated
//! and freed. [`Heap`] cannot offer that.
//!
//! # Departures
//! 1. A row is as long as its object needs, not as long as its size-class: unused entries of the
//!    row's page-block name no frame. So classes round up table words, never frames.
//! 2. Frames are not preassigned to abstract pages. A free list in the frames themselves needs no
//!    table.
//! 3. Objects may have any length: rows over P/4 are in pieces, like every long byte object of a
//!    [`Heap`].
//!
//! # Drawbacks
//! 1. Objects are contiguous only within a frame: there is no `&[u8]` over more than f bytes, no
//!    type larger than f, and no alignment above f.
//! 2. Administrative space: one word per frame, rounded up to a page-block of at least eight bytes,
//!    and eight bytes per object. Small objects cost 16 bytes each. Frames that are so small that
//!    they waste little cost long objects 4 / f of their length.
//! 3. A page that became frames stays frames: a program whose objects shrink for good keeps the
//!    frames of its peak.
//! 4. In a heap that has run for long, the frames of an object are in no order, so a scan of the
//!    object jumps. Each frame costs two more loads.
//!
//! # Measured
//! Seven recorded programs, all objects, the default bound, pages of 4 KiB (2026-11-21). Smallest
//! region in which a program completes ÷ its peak live bytes:
//!
//! | | emacs | python | cc1 | rustc | redis | varnish | redis-drift |
//! |---|---|---|---|---|---|---|---|
//! | `Heap` | 1.057 | 1.124 | 1.056 | 1.039 | 1.074 | 1.045 | 1.230 |
//! | f = 16 | 1.317 | 1.395 | 1.302 | 1.296 | 1.343 | 1.306 | 1.501 |
//! | **f = 32** | 1.209 | 1.329 | 1.186 | 1.180 | 1.252 | 1.198 | 1.654 |
//! | f = 64 | 1.190 | 1.411 | 1.147 | 1.144 | 1.299 | 1.172 | 2.267 |
//! | f = 128 | 1.308 | 1.828 | 1.184 | 1.181 | 1.481 | 1.184 | 3.748 |
//!
//! Administrative space (rows, entries, back-references, records) at the peak in such a region, in
//! % of the bytes that are live then:
//!
//! | | emacs | python | cc1 | rustc | redis | varnish | redis-drift |
//! |---|---|---|---|---|---|---|---|
//! | `Heap` | 2.7 | 7.6 | 1.9 | 1.7 | 3.6 | 1.9 | 11.8 |
//! | f = 16 | 29.9 | 36.1 | 28.8 | 28.6 | 31.4 | 29.2 | 40.6 |
//! | **f = 32** | 17.3 | 24.0 | 16.0 | 15.9 | 19.4 | 16.6 | 28.0 |
//! | f = 64 | 11.4 | 19.3 | 9.8 | 9.7 | 13.4 | 10.1 | 22.7 |
//! | f = 128 | 8.8 | 17.5 | 7.0 | 6.7 | 10.7 | 7.2 | 21.5 |
//!
//! Words of four bytes that moves copy per free (a `Heap` copies objects, this heap copies
//! entries):
//!
//! | | emacs | python | cc1 | rustc | redis | varnish | redis-drift |
//! |---|---|---|---|---|---|---|---|
//! | `Heap` | 2.01 | 3.07 | 1.47 | 3.62 | 2.38 | 0.70 | 4.07 |
//! | f = 16 | 0.28 | 0.54 | 0.38 | 0.91 | 0.61 | 0.18 | 1.20 |
//! | **f = 32** | 0.40 | 0.36 | 0.31 | 0.53 | 0.38 | 0.17 | 0.82 |
//! | f = 64 | 0.35 | 0.29 | 0.19 | 0.28 | 0.27 | 0.14 | 0.64 |
//! | f = 128 | 0.46 | 0.26 | 0.11 | 0.18 | 0.20 | 0.15 | 0.55 |
//!
//! At f = 32, compaction copies between a ninth and a quarter of the words that it copies in a
//! `Heap`. The heap is larger by 12 to 18 %, and by 35 % where most objects have under 32 bytes. So
//! the block table is for programs that need addresses that stay.
//!
//! f = 32 is the default: larger frames waste too much in the last frame of small objects, and
//! smaller frames waste as much in rows. Pages of 4, 8 and 16 KiB differ by 1 %; pages of 1 KiB
//! cost 5 % more (page records). Pages of 4 KiB have the smallest certificate.
//!
//! # Source
//! Craciunas, Kirsch, Payer, Sokolova, Stadler, Staudinger, "A Compacting Real-Time Memory
//! Management System", USENIX ATC 2008: the non-moving implementation. That frames and table share
//! one pool of pages is this project's.
//!
//! [`Heap`]: surefit_compact::Heap
//! [`EntryHeap`]: surefit_compact::EntryHeap

mod bytes;
pub mod certify;
mod check;
mod config;
mod frames;
mod handle;
mod heap;
mod rows;
mod stats;
mod table;
#[cfg(test)]
mod tests;
mod values;
mod words;

pub use config::{BlockTableConfig, BlockTableConfigError, MAX_FRAME_BYTES, MIN_FRAME_BYTES};
pub use handle::{Bytes, BytesName, Handle};
pub use heap::BlockTableHeap;
pub use stats::{BlockTableStats, RowClassStats};
