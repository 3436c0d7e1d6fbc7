//! A mark-sweep collector over one region, for language implementers and for Rust programs. It
//! depends only on the core, the free-list systems and Compact-fit; it needs no `alloc`.
//!
//! A Rust program keeps values of its own types in an [`Arena`]; there they refer to each other by
//! [`Gc`]; in a [`StepArena`] the collector works in steps. Everything else is for languages, whose
//! objects are words.
//!
//! A program allocates. When a request cannot be served, a collection frees all objects that the
//! program's roots do not lead to, in one pass, and the request is tried again. The program is the
//! [`Client`], which says which words of an object are references. The [`Space`] decides where
//! objects lie and how free chunks are found and merged. There are three: [`FreeList`], over every
//! free-list system with boundary tags; [`CompactFit`], whose objects move; and [`Nursery`], the
//! same with a nursery in front of it. [`Collector`] has the pseudo-code.
//!
//! | file | holds |
//! | --- | --- |
//! | `collector` | allocation that collects, checked access, one collection |
//! | `last_resorts` | what is tried when there is no room, for every collector in the same order |
//! | `access` | numbers of eight bytes, and bytes |
//! | `incremental` | the collector that works in steps |
//! | `generational` | the collector with a young and an old generation |
//! | `client` | the object model: roots, references, weak references |
//! | `edges` | the references that clients report: each marks an object and pushes it |
//! | `mark` | marking, from the roots along all references |
//! | `bits` | one bit for every number of a space |
//! | `marks` | two bits per object: white, grey, black |
//! | `stack` | the mark stack, of bounded size |
//! | `object` | references to objects: their numbers |
//! | `word` | what the words of objects hold: references, or values of the language |
//! | `space` | what a collector needs from the memory that it manages |
//! | `stepwise` | what collectors with generations, and in steps, need besides |
//! | `settings` | the settings of a collector over free lists |
//! | `free_list` | the space over the heaps of `surefit-freelist` |
//! | `certified_lists` | the bytes that are enough for a collected heap over free lists |
//! | `chunks` | what a request takes of a heap of chunks |
//! | `compact_fit` | the space over the heap of `surefit-compact`, whose objects move; the same behind a nursery |
//! | `tables` | the collector's words, cut from the region |
//! | `schedule` | when a collector works, and what pauses it made |
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
//! - Every collection asks for all roots. Only a root keeps an object that was just allocated.
//! - A reference has no generation: after its object is freed, it may name a later object with the
//!   same number. Access is memory-safe all the same.
//! - The program stops during a collection. Over free lists nothing moves, so free bytes can be too
//!   scattered for a request.
//! - A heap that grows needs a region of its final size. Except for the bits, it does not touch the
//!   part that it does not use.
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

mod access;
mod arena;
mod bits;
mod certified_lists;
mod check;
mod chunks;
mod client;
mod collector;
mod compact_fit;
mod edges;
mod free_list;
mod generational;
mod incremental;
mod last_resorts;
mod mark;
mod marks;
mod object;
pub mod schedule;
mod settings;
mod space;
mod stack;
mod statistics;
mod stepwise;
mod tables;
mod word;

#[cfg(test)]
mod tests;

pub use arena::{
    Arena, ArenaPhase, ArenaTotals, Barriered, Collected, Full, Gc, GcArray, GcCell, GcStr, Limits,
    Mutation, NoGc, Root, Rootable, Seen, StepArena, StepMutation, StepWeak, Trace, Tracer, WeakGc,
};
pub use client::{Client, Living, Scanned};
pub use collector::Collector;
pub use compact_fit::nursery::{Nursery, Promotions};
pub use compact_fit::{CompactFit, Relief};
pub use edges::Edges;
pub use free_list::{Displaced, FreeList};
pub use generational::{Extent, Generational, Generations, Round, Rounds};
pub use incremental::{Cycle, Incremental, Phase, Step, Steps};
pub use marks::Marks;
pub use object::Object;
pub use settings::{Settings, Sweep};
pub use space::{Place, Space};
pub use statistics::{Cause, Clock, Collection, NoClock, Totals, VirtualClock};
pub use stepwise::{Freed, OneByOne, Stepwise};
pub use surefit_freelist::Swept;
#[cfg(feature = "derive")]
pub use surefit_gc_derive::Trace;
pub use word::{Bits, Word};

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
