//! One list of free chunks: first fit, next fit, best fit and worst fit.
//!
//! The oldest systems: all free chunks are in one list, and a request searches it.
//!
//! ```text
//! allocate(n): c = first chunk of the list with size >= n                      (first fit)
//!              c = first chunk with size >= n from the rover on, then from the head; the rover
//!                  stays there                                                 (next fit)
//!              c = smallest chunk with size >= n, or the first exact fit       (best fit)
//!              c = largest chunk                                               (worst fit)
//!              cut n from its front; the remainder goes to the end of the list
//! free(c):     merge with free neighbours; the merged chunk goes to the end of the list
//! table:       | 2 words of nobody | head |
//! rover:       the link from which the next search starts; if its chunk leaves the list, the link
//!              before it
//! ```
//!
//! # Invariants
//! - L1: every link names a free chunk of the region or is 0, and the chunk's `back` names the
//!   link.
//! - L2: the list holds every free chunk once, and nothing else.
//! - L3: `tail` is the link that ends the list.
//! - L4: `rover` is a link of the list.
//!
//! # Bounds
//! Allocation is linear in the number of free chunks, freeing is O(1). Fragmentation: Robson's
//! bounds.
//!
//! # Departures
//! None. The list has the order in which chunks became free, not the order of addresses: with
//! boundary tags, the order of addresses would make `free` linear too.
//!
//! # Source
//! Knuth, The Art of Computer Programming 1, 2.5; for the remainders of first fit, the thesis on
//! free-list organisation.
#![deny(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;

use surefit_core::{Corruption, ensure};

use crate::chunk::{Chunk, NOBODYS_WORDS};
use crate::index::{Index, Need};
use crate::memory::{Memory, Slot};

const HEAD: Slot = Slot::new(NOBODYS_WORDS);

/// How one list chooses among the chunks that fit.
///
/// A program may implement it for its own type. The heap stays sound whatever the methods return,
/// and if they unwind: the heap calls them only for chunks that fit, and before it changes
/// anything.
pub trait Fit {
    /// Whether searches start where the last one ended.
    const ROVES: bool = false;

    /// Whether no chunk can be better than one of `granules`, which fits a need of `needed`: the
    /// search ends.
    fn is_final(granules: u32, needed: u32) -> bool;

    /// Whether a chunk of `granules`, which fits, is better than an earlier one of `best`.
    #[must_use]
    #[inline]
    fn is_better(granules: u32, best: u32) -> bool {
        granules < best
    }
}

/// First fit: the first chunk of the list that is large enough.
#[derive(Clone, Copy, Debug)]
pub struct First;

impl Fit for First {
    #[inline]
    fn is_final(_granules: u32, _needed: u32) -> bool {
        true
    }
}

/// Best fit: the smallest chunk that is large enough; of several, the first.
#[derive(Clone, Copy, Debug)]
pub struct Best;

impl Fit for Best {
    #[inline]
    fn is_final(granules: u32, needed: u32) -> bool {
        granules == needed
    }
}

/// Worst fit: the largest chunk; of several, the first.
#[derive(Clone, Copy, Debug)]
pub struct Worst;

impl Fit for Worst {
    #[inline]
    fn is_final(_granules: u32, _needed: u32) -> bool {
        false
    }

    #[inline]
    fn is_better(granules: u32, best: u32) -> bool {
        granules > best
    }
}

/// Next fit: the first chunk that is large enough, from where the last search ended.
#[derive(Clone, Copy, Debug)]
pub struct Next;

impl Fit for Next {
    const ROVES: bool = true;

    #[inline]
    fn is_final(_granules: u32, _needed: u32) -> bool {
        true
    }
}

/// One doubly linked list of free chunks, in the order in which they became free.
pub struct SingleList<F> {
    tail: Slot,
    /// Where the next search starts. For fits that do not rove, this is the head.
    rover: Slot,
    fit: PhantomData<F>,
}

impl<F> fmt::Debug for SingleList<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleList")
            .field("tail", &self.tail)
            .field("rover", &self.rover)
            .finish()
    }
}

impl<F: Fit> SingleList<F> {
    #[inline]
    fn search(&self, memory: &Memory<'_>, need: &Need, visits: &mut u64) -> Option<Chunk> {
        if !F::ROVES {
            return Self::search_part(memory, need, HEAD..self.tail, visits);
        }
        Self::search_part(memory, need, self.rover..self.tail, visits)
            .or_else(|| Self::search_part(memory, need, HEAD..self.rover, visits))
    }

