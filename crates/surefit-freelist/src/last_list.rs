//! The last of the segregated lists: all chunks that are too large for a list of their own size,
//! searched for the best fit.
//!
//! ```text
//! Linear   allocate(n): c = smallest chunk of the list with size >= n, or the first exact fit
//!          deferred:    each visited chunk is merged with all its neighbours in the last list
//! Tree     allocate(n): c = smallest chunk of the tree with size >= n; see `trie`
//!          deferred:    c, unless it fits exactly, is merged with one neighbour on each side if it
//!                       is also in the tree
//! ```
//!
//! # Bounds
//! `Linear`: linear in the chunks of the list. `Tree`: examines at most 2 b + 1 chunks, where b is
//! the number of bits of the region's size in granules, whatever the number of chunks; at most two
//! merges.
//!
//! # Departures
//! The thesis merges while it walks the list. A tree is not walked, so only the chunk that a search
//! found is merged. The remaining chunks are merged when a request finds no chunk.
//!
//! # Source
//! The thesis on free-list organisation: a best-fit search of the last list, and the effect of
//! deferred coalescing there.
#![deny(unsafe_code)]

use surefit_core::Corruption;

use crate::chunk::Chunk;
use crate::index::Need;
use crate::list::check_list;
use crate::memory::{Memory, Slot};

/// The counts of searches of the last list.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub(crate) visits: u64,
    pub(crate) merges: u64,
}

/// The place of the last list: the word that names its first chunk, and its least size in granules.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub(crate) head: Slot,
    pub(crate) least: u32,
    /// Whether searches merge neighbours.
    pub(crate) merges: bool,
}

/// How the last list is organised and searched: [`Linear`] or [`Tree`](crate::Tree).
///
/// Only this crate implements it: the types of its methods are private.
pub trait LastList {
    /// Inserts a free chunk of at least the least size.
    #[doc(hidden)]
    fn insert(memory: &mut Memory<'_>, place: Place, chunk: Chunk, granules: u32);

    /// Removes a free chunk.
    #[doc(hidden)]
    fn remove(memory: &mut Memory<'_>, place: Place, chunk: Chunk);

    /// Finds and removes the best fit.
    #[doc(hidden)]
    fn take(memory: &mut Memory<'_>, place: Place, need: &Need, tally: &mut Tally)
    -> Option<Chunk>;

    /// Verifies the organisation; returns how many chunks it holds, at most `most`.
    #[doc(hidden)]
    fn check(memory: &Memory<'_>, place: Place, most: usize) -> Result<usize, Corruption>;

    /// The words of a free chunk that the organisation uses, except the two links: for tests that
    /// corrupt each of them.
    #[cfg(test)]
    #[must_use]
    fn own_words(_memory: &Memory<'_>, _place: Place, _chunk: Chunk) -> impl Iterator<Item = Slot> {
        core::iter::empty()
    }
}

/// Merges a chunk that is free but in no list with the chunk after it, if that one is in the last
/// list.
pub(crate) fn merge_after<T: LastList>(
    memory: &mut Memory<'_>,
    place: Place,
    chunk: Chunk,
    tally: &mut Tally,
) -> bool {
    let header = memory.header(chunk);
    let after = chunk.after(header.granules());
    let header_after = memory.header(after);
    if !header_after.is_free() || header_after.granules() < place.least {
        return false;
    }
    tally.merges += 1;
    T::remove(memory, place, after);
    let granules = header.granules() + header_after.granules();
    memory.tag_free_behind(chunk, granules, header.is_before_free());
    true
}

/// Merges a chunk that is free but in no list with the chunk before it, if that one is in the last
/// list; returns the merged chunk.
pub(crate) fn merge_before<T: LastList>(
    memory: &mut Memory<'_>,
    place: Place,
    chunk: Chunk,
    tally: &mut Tally,
) -> Option<Chunk> {
    let header = memory.header(chunk);
    if !header.is_before_free() {
        return None;
    }
    let size_before = memory.granules_before(chunk);
    if size_before < place.least {
        return None;
    }
    tally.merges += 1;
    let before = chunk.before(size_before);
    T::remove(memory, place, before);
    let is_before_free = memory.header(before).is_before_free();
    memory.tag_free_behind(before, size_before + header.granules(), is_before_free);
    Some(before)
}

/// One doubly linked list, searched from its head: the search of the thesis.
#[derive(Clone, Copy, Debug)]
pub struct Linear;

impl Linear {
    /// Merges the chunk that a link names with all neighbours in the last list. Then the link names
    /// the merged chunk.
    ///
    /// The first visit to any of these chunks merges all of them, so none of them was visited
    /// before.
    fn merge_at(
        memory: &mut Memory<'_>,
        place: Place,
        link: Slot,
        chunk: Chunk,
        tally: &mut Tally,
    ) -> Chunk {
        let mut merged = chunk;
        while merge_after::<Self>(memory, place, merged, tally) {}
        // The chunk is still in the list: the chunk before it takes its place, and its own links
        // are not read again.
        while let Some(before) = merge_before::<Self>(memory, place, merged, tally) {
            if merged == chunk {
                Self::remove(memory, place, chunk);
            }
            merged = before;
        }
        if merged != chunk {
            memory.link(link, merged);
        }
        merged
    }
}

impl LastList for Linear {
    #[inline]
    fn insert(memory: &mut Memory<'_>, place: Place, chunk: Chunk, _granules: u32) {
        memory.link(place.head, chunk);
    }

    #[inline]
    fn remove(memory: &mut Memory<'_>, _place: Place, chunk: Chunk) {
        memory.unlink(chunk);
    }

    #[inline]
    fn take(
        memory: &mut Memory<'_>,
        place: Place,
        need: &Need,
        tally: &mut Tally,
    ) -> Option<Chunk> {
        let mut best = None;
        let (mut least, mut link) = (u32::MAX, place.head);
        while let Some(mut chunk) = memory.linked(link) {
            tally.visits += 1;
            if place.merges {
                chunk = Self::merge_at(memory, place, link, chunk, tally);
            }
            let granules = memory.header(chunk).granules();
            if granules < least && need.fits(chunk, granules) {
                (best, least) = (Some(chunk), granules);
                if granules == need.granules {
                    break;
                }
            }
            link = chunk.next();
        }
        Self::remove(memory, place, best?);
        best
    }

    fn check(memory: &Memory<'_>, place: Place, most: usize) -> Result<usize, Corruption> {
        check_list(memory, place.head, most, |granules| granules >= place.least)
            .map(|(listed, _)| listed)
    }
}
