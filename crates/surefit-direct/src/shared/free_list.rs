//! The free list of a class: what is allocated next, and where a thread's own frees go first, so
//! that their memory is used again while the processor's cache still has it.
//!
//! ```text
//! filled from the current page     room for what the class may keep, less what it holds
//! allocate                         takes the last one that came; room for one more
//! free                             while there is room; one of FREES frees is a slow call
//! no room                          into the page of the page-block, as F1 says
//! ```
//! So of the calls of a thread that allocates and frees in turn, one now and then looks whether
//! free memory is due. The list of a class of whose objects the program asks whether to move them
//! takes no frees: new places shall not lie in the pages that it empties.
//!
//! # Invariant
//! - L1 Its room is what the class may keep ([`Class::kept`]) less what it holds, if that is more,
//!   below zero; or it is empty, and has no room.
#![deny(unsafe_code)]

use core::cell::Cell;

use super::chain::{Block, Chain, Free};
use super::sizes::Class;

/// Frees that it takes until one is slow.
const FREES: u32 = 512;

/// One place in the high half of `counts`.
const PLACE: u32 = 1 << 16;

/// The top bits of both halves.
const NEGATIVE: u32 = (1 << 31) | (1 << 15);

/// A low half that stays: it takes no frees at all.
const NO_FREES: u32 = 0xFFFF;

/// Free page-blocks of one class in one instance, last in, first out. All zero bytes are an empty
/// one that takes no frees.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeList<'i> {
    blocks: &'i Chain,
    counts: &'i Cell<u32>,
}

impl<'i> FreeList<'i> {
    /// The list of these page-blocks. Of `counts` the high half is the room, a signed number, and
    /// the low half how many frees it takes until one is slow.
    #[inline]
    pub(super) fn new(blocks: &'i Chain, counts: &'i Cell<u32>) -> Self {
        Self { blocks, counts }
    }

    /// Whether it holds none.
    #[inline]
    pub(super) fn is_empty(self) -> bool {
        self.blocks.is_empty()
    }

    /// The first page-block; null if there is none.
    pub(super) fn first(self) -> *mut Block {
        self.blocks.first()
    }

    /// Takes the first one.
    #[inline]
    pub(super) fn pop(self) -> Option<Free> {
        let block = self.blocks.pop()?;
        self.counts.set(self.counts.get().wrapping_add(PLACE));
        Some(block)
    }

    /// Puts a page-block of the class in front, or returns it: there is no room, or it
    /// is run down.
    #[inline]
    pub(super) fn put(self, block: Free) -> Result<(), Free> {
        let counts = self.counts.get().wrapping_sub(PLACE | 1);
        if counts & NEGATIVE != 0 {
            return Err(block);
        }
        self.counts.set(counts);
        self.blocks.push(block);
        Ok(())
    }

    /// Whether it has room, and yet takes no free until it is [wound up](FreeList::wind_up).
    #[inline]
    pub(super) fn is_run_down(self) -> bool {
        let counts = self.counts.get();
        counts & NO_FREES == 0 && (1..1 << 15).contains(&(counts / PLACE))
    }

    /// Has it take frees again if it is run down.
    pub(super) fn wind_up(self) {
        if self.is_run_down() {
            self.counts.set(self.counts.get() | FREES);
        }
    }

    /// As [`FreeList::put`], of a thread that looks elsewhere whether free memory is due.
    #[inline]
    pub(super) fn keep(self, block: Free) -> Result<(), Free> {
        match self.put(block) {
            Err(block) if self.is_run_down() => {
                self.wind_up();
                self.put(block)
            }
            done => done,
        }
    }

    /// Gives it, which is empty, all `count` page-blocks of a chain.
    pub(super) fn fill(self, class: Class, blocks: &Chain, count: u16) {
        self.blocks.fill(blocks);
        let room = class.kept().wrapping_sub(count);
        let frees = if self.is_passed_by() { NO_FREES } else { FREES };
        self.counts.set((u32::from(room) * PLACE) | frees);
    }

    /// Whether all frees go into pages.
    pub(super) fn is_passed_by(self) -> bool {
        self.counts.get() & NO_FREES == NO_FREES
    }

    /// Takes all, and takes no frees until it is filled again.
    pub(super) fn take(self) -> Chain {
        self.counts
            .set(if self.is_passed_by() { NO_FREES } else { 0 });
        self.blocks.take()
    }

    /// Has all frees go into pages. It is empty.
    pub(super) fn pass_by(self) {
        debug_assert!(self.is_empty());
        self.counts.set(NO_FREES);
    }

    /// Has frees go into it again from when it is filled, if they went into pages. It is empty.
    pub(super) fn pass_by_no_more(self) {
        debug_assert!(self.is_empty());
        if self.is_passed_by() {
            self.counts.set(0);
        }
    }

    /// Whether it is the list of no class: it holds nothing and takes nothing.
    pub(super) fn is_nobodys(self) -> bool {
        self.is_empty() && self.counts.get() == 0
    }

    /// L1, if it holds `held`.
    pub(super) fn is_sound(self, class: Class, held: usize) -> bool {
        let counts = self.counts.get();
        let room = counts / PLACE;
        let held = u16::try_from(held).ok();
        let left = held.map(|held| u32::from(class.kept().wrapping_sub(held)));
        left == Some(room) || room == 0 && held == Some(0)
    }
}
