//! Statistics of a direct heap: where every byte is, and what can still be allocated.
#![allow(private_bounds, reason = "`Space` is sealed")]
#![deny(unsafe_code)]

use surefit_core::Usage;

use super::heap::{DirectHeap, units_of};
use super::memory::{Page, PageRecord, page_units};
use super::partition::{Class, Partitioning, block_bytes, blocks, class_of, each_class};
use super::space::Space;
use super::tags::{self, Run};

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
    pub(super) fn of<S: Partitioning>(class: Class) -> Self {
        Self {
            block_bytes: usize::from(block_bytes::<S>(class)),
            blocks: usize::from(blocks::<S>(class)),
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

impl<S: Partitioning, R: Space<S>> DirectHeap<'_, S, R> {
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
            stats.holes += usize::from(blocks::<S>(record.class) - record.used);
        }
        for run in self.space.runs(&self.memory) {
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
        class_of::<S>(bytes, align).map(|class| self.class_holds(class))
    }

    /// The largest request in bytes, aligned to eight, that is sure to be served now.
    ///
    /// # Complexity
    /// O(1): looks at no more than one entry per size-class. With pools also linear in those.
    #[must_use]
    pub fn largest_free(&self) -> usize {
        let run_bytes = self.space.longest(&self.memory) as usize * S::UNIT_BYTES;
        if run_bytes > S::LARGEST_BLOCK {
            return run_bytes;
        }
        let served = |&class: &Class| {
            self.memory.head(class) != Page::NONE || self.space.has_page(&self.memory, class)
        };
        let class = each_class::<S>().rev().find(served);
        class.map_or(0, |class| DirectClassStats::of::<S>(class).block_bytes)
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
        match class_of::<S>(bytes, 8) {
            Some(class) => {
                let held = self.class_holds(class);
                held.holes() + held.blocks * self.space.free_pages(&self.memory, class)
            }
            None => units_of::<S>(bytes)
                .map_or(0, |(units, _)| self.space.free_runs(&self.memory, units)),
        }
    }

    fn class_holds(&self, class: Class) -> DirectClassStats {
        let mut stats = DirectClassStats::of::<S>(class);
        self.block_pages()
            .filter(|record| record.class == class)
            .for_each(|record| stats.add(record));
        stats
    }

    pub(super) fn account(&self) -> Usage {
        let mut usage = Usage {
            administrative_bytes: self.memory.outside_bytes()
                + self.space.first_unit(&self.memory).number() as usize * S::UNIT_BYTES,
            ..Usage::default()
        };
        for record in self.block_pages() {
            let class = DirectClassStats::of::<S>(record.class);
            let used = usize::from(record.used) * class.block_bytes;
            let all = class.blocks * class.block_bytes;
            usage.block_bytes += used;
            usage.size_class_bytes += all - used;
            usage.page_internal_bytes += S::PAGE_BYTES - all;
        }
        for run in self.space.runs(&self.memory) {
            let bytes = run.units as usize * S::UNIT_BYTES;
            if run.free {
                usage.free_page_bytes += bytes;
            } else if self.is_large(run) {
                let tail = tags::tail_bytes(&self.memory, run);
                usage.block_bytes += bytes - tail;
                usage.large_tail_bytes += tail;
            }
        }
        usage
    }

    fn block_pages(&self) -> impl Iterator<Item = &PageRecord> {
        let records = self.memory.pages().map(|page| self.memory.record(page));
        records.filter(|record| record.holds_blocks())
    }

    fn is_large(&self, run: Run) -> bool {
        let page = self.memory.page_at(run.start);
        let blocks = run.units == page_units::<S>()
            && page.is_some_and(|page| self.memory.record(page).holds_blocks());
        !run.free && !blocks
    }
}
