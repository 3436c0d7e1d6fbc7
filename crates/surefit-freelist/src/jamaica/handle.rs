//! Handles: owning names of objects in blocks.
#![deny(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU32;

use surefit_core::{Numbers, Refused};

use super::shape::Shape;

/// The process-unique number of a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeapId(NonZeroU32);

impl HeapId {
    /// A number that no other heap of this process has or had.
    pub(super) fn unique() -> Result<Self, Refused> {
        static HEAPS: Numbers = Numbers::new();
        HEAPS.next().map(Self).ok_or(Refused::NoHeapId)
    }
}

/// An owning name of a byte object in a [`Jamaica`](super::Jamaica) heap, and its length.
///
/// It is neither `Copy` nor `Clone`: freeing consumes it, so safe code cannot free an object twice
/// or use a freed object. Dropping it without freeing leaks the object.
#[must_use = "dropping a handle leaks its object"]
pub struct Bytes<S: Shape> {
    /// The first block of the list, or the root of the tree.
    pub(super) first: u32,
    pub(super) heap: HeapId,
    len: usize,
    shape: PhantomData<S>,
}

impl<S: Shape> Bytes<S> {
    pub(super) const fn new(first: u32, heap: HeapId, len: usize) -> Self {
        Self {
            first,
            heap,
            len,
            shape: PhantomData,
        }
    }

    pub(super) const fn set_len(&mut self, len: usize) {
        self.len = len;
    }

    /// The length in bytes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the object has no bytes. Even then it has a block.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl<S: Shape> fmt::Debug for Bytes<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, heap) = (self.first, self.heap.0);
        write!(f, "Bytes(block {first} of heap {heap}, {} bytes)", self.len)
    }
}
