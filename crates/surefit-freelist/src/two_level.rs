//! Two-level segregated fit: the free chunks in many lists by size, found through two levels of bitmaps.
//!
//! A request must find a chunk that fits, and almost none that is larger, without any search.
//!
//! ```text
//! list(n):     s = max(0, floor(log2 n) - 5);  list = 32 s + (n >> s)
//! allocate(n): f = list(n - 1) + 1             every chunk of list f or above fits
//!              find the first list >= f that holds a chunk: at most two bitmap words; take its first chunk
//!              none: look at the first few chunks of list(n), which holds chunks a little too small and some that fit
//!              cut n from the front of the chunk; the remainder goes to the front of its list
//! free(c):     merge with free neighbours; the merged chunk goes to the front of its list
//!
//! table   | summary | 27 words of bits | heads of the lists ...
//! ```
//! Sizes are in granules of 8 bytes. Below 64 granules every list holds one size; above, a power of two is divided into
//! 32 lists, so that a list's largest size is at most 1/32 above its smallest.
//!
//! # Invariants
//! - T1: bit `i` of the bits is set if and only if list `i` holds a chunk; bits beyond the lists are clear.
//! - T2: bit `w` of the summary is set if and only if word `w` of the bits is not zero.
//! - T3: list `i` holds exactly the free chunks of size n with `list(n) = i`, each once. L1 holds for every list.
//!
//! # Bounds
//! All operations O(1); no loop but the look at [`LOOKED_AT`] chunks after a failed search. Table: at most 3.4 KiB.
//!
//! # Departures
//! - The lists are numbered in one row, so that the rounded search is one subtraction and one addition; the words of the
//!   bitmap take 32 lists each and need not begin at a power of two.
//! - Before a request of 64 granules or more goes up to the next list, the first chunk of its own list is tried, and
//!   after a failed search the first few: the original may refuse a request although a chunk fits.
//! - Headers of four bytes; region offsets for links; a chunk's back-link names the word that names it.
//!
//! # Drawbacks
//! The worst-case fragmentation is about that of best fit: the largest request times the live bytes.
//!
//! # Source
//! Masmano, Ripoll, Crespo, Real: TLSF, a new dynamic memory allocator for real-time systems (ECRTS 2004).
#![deny(unsafe_code)]

use surefit_core::Corruption;

use crate::chunk::Chunk;
use crate::index::{Index, Need};
use crate::list::check_list;
use crate::memory::{Memory, Slot};

/// Lists a power of two is divided into, as a logarithm: 32, so that rounding a search up costs at most 1/32.
const DIVISIONS_LOG2: u32 = 5;
const DIVISIONS: u32 = 1 << DIVISIONS_LOG2;
/// Words of bits: enough for the lists of 2^30 granules, (30 - 5) * 32 + 32 and one for a rounded search.
const BIT_WORDS: u32 = 27;
const _: () = assert!(list_of((1 << 30) - 1) + 1 < BIT_WORDS * u32::BITS && BIT_WORDS <= u32::BITS);

const SUMMARY: Slot = Slot::new(0);
const FIRST_BITS: usize = 1;
const FIRST_HEAD: usize = FIRST_BITS + BIT_WORDS as usize;
/// Chunks that are looked at when a search failed; the last chance before a refusal.
const LOOKED_AT: usize = 16;

/// The list that holds free chunks of a size in granules (at least 1).
#[inline]
const fn list_of(granules: u32) -> u32 {
    let shift = (granules | DIVISIONS).ilog2() - DIVISIONS_LOG2;
    (shift << DIVISIONS_LOG2) + (granules >> shift)
}

#[inline]
const fn head(list: u32) -> Slot {
    Slot::new(FIRST_HEAD + list as usize)
}

#[inline]
const fn bits_of(list: u32) -> Slot {
    Slot::new(FIRST_BITS + (list / u32::BITS) as usize)
}

/// The index of TLSF. All its state is in the region.
#[derive(Debug)]
pub struct TwoLevel {
    /// One past the last word of the table: a back-link below it names a head.
    table_end: u32,
}

impl TwoLevel {
    #[inline]
    fn mark_filled(memory: &mut Memory<'_>, list: u32) {
        let bits = memory.get(bits_of(list));
        memory.set(bits_of(list), bits | 1 << (list % u32::BITS));
        let summary = memory.get(SUMMARY);
        memory.set(SUMMARY, summary | 1 << (list / u32::BITS));
    }

