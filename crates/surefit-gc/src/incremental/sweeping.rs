//! The sweep in steps, word by word of the bits, and what follows it.

use crate::bits::BITS;
use crate::incremental::{Incremental, Phase, WORD};
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::Stepwise;

impl<S: Stepwise, K: Clock> Incremental<'_, S, K> {
    /// Frees dead objects until there are no more, or the budget is used up.
    pub(super) fn sweep(&mut self, budget: u64) -> u64 {
        let mut work = 0;
        while work < budget && self.phase == Phase::Sweep {
            work += match self.dying.or_else(|| self.next_dead()) {
                Some(object) => self.free(object),
                None => self.next_word(),
            };
        }
        work
    }

    /// The lowest dead object in the word of bits that is being swept. It dies: it has no live bit
    /// any more.
    fn next_dead(&mut self) -> Option<Object> {
        let nth = self.cursor as usize;
        let dead = self.gc.live.word(nth) & !self.gc.marks.bits().word(nth);
        if dead == 0 {
            return None;
        }
        let object = Object::of(self.cursor * BITS + dead.trailing_zeros())?;
        let words = self.gc.words(object);
        let bytes = u64::from(words) * WORD;
        self.occupied = self.occupied.minus(self.gc.held(object));
        self.gc.live.reset(object.number());
        self.live_objects -= 1;
        self.live_bytes -= bytes;
        self.cycle.freed_objects += 1;
        self.cycle.freed_bytes += bytes;
        self.dying = Some(object);
        self.dying
    }

    /// Frees an object that has no live bit any more, or a part of it.
    fn free(&mut self, object: Object) -> u64 {
        // SAFETY: S1: it had a live bit until it became the one that is dying, and is freed once.
        // S2: no other is freed before it is done. S3: access is compared with the live bits, and
        // it has none; marking has ended.
        let freed = unsafe { self.gc.space.free(object) };
        if freed.done {
            self.dying = None;
        }
        freed.work
    }

    /// Leaves a word of bits whose dead objects are all freed: those that are kept become white.
    fn next_word(&mut self) -> u64 {
        let nth = self.cursor as usize;
        self.gc.marks.clear_word(nth);
        let next = self.gc.live.beyond(nth + 1, self.gc.space.unused());
        self.cursor = next as u32;
        if next >= self.gc.live.words().len() {
            (self.phase, self.cursor) = (Phase::Merge, 0);
        }
        1
    }

    /// Merges a pair of free neighbours, or ends the cycle.
    pub(super) fn merge(&mut self) -> u64 {
        // SAFETY: S1: in this phase nothing is freed; `make_room` merges only when the phase has
        // ended.
        match unsafe { self.gc.space.merge_part(self.cursor) } {
            Some(next) => self.cursor = next,
            None => self.end_cycle(),
        }
        1
    }

    fn end_cycle(&mut self) {
        (self.phase, self.cursor) = (Phase::Idle, 0);
        self.gc
            .space
            .cycle_ended(self.live_objects, self.live_bytes);
        self.cycle.live_objects = self.live_objects;
        self.cycle.live_bytes = self.live_bytes as usize;
        self.steps.add(&self.cycle);
        let totals = &mut self.gc.totals;
        totals.collections += 1;
        totals.marked += self.cycle.marked + self.cycle.shaded;
        totals.edges += self.cycle.edges;
        totals.rescans += self.cycle.rescans;
        totals.freed_objects += self.cycle.freed_objects;
    }

    /// Whether marking has ended, the sweep has not come to this number yet, and its object is not
    /// marked: it is dead, and will be freed.
    #[inline]
    pub(super) fn is_condemned(&self, object: Object) -> bool {
        self.is_ahead_of_sweep(object) && !self.gc.marks.contains(object)
    }

    /// Whether marking has ended, and the sweep has not left the object's word of bits yet.
    #[inline]
    pub(super) const fn is_ahead_of_sweep(&self, object: Object) -> bool {
        match self.phase {
            Phase::Weak => true,
            Phase::Sweep => object.number() / BITS >= self.cursor,
            _ => false,
        }
    }
}
