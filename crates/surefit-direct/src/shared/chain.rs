//! Free page-blocks, linked through their own first words.
//!
//! # Invariant
//! - C1 What a chain leads to are free page-blocks, each in this chain alone, aligned to
//!   [`GRANULE`](super::sizes::GRANULE), in memory that is usable; the first word of each is the
//!   address of the next one, or null.

use core::cell::Cell;
use core::ptr::{NonNull, null_mut};

/// A free page-block.
#[derive(Debug)]
#[repr(transparent)]
pub(super) struct Block {
    pub(super) next: Cell<*mut Block>,
}

/// A page-block that nobody uses and that is in no chain: it belongs to who holds this.
#[derive(Debug)]
#[repr(transparent)]
pub(super) struct Free(NonNull<Block>);

impl Free {
    /// The page-block of an object that is freed by this.
    ///
    /// # Safety
    /// It begins at this address, aligned to 16, and nobody uses it any more.
    #[inline]
    pub(super) unsafe fn of(object: NonNull<u8>) -> Self {
        Self(object.cast())
    }

    /// Where it begins.
    #[inline]
    pub(super) fn address(&self) -> *mut u8 {
        self.0.as_ptr().cast()
    }

    /// The object that it becomes.
    #[inline]
    pub(super) fn into_object(self) -> NonNull<u8> {
        self.0.cast()
    }

    /// Links it to another one.
    #[inline]
    pub(super) fn link(self, next: *mut Block) -> *mut Block {
        // SAFETY: C1: it belongs to the caller; its bytes hold anything, so no reference is made.
        unsafe { self.0.cast().write(next) };
        self.0.as_ptr()
    }
}

/// A list of free page-blocks, last in, first out (C1). All zero bytes are an empty one.
#[derive(Debug)]
#[repr(transparent)]
pub(super) struct Chain(Cell<*mut Block>);

impl Chain {
    /// `count` page-blocks of `bytes` bytes that begin at an address, at least one, the first one
    /// first.
    ///
    /// # Safety
    /// All of them are free, usable, aligned, and the caller's.
    pub(super) unsafe fn linked(start: NonNull<u8>, bytes: usize, count: u16) -> Self {
        let mut block = start;
        for _ in 1..count {
            // SAFETY: the caller's: the next one begins there.
            let next = unsafe { block.add(bytes) };
            // SAFETY: the caller's.
            unsafe { block.cast().write(next) };
            block = next;
        }
        // SAFETY: the caller's.
        unsafe { block.cast().write(null_mut::<Block>()) };
        Self(Cell::new(start.cast().as_ptr()))
    }

    /// The page-blocks that a raw list leads to.
    ///
    /// # Safety
    /// C1, and nobody else has the list.
    pub(super) unsafe fn from_raw(first: *mut Block) -> Self {
        Self(Cell::new(first))
    }

    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.get().is_null()
    }

    /// The address of the first one; null if there is none.
    #[inline]
    pub(super) fn first(&self) -> *mut Block {
        self.0.get()
    }

    /// Takes the first one.
    #[inline]
    pub(super) fn pop(&self) -> Option<Free> {
        let first = NonNull::new(self.0.get())?;
        // SAFETY: C1.
        self.0.set(unsafe { first.as_ref() }.next.get());
        Some(Free(first))
    }

    /// Puts one in front.
    #[inline]
    pub(super) fn push(&self, block: Free) {
        self.0.set(block.link(self.0.get()));
    }

    /// Takes all.
    #[inline]
    pub(super) fn take(&self) -> Self {
        Self(Cell::new(self.0.replace(null_mut())))
    }

    /// Gives all of another chain to an empty one.
    #[inline]
    pub(super) fn fill(&self, with: &Self) {
        debug_assert!(self.is_empty());
        self.0.set(with.take().0.get());
    }

    /// The addresses of its page-blocks, at most `most` of them.
    pub(super) fn addresses(&self, most: usize) -> impl Iterator<Item = *mut u8> {
        let mut next = self.first();
        let walk = core::iter::from_fn(move || {
            let block = NonNull::new(next)?;
            // SAFETY: C1: each leads to the next one.
            next = unsafe { block.as_ref() }.next.get();
            Some(block.cast().as_ptr())
        });
        walk.take(most)
    }
}