    #[inline]
    fn mark_empty(memory: &mut Memory<'_>, list: u32) {
        let bits = memory.get(bits_of(list)) & !(1 << (list % u32::BITS));
        memory.set(bits_of(list), bits);
        if bits == 0 {
            let summary = memory.get(SUMMARY);
            memory.set(SUMMARY, summary & !(1 << (list / u32::BITS)));
        }
    }

    /// The first list from `list` on that holds a chunk.
    #[inline]
    fn first_filled(memory: &Memory<'_>, list: u32) -> Option<u32> {
        let word = list / u32::BITS;
        let bits = memory.get(bits_of(list)) & (u32::MAX << (list % u32::BITS));
        if bits != 0 {
            return Some(word * u32::BITS + bits.trailing_zeros());
        }
        // A shift by `word + 1` could be one by 32; this is the same mask without it.
        let above = memory.get(SUMMARY) & ((u32::MAX - 1) << word);
        if above == 0 {
            return None;
        }
        let word = above.trailing_zeros();
        let bits = memory.get(Slot::new(FIRST_BITS + word as usize));
        Some(word * u32::BITS + bits.trailing_zeros())
    }

    /// Takes the first chunk of a list that holds one, as its bit says (T1).
    #[inline]
    fn pop(memory: &mut Memory<'_>, list: u32) -> Chunk {
        let chunk = Chunk::at(memory.get(head(list)));
        let next = memory.linked(chunk.next());
        memory.join(head(list), next);
        if next.is_none() {
            Self::mark_empty(memory, list);
        }
        chunk
    }

    /// Takes the first chunk that fits among the first few of the list of the size itself.
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
}

impl Index for TwoLevel {
    fn table_words(granules: u32) -> u32 {
        FIRST_HEAD as u32 + list_of(granules.max(1)) + 1
    }

    fn new(memory: &mut Memory<'_>) -> Self {
        let table_end = Self::table_words(memory.granules());
        for word in 0..table_end {
            memory.set(Slot::new(word as usize), 0);
        }
        Self { table_end }
    }

    #[inline]
    fn insert(&mut self, memory: &mut Memory<'_>, chunk: Chunk, granules: u32) {
        let list = list_of(granules);
        if memory.link(head(list), chunk).is_none() {
            Self::mark_filled(memory, list);
        }
    }

    #[inline]
    fn remove(&mut self, memory: &mut Memory<'_>, chunk: Chunk) {
        let (back, next) = (memory.back(chunk), memory.linked(chunk.next()));
        memory.join(back, next);
        if next.is_none() && back.number() < self.table_end {
            Self::mark_empty(memory, back.number() - FIRST_HEAD as u32);
        }
    }

    #[inline]
    fn take(&mut self, memory: &mut Memory<'_>, granules: u32) -> Option<Chunk> {
        let list = Self::first_filled(memory, list_of(granules - 1) + 1)?;
        Some(Self::pop(memory, list))
    }

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
            let filled = Self::first_filled(memory, list_of(granules - 1) + 1);
            let first = filled.and_then(|list| memory.linked(head(list)));
            if let Some(chunk) = first.filter(|&chunk| memory.fits(need, chunk)) {
                self.remove(memory, chunk);
                return Some(chunk);
            }
        }
        self.take_from_own(memory, need, visits)
    }

    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        let lists = self.table_end - FIRST_HEAD as u32;
        let mut listed = 0;
        for list in 0..lists {
            let left = free_chunks - listed;
            listed += check_list(memory, head(list), left, |n| list_of(n) == list)?.0;
        }
        if listed != free_chunks {
            return Err(Corruption {
                invariant: "T3",
                what: "free chunks are missing from the lists; so many are in them",
                at: listed,
            });
        }
        check_bitmaps(memory, lists)
    }
}

/// Verifies T1 and T2.
fn check_bitmaps(memory: &Memory<'_>, lists: u32) -> Result<(), Corruption> {
    for word in 0..u32::BITS {
        let bits = if word < BIT_WORDS {
            memory.get(bits_of(word * u32::BITS))
        } else {
            0
        };
        for bit in 0..u32::BITS {
            let list = word * u32::BITS + bit;
            let is_filled = list < lists && memory.get(head(list)) != 0;
            if (bits >> bit & 1 != 0) != is_filled {
                return Err(Corruption {
                    invariant: "T1",
                    what: "the bit of a list does not tell whether it holds a chunk; list",
                    at: list as usize,
                });
            }
        }
        if (memory.get(SUMMARY) >> word & 1 != 0) != (bits != 0) {
            return Err(Corruption {
                invariant: "T2",
                what: "the summary does not tell whether a word of bits is zero; word",
                at: word as usize,
            });
        }
    }
    Ok(())
}
