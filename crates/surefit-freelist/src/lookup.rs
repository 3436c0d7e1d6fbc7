//! How the first list that holds a chunk is found, from a given list on: the parameter of segregated lists.
//!
//! ```text
//!                 find a list     a list fills or empties    words
//! Scan            walks heads     nothing                    0
//! NextHitTable    one entry       entries below, to N        (N + 1) / 4, or / 2 from N = 256 on
//! Bitmap          two words       one or two words           2 N / 64
//! ```
//! The words lie before the heads of the lists, so that a lookup knows where both are.
//!
//! # Source
//! The thesis on free-list organisation: the search through the lists, and the Next Hit Table in its place.
#![deny(unsafe_code)]

use surefit_core::Corruption;

use crate::chunk::NOBODYS_WORDS;
use crate::heap::Counters;
use crate::memory::{Memory, Slot};

/// Finds the first of `N` lists, numbered from 0, that holds a chunk. A list that does is called filled.
///
/// Only this crate implements it: the types of its methods are private.
pub trait Lookup<const N: usize>: Sized {
    /// Words of the table, an even number or the last that is used; it starts behind nobody's words.
    #[doc(hidden)]
    const WORDS: usize;

    /// The word that is the head of list 0.
    #[doc(hidden)]
    const FIRST_HEAD: usize = NOBODYS_WORDS + Self::WORDS;

    /// Initialises the table: no list is filled.
    #[doc(hidden)]
    fn new(memory: &mut Memory<'_>) -> Self;

    /// The first filled list from `list` (less than `N`) on, or `N`.
    #[doc(hidden)]
    fn first_filled(&mut self, memory: &Memory<'_>, list: u32) -> u32;

    /// A chunk was put into a list, which held none before if `was_empty`.
    #[doc(hidden)]
    fn fill(&mut self, memory: &mut Memory<'_>, list: u32, was_empty: bool);

    /// A chunk was taken from a list, which holds none any more if `is_empty`.
    #[doc(hidden)]
    fn drain(&mut self, memory: &mut Memory<'_>, list: u32, is_empty: bool);

    /// Makes the table anew from the heads of the lists, in one pass.
    #[doc(hidden)]
    fn rebuild(&mut self, memory: &mut Memory<'_>);

    /// Verifies the table by the heads of the lists.
    #[doc(hidden)]
    fn check(&self, memory: &Memory<'_>) -> Result<(), Corruption>;

    /// Adds what was counted.
    #[doc(hidden)]
    fn count(&self, counters: &mut Counters);

    /// The head of a list.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    fn head(list: u32) -> Slot {
        Slot::new(Self::FIRST_HEAD + list as usize)
    }

    /// Whether a list holds a chunk, from its head.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    fn is_filled(memory: &Memory<'_>, list: u32) -> bool {
        memory.get(Self::head(list)) != 0
    }
}

/// Walks the heads of the lists: no table, but a visit for every empty list.
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
        // The heads looked at: those of the empty lists, and of the filled one if there is one.
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
