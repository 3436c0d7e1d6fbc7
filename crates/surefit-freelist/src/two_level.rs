//! Two-level segregated fit: the free chunks in many lists by size, found through two levels of
//! bitmaps.
//!
//! Without any search, a request must find a chunk that fits and that is hardly larger.
//!
//! ```text
//! list(n):     s = max(0, floor(log2 n) - 6);  list = 64 (s + 6) + (n >> s)    (words of 64 bits)
//!              s = floor(log2 n) - 5;          list = 32 (s + 5) + (n >> s)    (words of 32 bits;
//!                                              list = 128 + n below 128)
//! allocate(n): f = list(n - 1) + 1             every chunk of list f or above fits
//!              find the first list >= f that holds a chunk, in at most two words
//!              take its first chunk
//!              no such list: look at the first few chunks of list(n); some of them fit, others are
//!              a little too small
//!              cut n from the front of the chunk; the remainder goes to the front of its list
//! free(c):     merge with free neighbours; the merged chunk goes to the front of its list
//!
//! table:       | 2 numbers of nobody | words of bits: 26, or 28 of 32 bits | heads of lists |
//! ```
//! Sizes are in granules of 8 bytes. Below 128 granules (1 KiB) every list holds one size. Above,
//! each power of two is divided into 64 lists, so that a list's largest size is at most 1/64 above
//! its smallest. Where words have 32 bits, it is divided into 32 lists, and that is 1/32. There
//! are as many heads as the region needs. Numbers and heads have four bytes; a word is the
//! processor's.
//!
//! # Invariants
//! - T1: the bit of a list is set if and only if the list holds a chunk; bits after the lists are
//!   clear.
//! - T2: bit `w` of `summary` is set if and only if word `w` of the bits is not zero.
//! - T3: a list holds exactly the free chunks of its sizes, each once. L1 holds for every list.
//!
//! # Bounds
//! All operations are O(1). The only loop looks at [`LOOKED_AT`] chunks after a failed search. The
//! table takes 736 bytes for a region of 1 KiB and 256 more for every doubling: 3.2 KiB at 1 MiB,
//! 6.5 KiB at most. With words of 32 bits it takes 640 bytes and 128 more.
//!
//! # Departures
//! - The lists are numbered in one row, so that rounding the search up takes one subtraction and
//!   one addition. The upper level says which words of bits are not zero.
//! - 64 lists per power of two, or 32: as many as a word has bits. With 16, 32 and 64 lists, the
//!   smallest heap was 1.193, 1.128 and 1.106 times the live bytes on `varnish` (objects up to 16
//!   KiB), and 1.186, 1.172 and 1.167 times on `redis-drift`. 32 and 64 lists took the least time.
//! - After a failed search, the first chunks of the request's own list are examined. The original
//!   refuses a request even if a chunk of that list fits.
//! - Links are offsets, and a back-link names the word that names the chunk. So removal needs no
//!   list number.
//!
//! # Drawbacks
//! The worst-case fragmentation is about that of best fit: the largest request times the live
//! bytes. Alignments over 8 bytes take the slow path.
//!
//! # Source
//! Masmano, Ripoll, Crespo, Real: TLSF, a new dynamic memory allocator for real-time systems (ECRTS
//! 2004).
#![deny(unsafe_code)]

use core::ops::Range;
use core::sync::atomic::{Ordering, compiler_fence};

use surefit_core::{Corruption, ensure};

use crate::chunk::{Chunk, NOBODYS_WORDS};
use crate::index::{Index, Need};
use crate::list::check_list;
use crate::memory::{Memory, Slot, WORD};

/// The lists into which a power of two is divided, as a logarithm: as many as a word of the
/// processor has bits. 4, 5 and 6 were measured: see the departures.
const DIVISIONS_LOG2: u32 = usize::BITS.ilog2();
const _: () = assert!(usize::BITS >= u32::BITS, "a word of bits is 32 or 64");
const DIVISIONS: u32 = 1 << DIVISIONS_LOG2;
/// Below as many granules, each list has one size.
const LINEAR: u32 = 128;
/// The number of the list for zero granules. The numbers before it, which fill whole words, are not
/// used.
const FIRST_LIST: u32 = ((LINEAR.ilog2() + 1) << DIVISIONS_LOG2) - LINEAR;
const _: () = assert!(list_of(LINEAR) == FIRST_LIST + LINEAR);
/// Words of bits: enough for the lists of 2^30 granules, and one more for a rounded search.
const BIT_WORDS: u32 = u32::BITS - FIRST_LIST / usize::BITS;
const _: () = assert!(FIRST_LIST % usize::BITS == 0);
const _: () = assert!(list_of((1 << 30) - 1) + 1 < FIRST_LIST + BIT_WORDS * usize::BITS);
const _: () = assert!(FIRST_LIST / usize::BITS + BIT_WORDS <= u32::BITS);

