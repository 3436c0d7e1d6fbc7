//! The end of the chunks moves: down, to leave granules to the large objects or to later growth; up, to take them back.
//!
//! ```text
//! region | table | chunk | chunk | ... | chunk | end | not used | large objects and gaps between them |
//!                 first                          end             floor                                top
//! ```
//! `top` is the end of the region, `floor` of what `end` may reach: without large objects it is `top`. The lists' chunks
//! and the large objects together have at most `limit` granules. A heap that does not grow has the limit of its region, so
//! that `end` is `floor`, but for a granule that is too small for a chunk, and but for a *reserve*: so much below the floor
//! the lists leave to large objects, unless they had it before and it is not free.
//!
//! # Invariants
//! - W1: `first <= end <= floor <= top`, and `end - first + top - floor <= limit <= top - first`.
//! - Those of the heap, for chunks up to `end`.
//!
//! # Bounds
//! O(1) but for what the index does to forget a chunk and to remember one.
#![deny(unsafe_code)]

use core::ops::Range;

use crate::chunk::{Chunk, Header, SMALLEST, granules_for};
use crate::heap::Heap;
use crate::index::Index;
use crate::memory::GRANULE;

impl<I: Index> Heap<'_, I> {
    /// The most bytes of chunks, of both ends, headers included: those of the region, or fewer by [`Heap::limit_to`].
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit as usize * GRANULE
    }

    /// Lowers the limit of a new heap to so many bytes; the rest of the region is used only by [`Heap::grow`].
    ///
    /// Of a heap that has objects, nothing happens unless so much is free at its end.
    pub fn limit_to(&mut self, bytes: usize) {
        let limit = granules_in(bytes);
        if limit < self.limit && self.retreat_end(self.limit - limit).is_some() {
            self.limit = limit;
        }
    }

    /// Keeps so many bytes below the floor from the lists, for large objects to come, or fewer while the last chunk of the
    /// lists has no more; gives the lists what is kept beyond that. Returns whether they got anything.
    ///
    /// # Complexity
    /// O(1) but for the index.
    pub fn reserve_large(&mut self, bytes: usize) -> bool {
        self.large.reserve = granules_in(bytes);
        let missing = self.large.reserve.saturating_sub(self.unused_granules());
        let granules = missing.min(self.last_free());
        if granules > 0 {
            self.retreat_end(granules);
            return false;
        }
        self.extend_end()
    }

    /// Raises the limit for a request that was refused: by the chunk that it needs, or by `step` bytes if that is more, and
    /// at most to the region. What that adds is free, and one chunk with a free one before it.
    ///
    /// Returns whether the limit was raised: not if the whole region has no room for the request at its end. An index that
    /// rounds sizes may need two calls.
    ///
    /// # Complexity
    /// O(1) but for the index. No byte of what is added is read.
    pub fn grow(&mut self, request: usize, step: usize) -> bool {
        let most = self.top().granule() - self.first.granule() - self.limit;
        let room = self.last_free() + self.unused_granules();
        if most == 0 || request > room as usize * GRANULE {
            return false;
        }
        let needed = I::rounded(granules_for(request));
        if needed > room {
            return false;
        }
        // The first large object needs a granule more.
        let added = granules_in(step).max(needed + 1).min(most);
        self.limit += added;
        self.extend_end();
        true
    }

    /// The end of the region.
    pub(crate) const fn top(&self) -> Chunk {
        Chunk::at(self.memory.granules())
    }

    /// The granules that neither end uses: no object has one of them for its number.
    #[must_use]
    pub const fn unused(&self) -> Range<u32> {
        self.end.granule()..self.large.floor
    }

    /// How many they are.
    pub(crate) const fn unused_granules(&self) -> u32 {
        self.large.floor - self.end.granule()
    }

    /// How many of them large objects may have: all that the limit allows.
    pub(crate) const fn spare(&self) -> u32 {
        let large = self.top().granule() - self.large.floor;
        self.limit - large - (self.end.granule() - self.first.granule())
    }

    /// The granules of the chunk before the end, if it is free, else 0.
    pub(crate) fn last_free(&self) -> u32 {
        match self.memory.header(self.end).is_before_free() {
            true => self.memory.granules_before(self.end),
            false => 0,
        }
    }

    /// Where the end may be: the limit, less what large objects have, and the floor, less the reserve.
    const fn most_end(&self) -> u32 {
        let large = self.memory.granules() - self.large.floor;
        let by_limit = self.first.granule() + self.limit - large;
        let by_floor = self.large.floor.saturating_sub(self.large.reserve);
        match by_limit < by_floor {
            true => by_limit,
            false => by_floor,
        }
    }

    /// Moves the end up as far as it may be; what that adds is one free chunk with a free one before it. Returns whether it
    /// moved: not by a single granule behind a chunk in use.
    pub(crate) fn extend_end(&mut self) -> bool {
        let (last, end) = (self.last_free(), self.most_end());
        let added = end.saturating_sub(self.end.granule());
        if added == 0 || last + added < SMALLEST {
            return false;
        }
        let chunk = self.end.before(last);
        let mut before_free = false;
        if last > 0 {
            self.counters.merges += 1;
            self.index.remove(&mut self.memory, chunk);
            before_free = self.memory.header(chunk).is_before_free();
        }
        self.end_at(chunk, last + added, before_free);
        true
    }

    /// Moves the end down by so many granules, or one more where one would be left; returns how many, or `None`, and
    /// nothing done, if the last chunk is not free or has not so many.
    pub(crate) fn retreat_end(&mut self, granules: u32) -> Option<u32> {
        let last = self.last_free();
        let rest = last.checked_sub(granules).filter(|_| last > 0)?;
        let chunk = self.end.before(last);
        let before_free = self.memory.header(chunk).is_before_free();
        self.index.remove(&mut self.memory, chunk);
        let kept = if rest < SMALLEST { 0 } else { rest };
        self.counters.splits += u64::from(kept > 0);
        self.end_at(chunk, kept, before_free);
        Some(last - kept)
    }

    /// Ends the chunks with a free one of so many granules, which the index learns of; with none if they are 0.
    fn end_at(&mut self, chunk: Chunk, granules: u32, before_free: bool) {
        self.end = chunk.after(granules);
        let is_free = granules > 0;
        self.memory
            .set_header(self.end, Header::in_use(0, is_free || before_free));
        if is_free {
            self.memory.tag_free_behind(chunk, granules, before_free);
            self.index.insert(&mut self.memory, chunk, granules);
        }
    }
}

/// Whole granules of so many bytes.
fn granules_in(bytes: usize) -> u32 {
    u32::try_from(bytes / GRANULE).unwrap_or(u32::MAX)
}
