//! Statistics of a direct heap: where every byte is, and what can still be allocated.
#![deny(unsafe_code)]

use surefit_core::Parts;

use super::classes::{BLOCK_BYTES, LARGEST_BLOCK, blocks, class_of};
use super::heap::DirectHeap;
use super::memory::{PAGE_BYTES, PAGE_UNITS, PageRecord, UNIT_BYTES};
use super::runs::{self, Run};

/// What a [`DirectHeap`] holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectStats {
    /// Objects allocated and not freed.
    pub live_objects: usize,
    /// Of these, runs of units of their own.
    pub large_objects: usize,
    /// Pages of page-blocks.
    pub pages: usize,
    /// Pages of page-blocks that are not full.
    pub not_full_pages: usize,
    /// Free page-blocks in not-full pages.
    pub holes: usize,
    /// Free runs of units.
    pub free_runs: usize,
}

/// What one size-class of a [`DirectHeap`] holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectClassStats {
    /// β: bytes of a page-block.
    pub block_bytes: usize,
    /// π: page-blocks per page.
    pub blocks: usize,
    /// h: used page-blocks.
    pub live: usize,
    /// Pages of the class.
    pub pages: usize,
    /// n: pages that are not full.
    pub not_full_pages: usize,
}

impl DirectClassStats {
    fn of(class: u8) -> Self {
        Self {
            block_bytes: usize::from(BLOCK_BYTES[usize::from(class)]),
            blocks: usize::from(blocks(class)),
            ..Self::default()
        }
    }

    fn add(&mut self, record: &PageRecord) {
        self.live += usize::from(record.used);
        self.pages += 1;
        self.not_full_pages += usize::from(!record.is_full());
    }

    fn holes(&self) -> usize {
        self.pages * self.blocks - self.live
    }
}

impl DirectHeap<'_> {
    /// What the heap holds now.
    ///
    /// # Complexity
    /// Linear in the region.
    #[must_use]
    pub fn stats(&self) -> DirectStats {
        let mut stats = DirectStats::default();
        for record in self.block_pages() {
            stats.pages += 1;
            stats.live_objects += usize::from(record.used);
            stats.not_full_pages += usize::from(!record.is_full());
            stats.holes += usize::from(blocks(record.class) - record.used);
        }
        for run in runs::runs(&self.memory) {
            stats.free_runs += usize::from(run.free);
            stats.large_objects += usize::from(self.is_large(run));
        }
        stats.live_objects += stats.large_objects;
        stats
    }

    /// What the size-class for requests of `bytes` bytes aligned to `align` holds; `None` if runs
    /// of units serve them.
    ///
    /// # Complexity
    /// Linear in the region.
    #[must_use]
    pub fn class_stats(&self, bytes: usize, align: usize) -> Option<DirectClassStats> {
        let class = class_of(bytes, align)?;
        let mut stats = DirectClassStats::of(class);
        self.block_pages()
            .filter(|record| record.class == class)
            .for_each(|record| stats.add(record));
        Some(stats)
    }

    /// The largest request in bytes, aligned to eight, that is sure to be served now.
    ///
    /// # Complexity
    /// O(1): looks at no more than one entry per size-class.
    #[must_use]
    pub fn largest_free(&self) -> usize {
        let run_bytes = self.free_runs.longest(&self.memory) as usize * UNIT_BYTES;
        if run_bytes > LARGEST_BLOCK {
            return run_bytes;
        }
        let served = |&class: &u8| self.not_full.has_page(class);
        let class = (0..=u8::MAX).rev().find(served);
        class.map_or(0, |class| DirectClassStats::of(class).block_bytes)
    }

    /// The degree of fragmentation for `bytes`: how many more objects of this size, aligned to
    /// eight, fit in the free space.
    ///
    /// For page-blocks, and for objects of up to 31 KiB, that many allocations succeed. A larger
    /// object may be refused a run that would hold it but is not the first of its list (drawback 2
    /// of the module).
    ///
    /// # Complexity
    /// Linear in the region.
    #[must_use]
    pub fn degree_of_fragmentation(&self, bytes: usize) -> usize {
        let free = runs::runs(&self.memory).filter(|run| run.free);
        match self.class_stats(bytes, 8) {
            Some(class) => {
                class.holes() + class.blocks * free.map(|run| run.whole_pages()).sum::<usize>()
            }
            None => free
                .map(|run| run.units as usize / bytes.div_ceil(UNIT_BYTES))
                .sum(),
        }
    }

    pub(super) fn account(&self) -> Parts {
        let mut parts = Parts {
            administrative_bytes: self.memory.outside_bytes()
                + self.memory.first_unit().number() as usize * UNIT_BYTES,
            ..Parts::default()
        };
        for record in self.block_pages() {
            let class = DirectClassStats::of(record.class);
            let used = usize::from(record.used) * class.block_bytes;
            let all = class.blocks * class.block_bytes;
            parts.block_bytes += used;
            parts.size_class_bytes += all - used;
            parts.page_internal_bytes += PAGE_BYTES - all;
        }
        for run in runs::runs(&self.memory) {
            let bytes = run.units as usize * UNIT_BYTES;
            if run.free {
                parts.free_page_bytes += bytes;
            } else if self.is_large(run) {
                let tail = runs::tail_bytes(&self.memory, run);
                parts.block_bytes += bytes - tail;
                parts.large_tail_bytes += tail;
            }
        }
        parts
    }

    fn block_pages(&self) -> impl Iterator<Item = &PageRecord> {
        let records = self.memory.pages().map(|page| self.memory.record(page));
        records.filter(|record| record.holds_blocks())
    }

    fn is_large(&self, run: Run) -> bool {
        let page = self.memory.page_at(run.start);
        let blocks = run.units == PAGE_UNITS
            && page.is_some_and(|page| self.memory.record(page).holds_blocks());
        !run.free && !blocks
    }
}
