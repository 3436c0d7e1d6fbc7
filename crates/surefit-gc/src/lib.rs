//! A mark-sweep collector over one region, for language implementers and for Rust programs. No dependency but the core, the
//! free-list systems and Compact-fit; no `alloc`.
//!
//! Rust programs keep values of their own types in an [`Arena`], where they refer to each other by [`Gc`]. The rest is for
//! languages, whose objects are words.
//!
//! A program allocates; when a request cannot be served, all objects that its roots do not lead to are freed in one pass,
//! and the request is tried again. Which words of an object are references, the program says: it is the [`Client`]. Where
//! objects lie and how free chunks are found and merged, the [`Space`] says: [`FreeList`], over every free-list system with
//! boundary tags, or [`CompactFit`], whose objects move. [`Collector`] has the pseudo-code.
//!
//! | file | holds |
//! | --- | --- |
//! | `collector` | allocation that collects, checked access, one collection |
//! | `client` | the object model: roots, references, weak references |
//! | `mark` | from the roots along all references |
//! | `bits` | a bit for every number of a space |
//! | `marks` | two bits an object: white, grey, black |
//! | `stack` | the mark stack, of bounded size |
//! | `space` | what a collector needs of the memory that it manages; references |
//! | `free_list` | the space over the heaps of `surefit-freelist` |
//! | `compact_fit` | the space over the heap of `surefit-compact`, whose objects move |
//! | `tables` | the collector's words, cut from the region |
//! | `statistics` | what collections did; the clock |
//! | `check` | the numbered invariants, verified |
//! | `arena` | objects of Rust types, and references that the compiler checks |
//!
//! # Features
//! | feature | what it does | what it costs |
//! | --- | --- | --- |
//! | `derive` | `#[derive(Trace)]` for the types of a program | a procedural macro is built (`syn`, `quote`, `synstructure`) |
//! | `alloc` | [`Trace`] for `Box`, `Vec`, `String` and other types of `alloc` | needs `alloc` |
//! | `std` | [`Trace`] for `HashMap` and `HashSet`; includes `alloc` | needs `std` |
//!
//! # Drawbacks
//! - Roots are reported at every collection, all of them; nothing but the roots keeps an object that was just allocated.
//! - A reference carries no generation: that of a freed object may name a later object with the same number. Access is
//!   memory-safe all the same.
//! - The world stops; over free lists nothing moves, so free bytes can be too scattered for a request.
//! - A heap that grows has a region of its final size, of which it does not touch what it does not need, but for the bits.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![no_std]
#![deny(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod arena;
mod bits;
mod check;
mod client;
mod collector;
mod compact_fit;
mod free_list;
mod mark;
mod marks;
mod space;
mod stack;
mod statistics;
mod tables;

#[cfg(test)]
mod tests;

pub use arena::{
    Arena, ArenaTotals, Full, Gc, GcArray, GcStr, Limits, Mutation, Root, Rootable, Seen, Trace,
    Tracer, WeakGc,
};
pub use client::{Client, Living, Scanned};
pub use collector::{Collector, Settings};
pub use compact_fit::{CompactFit, Relief};
pub use free_list::{Displaced, FreeList, Sweep};
pub use mark::Edges;
pub use marks::Marks;
pub use space::{Object, Place, Space};
pub use statistics::{Cause, Clock, Collection, NoClock, Totals};
pub use surefit_freelist::Swept;
#[cfg(feature = "derive")]
pub use surefit_gc_derive::Trace;

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
