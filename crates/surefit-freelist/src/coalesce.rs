//! Merges free chunks that a policy left apart: all groups of neighbours, at once or in parts, or
//! those behind one chunk.
//!
//! # Invariants
//! - H6: While free chunks are merged in parts, the place is a chunk, or the end of the chunks, and
//!   no two free chunks meet there. So neither an allocation, whose search may merge neighbours,
//!   nor a heap that grows makes a chunk that lies around the place.

use surefit_core::{Corruption, ensure};

use crate::chunk::Chunk;
use crate::heap::Heap;
use crate::index::Index;
use crate::memory::Memory;

impl<I: Index> Heap<'_, I> {
    /// Merges every group of free neighbours into one chunk, whatever the policy; returns the
    /// number of merges.
    ///
    /// One pass over the region makes the lists anew, and the index rebuilds its table once, not at
    /// every merge. Live objects stay where they are.
    ///
    /// # Complexity
    /// O(chunks of the region + lists); O(1) if the policy merges at once.
    ///
    /// # Source
    /// The thesis: "every group of adjacent free chunks", after a request that failed.
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
        self.counters.merged(merges as usize);
        merges
    }

    /// A part of what [`Heap::coalesce`] does: merges one free chunk with the one after it, or goes
    /// on to the next chunk. `from` is 0, to begin, or what the last call returned. Returns where
    /// to go on, or `None` at the end, and whether it merged. The parts need not be called one
    /// after another: allocations in between are allowed.
    ///
    /// The lists stay as they are but for what is merged.
    ///
    /// # Safety
    /// S1: if `from` is not 0, the last call returned it, and since then the heap has only
    /// allocated and moved its end: it has freed, resized and swept nothing, and merged only what
    /// the search of an allocation merges. [`Heap::check_part`] verifies what this is for.
    ///
    /// # Complexity
    /// That of the index, for two chunks that it removes and one that it inserts. A pass has at
    /// most one call per chunk of the region, and one more.
    pub unsafe fn coalesce_part(&mut self, from: u32) -> (Option<u32>, bool) {
        let chunk = match from {
            0 => self.first,
            granule => Chunk::at(granule),
        };
        // H6: what is taken from a chunk is its front or all of it, so a chunk still begins at
        // `from` (S1), unless the end has moved back to it. No free chunk ends there and goes on.
        if I::COALESCING.is_immediate() || chunk >= self.end {
            return (None, false);
        }
        let header = self.memory.header(chunk);
        let after = chunk.after(header.granules());
        // The end is nobody's place: a heap that grows merges the last free chunk with what it
        // gets.
        if after == self.end {
            return (None, false);
        }
        if !header.is_free() || !self.memory.header(after).is_free() {
            return (Some(after.granule()), false);
        }
        let granules = header.granules() + self.memory.header(after).granules();
        self.index.remove(&mut self.memory, chunk);
        self.index.remove(&mut self.memory, after);
        self.memory
            .tag_free_behind(chunk, granules, header.is_before_free());
        self.index.insert(&mut self.memory, chunk, granules);
        self.counters.merged(1);
        (Some(chunk.granule()), true)
    }

    /// Verifies H6 for the place that [`Heap::coalesce_part`] returned. O(chunks).
    ///
    /// # Errors
    /// H6, with the place.
    pub fn check_part(&self, from: u32) -> Result<(), Corruption> {
        let (mut place, mut meet, mut is_before_free) = (self.end.granule(), false, false);
        for (chunk, header) in self.walk() {
            if chunk.granule() >= from {
                (place, meet) = (chunk.granule(), is_before_free && header.is_free());
                break;
            }
            is_before_free = header.is_free();
        }
        ensure(
            place == from && !meet,
            "H6",
            "a merge in parts cannot go on here; granule",
            from as usize,
        )
    }

    /// The granules of a chunk in use plus the free chunks after it that are needed to reach
    /// `wanted`. These chunks leave the index.
    ///
    /// Does what `absorb_after` does where several free chunks may follow, and takes no chunk that
    /// is not needed.
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
            self.counters.merged(1);
            self.index.remove(&mut self.memory, after);
        }
        Some(room)
    }
}

/// The granules of a free chunk and of all free chunks that follow it without a gap, and the number
/// of these chunks.
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
