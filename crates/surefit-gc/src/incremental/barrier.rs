//! What the program does while a cycle runs: stores with a barrier, upgrades, births.
#![deny(unsafe_code)]

use crate::incremental::{Incremental, Phase};
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::Stepwise;

impl<S: Stepwise, K: Clock> Incremental<'_, S, K> {
    /// Whether a reference that a word loses must be followed first.
    #[inline]
    pub(super) const fn keeps_old(&self) -> bool {
        matches!(self.phase, Phase::Mark)
    }

    /// Shades an object that may be white: a word loses it, or a weak reference leads to it. Any
    /// number may be given.
    pub(super) fn shade(&mut self, object: Object) {
        let gc = &mut self.gc;
        let stack = &mut *gc.stack;
        let is_new = self.pending.shade(stack, &gc.live, &mut gc.marks, object);
        self.cycle.shaded += u64::from(is_new);
    }

    /// What a weak reference leads to: `None` if the object is dead or freed.
    ///
    /// Every weak reference must be upgraded before its object is used: what it leads to is kept
    /// then as if it had been reachable when the cycle started.
    #[must_use]
    pub fn upgrade(&mut self, object: Object) -> Option<Object> {
        let lives = self.contains(object);
        if lives && self.keeps_old() {
            self.shade(object);
        }
        lives.then_some(object)
    }

    /// Whether a reference names a live object: it was allocated, no cycle has freed it, and the
    /// one that runs will not free it.
    ///
    /// While a cycle marks, it is not known yet whether it will: then the object counts as live.
    #[inline]
    #[must_use]
    pub fn contains(&self, object: Object) -> bool {
        self.gc.contains(object) && !self.is_condemned(object)
    }

    /// Counts a new object, and makes it black if the sweep would free it otherwise.
    #[inline]
    pub(super) fn born(&mut self, object: Object) {
        let words = self.gc.words(object);
        let bytes = u64::from(words) * super::WORD;
        self.add_occupied(self.gc.held(object));
        self.live_objects += 1;
        self.live_bytes += bytes;
        if self.phase == Phase::Mark || self.is_ahead_of_sweep(object) {
            self.gc.marks.reach(object);
        }
        if self.phase >= Phase::Mark {
            self.cycle.born += 1;
            self.cycle.born_bytes += bytes;
        }
    }
}
