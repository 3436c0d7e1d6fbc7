//! How segregated lists find the first list, from a given one on, that holds a chunk. A type
//! parameter selects it.
//!
//! ```text
//!                 find a list     a list fills or empties    words
//! Scan            walk the heads  nothing                    0
//! NextHitTable    one entry       entries below, to N        (N + 1) / 4, or / 2 from N = 256 on
//! Bitmap          two words       one or two words           2 N / 64
//! ```
//! The words of the lookup lie before the heads of the lists. So a lookup knows the position of
//! both.
//!
//! # Source
//! The thesis on free-list organisation: the search through the lists, and the Next Hit Table,
//! which replaces it.
#![deny(unsafe_code)]

use surefit_core::Corruption;

use crate::chunk::NOBODYS_WORDS;
use crate::counters::Counters;
use crate::memory::{Memory, Slot};

/// Finds the first of `N` lists, numbered from 0, that holds a chunk. A list that holds one is
/// called filled.
///
/// Only this crate implements it: the types of its methods are private.
pub trait Lookup<const N: usize>: Sized {
    /// Words of the table, which starts after nobody's words: an even number, or the last word that
    /// is used.
    #[doc(hidden)]
    const WORDS: usize;

    /// The word that is the head of list 0.
    #[doc(hidden)]
    const FIRST_HEAD: usize = NOBODYS_WORDS + Self::WORDS;

    /// Initialises the table: no list is filled.
    #[doc(hidden)]
    fn new(memory: &mut Memory<'_>) -> Self;

    /// The first filled list from `list` (less than `N`) on, or `N` if there is none.
    #[doc(hidden)]
    fn first_filled(&mut self, memory: &Memory<'_>, list: u32) -> u32;

    /// Notes that a chunk was put into a list; the list was empty before if `was_empty`.
    #[doc(hidden)]
    fn fill(&mut self, memory: &mut Memory<'_>, list: u32, was_empty: bool);

    /// Notes that a chunk was taken from a list; the list is empty now if `is_empty`.
    #[doc(hidden)]
    fn drain(&mut self, memory: &mut Memory<'_>, list: u32, is_empty: bool);

    /// Rebuilds the table from the heads of the lists in one pass.
    #[doc(hidden)]
    fn rebuild(&mut self, memory: &mut Memory<'_>);

    /// Verifies the table against the heads of the lists.
    #[doc(hidden)]
    fn check(&self, memory: &Memory<'_>) -> Result<(), Corruption>;

    /// Adds the lookup's own counts.
    #[doc(hidden)]
    fn count(&self, counters: &mut Counters);

    /// The head of a list.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    fn head(list: u32) -> Slot {
        Slot::new(Self::FIRST_HEAD + list as usize)
    }

    /// Whether the head of a list names a chunk.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    fn is_filled(memory: &Memory<'_>, list: u32) -> bool {
        memory.get(Self::head(list)) != 0
    }
}

/// Walks the heads of the lists: no table, but one visit for every empty list.
#[derive(Debug, Default)]
pub struct Scan {
    visits: u64,
}

impl<const N: usize> Lookup<N> for Scan {
    const WORDS: usize = 0;

    fn new(_memory: &mut Memory<'_>) -> Self {
        Self::default()
    }

    #[inline]
    fn first_filled(&mut self, memory: &Memory<'_>, list: u32) -> u32 {
        let mut filled = list;
        while filled < N as u32 && !<Self as Lookup<N>>::is_filled(memory, filled) {
            filled += 1;
        }
        // The heads that were examined: those of the empty lists, and that of the filled one, if
        // any.
        self.visits += u64::from(filled - list) + u64::from(filled < N as u32);
        filled
    }

    #[inline]
    fn fill(&mut self, _memory: &mut Memory<'_>, _list: u32, _was_empty: bool) {}

    #[inline]
    fn drain(&mut self, _memory: &mut Memory<'_>, _list: u32, _is_empty: bool) {}

    fn rebuild(&mut self, _memory: &mut Memory<'_>) {}

    fn check(&self, _memory: &Memory<'_>) -> Result<(), Corruption> {
        Ok(())
    }

    fn count(&self, counters: &mut Counters) {
        counters.visits += self.visits;
    }
}
