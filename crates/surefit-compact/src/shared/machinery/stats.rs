//! Statistics of a shared heap: counters, and where every byte is. They read one group after
//! another, each under its lock. The result is exact if no other thread works on the heap;
//! otherwise it mixes several moments.
#![deny(unsafe_code)]

use lock_api::RawMutex;
use surefit_classes::automaton::incremental::over;
use surefit_classes::{Bound, SizeClass};
use surefit_core::Usage;

use super::engine::SharedEngine;
use super::group::Section;
use crate::shared::lock::Granularity;

/// Counters of a shared heap, or of one instance of it.
///
/// They are read group by group, each under its lock. If other threads work meanwhile, the counters
/// do not describe a single moment: a page that changes its size-class may be counted twice, or not
/// at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedStats {
    /// Page-blocks in use.
    pub live_blocks: u64,
    /// Pages of all size-classes.
    pub pages: u64,
    /// Not-full pages of all size-classes.
    pub not_full_pages: u64,
    /// Free page-blocks of not-full pages that the hole bound counts, and parked ones.
    pub holes: u64,
    /// Page-blocks that are parked: freed, and kept with their handles for the next allocations of
    /// their size-class. They are given back before an allocation is refused.
    pub parked_blocks: u64,
    /// By how much the size-classes exceed their bounds, in not-full pages (κ) or holes: moves that
    /// frees in progress, and pins, have left to later frees.
    pub debt: u64,
    /// Page-blocks that are reserved as targets of moves in flight.
    pub reserved_blocks: u64,
    /// Page-blocks moved since the heap was made.
    pub moves_total: u64,
    /// Bytes of the moved page-blocks.
    pub moved_bytes_total: u64,
    /// Moves abandoned: the object was freed, written to, or pinned at the end.
    pub moves_abandoned: u64,
    /// Steps of moves; each copies at most ι bytes.
    pub steps_total: u64,
    /// The most bytes copied in one section under a lock; never more than min(β, ι).
    pub copied_in_section_max: u64,
    /// Times that the lock of a group was taken.
    pub lock_acquisitions: u64,
    /// Of these, times that another thread held it.
    pub lock_acquisitions_contended: u64,
}

/// What one size-class of a shared heap holds, at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassUsage {
    /// Page-blocks in use, without the target of a move in flight.
    pub live_blocks: u32,
    /// Pages.
    pub pages: u32,
    /// Of these, not-full pages.
    pub not_full_pages: u32,
    /// Free page-blocks of not-full pages that the hole bound counts, and parked ones; 0 under
    /// other bounds.
    pub holes: u32,
}

impl SharedStats {
    fn add<R: RawMutex>(&mut self, section: &Section<'_, R>) {
        let counters = &section.counters;
        self.live_blocks += u64::from(section.live());
        self.pages += u64::from(section.class.pages());
        self.not_full_pages += u64::from(section.class.not_full());
        self.parked_blocks += u64::from(section.parked.count());
        self.reserved_blocks += u64::from(section.moving.get().is_some());
        self.moves_total += counters.moves.get();
        self.moved_bytes_total += counters.moved_bytes.get();
        self.moves_abandoned += counters.abandoned.get();
        self.steps_total += counters.steps.get();
        let most = u64::from(counters.copied_in_section_max.get());
        self.copied_in_section_max = self.copied_in_section_max.max(most);
        self.lock_acquisitions += counters.sections.get();
        self.lock_acquisitions_contended += counters.contended.get();
    }
}

impl<R: RawMutex, G: Granularity> SharedEngine<'_, R, G> {
    /// What a size-class of an instance holds now; `None` if the geometry has no such class.
    pub(crate) fn class_usage(&self, instance: u32, class: SizeClass) -> Option<ClassUsage> {
        let class = self.pages.geometry.class(class.index())?;
        let section = self.enter(self.group_of(instance, class));
        let counts = self.counts(&section, class);
        Some(ClassUsage {
            live_blocks: counts.live,
            pages: section.class.pages(),
            not_full_pages: counts.not_full,
            holes: counts.holes,
        })
    }

    /// Counters of some groups.
    pub(crate) fn stats(&self, groups: impl Iterator<Item = u32>) -> SharedStats {
        let mut stats = SharedStats::default();
        for group in groups {
            let section = self.enter(group);
            stats.add(&section);
            let counts = self.counts(&section, self.class_of(group));
            stats.holes += u64::from(counts.holes);
            let bound = self.bound_of(group);
            stats.debt += match bound {
                _ if !over(bound, counts) => 0,
                Bound::Pages(most) => u64::from(counts.not_full - most),
                Bound::Holes { base, fraction } => {
                    u64::from(counts.holes - base - fraction.of(counts.live))
                }
                Bound::Unbounded => 0,
            };
        }
        stats
    }

    /// Where every byte of the region is. If no other thread works on the heap, the parts add up to
    /// its size. Otherwise a page that changes its group meanwhile may be counted twice, or not at
    /// all; no part becomes negative.
    pub(crate) fn usage(&self, skipped: usize) -> Usage {
        let geometry = self.pages.geometry;
        let page = geometry.page_bytes();
        let mut usage = Usage::default();
        let mut pages = 0;
        for group in self.all_groups() {
            let section = self.enter(group);
            let class = self.class_of(group);
            let layout = geometry.layout(class);
            let (blocks, bytes) = (usize::from(layout.blocks), layout.block_bytes as usize);
            let (live, used) = (section.live() as usize, section.class.pages() as usize);
            let reserved = usize::from(section.moving.get().is_some());
            let tail = geometry.leaf_bytes(class) + geometry.back_reference_bytes(class);
            usage.block_bytes += live * bytes;
            usage.transient_bytes += reserved * bytes;
            usage.size_class_bytes += (used * blocks - live - reserved) * bytes;
            usage.administrative_bytes += used * tail;
            usage.page_internal_bytes += used * (page - blocks * bytes - tail);
            pages += used;
        }
        let pool = self.store.pool();
        let data = pool.floor & !(page - 1);
        usage.free_page_bytes = data.saturating_sub(pages * page);
        usage.administrative_bytes += skipped + self.pages.memory.len() - data;
        usage
    }
}
