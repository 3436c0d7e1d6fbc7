//! The windows of a heap, as numbers: where the contiguous objects over a page lie.
//!
//! ```text
//! pages   0                                                       end                   floor
//!         | slot 8 | slot 8 | slot 4 | slot 2 | slot 2 | slot 2 |  other pages …  | address table
//! a slot  | head | part | part | other page |                     5 … 8 pages: level 3; 2: level 1
//! ```
//! An object of m pages lies at the front of a *slot* of 2^⌈log₂ m⌉ pages. The slots are packed
//! from page 0 on, the larger ones first; so the number of slots of every level says where each
//! slot begins, and nothing is searched. A slot's pages behind its object serve page-blocks, like
//! every page behind the slots.
//!
//! # Invariants
//! - W1 Slot by slot, the first page is the head of an object of more than half and at most all of
//!   the slot's pages, and the following pages of the object are its parts. There are no other
//!   parts. `parts` counts them.
//! - W2 All slots lie below the frontier.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use core::cell::Cell;

use crate::width::Word;

/// The levels of slots: level `i` has 2^i pages, from 2 to 2³¹.
const LEVELS: usize = 31;

/// How many slots there are of each size, in words of the heap: there are fewer than pages.
///
/// Its alignment lets a compiler copy it without a call.
#[derive(Debug)]
#[repr(align(4))]
pub(crate) struct Windows<T: Word> {
    /// Of level 1 first.
    pub(crate) slots: [Cell<T>; LEVELS],
    /// Pages of windows besides their heads.
    pub(crate) parts: Cell<T>,
}

/// The size of a slot: 2^level pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Level(u32);

impl Level {
    /// The level for objects of so many pages, two or more; `None` above 2³¹.
    pub(crate) const fn of(pages: u32) -> Option<Self> {
        match pages.checked_next_power_of_two() {
            Some(slot) => Some(Self(slot.trailing_zeros())),
            None => None,
        }
    }

    /// Pages of a slot.
    pub(crate) const fn pages(self) -> u32 {
        1_u32 << self.0
    }

    /// The place of its number of slots. There is none of level 0.
    fn index(self) -> usize {
        (self.0 as usize).wrapping_sub(1)
    }

    /// All levels, from the smallest slots.
    pub(crate) fn all() -> impl DoubleEndedIterator<Item = Self> {
        (1..32).map(Self)
    }

    /// All levels of smaller slots, from the smallest.
    pub(crate) fn smaller(self) -> impl DoubleEndedIterator<Item = Self> {
        (1..self.0).map(Self)
    }

    /// All levels of larger slots.
    fn larger(self) -> impl Iterator<Item = Self> {
        (self.0.saturating_add(1)..32).map(Self)
    }
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "the slots lie in one region, whose pages are counted in 32 bits"
)]
impl<T: Word> Windows<T> {
    pub(crate) fn new() -> Self {
        Self {
            slots: core::array::from_fn(|_| Cell::new(T::new(0))),
            parts: Cell::new(T::new(0)),
        }
    }

    /// Slots of a level.
    pub(crate) fn count(&self, level: Level) -> u32 {
        self.slots[level.index()].get().get()
    }

    /// The first page of the slots of a level. O(levels).
    pub(crate) fn start(&self, level: Level) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the slots lie in one region, whose pages are counted in 32 bits"
        )]
        {
            self.pages_before(level) as u32
        }
    }

    /// The first page after all slots. O(levels).
    pub(crate) fn end(&self) -> u32 {
        self.start(Level(0))
    }

    /// Pages of all slots, even if the counts are wrong. O(levels).
    pub(crate) fn pages(&self) -> u64 {
        self.pages_before(Level(0))
    }

    fn pages_before(&self, level: Level) -> u64 {
        let pages = |other| u64::from(self.count(other)) << other.0;
        level.larger().map(pages).sum()
    }

    /// The first page of slot `number` of a level.
    pub(crate) fn slot(&self, level: Level, number: u32) -> u32 {
        self.start(level) + (number << level.0)
    }

    /// Pages of windows besides their heads.
    pub(crate) fn parts(&self) -> u32 {
        self.parts.get().get()
    }

    pub(crate) fn add_parts(&self, parts: u32) {
        self.parts.set(T::new(self.parts() + parts));
    }

    pub(crate) fn remove_parts(&self, parts: u32) {
        self.parts.set(T::new(self.parts() - parts));
    }

    pub(crate) fn add_slot(&self, level: Level) {
        self.slots[level.index()].set(T::new(self.count(level) + 1));
    }

    pub(crate) fn remove_slot(&self, level: Level) {
        self.slots[level.index()].set(T::new(self.count(level) - 1));
    }

    /// Whether a window begins at a page. O(levels).
    pub(crate) fn begins_at(&self, page: u32) -> bool {
        Level::all().any(|level| {
            let start = self.start(level);
            let slots = start..self.slot(level, self.count(level));
            slots.contains(&page) && (page - start) % level.pages() == 0
        })
    }
}
