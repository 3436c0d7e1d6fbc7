//! What an index of free chunks must do for [`Heap`](crate::Heap).
#![deny(unsafe_code)]

use surefit_core::Corruption;

use crate::chunk::Chunk;
use crate::counters::Counters;
use crate::memory::Memory;
#[cfg(test)]
use crate::memory::Slot;
use crate::policy::When;

/// What an allocation needs: a size, and an alignment of the payload.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The size of the chunk, in granules.
    pub(crate) granules: u32,
    /// The alignment of the payload, in granules: a power of two.
    pub(crate) align: u32,
    /// The address of granule 0, in granules, modulo 2^32.
    pub(crate) phase: u32,
}

impl Need {
    /// A need of `granules` granules that may start at any granule.
    #[inline]
    pub(crate) const fn unaligned(granules: u32) -> Self {
        Self {
            granules,
            align: 1,
            phase: 0,
        }
    }

    /// Granules to leave free before an aligned chunk that is cut from this one: none, or at least
    /// a smallest chunk.
    #[inline]
    pub(crate) const fn lead(&self, chunk: Chunk) -> u32 {
        let misaligned = self.phase.wrapping_add(chunk.granule());
        match misaligned.wrapping_neg() & (self.align - 1) {
            1 => 1 + self.align,
            lead => lead,
        }
    }

    /// Whether a free chunk has room for the need and the lead before it.
    #[inline]
    pub(crate) const fn fits(&self, chunk: Chunk, granules: u32) -> bool {
        self.lead(chunk) as u64 + self.granules as u64 <= granules as u64
    }

    /// The smallest size at which every chunk fits, wherever it starts. The longest lead is
    /// `align + 1` granules.
    pub(crate) const fn anywhere(&self) -> u32 {
        if self.align == 1 {
            self.granules
        } else {
            self.granules + self.align + 1
        }
    }
}

impl Memory<'_> {
    /// Whether a free chunk has room for a need.
    #[inline]
    pub(crate) fn fits(&self, need: &Need, chunk: Chunk) -> bool {
        need.fits(chunk, self.header(chunk).granules())
    }
}

/// A data structure that stores the free chunks of a heap and finds one that fits.
///
/// Its table is in the first words of the region, and its links are inside the free chunks. Only
/// this crate implements it: the types of its methods are private.
pub trait Index: Sized {
    /// When the heap merges free neighbours.
    #[doc(hidden)]
    const COALESCING: When = When::Immediate;

    /// Whether the heap walks over all its chunks before it refuses an aligned need. `take_fitting`
    /// may have passed over chunks that fit only because of where they start.
    #[doc(hidden)]
    const IS_WALKED: bool = false;

    /// Whether the heap's code is short rather than fast in what few calls need, as on boards.
    #[doc(hidden)]
    const IS_SHORT: bool = false;

    /// Words of the table at the start of a region of `granules` granules.
    #[doc(hidden)]
    fn table_words(granules: u32) -> u32;

    /// The granules of the chunk that serves a need of this size: what the index assumes about
    /// sizes.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    fn rounded(granules: u32) -> u32 {
        granules
    }

    /// The granules that this index *finds* for an unaligned need of this size, rounded: if all
    /// free neighbours are merged, it misses no free chunk of so many or more. `None` if they never
    /// are.
    #[doc(hidden)]
    #[must_use]
    fn found(granules: u32) -> Option<u32> {
        Some(granules)
    }

    /// The granules of the largest need that a single free chunk of this size serves.
    #[doc(hidden)]
    #[must_use]
    fn largest(granules: u32) -> u32 {
        granules
    }

    /// Initialises the table: no chunk is free.
    #[doc(hidden)]
    fn new(memory: &mut Memory<'_>) -> Self;

    /// Inserts a free chunk, which is already tagged.
    #[doc(hidden)]
    fn insert(&mut self, memory: &mut Memory<'_>, chunk: Chunk, granules: u32);

    /// Removes a free chunk.
    #[doc(hidden)]
    fn remove(&mut self, memory: &mut Memory<'_>, chunk: Chunk);

    /// Removes all free chunks.
    #[doc(hidden)]
    fn clear(&mut self, memory: &mut Memory<'_>) {
        *self = Self::new(memory);
    }

    /// Inserts a free chunk, but leaves to `rebuild` what it can do at once for all of them.
    #[doc(hidden)]
    fn add(&mut self, memory: &mut Memory<'_>, chunk: Chunk, granules: u32) {
        self.insert(memory, chunk, granules);
    }

    /// Ends a series of `add`.
    #[doc(hidden)]
    fn rebuild(&mut self, _memory: &mut Memory<'_>) {}

    /// Adds the index's own counts.
    #[doc(hidden)]
    fn count(&self, _counters: &mut Counters) {}

    /// The words of a free chunk that the index uses, except the two links: for tests that corrupt
    /// each of them.
    #[cfg(test)]
    #[must_use]
    fn own_words(_memory: &Memory<'_>, _chunk: Chunk) -> impl Iterator<Item = Slot> {
        core::iter::empty()
    }

    /// Finds and removes a free chunk of at least this size without a search. `None` only means
    /// that `take_fitting` must be tried.
    #[doc(hidden)]
    fn take(&mut self, memory: &mut Memory<'_>, granules: u32) -> Option<Chunk>;

    /// Finds and removes a free chunk that fits; adds the number of examined chunks to `visits`. Of
    /// an unaligned need, `take` has just been tried.
    #[doc(hidden)]
    fn take_fitting(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk>;

    /// Verifies the table and the links. The heap's tags have been verified; `free_chunks` is their
    /// number.
    #[doc(hidden)]
    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption>;
}
