//! DL's bins, as Doug Lea's malloc had them up to version 2.7: exact bins for small chunks, bins
//! sorted by size for large ones, and a queue of chunks that no bin holds yet.
//!
//! ```text
//! bins         64 of 8 bytes | 32 of 64 | 16 of 512 | 8 of 4096 | 4 of 32768 | 2 of 262144 | rest
//!              a bin of 8 bytes holds one size; the other bins are sorted, the smallest first
//! queue        chunks that became free since the last search, the oldest first
//!
//! allocate(n): take the newest chunk of n's bin, if that bin holds one size and is not empty
//!              else sort the queue: each chunk goes to its bin, but an exact fit ends the search
//!              else take the first chunk that fits, from n's bin on: the best fit
//!              cut n from its front; the remainder enters the queue
//! free(c):     merge with free neighbours; the merged chunk enters the queue
//!
//! table:       | 2 words of nobody | bits of the bins | heads of the bins | head of the queue |
//! ```
//! This is the DL that the slides on Compact-fit place beside first fit and best fit: a chunk that
//! becomes free waits, so `free` takes constant time, and the next allocation pays for it.
//!
//! # Invariants
//! - Q1: a bin holds only free chunks of its sizes; bins and queue hold every free chunk once. L1
//!   holds for all of them.
//! - Q2: the sizes in a bin do not fall from its head to its end.
//! - Q3: `tail` is the link that ends the queue.
//! - B1 and B2 hold for the bits.
//!
//! # Bounds
//! `free` is O(1). `allocate` sorts every chunk that became free since the last search. Each of
//! them is compared with the chunks of its bin, so one allocation is at worst quadratic in the free
//! chunks. A search alone is linear in the chunks of the request's bin.
//!
//! # Departures
//! - No fast bins: every free merges at once, as in 2.7 without them. No remainder and no top chunk
//!   have a place of their own: the largest chunk is the last choice of a best fit anyway.
//! - Of equal sizes the newest is taken, not the oldest. So chunks of one size never have to be
//!   passed when one more is sorted in.
//!
//! # Source
//! Doug Lea's malloc 2.7.0 (2001), bins and unsorted chunks; the slides on Compact-fit, systems by
//! time and space.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::bitmap::Bitmap;
use crate::chunk::Chunk;
use crate::counters::Counters;
use crate::index::{Index, Need};
use crate::list::check_list;
use crate::lookup::Lookup;
use crate::memory::{Memory, Slot};

/// The number of bins.
const BINS: usize = 127;

/// Bins of equal widths: the least size of the first of them and the binary logarithm of their
/// width, both in granules, and the number of the first.
const ROWS: [(u32, u32, u32); 7] = [
    (87_360, u32::BITS - 1, 126),
    (21_824, 15, 124),
    (5440, 12, 120),
    (1344, 9, 112),
    (320, 6, 96),
    (EXACT, 3, 64),
    (0, 0, 0),
];

/// From this size on, in granules, a bin holds several sizes.
const EXACT: u32 = 64;

const QUEUE: Slot = Slot::new(<Bitmap as Lookup<BINS>>::FIRST_HEAD + BINS);

/// The index of [`BinnedFit`](crate::BinnedFit): DL's bins and the queue before them.
#[derive(Debug)]
pub struct Bins {
    filled: Bitmap,
    /// The link that ends the queue.
    tail: Slot,
    /// Chunks that `take` looked at.
    visits: u64,
}

fn head(bin: u32) -> Slot {
    <Bitmap as Lookup<BINS>>::head(bin)
}

/// The bin of a size in granules.
pub(crate) fn bin_of(granules: u32) -> u32 {
    let row = ROWS.iter().find(|(least, ..)| *least <= granules);
    row.map_or(0, |(least, width, first)| {
        first + ((granules - least) >> width)
    })
}

impl Bins {
    fn fill(&mut self, memory: &mut Memory<'_>, bin: u32, was_empty: bool) {
        Lookup::<BINS>::fill(&mut self.filled, memory, bin, was_empty);
    }

    fn drain(&mut self, memory: &mut Memory<'_>, bin: u32, is_empty: bool) {
        Lookup::<BINS>::drain(&mut self.filled, memory, bin, is_empty);
    }

    /// Takes the oldest chunk of the queue.
    fn pop_queue(&mut self, memory: &mut Memory<'_>) -> Option<Chunk> {
        memory.linked(QUEUE)?;
        let (chunk, next) = memory.unlink_at(QUEUE);
        if next.is_none() {
            self.tail = QUEUE;
        }
        Some(chunk)
    }