/// The first word of bits, in words of the processor.
const FIRST_BITS: usize = NOBODYS_WORDS * WORD / size_of::<usize>();
const _: () = assert!(NOBODYS_WORDS * WORD % size_of::<usize>() == 0);
const FIRST_HEAD: usize = NOBODYS_WORDS + BIT_WORDS as usize * size_of::<usize>() / WORD;
/// Chunks that are examined after a failed search: the last attempt before a refusal.
const LOOKED_AT: usize = 16;

/// The list that holds free chunks of a size in granules (at least 1).
///
/// Most sizes are small and need no logarithm, which on some processors takes longer than all the
/// rest.
#[inline]
const fn list_of(granules: u32) -> u32 {
    if granules < LINEAR {
        return FIRST_LIST + granules;
    }
    let log2 = granules.ilog2();
    (log2 << DIVISIONS_LOG2) + (granules >> (log2 - DIVISIONS_LOG2))
}

#[inline]
const fn head(list: u32) -> Slot {
    Slot::new(FIRST_HEAD + list as usize - FIRST_LIST as usize)
}

/// The word that holds a list's bit; also the number of its bit in the summary.
#[inline]
const fn word_of(list: u32) -> u32 {
    list / usize::BITS
}

/// The place of a word of bits, in words of the processor.
#[inline]
const fn place(word: u32) -> usize {
    FIRST_BITS + word as usize - word_of(FIRST_LIST) as usize
}

/// A word of bits.
#[inline]
fn bits(memory: &Memory<'_>, word: u32) -> usize {
    #[cfg(target_pointer_width = "64")]
    return memory.get_granule(place(word)) as usize;
    #[cfg(not(target_pointer_width = "64"))]
    return memory.get(Slot::new(place(word))) as usize;
}

#[inline]
fn set_bits(memory: &mut Memory<'_>, word: u32, bits: usize) {
    #[cfg(target_pointer_width = "64")]
    memory.set_granule(place(word), bits as u64);
    #[cfg(not(target_pointer_width = "64"))]
    memory.set(Slot::new(place(word)), bits as u32);
}

/// The index of TLSF: its bits and the heads of its lists are in the region.
#[derive(Debug)]
pub struct TwoLevel {
    /// One after the last word of the table: a back-link below it names a head.
    table_end: u32,
    /// Bit `w` says whether word `w` of the bits is not zero.
    summary: u32,
}

impl TwoLevel {
    #[inline]
    fn mark_filled(&mut self, memory: &mut Memory<'_>, list: u32) {
        let word = word_of(list);
        let filled = bits(memory, word);
        // Where words have 32 bits, a branch takes as long as what it saves.
        if filled == 0 || cfg!(not(target_pointer_width = "64")) {
            self.summary |= 1 << word;
        }
        set_bits(memory, word, filled | 1 << (list % usize::BITS));
    }

    /// Has no branch: whether a list that lost a chunk is empty is hard to predict.
    #[inline]
    fn mark_empty_if(&mut self, memory: &mut Memory<'_>, list: u32, is_empty: bool) {
        let word = word_of(list);
        let filled = bits(memory, word) & !(usize::from(is_empty) << (list % usize::BITS));
        set_bits(memory, word, filled);
        if filled == 0 {
            self.summary &= !(1 << word);
        }
    }

    /// The first list from `list` on that holds a chunk.
    #[inline]
    fn first_filled(&self, memory: &Memory<'_>, list: u32) -> Option<u32> {
        let word = word_of(list);
        let filled = bits(memory, word) >> (list % usize::BITS);
        if filled != 0 {
            return Some(list + filled.trailing_zeros());
        }
        // Shifting by `word + 1` could shift by 32; this gives the same mask without that.
        let above = self.summary & ((u32::MAX - 1) << word);
        if above == 0 {
            return None;
        }
        let word = above.trailing_zeros();
        Some(word * usize::BITS + bits(memory, word).trailing_zeros())
    }

    /// Takes the first chunk of a list whose bit says that it holds one (T1).
    #[inline]
    fn pop(&mut self, memory: &mut Memory<'_>, list: u32) -> Chunk {
        if cfg!(not(target_pointer_width = "64")) {
            let chunk = Chunk::at(memory.get(head(list)));
            self.remove(memory, chunk);
            return chunk;
        }
        let (chunk, next) = memory.unlink_at(head(list));
        self.mark_empty_if(memory, list, next.is_none());
        chunk
    }

