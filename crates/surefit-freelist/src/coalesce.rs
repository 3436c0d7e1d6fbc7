//! When free chunks that are neighbours become one: never, on demand, or at once.
//!
//! ```text
//! Never      free(c): c stays as it is
//! Deferred   free(c): c stays as it is
//!            a search of the last list merges chunks that it meets with neighbours of the same list
//!            allocate(n) found nothing: every group of free neighbours is merged, then once more
//! Immediate  free(c): c is merged with both neighbours, if they are free
//! ```
//! The boundary tags are kept whatever the policy: a resize takes the room of free neighbours under each of them, but
//! without merging at once only as many as it needs.
//!
//! # Source
//! The thesis on free-list organisation, its three coalescing strategies.
#![deny(unsafe_code)]

use crate::chunk::Chunk;
use crate::heap::Heap;
use crate::index::Index;
use crate::memory::Memory;

/// When free neighbours are merged: a value for each of the types that implement [`Coalescing`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Never.
    Never,
    /// When the last list is searched, and when a request found nothing.
    Deferred,
    /// When a chunk becomes free.
    Immediate,
}

impl When {
    /// Whether no two free chunks are ever neighbours.
    #[inline]
    pub(crate) const fn is_immediate(self) -> bool {
        matches!(self, Self::Immediate)
    }

    /// Whether merging waits until room is needed.
    #[inline]
    pub(crate) const fn is_deferred(self) -> bool {
        matches!(self, Self::Deferred)
    }
}

/// When free neighbours are merged, as a type parameter: [`Never`], [`Deferred`] or [`Immediate`].
pub trait Coalescing {
    /// The same as a value.
    const WHEN: When;
}

/// Free chunks stay as they are; only a resize changes them.
#[derive(Clone, Copy, Debug)]
pub struct Never;

/// Free chunks stay as they are until the last list is searched or a request finds nothing.
///
/// A request that is refused has merged all free neighbours: objects are as they were, but headers have become free bytes.
/// Each refusal takes time linear in the chunks of the region.
#[derive(Clone, Copy, Debug)]
pub struct Deferred;

/// A chunk that becomes free is merged with its free neighbours, by boundary tags, in constant time.
#[derive(Clone, Copy, Debug)]
pub struct Immediate;

impl Coalescing for Never {
    const WHEN: When = When::Never;
}

impl Coalescing for Deferred {
    const WHEN: When = When::Deferred;
}

impl Coalescing for Immediate {
    const WHEN: When = When::Immediate;
}

impl<I: Index> Heap<'_, I> {
    /// Merges every group of free neighbours into one chunk, whatever the policy; returns how many merges that took.
    ///
    /// The lists are made anew in one pass over the region and the table of the index is rebuilt once, not at every
    /// merge. Live objects stay where they are.
    ///
    /// # Complexity
    /// O(chunks of the region + lists); nothing if chunks are merged at once anyway.
    ///
    /// # Source
    /// The thesis: "every group of adjacent free chunks" after a request that failed.
    pub fn coalesce(&mut self) -> u64 {
        if I::COALESCING.is_immediate() {
            return 0;
        }
        let (mut chunk, mut merges) = (self.first, 0);
        self.index.clear(&mut self.memory);
        while chunk < self.end {
            let header = self.memory.header(chunk);
            let mut granules = header.granules();
            if header.is_free() {
                let (size, members) = group(&self.memory, chunk);
                if members > 1 {
                    self.memory.tag_free(chunk, size);
                    merges += members - 1;
                }
                self.index.add(&mut self.memory, chunk, size);
                granules = size;
            }
            chunk = chunk.after(granules);
        }
        self.index.rebuild(&mut self.memory);
        self.counters.merges += merges;
        merges
    }

    /// The granules of a chunk in use and of as many free chunks after it, which leave the index, as make them enough.
    ///
    /// What `absorb_after` is where there may be several, and none is taken that is not needed.
    pub(crate) fn absorb_as_needed(&mut self, chunk: Chunk, wanted: u32) -> Option<u32> {
        let own = self.memory.header(chunk).granules();
        let mut room = own;
        while room < wanted {
            let header = self.memory.header(chunk.after(room));
            if !header.is_free() {
                return None;
            }
            room += header.granules();
        }
        if room == own {
            self.memory.tag_before_free(chunk.after(own));
        }
        let mut absorbed = own;
        while absorbed < room {
            let after = chunk.after(absorbed);
            absorbed += self.memory.header(after).granules();
            self.counters.merges += 1;
            self.index.remove(&mut self.memory, after);
        }
        Some(room)
    }
}

/// The granules of a free chunk and all free chunks that follow it without a gap, and how many they are.
fn group(memory: &Memory<'_>, first: Chunk) -> (u32, u64) {
    let (mut granules, mut members) = (0, 0);
    loop {
        let header = memory.header(first.after(granules));
        if !header.is_free() {
            return (granules, members);
        }
        granules += header.granules();
        members += 1;
    }
}