    /// Searches the chunks that the links in a part of the list name. The link that ends the part
    /// is not followed.
    #[inline]
    fn search_part(
        memory: &Memory<'_>,
        need: &Need,
        part: Range<Slot>,
        visits: &mut u64,
    ) -> Option<Chunk> {
        let mut best: Option<(Chunk, u32)> = None;
        let mut link = part.start;
        while let Some(chunk) = memory.linked(link) {
            if F::ROVES && link == part.end {
                break;
            }
            *visits += 1;
            let granules = memory.header(chunk).granules();
            let is_better = |(_, best)| F::is_better(granules, best);
            if need.fits(chunk, granules) && best.is_none_or(is_better) {
                best = Some((chunk, granules));
                if F::is_final(granules, need.granules) {
                    break;
                }
            }
            link = chunk.next();
        }
        best.map(|(chunk, _)| chunk)
    }
}

impl<F: Fit> Index for SingleList<F> {
    fn table_words(_granules: u32) -> u32 {
        HEAD.number() + 1
    }

    fn new(memory: &mut Memory<'_>) -> Self {
        memory.set(HEAD, 0);
        Self {
            tail: HEAD,
            rover: HEAD,
            fit: PhantomData,
        }
    }

    #[inline]
    fn insert(&mut self, memory: &mut Memory<'_>, chunk: Chunk, _granules: u32) {
        memory.link(self.tail, chunk);
        self.tail = chunk.next();
    }

    #[inline]
    fn remove(&mut self, memory: &mut Memory<'_>, chunk: Chunk) {
        let (back, next) = memory.unlink(chunk);
        if next.is_none() {
            self.tail = back;
        }
        if F::ROVES && self.rover == chunk.next() {
            self.rover = back;
        }
    }

    /// Always `None`: only a search finds a chunk.
    #[inline]
    fn take(&mut self, _memory: &mut Memory<'_>, _granules: u32) -> Option<Chunk> {
        None
    }

    #[inline]
    fn take_fitting(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk> {
        let chunk = self.search(memory, need, visits)?;
        if F::ROVES {
            self.rover = memory.back(chunk);
        }
        self.remove(memory, chunk);
        Some(chunk)
    }

    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        let (listed, end) = check_list(memory, HEAD, free_chunks, |_| true)?;
        ensure(
            listed == free_chunks,
            "L2",
            "free chunks are missing from the list; chunks in it",
            listed,
        )?;
        ensure(
            end == self.tail,
            "L3",
            "the list does not end where the tail says; word",
            end.number() as usize,
        )?;
        self.check_rover(memory)
    }
}

impl<F> SingleList<F> {
    /// Verifies L4. The list must have been verified.
    fn check_rover(&self, memory: &Memory<'_>) -> Result<(), Corruption> {
        let mut link = HEAD;
        while link != self.rover {
            let Some(chunk) = memory.linked(link) else {
                let what = "the rover is no link of the list; word";
                return Err(Corruption::new("L4", what, self.rover.number() as usize));
            };
            link = chunk.next();
        }
        Ok(())
    }
}

/// The free chunk that a link names. The chunk must name the link.
pub(crate) fn check_link(memory: &Memory<'_>, link: Slot) -> Result<Chunk, Corruption> {
    let at = link.number() as usize;
    let chunk = memory.free_chunk(memory.get(link));
    let chunk = chunk.ok_or(Corruption::new("L1", "the word names no free chunk", at))?;
    let named = memory.raw_back(chunk) == link.number();
    let what = "the chunk that the word names does not name it";
    ensure(named, "L1", what, at).map(|()| chunk)
}

/// Verifies L1 for one list of at most `most` chunks, each of a size that belongs there. Returns
/// how many chunks it holds, and the link that ends it.
pub(crate) fn check_list(
    memory: &Memory<'_>,
    head: Slot,
    most: usize,
    belongs: impl Fn(u32) -> bool,
) -> Result<(usize, Slot), Corruption> {
    let (mut link, mut listed) = (head, 0);
    while memory.get(link) != 0 {
        let chunk = check_link(memory, link)?;
        let (own, at) = (
            belongs(memory.header(chunk).granules()),
            link.number() as usize,
        );
        ensure(own, "L1", "the word names a chunk of another list", at)?;
        listed += 1;
        let what = "the list holds more chunks than are free";
        ensure(listed <= most, "L1", what, at)?;
        link = chunk.next();
    }
    Ok((listed, link))
}

#[cfg(test)]
impl<F> SingleList<F> {
    pub(crate) fn set_tail(&mut self, tail: Slot) {
        self.tail = tail;
    }

    pub(crate) fn set_rover(&mut self, rover: Slot) -> Slot {
        core::mem::replace(&mut self.rover, rover)
    }
}