    /// Inserts a chunk into its bin, before the first that is not smaller.
    fn sort(&mut self, memory: &mut Memory<'_>, chunk: Chunk, granules: u32, visits: &mut u64) {
        let bin = bin_of(granules);
        let mut link = head(bin);
        if granules >= EXACT {
            while let Some(next) = memory.linked(link) {
                *visits += 1;
                if memory.header(next).granules() >= granules {
                    break;
                }
                link = next.next();
            }
        }
        let following = memory.link(link, chunk);
        self.fill(memory, bin, following.is_none() && link == head(bin));
    }

    /// Sorts the queue, up to a chunk that fits a need exactly; takes that chunk.
    fn sort_queue(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk> {
        while let Some(chunk) = self.pop_queue(memory) {
            *visits += 1;
            let granules = memory.header(chunk).granules();
            if granules == need.granules && need.fits(chunk, granules) {
                return Some(chunk);
            }
            self.sort(memory, chunk, granules, visits);
        }
        None
    }

    /// The first chunk of the bins that fits, from the need's bin on.
    fn search(&mut self, memory: &mut Memory<'_>, need: &Need, visits: &mut u64) -> Option<Chunk> {
        let mut bin = bin_of(need.granules);
        while bin < BINS as u32 {
            bin = Lookup::<BINS>::first_filled(&mut self.filled, memory, bin);
            if bin == BINS as u32 {
                break;
            }
            let mut link = head(bin);
            while let Some(chunk) = memory.linked(link) {
                *visits += 1;
                if memory.fits(need, chunk) {
                    return Some(chunk);
                }
                link = chunk.next();
            }
            bin += 1;
        }
        None
    }

    /// Verifies Q1 and Q2 for one bin; returns how many chunks it holds, at most `most`.
    fn check_bin(memory: &Memory<'_>, bin: u32, most: usize) -> Result<usize, Corruption> {
        let listed = check_list(memory, head(bin), most, |granules| bin_of(granules) == bin)?.0;
        let (mut link, mut least) = (head(bin), 0);
        while let Some(chunk) = memory.linked(link) {
            let granules = memory.header(chunk).granules();
            let at = link.number() as usize;
            ensure(granules >= least, "Q2", "the bin is not sorted; word", at)?;
            least = granules;
            link = chunk.next();
        }
        Ok(listed)
    }
}

impl Index for Bins {
    fn table_words(_granules: u32) -> u32 {
        QUEUE.number() + 1
    }

    fn new(memory: &mut Memory<'_>) -> Self {
        (0..BINS as u32).for_each(|bin| memory.set(head(bin), 0));
        memory.set(QUEUE, 0);
        Self {
            filled: <Bitmap as Lookup<BINS>>::new(memory),
            tail: QUEUE,
            visits: 0,
        }
    }

    fn clear(&mut self, memory: &mut Memory<'_>) {
        let visits = self.visits;
        *self = Self {
            visits,
            ..Self::new(memory)
        };
    }

    #[inline]
    fn insert(&mut self, memory: &mut Memory<'_>, chunk: Chunk, _granules: u32) {
        memory.link(self.tail, chunk);
        self.tail = chunk.next();
    }

    #[inline]
    fn remove(&mut self, memory: &mut Memory<'_>, chunk: Chunk) {
        let bin = bin_of(memory.header(chunk).granules());
        let (back, next) = memory.unlink(chunk);
        if self.tail == chunk.next() {
            self.tail = back;
        }
        self.drain(memory, bin, next.is_none() && back == head(bin));
    }

    fn count(&self, counters: &mut Counters) {
        counters.visits += self.visits;
    }

    /// The newest chunk of exactly this size, if the bin of this size holds no other sizes.
    #[inline]
    fn take(&mut self, memory: &mut Memory<'_>, granules: u32) -> Option<Chunk> {
        if granules >= EXACT {
            return None;
        }
        let chunk = memory.linked(head(granules))?;
        self.visits += 1;
        self.remove(memory, chunk);
        Some(chunk)
    }

    fn take_fitting(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk> {
        let exact = self.sort_queue(memory, need, visits);
        exact.or_else(|| {
            let chunk = self.search(memory, need, visits)?;
            self.remove(memory, chunk);
            Some(chunk)
        })
    }

    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        let mut listed = 0;
        for bin in 0..BINS as u32 {
            listed += Self::check_bin(memory, bin, free_chunks - listed)?;
        }
        let (queued, end) = check_list(memory, QUEUE, free_chunks - listed, |_| true)?;
        ensure(
            listed + queued == free_chunks,
            "Q1",
            "free chunks are missing from the bins and the queue; chunks in them",
            listed + queued,
        )?;
        ensure(
            end == self.tail,
            "Q3",
            "the queue does not end where the tail says; word",
            end.number() as usize,
        )?;
        Lookup::<BINS>::check(&self.filled, memory)
    }
}

#[cfg(test)]
impl Bins {
    pub(crate) fn set_tail(&mut self, tail: Slot) -> Slot {
        core::mem::replace(&mut self.tail, tail)
    }
}
