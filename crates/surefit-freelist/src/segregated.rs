//! Size-ordered segregated lists: one list per small size, and one last list for all larger chunks.
//!
//! ```text
//! unit:        8 or 16 bytes; a request takes whole units, header included
//! list i < N   holds the free chunks of i units
//! list N       holds all larger ones: the last list
//!
//! allocate(S): F = first list from S on that holds a chunk      Lookup: Scan, NextHitTable, Bitmap
//!              F < N: take its newest chunk
//!              F = N: best fit of the last list                 LastList: Tree, Linear
//!              cut S from its front; the remainder R goes to the front of list R
//! free(c):     merge as Coalescing says: Never, Deferred, Immediate
//!              the chunk goes to the front of its list
//!
//! table:       | 2 words of nobody | table of the lookup | heads of lists 0 to N - 1 | last list |
//! ```
//! Lists for sizes below the smallest chunk (0, and 1 if the unit is 8 bytes) stay empty, as in the
//! thesis.
//!
//! # Invariants
//! - E1: list i < N holds exactly the free chunks of i units, and the last list holds all others,
//!   each once. L1 holds for all lists.
//! - The invariants of the lookup (N1, B1, B2) and of the last list (D1).
//!
//! # Bounds
//! `allocate`: the time of the lookup, plus that of the last list if all lists from S on are empty.
//! With `Bitmap` and `Tree`, constants bound both: four words, and two nodes per bit of the
//! region's size. `free` is O(1), except for the updates of the lookup and of the tree. The heads
//! take 4 N bytes.
//!
//! An aligned request tries the first chunk of the first list for its size; then that of the first
//! list whose chunks fit wherever they start; then the last list. If all of these fail, it walks
//! over all chunks of the region. So it is refused if and only if no chunk fits.
//!
//! # Departures
//! - The unit is 8 or 16 bytes. The thesis's unit of 4 bytes would need payloads aligned to 4 bytes
//!   and chunks named by words. All systems here share chunks of whole granules of 8 bytes, so
//!   every second list would stay empty.
//! - With units of 16 bytes, the chunk before an aligned one may have an odd granule more, which it
//!   keeps. So list i holds chunks of 16 i and of 16 i + 8 bytes.
//! - For the effect of deferred coalescing on a tree, see `last_list`.
//!
//! # Drawbacks
//! An aligned request takes the slow path. It takes time linear in the chunks of the region if only
//! that walk finds a chunk, or none is found.
//!
//! # Source
//! The thesis on free-list organisation: segregated lists, the Next Hit Table, three coalescing
//! strategies.
#![deny(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;

use surefit_core::{Corruption, ensure};

use crate::chunk::Chunk;
use crate::counters::Counters;
use crate::index::{Index, Need};
use crate::last_list::{LastList, Place, Tally};
use crate::list::check_list;
use crate::lookup::Lookup;
use crate::memory::{GRANULE, Memory, Slot};
use crate::policy::{Coalescing, When};

/// `N` lists of exact sizes in units of `UNIT` bytes (8 or 16), and a last list.
///
/// `L` finds a list that holds a chunk. `C` says when free neighbours are merged. `T` searches the
/// last list. `N` is from 16 to 4096; another number or unit does not compile:
/// ```compile_fail
/// use surefit_freelist::{Bitmap, Immediate, SegregatedFit, Tree};
/// let _ = SegregatedFit::<Bitmap, Immediate, Tree, 15>::new(&mut []);
/// ```
pub struct Segregated<L, C, T, const N: usize, const UNIT: usize = 8> {
    pub(crate) lookup: L,
    tally: Tally,
    parameters: PhantomData<(C, T)>,
}

impl<L: fmt::Debug, C, T, const N: usize, const UNIT: usize> fmt::Debug
    for Segregated<L, C, T, N, UNIT>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segregated")
            .field("lookup", &self.lookup)
            .field("tally", &self.tally)
            .finish()
    }
}

impl<L, C, T, const N: usize, const UNIT: usize> Segregated<L, C, T, N, UNIT>
where
    L: Lookup<N>,
    C: Coalescing,
    T: LastList,
{
    /// Granules in a unit.
    const STEP: u32 = {
        assert!(UNIT == 8 || UNIT == 16, "units are 8 or 16 bytes");
        assert!(N >= 16 && N <= 4096, "from 16 to 4096 lists");
        (UNIT / GRANULE) as u32
    };
    const LISTS: u32 = N as u32;
    const LAST: Place = Place {
        head: Slot::new(L::FIRST_HEAD + N),
        least: Self::LISTS * Self::STEP,
        merges: C::WHEN.is_deferred(),
    };

    /// The first list whose chunks all fit.
    #[inline]
    const fn list_for(granules: u32) -> u32 {
        granules.div_ceil(Self::STEP)
    }

    /// The first filled list from `list` on, if it is before the last list.
    #[inline]
    fn first_filled(&mut self, memory: &Memory<'_>, list: u32) -> Option<u32> {
        if list >= Self::LISTS {
            return None;
        }
        let filled = self.lookup.first_filled(memory, list);
        (filled < Self::LISTS).then_some(filled)
    }

    /// Takes the newest chunk of a filled list.
    #[inline]
    fn pop(&mut self, memory: &mut Memory<'_>, list: u32) -> Chunk {
        let (chunk, next) = memory.unlink_at(L::head(list));
        self.lookup.drain(memory, list, next.is_none());
        chunk
    }

    /// Takes the newest chunk of the first filled list for a size, if that chunk fits.
    fn take_first(&mut self, memory: &mut Memory<'_>, need: &Need, granules: u32) -> Option<Chunk> {
        let list = self.first_filled(memory, Self::list_for(granules))?;
        let first = memory.linked(L::head(list))?;
        memory.fits(need, first).then(|| self.pop(memory, list))
    }

    /// The best fit in the last list for a need without alignment. A search that knows this
    /// compares only sizes.
    #[inline(never)]
    fn take_best(&mut self, memory: &mut Memory<'_>, granules: u32) -> Option<Chunk> {
        let need = Need::unaligned(granules);
        T::take(memory, Self::LAST, &need, &mut self.tally)
    }

    #[cold]
    #[inline(never)]
    fn take_last(&mut self, memory: &mut Memory<'_>, need: &Need) -> Option<Chunk> {
        T::take(memory, Self::LAST, need, &mut self.tally)
    }
}

