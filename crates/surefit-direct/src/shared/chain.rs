//! Free page-blocks, linked through their own first words.
//!
//! # Invariant
//! - C1 What a chain leads to are free page-blocks, each in this chain alone, aligned to
//!   [`GRANULE`](super::sizes::GRANULE), in memory that is usable; the first word of each is the
//!   address of the next one, or null. If it [looks ahead](Chain::look_ahead), the second word is
//!   the address of one further on, or null.

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ptr::{NonNull, null_mut};

use surefit_core::fetch;

/// A free page-block.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Block {
    pub(super) next: Cell<*mut Block>,
    /// In a chain that [looks ahead](Chain::look_ahead): the page-block [`AHEAD`] places on, or
    /// null. Elsewhere anything.
    ahead: Cell<MaybeUninit<*mut Block>>,
}

/// How far a chain looks ahead.
const AHEAD: usize = 4;

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
    /// One without page-blocks.
    pub(super) const fn new() -> Self {
        Self(Cell::new(null_mut()))
    }

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

    /// Has each of at most `most` page-blocks lead also to one further on, so that who takes them
    /// one by one in another thread does not wait for each line of memory before the next is asked
    /// for. Linear.
    pub(super) fn look_ahead(&self, most: u16) {
        // SAFETY: C1.
        let after = |block| NonNull::new(block).map(|block| unsafe { block.as_ref() });
        let mut ahead = self.first();
        for _ in 0..AHEAD {
            ahead = after(ahead).map_or(null_mut(), |block| block.next.get());
        }
        let mut block = self.first();
        for _ in 0..most {
            let Some(this) = after(block) else {
                break;
            };
            this.ahead.set(MaybeUninit::new(ahead));
            ahead = after(ahead).map_or(null_mut(), |block| block.next.get());
            block = this.next.get();
        }
    }

    /// Whether each page-block leads to the right one further on, or to none, in a chain of at most
    /// `most` that leads nowhere else.
    pub(super) fn looks_ahead(&self, most: usize) -> bool {
        let further = self.addresses(most).skip(AHEAD).map(Some);
        let mut further = further.chain(core::iter::repeat(None));
        self.addresses(most).all(|block| {
            // SAFETY: C1: in a chain that looks ahead, it was written.
            let ahead = unsafe { (*block.cast::<Block>()).ahead.get().assume_init() };
            further.next() == Some(Some(ahead.cast())) || ahead.is_null()
        })
    }

    /// As [`Chain::pop`], of a chain that looks ahead.
    pub(super) fn pop_and_fetch(&self) -> Option<Free> {
        let first = NonNull::new(self.0.get())?;
        // SAFETY: C1.
        let block = unsafe { first.as_ref() };
        // SAFETY: C1: it was written.
        fetch(unsafe { block.ahead.get().assume_init() }.cast::<u8>());
        self.0.set(block.next.get());
        Some(Free(first))
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

#[cfg(test)]
mod tests {
    extern crate alloc;

    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn a_chain_that_looks_ahead_is_taken_in_the_same_order() {
        for count in [0, 1, AHEAD - 1, AHEAD, AHEAD + 1, 3 * AHEAD] {
            let mut blocks = vec![[0_u128; 2]; count];
            let places: Vec<_> = blocks.iter_mut().map(NonNull::from).collect();
            let chain = Chain(Cell::new(null_mut()));
            for place in &places {
                // SAFETY: it is aligned to 16, and nobody else uses it.
                chain.push(unsafe { Free::of(place.cast()) });
            }
            chain.look_ahead(count as u16);
            assert!(chain.looks_ahead(count));
            for place in places.iter().rev() {
                assert_eq!(chain.pop_and_fetch().unwrap().into_object(), place.cast());
            }
            assert!(chain.pop_and_fetch().is_none());
        }
    }
}
