//! Size-ordered segregated lists: a list for every small size, one last list for all that is larger.
//!
//! ```text
//! unit:        8 or 16 bytes; a request takes whole units, header included
//! list i < N   holds the free chunks of i units
//! list N       holds all that are larger: the last list
//!
//! allocate(S): F = first list from S on that holds a chunk                  Lookup: Scan, NextHitTable, Bitmap
//!              F < N: take its newest chunk    F = N: best fit of the last list        LastList: Tree, Linear
//!              cut S from its front; the remainder R goes to the front of list R
//! free(c):     Coalescing: Never, Deferred, Immediate; then to the front of its list
//!
//! table:       | 2 words of nobody | table of the lookup | heads of lists 0 to N - 1 | last list |
//! ```
//! Lists that no chunk is small enough for (0, and 1 if the unit is 8 bytes) stay empty, as the thesis has them.
//!
//! # Invariants
//! - E1: list i < N holds exactly the free chunks of i units, the last list all others, each once. L1 holds for all.
//! - What the lookup (N1, B1, B2) and the last list (D1) add.
//!
//! # Bounds
//! `allocate`: the lookup's, and the last list's if all lists from S on are empty. With `Bitmap` and `Tree` both are
//! bounded by constants: four words, and two nodes for every bit of the region's size. `free` is O(1) but for the
//! lookup's update and the tree's. The heads take 4 N bytes.
//!
//! An aligned request tries the first chunk of the first list for its size, then that of the first list whose chunks fit
//! wherever they start, then the last list. Only if none serves are all chunks of the region walked over: it is
//! refused if and only if none fits.
//!
//! # Departures
//! - The unit is 8 or 16 bytes. The thesis's 4 would need payloads aligned to 4 bytes and chunks named by words: all
//!   systems here share chunks of whole granules of 8 bytes, so every second list would stay empty.
//! - With units of 16 bytes a chunk before an aligned one may have an odd granule more, which it keeps: list i holds
//!   chunks of 16 i and of 16 i + 8 bytes.
//! - What deferred coalescing does to a tree: see `last_list`.
//!
//! # Drawbacks
//! An aligned request takes the slow path, and time linear in the chunks of the region where it is nearly refused.
//!
//! # Source
//! The thesis on free-list organisation: segregated lists, the Next Hit Table, three coalescing strategies.
#![deny(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;

use surefit_core::{Corruption, ensure};

use crate::chunk::Chunk;
use crate::coalesce::{Coalescing, When};
use crate::heap::Counters;
use crate::index::{Index, Need};
use crate::last_list::{LastList, Place, Tally};
use crate::list::check_list;
use crate::lookup::Lookup;
use crate::memory::{GRANULE, Memory, Slot};

/// `N` lists of exact sizes in units of `UNIT` bytes (8 or 16), and a last list.
///
/// `L`: how a list that holds a chunk is found. `C`: when free neighbours are merged. `T`: how the last list is searched.
/// `N` is from 16 to 4096; another number or unit does not compile:
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
    /// Granules of a unit.
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

    /// The first filled list from one on, if it is before the last.
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

    /// Takes the newest chunk of the first filled list for a size, if it fits.
    fn take_first(&mut self, memory: &mut Memory<'_>, need: &Need, granules: u32) -> Option<Chunk> {
        let list = self.first_filled(memory, Self::list_for(granules))?;
        let first = memory.linked(L::head(list))?;
        memory.fits(need, first).then(|| self.pop(memory, list))
    }

    /// The best fit of the last list, wherever it starts: a search that knows this compares sizes alone.
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

    /// Nothing is left to be searched if this finds nothing.
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
            "free chunks are missing from the lists; so many are in them",
            listed,
        )?;
        self.lookup.check(memory)
    }
}