    /// Takes the first chunk of the first list that holds one as long as an aligned need, or else
    /// of the first in which every chunk fits.
    fn take_aligned(
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
            let filled = self.first_filled(memory, list_of(granules - 1) + 1);
            let first = filled.and_then(|list| memory.linked(head(list)));
            if let Some(chunk) = first.filter(|&chunk| memory.fits(need, chunk)) {
                self.remove(memory, chunk);
                return Some(chunk);
            }
        }
        None
    }

    /// Takes the first chunk that fits among the first few in the list of the request's own size.
    #[cfg_attr(not(target_pointer_width = "64"), inline(always))]
    fn take_from_own(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk> {
        let mut link = head(list_of(need.granules));
        for _ in 0..LOOKED_AT {
            let chunk = memory.linked(link)?;
            *visits += 1;
            if memory.fits(need, chunk) {
                self.remove(memory, chunk);
                return Some(chunk);
            }
            link = chunk.next();
        }
        None
    }

    /// Verifies T1 and T2.
    fn check_bitmaps(&self, memory: &Memory<'_>, lists: &Range<u32>) -> Result<(), Corruption> {
        let mut summary = 0;
        for word in word_of(FIRST_LIST)..word_of(FIRST_LIST) + BIT_WORDS {
            let is_filled = |&list: &u32| lists.contains(&list) && memory.get(head(list)) != 0;
            let filled = (word * usize::BITS..(word + 1) * usize::BITS)
                .filter(is_filled)
                .fold(0, |filled, list| filled | 1 << (list % usize::BITS));
            ensure(
                bits(memory, word) == filled,
                "T1",
                "the bits do not show which lists hold chunks; word",
                place(word),
            )?;
            summary |= u32::from(filled != 0) << word;
        }
        ensure(
            self.summary == summary,
            "T2",
            "the summary does not show which words of bits are not zero; bits that differ",
            (summary ^ self.summary) as usize,
        )
    }
}

impl Index for TwoLevel {
    const IS_SHORT: bool = cfg!(not(target_pointer_width = "64"));

    /// A list's largest size is at most one part of [`DIVISIONS`] above its smallest.
    fn found(granules: u32) -> Option<u32> {
        match granules < LINEAR {
            true => Some(granules),
            false => granules.checked_add(granules.div_ceil(DIVISIONS)),
        }
    }

    fn table_words(granules: u32) -> u32 {
        head(list_of(granules.max(1))).number() + 1
    }

    fn new(memory: &mut Memory<'_>) -> Self {
        let table_end = Self::table_words(memory.granules());
        for word in 0..table_end {
            memory.set(Slot::new(word as usize), 0);
            if cfg!(target_os = "none") {
                // On a board without a system's library the compiler else takes one of its own.
                compiler_fence(Ordering::SeqCst);
            }
        }
        Self {
            table_end,
            summary: 0,
        }
    }

    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn insert(&mut self, memory: &mut Memory<'_>, chunk: Chunk, granules: u32) {
        let list = list_of(granules);
        memory.link(head(list), chunk);
        self.mark_filled(memory, list);
    }

    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), inline(never))]
    fn remove(&mut self, memory: &mut Memory<'_>, chunk: Chunk) {
        let (back, next) = memory.unlink(chunk);
        if next.is_none() && back.number() < self.table_end {
            self.mark_empty_if(memory, back.number() - FIRST_HEAD as u32 + FIRST_LIST, true);
        }
    }

    #[inline]
    fn take(&mut self, memory: &mut Memory<'_>, granules: u32) -> Option<Chunk> {
        let list = self.first_filled(memory, list_of(granules - 1) + 1)?;
        Some(self.pop(memory, list))
    }

    #[cfg_attr(not(target_pointer_width = "64"), inline(always))]
    fn take_fitting(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk> {
        // For an unaligned need, `take` has just done so.
        let aligned = match need.align > 1 {
            true => self.take_aligned(memory, need, visits),
            false => None,
        };
        aligned.or_else(|| self.take_from_own(memory, need, visits))
    }

    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        let lists = FIRST_LIST..FIRST_LIST + self.table_end - FIRST_HEAD as u32;
        let mut listed = 0;
        for list in lists.clone() {
            let left = free_chunks - listed;
            listed += check_list(memory, head(list), left, |n| list_of(n) == list)?.0;
        }
        ensure(
            listed == free_chunks,
            "T3",
            "free chunks are missing from the lists; chunks in them",
            listed,
        )?;
        self.check_bitmaps(memory, &lists)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl TwoLevel {
        pub(crate) fn flip_summary(&mut self, bit: u32) {
            self.summary ^= 1 << bit;
        }
    }

    #[test]
    fn every_chunk_of_the_lists_searched_fits() {
        for granules in 2..200_000 {
            let searched = list_of(granules - 1) + 1;
            assert!(list_of(granules) <= searched);
            assert!(list_of(granules - 1) < searched, "{granules}: none smaller");
            assert!(
                list_of(granules) >= list_of(granules - 1),
                "lists grow with sizes"
            );
        }
    }

    #[test]
    fn rounding_a_search_costs_at_most_one_division() {
        for granules in 2..200_000_u32 {
            let ample = granules + granules / DIVISIONS + 1;
            assert!(list_of(ample) > list_of(granules - 1));
        }
    }

    #[test]
    fn small_sizes_have_lists_of_their_own() {
        for granules in 1..LINEAR {
            assert_eq!(list_of(granules), FIRST_LIST + granules);
        }
    }
}
