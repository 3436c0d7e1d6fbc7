//! Verifies the numbered invariants of the tiling, and accounts for every byte of a region.
//!
//! The checker compares each value before it relies on it: a corrupted heap must not lead the
//! checker out of the region.
#![deny(unsafe_code)]

use surefit_core::{Corruption, Usage, ensure};

use crate::chunk::{Chunk, Header, SMALLEST, payload_bytes};
use crate::heap::Heap;
use crate::index::Index;
use crate::memory::{GRANULE, Memory};

impl Memory<'_> {
    /// The free chunk that a word read from memory names; `None` if it names none.
    pub(crate) fn free_chunk(&self, granule: u32) -> Option<Chunk> {
        let chunk = (granule != 0 && granule < self.granules()).then_some(Chunk::at(granule))?;
        self.header(chunk).is_free().then_some(chunk)
    }
}

/// A walk over the chunks of a region, up to the first impossible one.
pub(crate) struct Walk<'h, 'm> {
    memory: &'h Memory<'m>,
    chunk: Chunk,
    end: Chunk,
}

impl<'h, 'm> Walk<'h, 'm> {
    /// A walk from a chunk to the end of a tiling.
    pub(crate) const fn over(memory: &'h Memory<'m>, chunk: Chunk, end: Chunk) -> Self {
        Self { memory, chunk, end }
    }

    /// The position of the walk.
    pub(crate) const fn reached(&self) -> Chunk {
        self.chunk
    }
}

impl Iterator for Walk<'_, '_> {
    type Item = (Chunk, Header);

    fn next(&mut self) -> Option<Self::Item> {
        if self.chunk >= self.end {
            return None;
        }
        let (chunk, header) = (self.chunk, self.memory.header(self.chunk));
        let left = self.end.granule() - chunk.granule();
        if header.granules() < SMALLEST || header.granules() > left {
            return None;
        }
        self.chunk = chunk.after(header.granules());
        Some((chunk, header))
    }
}

impl<I: Index> Heap<'_, I> {
    pub(crate) fn walk(&self) -> Walk<'_, '_> {
        Walk::over(&self.memory, self.first, self.end)
    }

    /// Accounts for every byte. Payloads count as blocks or free chunks; granules that neither end
    /// uses count as pages that were never used. All else is administrative: table, headers,
    /// alignment.
    pub(crate) fn account(&self) -> Usage {
        let mut usage = Usage::default();
        for (_, header) in self.walk().chain(self.walk_large()) {
            let payload = payload_bytes(header.granules());
            if header.is_free() {
                usage.free_chunk_bytes += payload;
            } else {
                usage.block_bytes += payload;
            }
        }
        let payloads = usage.block_bytes + usage.free_chunk_bytes;
        usage.free_page_bytes = self.unused_granules() as usize * GRANULE;
        usage.administrative_bytes = self.memory.region_bytes() - payloads - usage.free_page_bytes;
        usage
    }

    /// Verifies H1 to H5; returns the number of free chunks.
    pub(crate) fn check_tiling(&self) -> Result<usize, Corruption> {
        let (mut live, mut free) = (0, 0);
        let mut before_free = false;
        let mut walk = self.walk();
        for (chunk, header) in walk.by_ref() {
            self.check_chunk(chunk, header, before_free)?;
            before_free = header.is_free();
            if before_free {
                free += 1;
            } else {
                live += 1;
            }
        }
        self.check_end(walk.chunk, before_free)?;
        ensure(
            live == self.live,
            "H5",
            "the number of live objects is not that of chunks in use; chunks in use",
            live,
        )?;
        Ok(free)
    }

    /// Verifies H2, H3 and H4 for one chunk.
    fn check_chunk(
        &self,
        chunk: Chunk,
        header: Header,
        before_free: bool,
    ) -> Result<(), Corruption> {
        let at = chunk.granule() as usize;
        ensure(
            header.is_before_free() == before_free,
            "H2",
            "a header is wrong about whether the chunk before is free; granule",
            at,
        )?;
        if !header.is_free() {
            return Ok(());
        }
        ensure(
            !(before_free && I::COALESCING.is_immediate()),
            "H4",
            "two free chunks are neighbours; granule",
            at,
        )?;
        ensure(
            self.memory.granules_before(chunk.after(header.granules())) == header.granules(),
            "H3",
            "the footer of a free chunk is not its size; granule",
            at,
        )
    }

    /// Verifies that the walk reached the end of the region, and the header there.
    fn check_end(&self, reached: Chunk, before_free: bool) -> Result<(), Corruption> {
        let at = reached.granule() as usize;
        ensure(
            reached == self.end,
            "H1",
            "the chunks do not tile the region; granule",
            at,
        )?;
        let header = self.memory.header(self.end);
        ensure(
            header.granules() == 0 && !header.is_free(),
            "H1",
            "the end is not a chunk in use of size 0; granule",
            at,
        )?;
        ensure(
            header.is_before_free() == before_free,
            "H2",
            "the end is wrong about whether the chunk before is free; granule",
            at,
        )
    }
}
