//! `EntryHeap`: a heap for a collector, which names objects by the numbers of their entries.
//!
//! | file | what |
//! | --- | --- |
//! | `heap` | the heap itself |
//! | `objects` | byte objects by number, their pieces, and a sweep |
//! | `room` | whether several objects fit, and moves that make room for them |
//! | `outside` | numbers of objects that lie outside the heap's pages for now |
//!
//! Handles own their objects and cannot be copied. A collector finds out by tracing which objects
//! live, and its references are plain numbers. So its calls take numbers, and those that believe a
//! number are `unsafe`: the collector promises that the number is that of a live object.
//!
//! # Source
//! Ours.

mod heap;
mod objects;
mod outside;
mod room;

pub use heap::EntryHeap;
pub use outside::EntryPlace;
