//! What a type tells the collector: where its references are. And what is told: the tracer, which marks.
//!
//! ```text
//! collect:     mark what the root's trace reports; drain
//!              while a push failed: for every grey object from the lowest that did not fit on: trace it; drain
//! report(o):   o's bit is set: nothing; else set it, and push o if its type can hold references
//! drain:       pop o: o's trace reports
//! ```
//! White is 00 and black is 10, as everywhere here; but an object is grey, 11, only if it is to be traced and did not fit on
//! the stack. So no object is traced twice, and marking one writes one bit.
//!
//! # Source
//! Jones, Hosking and Moss, The Garbage Collection Handbook, 2.4 and 2.5.
#![deny(unsafe_code)]

use core::ptr::NonNull;

use crate::bits::Bits;
use crate::space::Object;
use crate::stack::Stack;

/// Bytes of a granule: numbers of objects count them.
const GRANULE: usize = 8;

/// A type whose values can be kept in an [`Arena`](crate::Arena): it tells which references it holds.
///
/// `#[derive(Trace)]` writes this for types whose fields have it. There is no need to write it by hand.
///
/// # Safety
/// T1: `trace` calls `trace` of every value that may be or hold a [`Gc`](crate::Gc), every time; if there may be one,
/// [`TRACED`](Trace::TRACED) is true.
/// T2: dropping a value follows no `Gc` and no [`WeakGc`](crate::WeakGc): what they name may have been dropped before.
/// T3: `trace` changes nothing.
pub unsafe trait Trace {
    /// Whether values can hold references. If not, `trace` is not called.
    const TRACED: bool;

    /// Calls `trace` of everything that may hold references.
    fn trace(&self, tracer: &mut Tracer<'_>);
}

/// What marks, while a collection finds what lives. Only the arena makes one.
#[derive(Debug)]
pub struct Tracer<'a> {
    /// The address of granule 0.
    origin: usize,
    marks: Bits<'a>,
    stack: Stack<'a>,
    /// The lowest object that is grey.
    grey: Option<u32>,
    objects: u64,
    edges: u64,
    rescans: u64,
}