impl<L, C, T, const N: usize, const UNIT: usize> Index for Segregated<L, C, T, N, UNIT>
where
    L: Lookup<N>,
    C: Coalescing,
    T: LastList,
{
    const COALESCING: When = C::WHEN;
    const IS_WALKED: bool = true;

    #[inline]
    fn rounded(granules: u32) -> u32 {
        granules.next_multiple_of(Self::STEP)
    }

    fn found(granules: u32) -> Option<u32> {
        (C::WHEN.is_immediate() || C::WHEN.is_deferred()).then_some(granules)
    }

    fn largest(granules: u32) -> u32 {
        granules / Self::STEP * Self::STEP
    }

    fn table_words(_granules: u32) -> u32 {
        Self::LAST.head.number() + 1
    }

    fn new(memory: &mut Memory<'_>) -> Self {
        let mut index = Self {
            lookup: L::new(memory),
            tally: Tally::default(),
            parameters: PhantomData,
        };
        index.clear(memory);
        index
    }

    #[inline]
    fn insert(&mut self, memory: &mut Memory<'_>, chunk: Chunk, granules: u32) {
        if granules >= Self::LAST.least {
            return T::insert(memory, Self::LAST, chunk, granules);
        }
        let list = granules / Self::STEP;
        let following = memory.link(L::head(list), chunk);
        self.lookup.fill(memory, list, following.is_none());
    }

    #[inline]
    fn remove(&mut self, memory: &mut Memory<'_>, chunk: Chunk) {
        let granules = memory.header(chunk).granules();
        if granules >= Self::LAST.least {
            return T::remove(memory, Self::LAST, chunk);
        }
        let (back, next) = memory.unlink(chunk);
        let list = granules / Self::STEP;
        let is_empty = next.is_none() && back == L::head(list);
        self.lookup.drain(memory, list, is_empty);
    }

    fn clear(&mut self, memory: &mut Memory<'_>) {
        for list in 0..=Self::LISTS {
            memory.set(L::head(list), 0);
        }
    }

    fn add(&mut self, memory: &mut Memory<'_>, chunk: Chunk, granules: u32) {
        if granules >= Self::LAST.least {
            return T::insert(memory, Self::LAST, chunk, granules);
        }
        memory.link(L::head(granules / Self::STEP), chunk);
    }

    fn rebuild(&mut self, memory: &mut Memory<'_>) {
        self.lookup.rebuild(memory);
    }

    fn count(&self, counters: &mut Counters) {
        counters.visits += self.tally.visits;
        counters.merges += self.tally.merges;
        self.lookup.count(counters);
    }

    #[cfg(test)]
    fn own_words(memory: &Memory<'_>, chunk: Chunk) -> impl Iterator<Item = Slot> {
        let is_large = memory.header(chunk).granules() >= Self::LAST.least;
        let large = is_large.then(|| T::own_words(memory, Self::LAST, chunk));
        large.into_iter().flatten()
    }

    /// If this finds nothing, no search can find a chunk.
    #[inline]
    fn take(&mut self, memory: &mut Memory<'_>, granules: u32) -> Option<Chunk> {
        if let Some(list) = self.first_filled(memory, Self::list_for(granules)) {
            return Some(self.pop(memory, list));
        }
        self.take_best(memory, granules)
    }

    fn take_fitting(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        _visits: &mut u64,
    ) -> Option<Chunk> {
        if need.align == 1 {
            return None;
        }
        self.take_first(memory, need, need.granules)
            .or_else(|| self.take_first(memory, need, need.anywhere()))
            .or_else(|| self.take_last(memory, need))
    }

    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        let mut listed = 0;
        for list in 0..Self::LISTS {
            let belongs = |granules| granules / Self::STEP == list;
            listed += check_list(memory, L::head(list), free_chunks - listed, belongs)?.0;
        }
        listed += T::check(memory, Self::LAST, free_chunks - listed)?;
        ensure(
            listed == free_chunks,
            "E1",
            "free chunks are missing from the lists; chunks in them",
            listed,
        )?;
        self.lookup.check(memory)
    }
}
