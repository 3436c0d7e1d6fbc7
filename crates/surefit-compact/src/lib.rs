//! Compact-fit: explicit memory whose time and space are known before the program runs.
//!
//! - [`Heap`] hands out owning [`Handle`]s, and moves objects when others are freed. One number per
//!   size-class, the [`Bound`], limits the cost of fragmentation.
//! - [`branded`] heaps have handles of four bytes, and compare nothing on an access.
//! - A [`View`] of a heap is what a loop of many accesses takes.
//! - [`KeyHeap`] names objects by copyable [`Key`]s instead.
//! - [`certify`] computes how many bytes are enough for a demand.
//!
//! ```text
//! branded                 objects by handles whose type names their heap
//! view                    a borrowed heap by value, for loops of accesses
//! heap, large, key        objects: handles, byte objects in pieces, keys
//! contiguous              byte objects over a page in one slice
//!   stats, check            statistics and checked invariants of a heap
//!   entries                 for a collector: objects by number, a sweep, moves that make room
//!   entry                   byte objects named by the number of their entry alone
//!   renumber                lower entries for byte objects, and a shorter table
//!   evacuate, windows       consecutive pages, made free by moves; where they lie
//!   engine, demand          page-blocks and entries: allocate, free, compact
//!   free_pages              pages of no class: the frontier, the free list, the table's growth
//!     list, class, page, address   lists, counts, bitmaps, back-references, the address table
//!       memory                  the region: the only place of raw words
//! config, width           the configuration of a heap
//! ```
//! `surefit-classes` has what needs no memory: how pages are partitioned ([`geometry`]) and which
//! transition an event causes ([`automaton`]).
//!
//! Raw pointers, which never move, are in `surefit-direct`.
//!
//! The crate does not use `alloc`. It depends only on the core vocabulary, the size-classes,
//! `lock_api` and `zerocopy`. Everything that a heap needs comes from the region that it is given.
//!
//! # Features
//! `holes`, `many-classes`, `pieces` and `slack` are on by default. A program for a small board
//! turns them off, to save flash, with `default-features = false` here or in `surefit`, which
//! passes them on.
//!
//! - `holes` (default): the bounds [`Bound::Holes`] and [`Bound::Unbounded`], with what parks
//!   pairs. Without it [`Bound::Pages`] is the only bound, and there is no `Config::DEFAULT`.
//! - `many-classes` (default): geometries of up to 128 size-classes. Without it a geometry has at
//!   most 32, and tables for so many: [`Config::TINY`] has 1,136 bytes instead of 3,256 on a
//!   Cortex-M4. There is no `Geometry::DEFAULT`.
//! - `pieces` (default): byte objects in pieces. Without it a byte object has at most a page.
//! - `slack` (default): [`Heap::with_slack`]; turns on `holes`. Without it no free looks for slack.
//! - `critical-section`: [`shared::CriticalSection`], a lock for bare metal. It costs the crate
//!   `critical-section`, and turns on `portable-atomic`.
//! - `portable-atomic`: shared heaps ([`shared`]) on targets without compare-and-exchange
//!   (Cortex-M0, ARMv5, RISC-V without A). Without this feature these targets have no shared heaps.
//!   It costs the crate `portable-atomic` there, and nothing on other targets. The program chooses
//!   how `portable-atomic` works, by the feature `critical-section` or `unsafe-assume-single-core`
//!   of that crate; the feature `critical-section` of this crate chooses the former. Heaps of one
//!   owner need neither.
//! - `os`: `os::OsHeap`, a heap that takes its memory from the operating system as it needs it, and
//!   gives back what it no longer needs. It costs the crate `surefit-os`, and needs `std` and
//!   Linux.
//! - `std`: `Heap::boxed`, a heap that owns its memory; [`shared::PerThread`], which registers
//!   every thread on its first use; byte objects for `std::io`: cursors that read, write and seek,
//!   vectors for `writev`. It costs the crate `thread_local`, and needs `std`.
//! - `derive`: `#[derive(Immutable)]` of `zerocopy`, for objects that are pinned. It costs the
//!   build of a procedural macro.
//!
//! # Source
//! Craciunas, Kirsch, Payer, Sokolova, Stadler, Staudinger: "A Compacting Real-Time Memory
//! Management System" (2008). Craciunas, Kirsch, Payer, Röck, Sokolova: "Concurrency and
//! Scalability versus Fragmentation and Compaction with Compact-fit" (2009).
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![cfg_attr(
    not(any(target_has_atomic = "32", feature = "portable-atomic")),
    allow(dead_code, reason = "what only shared heaps use")
)]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

mod address;
mod banks;
mod borrow;
pub mod bounds;
#[cfg(feature = "std")]
mod boxed;
mod brand;
pub mod branded;
mod byte_key;
pub mod certify;
mod check;
mod class;
mod config;
pub mod contiguous;
mod demand;
mod engine;
mod entries;
mod entry;
mod evacuate;
mod free_pages;
mod handle;
mod heap;
mod key;
mod large;
pub mod layout;
mod limit;
mod list;
mod memory;
#[cfg(feature = "os")]
#[cfg_attr(docsrs, doc(cfg(feature = "os")))]
pub mod os;
mod page;
mod parked;
pub mod pieces;
mod renumber;
mod shape;
#[cfg(any(target_has_atomic = "32", feature = "portable-atomic"))]
pub mod shared;
mod slack;
mod stats;
mod supply;
mod view;
mod width;
mod windows;

#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
pub use boxed::BoxedHeap;
pub use byte_key::ByteKey;
pub use certify::{Certificate, Demand, DemandMeter};
pub use config::{Config, ConfigError};
pub use contiguous::Contiguous;
pub use entries::{EntryHeap, EntryPlace};
pub use handle::{Byte, Bytes, BytesName, Full, Handle};
pub use heap::Heap;
pub use key::{Key, KeyHeap};
pub use large::{ByteVec, Chunks, ChunksMut, Cursor, CursorMut};
pub use stats::{Details, LiveBlock, Stats};
/// From `surefit-classes`: the size-classes, on which the heaps are built.
pub use surefit_classes::{
    Bound, ClassLayout, Fraction, FractionError, Geometry, GeometryError, GeometrySpec, PageOrder,
    SizeClass, Spacing, Tail, automaton, geometry,
};
pub use view::View;
pub use width::{Counted, Generation, Keyed, Medium, Narrow, ThreeBytes, Wide, Width, Word};

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
