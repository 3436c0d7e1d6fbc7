//! Statistics of a shared direct heap.
#![deny(unsafe_code)]

use lock_api::RawMutex;

use super::heap::SharedDirect;
use super::instance::State;
use super::memory::{DIVISION_BYTES, Kind};
use super::mixed::Mixed;
use super::sizes::{CLASSES, Class, UNIT_BYTES};
use super::source::Source;

/// What one size-class holds, in all instances.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassStats {
    /// β: bytes of a page-block.
    pub block_bytes: usize,
    /// π: page-blocks of a page.
    pub blocks: usize,
    /// Page-blocks that are live, in a free list or remote frees on their way.
    pub used: usize,
    /// Pages.
    pub pages: usize,
    /// Pages with a free page-block.
    pub not_full_pages: usize,
}

/// What a [`SharedDirect`] holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedDirectStats {
    /// Bytes of page-blocks that are live, in a free list or remote frees on their way, and of
    /// large objects.
    pub allocated: usize,
    /// Bytes of pages, large objects and buffered units.
    pub active: usize,
    /// The most that `active` ever was.
    pub peak_active: usize,
    /// Bytes of free runs that were written and did not go back to the source.
    pub dirty: usize,
    /// Bytes of free runs that went back.
    pub clean: usize,
    /// Bytes of units that the source committed.
    pub mapped: usize,
    /// Bytes of tables in front of the first unit that are in use.
    pub metadata: usize,
    /// Large objects, and their bytes.
    pub large_objects: usize,
    /// Bytes of large objects.
    pub large_bytes: usize,
    /// Bytes of pages that serve several size-classes.
    pub mixed: usize,
    /// Free runs.
    pub free_runs: usize,
    /// Bytes of the longest free run.
    pub largest_free: usize,
    /// How often memory went back to the source.
    pub purges: u64,
    /// Requests for units that were refused.
    pub refused: u64,
    /// Instances that a thread has, the groups' ones not counted.
    pub instances: usize,
    /// Instances whose thread has left.
    pub idle_instances: usize,
    /// The size-classes. Pages that serve several are no class's.
    pub classes: [ClassStats; CLASSES],
}

impl SharedDirectStats {
    fn count_page(&mut self, class: Class, used: u16) {
        let shape = class.shape();
        // Its owner may be in the middle of a change.
        let used = used.min(shape.blocks);
        let entry = &mut self.classes[class.index()];
        entry.used += usize::from(used);
        entry.pages += 1;
        entry.not_full_pages += usize::from(used < shape.blocks);
        self.allocated += usize::from(used) * class.block_bytes();
    }

    /// Counts a mixed page. Returns its units.
    fn count_mixed(&mut self, page: Mixed<'_>) -> u32 {
        let units = page.units();
        self.mixed += units as usize * UNIT_BYTES;
        self.metadata += units as usize * DIVISION_BYTES;
        for class in page.each_used().filter_map(|(_, class)| class) {
            self.classes[class.index()].used += 1;
            self.allocated += class.block_bytes();
        }
        units
    }

    fn count_free(&mut self, bytes: usize) {
        self.free_runs += 1;
        self.largest_free = self.largest_free.max(bytes);
    }

    fn count_large(&mut self, bytes: usize) {
        self.large_objects += 1;
        self.large_bytes += bytes;
        self.allocated += bytes;
    }
}

impl<L: RawMutex + Sync, S: Source> SharedDirect<'_, L, S> {
    /// What the heap holds now. While other threads allocate, page-blocks and pages are counted as
    /// they are met.
    ///
    /// # Complexity
    /// Linear in the units that were ever used, under the pool's lock.
    #[must_use]
    pub fn stats(&self) -> SharedDirectStats {
        let (common, memory) = (self.common(), self.common().memory());
        let pool = common.pool.lock();
        let counts = pool.counts();
        let bytes = |units: u64| {
            usize::try_from(units)
                .unwrap_or(usize::MAX)
                .saturating_mul(UNIT_BYTES)
        };
        let mut stats = SharedDirectStats {
            allocated: 0,
            active: bytes(counts.used),
            peak_active: bytes(counts.most_used),
            dirty: bytes(counts.dirty),
            clean: bytes(counts.clean),
            mapped: bytes(u64::from(memory.committed() - memory.first().number())),
            metadata: self.table_bytes(),
            large_objects: 0,
            large_bytes: 0,
            mixed: 0,
            free_runs: 0,
            largest_free: 0,
            purges: counts.purges,
            refused: counts.refused,
            instances: 0,
            idle_instances: 0,
            classes: Class::all_stats(),
        };
        let top = u32::try_from(counts.top).unwrap_or(u32::MAX);
        let mut at = memory.first().number();
        while at < top {
            let record = memory.record(memory.span(at));
            let units = record.units.get().max(1);
            at = at.saturating_add(match record.kind() {
                Kind::Page(class) => {
                    stats.count_page(class, record.used());
                    u32::from(class.shape().units)
                }
                Kind::Mixed => stats.count_mixed(Mixed::of(memory, memory.span(at), units)),
                Kind::Run => {
                    stats.count_large(bytes(u64::from(units)));
                    units
                }
                Kind::Free => {
                    stats.count_free(bytes(u64::from(units)));
                    units
                }
                Kind::Nothing | Kind::Inside(_) | Kind::InsideMixed => 1,
            });
        }
        drop(pool);
        for instance in common.joined().skip(super::GROUPS) {
            match instance.state() {
                State::Owned => stats.instances += 1,
                State::Idle | State::Served => stats.idle_instances += 1,
                State::Unused | State::Lost => {}
            }
        }
        stats
    }
}

impl Class {
    fn all_stats() -> [ClassStats; CLASSES] {
        let mut all = [ClassStats::default(); CLASSES];
        for (class, stats) in Self::all().zip(&mut all) {
            stats.block_bytes = class.block_bytes();
            stats.blocks = usize::from(class.shape().blocks);
        }
        all
    }
}
