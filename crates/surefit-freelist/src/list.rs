//! One list of free chunks: first fit and best fit.
//!
//! The oldest systems: all free chunks are in one list, and a request searches it.
//!
//! ```text
//! allocate(n): c = first chunk of the list with size >= n            (first fit)
//!              c = smallest chunk with size >= n, or the first exact (best fit)
//!              cut n from its front; the remainder goes to the end of the list
//! free(c):     merge with free neighbours; the merged chunk goes to the end of the list
//! table:       | 2 words of nobody | head |
//! ```
//!
//! # Invariants
//! - L1: every link names a free chunk of the region or is 0, and the chunk's `back` names the link.
//! - L2: the list holds every free chunk exactly once.
//! - L3: `tail` is the link that ends the list.
//!
//! # Bounds
//! Allocation is linear in the number of free chunks, freeing is O(1). Fragmentation: Robson's bounds.
//!
//! # Departures
//! None. The list is in the order in which chunks became free, not in that of addresses: with boundary tags the order
//! of addresses would make `free` linear too.
//!
//! # Source
//! Knuth, The Art of Computer Programming 1, 2.5; the thesis on free-list organisation for first fit's remainders.
#![deny(unsafe_code)]

use core::fmt;
use core::marker::PhantomData;

use surefit_core::Corruption;

use crate::chunk::{Chunk, NOBODYS_WORDS};
use crate::index::{Index, Need};
use crate::memory::{Memory, Slot};

const HEAD: Slot = Slot::new(NOBODYS_WORDS);

/// How one list chooses among the chunks that fit.
pub trait Fit {
    /// Whether `granules`, which fits a need of `needed`, cannot be bettered: the search ends.
    #[doc(hidden)]
    fn is_final(granules: u32, needed: u32) -> bool;
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

/// Best fit: the smallest chunk that is large enough; the first of several.
#[derive(Clone, Copy, Debug)]
pub struct Best;

impl Fit for Best {
    #[inline]
    fn is_final(granules: u32, needed: u32) -> bool {
        granules == needed
    }
}

/// One doubly linked list of free chunks, in the order in which they became free.
pub struct SingleList<F> {
    tail: Slot,
    fit: PhantomData<F>,
}

impl<F> fmt::Debug for SingleList<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingleList")
            .field("tail", &self.tail)
            .finish()
    }
}

impl<F: Fit> SingleList<F> {
    fn search(memory: &Memory<'_>, need: &Need, visits: &mut u64) -> Option<Chunk> {
        let mut best: Option<(Chunk, u32)> = None;
        let mut link = HEAD;
        while let Some(chunk) = memory.linked(link) {
            *visits += 1;
            let granules = memory.header(chunk).granules();
            if need.fits(chunk, granules) && best.is_none_or(|(_, least)| granules < least) {
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
        let (back, next) = (memory.back(chunk), memory.linked(chunk.next()));
        memory.join(back, next);
        if next.is_none() {
            self.tail = back;
        }
    }

    /// Nothing is found at once: there is nothing but the list to search.
    #[inline]
    fn take(&mut self, _memory: &mut Memory<'_>, _granules: u32) -> Option<Chunk> {
        None
    }

    fn take_fitting(
        &mut self,
        memory: &mut Memory<'_>,
        need: &Need,
        visits: &mut u64,
    ) -> Option<Chunk> {
        let chunk = Self::search(memory, need, visits)?;
        self.remove(memory, chunk);
        Some(chunk)
    }

    fn check(&self, memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
        let (listed, end) = check_list(memory, HEAD, free_chunks, |_| true)?;
        if listed != free_chunks {
            return Err(Corruption {
                invariant: "L2",
                what: "free chunks are missing from the list; so many are in it",
                at: listed,
            });
        }
        if end != self.tail {
            return Err(Corruption {
                invariant: "L3",
                what: "the list does not end where the tail says; word",
                at: end.number() as usize,
            });
        }
        Ok(())
    }
}

/// Verifies L1 for one list of at most `most` chunks, of which each must belong there by its size.
/// Returns how many chunks it holds, and the link that ends it.
pub(crate) fn check_list(
    memory: &Memory<'_>,
    head: Slot,
    most: usize,
    belongs: impl Fn(u32) -> bool,
) -> Result<(usize, Slot), Corruption> {
    let broken = |what, link: Slot| Corruption {
        invariant: "L1",
        what,
        at: link.number() as usize,
    };
    let (mut link, mut listed) = (head, 0);
    while memory.get(link) != 0 {
        let chunk = memory
            .free_chunk(memory.get(link))
            .ok_or(broken("the word names no free chunk", link))?;
        if memory.raw_back(chunk) != link.number() {
            return Err(broken(
                "the chunk that the word names does not name it",
                link,
            ));
        }
        if !belongs(memory.header(chunk).granules()) {
            return Err(broken("the word names a chunk of another list", link));
        }
        listed += 1;
        if listed > most {
            return Err(broken("the list holds more chunks than are free", link));
        }
        link = chunk.next();
    }
    Ok((listed, link))
}

#[cfg(test)]
impl<F> SingleList<F> {
    pub(crate) fn set_tail(&mut self, tail: Slot) {
        self.tail = tail;
    }
}
