//! The end of the lists' chunks moves: down, to leave granules for large objects or later growth;
//! up, to take them back.
//!
//! ```text
//! region | table | chunk | chunk | ... | chunk | end | not used | large objects and gaps |
//!                 first                          end             floor                 top
//! ```
//! `top` is the end of the region; `floor` is the highest position that `end` may have. Without
//! large objects, `floor` is `top`. The lists' chunks and the large objects together have at most
//! `limit` granules. The limit of a heap that does not grow is its region, so that `end` is
//! `floor`, with two exceptions: a single granule is too small for a chunk, and a *reserve* may lie
//! below the floor. The lists leave the reserve to large objects, unless a chunk in use is in the
//! way.
//!
//! # Invariants
//! - W1: `first <= end <= floor <= top`, and `end - first + top - floor <= limit <= top - first`.
//! - Those of the heap, for chunks up to `end`.
//!
//! # Bounds
//! O(1), except for the work of the index to remove one chunk and to insert one.
#![deny(unsafe_code)]

use core::ops::Range;

use crate::chunk::{Chunk, Header, SMALLEST, granules_for};
use crate::heap::Heap;
use crate::index::Index;
use crate::memory::GRANULE;

impl<I: Index> Heap<'_, I> {
    /// The most bytes of chunks of both ends together, headers included: those of the region, or
    /// the fewer that [`Heap::limit_to`] set.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit as usize * GRANULE
    }

    /// Lowers the limit of a new heap to `bytes` bytes. The rest of the region is used only after
    /// [`Heap::grow`].
    ///
    /// On a heap with objects, this does nothing unless the chunk at its end is free and long
    /// enough.
    pub fn limit_to(&mut self, bytes: usize) {
        let limit = granules_in(bytes);
        if limit < self.limit && self.retreat_end(self.limit - limit).is_some() {
            self.limit = limit;
        }
    }

    /// Keeps `bytes` bytes below the floor free of list chunks, for future large objects; fewer, as
    /// long as the last chunk of the lists has fewer. Returns any surplus of an earlier reserve to
    /// the lists. Returns whether the lists got anything.
    ///
    /// # Complexity
    /// O(1), except for the work of the index.
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

    /// Raises the limit after a request was refused: by the chunk that the request needs, or by
    /// `step` bytes if that is more, and at most to the region. The added granules are free, and
    /// form one chunk with a free chunk before them.
    ///
    /// Returns whether the limit was raised. It is not raised if the whole region has no room for
    /// the request at its end. With an index that rounds sizes, two calls may be needed.
    ///
    /// # Complexity
    /// O(1), except for the work of the index. It reads no byte of what is added.
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
        // The first large object needs one more granule.
        let added = granules_in(step).max(needed + 1).min(most);
        self.limit += added;
        self.extend_end();
        true
    }

    /// The end of the region.
    pub(crate) const fn top(&self) -> Chunk {
        Chunk::at(self.memory.granules())
    }

    /// The granules that neither end uses. No object has the number of one of them.
    #[must_use]
    pub const fn unused(&self) -> Range<u32> {
        self.end.granule()..self.large.floor
    }

    /// The number of granules that neither end uses.
    pub(crate) const fn unused_granules(&self) -> u32 {
        self.large.floor - self.end.granule()
    }

    /// The number of granules that large objects may still take: all that the limit allows.
    pub(crate) const fn spare(&self) -> u32 {
        let large = self.top().granule() - self.large.floor;
        self.limit - large - (self.end.granule() - self.first.granule())
    }

    /// The granules of the chunk before the end if it is free, else 0.
    pub(crate) fn last_free(&self) -> u32 {
        match self.memory.header(self.end).is_before_free() {
            true => self.memory.granules_before(self.end),
            false => 0,
        }
    }

    /// The highest position of the end: the limit less the granules of large objects, or the floor
    /// less the reserve.
    const fn most_end(&self) -> u32 {
        let large = self.memory.granules() - self.large.floor;
        let by_limit = self.first.granule() + self.limit - large;
        let by_floor = self.large.floor.saturating_sub(self.large.reserve);
        match by_limit < by_floor {
            true => by_limit,
            false => by_floor,
        }
    }

    /// Moves the end up as far as possible. The added granules are one free chunk, merged with a
    /// free chunk before them. Returns whether the end moved; it does not move by a single granule
    /// after a chunk in use.
    pub(crate) fn extend_end(&mut self) -> bool {
        let (last, end) = (self.last_free(), self.most_end());
        let added = end.saturating_sub(self.end.granule());
        if added == 0 || last + added < SMALLEST {
            return false;
        }
        let chunk = self.end.before(last);
        let mut before_free = false;
        if last > 0 {
            self.counters.merged(1);
            self.index.remove(&mut self.memory, chunk);
            before_free = self.memory.header(chunk).is_before_free();
        }
        self.end_at(chunk, last + added, before_free);
        true
    }

    /// Moves the end down by `granules`, or by one more where one would be left over; returns by
    /// how many. Returns `None`, and does nothing, if the last chunk is not free or is too short.
    pub(crate) fn retreat_end(&mut self, granules: u32) -> Option<u32> {
        let last = self.last_free();
        let rest = last.checked_sub(granules).filter(|_| last > 0)?;
        let chunk = self.end.before(last);
        let before_free = self.memory.header(chunk).is_before_free();
        self.index.remove(&mut self.memory, chunk);
        let kept = if rest < SMALLEST { 0 } else { rest };
        if kept > 0 {
            self.counters.split();
        }
        self.end_at(chunk, kept, before_free);
        Some(last - kept)
    }

    /// Ends the chunks with a free chunk of `granules`, which enters the index, or with no chunk if
    /// `granules` is 0.
    fn end_at(&mut self, chunk: Chunk, granules: u32, before_free: bool) {
        // H7: an object may have begun at the old end.
        let old = self.memory.header(self.end);
        self.memory.set_header(self.end, old.freed());
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

/// The whole granules in `bytes` bytes.
fn granules_in(bytes: usize) -> u32 {
    u32::try_from(bytes / GRANULE).unwrap_or(u32::MAX)
}
