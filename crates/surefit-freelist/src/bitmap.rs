//! A bitmap of two levels: which lists hold a chunk, and which words of the bitmap are not zero.
//!
//! ```text
//! find(S):   the first bit from S on in its word; if there is none, the first bit of the next
//!            word that the summary names
//! table:     | bits of lists 0 to 63 | bits of lists 64 to 127 | ... |       eight bytes each
//! summary:   in the heap
//! ```
//!
//! # Invariants
//! - B1: the bit of a list is set if and only if the list holds a chunk; bits from N on are clear.
//! - B2: bit `w` of `summary` is set if and only if word `w` of the bits is not zero.
//!
//! # Bounds
//! All operations are O(1): a lookup reads at most two words and the summary; an update writes one
//! word and the summary. At most 4096 lists.
//!
//! # Source
//! The two levels of TLSF (Masmano et al. 2004), over size-ordered lists, instead of the Next Hit
//! Table.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::chunk::NOBODYS_WORDS;
use crate::counters::Counters;
use crate::lookup::Lookup;
use crate::memory::{GRANULE, Memory, WORD};

const BITS: u32 = u64::BITS;
const FIRST_WORD: usize = NOBODYS_WORDS * WORD / GRANULE;
const _: () = assert!(NOBODYS_WORDS * WORD % GRANULE == 0);

/// A two-level bitmap of the lists that hold a chunk: constant time, with no search and no table to
/// update.
#[derive(Debug, Default)]
pub struct Bitmap {
    /// Bit `w` says whether word `w` of the bits is not zero.
    summary: u64,
}

#[inline]
const fn word(list: u32) -> usize {
    FIRST_WORD + (list / BITS) as usize
}

impl<const N: usize> Lookup<N> for Bitmap {
    const WORDS: usize = {
        assert!(N <= (BITS * BITS) as usize);
        N.div_ceil(BITS as usize) * GRANULE / WORD
    };

    fn new(memory: &mut Memory<'_>) -> Self {
        for list in (0..N as u32).step_by(BITS as usize) {
            memory.set_granule(word(list), 0);
        }
        Self::default()
    }

    #[inline]
    fn first_filled(&mut self, memory: &Memory<'_>, list: u32) -> u32 {
        let filled = memory.get_granule(word(list)) & (u64::MAX << (list % BITS));
        if filled != 0 {
            return list / BITS * BITS + filled.trailing_zeros();
        }
        // Shifting by one more could shift by 64; this gives the same mask without that.
        let above = self.summary & ((u64::MAX - 1) << (list / BITS));
        if above == 0 {
            return N as u32;
        }
        let first = above.trailing_zeros() * BITS;
        first + memory.get_granule(word(first)).trailing_zeros()
    }

    /// Does not branch on whether the list was empty: that is hard to predict.
    #[inline]
    fn fill(&mut self, memory: &mut Memory<'_>, list: u32, _was_empty: bool) {
        let filled = memory.get_granule(word(list));
        if filled == 0 {
            self.summary |= 1 << (list / BITS);
        }
        memory.set_granule(word(list), filled | 1 << (list % BITS));
    }

    /// Does not branch on whether the list is empty: that is hard to predict.
    #[inline]
    fn drain(&mut self, memory: &mut Memory<'_>, list: u32, is_empty: bool) {
        let filled = memory.get_granule(word(list)) & !(u64::from(is_empty) << (list % BITS));
        memory.set_granule(word(list), filled);
        if filled == 0 {
            self.summary &= !(1 << (list / BITS));
        }
    }

    fn rebuild(&mut self, memory: &mut Memory<'_>) {
        self.summary = 0;
        for first in (0..N as u32).step_by(BITS as usize) {
            let filled = bits_of::<N>(memory, first);
            memory.set_granule(word(first), filled);
            self.summary |= u64::from(filled != 0) << (first / BITS);
        }
    }

    fn check(&self, memory: &Memory<'_>) -> Result<(), Corruption> {
        let mut summary = 0;
        for first in (0..N as u32).step_by(BITS as usize) {
            let filled = bits_of::<N>(memory, first);
            ensure(
                memory.get_granule(word(first)) == filled,
                "B1",
                "the bits do not show which lists hold chunks; first list",
                first as usize,
            )?;
            summary |= u64::from(filled != 0) << (first / BITS);
        }
        ensure(
            self.summary == summary,
            "B2",
            "the summary does not show which words of bits are not zero; bits that differ",
            (summary ^ self.summary) as usize,
        )
    }

    fn count(&self, _counters: &mut Counters) {}
}

/// The bits of 64 lists, starting with `first`, computed from the heads of the lists.
fn bits_of<const N: usize>(memory: &Memory<'_>, first: u32) -> u64 {
    (first..(first + BITS).min(N as u32))
        .filter(|&list| <Bitmap as Lookup<N>>::is_filled(memory, list))
        .fold(0, |filled, list| filled | 1 << (list % BITS))
}

#[cfg(test)]
impl Bitmap {
    pub(crate) fn flip_summary(&mut self, bit: u32) {
        self.summary ^= 1 << bit;
    }
}
