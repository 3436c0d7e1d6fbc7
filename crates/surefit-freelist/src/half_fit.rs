//! Half-fit: one list per power of two, found through one bitmap, and never a search.
//!
//! ```text
//! list i       holds the free chunks of 2^i to 2^(i+1) - 1 granules
//! allocate(n): i = ceil(log2 n)                every chunk of list i or above fits
//!              take the first chunk of the first list >= i that holds one, cut n from its front
//!              the remainder r goes to list floor(log2 r)
//! free(c):     merge with free neighbours; the merged chunk of n granules goes to list
//!              floor(log2 n)
//!
//! table:       | 2 words of nobody | bits of the lists | heads of lists 0 to 29 |
//! ```
//! The request is rounded up for the *search* only: the chunk that is handed out has the requested
//! size.
//!
//! # Invariants
//! - P1: bit i is set if and only if list i holds a chunk; the bits from 30 upwards are clear.
//! - P2: list i holds exactly the free chunks of its sizes, each once. L1 holds for every list.
//!
//! # Bounds
//! All operations are O(1), without a search. In the worst case, M live bytes in requests of up to
//! n bytes need a heap of 2 M (1 + ceil(log2 n)).
//!
//! # Drawbacks
//! "Incomplete memory use": a chunk of n granules or more in the list below i is not considered, so
//! a request may be refused although a chunk fits. For this reason the largest request is a power
//! of two of granules. An aligned request tries one chunk of the first list for its size; then it
//! searches for its size, the alignment and 8 bytes more.
//!
//! # Source
//! Ogasawara: An algorithm with constant execution time for dynamic storage allocation (RTCSA
//! 1995).
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::chunk::{Chunk, NOBODYS_WORDS};
use crate::index::{Index, Need};
use crate::list::check_list;
use crate::memory::{Memory, Slot};

/// Lists of sizes below 2^30 granules.
const LISTS: u32 = 30;
const BITS: Slot = Slot::new(NOBODYS_WORDS);
const FIRST_HEAD: usize = NOBODYS_WORDS + 1;

/// The index of Half-fit: one list per power of two.
#[derive(Debug)]
pub struct PowersOfTwo(());

#[inline]
const fn head(list: u32) -> Slot {
    Slot::new(FIRST_HEAD + list as usize)
}

/// The list that holds free chunks of a size in granules (at least 1).
#[inline]
const fn list_of(granules: u32) -> u32 {
    granules.ilog2()
}

/// The first list in which every chunk has at least a size in granules (at least 2).
#[inline]
const fn list_for(granules: u32) -> u32 {
    list_of(granules - 1) + 1
}

impl PowersOfTwo {
    /// The first list that holds a chunk and whose chunks all have at least a size.
    #[inline]
    fn first_filled(memory: &Memory<'_>, granules: u32) -> Option<u32> {
        let filled = memory.get(BITS) & (u32::MAX << list_for(granules));
        (filled != 0).then(|| filled.trailing_zeros())
    }

    /// Does not branch on whether the list is empty: that is hard to predict.
    #[inline]
    fn mark_empty_if(memory: &mut Memory<'_>, list: u32, is_empty: bool) {
        let filled = memory.get(BITS);
        memory.set(BITS, filled & !(u32::from(is_empty) << list));
    }

    /// Takes the first chunk of a list whose bit says that it holds one (P1).
    #[inline]
    fn pop(memory: &mut Memory<'_>, list: u32) -> Chunk {
        let (chunk, next) = memory.unlink_at(head(list));
        Self::mark_empty_if(memory, list, next.is_none());
        chunk
    }
}

impl Index for PowersOfTwo {
    fn table_words(_granules: u32) -> u32 {
        head(LISTS).number()
    }

    /// A power of two: the list of a single chunk guarantees no more than that.
    fn found(granules: u32) -> Option<u32> {
        granules.checked_next_power_of_two()
    }

    fn largest(granules: u32) -> u32 {
        1 << granules.ilog2()
    }

    fn new(memory: &mut Memory<'_>) -> Self {
        memory.set(BITS, 0);
        (0..LISTS).for_each(|list| memory.set(head(list), 0));
        Self(())
    }

    #[inline]
    fn insert(&mut self, memory: &mut Memory<'_>, chunk: Chunk, granules: u32) {
        let list = list_of(granules);
        memory.link(head(list), chunk);
        let filled = memory.get(BITS);
        memory.set(BITS, filled | 1 << list);
    }

    #[inline]
    fn remove(&mut self, memory: &mut Memory<'_>, chunk: Chunk) {
        let (back, next) = memory.unlink(chunk);
        if next.is_none() && back.number() < head(LISTS).number() {
            Self::mark_empty_if(memory, back.number() - head(0).number(), true);
        }
    }

    #[inline]
    fn take(&mut self, memory: &mut Memory<'_>, granules: u32) -> Option<Chunk> {
        Self::first_filled(memory, granules).map(|list| Self::pop(memory, list))
    }

    /// Only aligned requests have a second chance: a list whose chunks fit wherever they start.
    fn take_fitting(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk> {
        for granules in [need.granules, need.anywhere()] {
            if granules >= memory.granules() {
                break;
            }
            *visits += 1;
            let list = Self::first_filled(memory, granules)?;
            if memory.fits(need, Chunk::at(memory.get(head(list)))) {
                return Some(Self::pop(memory, list));
            }
        }
        None
    }

    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        let (mut listed, mut filled) = (0, 0);
        for list in 0..LISTS {
            let left = free_chunks - listed;
            let belongs = |granules: u32| granules.checked_ilog2() == Some(list);
            let chunks = check_list(memory, head(list), left, belongs)?.0;
            filled |= u32::from(chunks > 0) << list;
            listed += chunks;
        }
        ensure(
            listed == free_chunks,
            "P2",
            "free chunks are missing from the lists; chunks in them",
            listed,
        )?;
        ensure(
            memory.get(BITS) == filled,
            "P1",
            "the bits do not show which lists hold chunks; bits that differ",
            (memory.get(BITS) ^ filled) as usize,
        )
    }
}
