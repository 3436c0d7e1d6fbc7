//! Verifies the numbered invariants of a collector in steps.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::bits::BITS;
use crate::check::broken_at;
use crate::incremental::{Incremental, Phase, WORD, held};
use crate::object::Object;
use crate::statistics::Clock;
use crate::stepwise::Stepwise;

impl<S: Stepwise, K: Clock> Incremental<'_, S, K> {
    /// Verifies G2 to G6, G8 to G10 and the invariants of the space, also for a merge that is not
    /// at its end.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        self.gc.check_live()?;
        self.check_phase()?;
        self.check_marks()?;
        self.check_pending()?;
        self.check_kept()?;
        let words = self.objects().map(|object| u64::from(self.words(object)));
        let live = words.fold((0, 0), |(count, bytes), words| {
            (count + 1, bytes + words * WORD)
        });
        ensure(
            live == (self.live_objects, self.live_bytes),
            "G8",
            "live objects or their bytes were miscounted; objects",
            live.0 as usize,
        )?;
        let held = held(&self.gc);
        ensure(
            held == self.occupied,
            "G8",
            "what live objects occupy was miscounted; bytes",
            held.bytes as usize,
        )?;
        self.gc.space.check()?;
        self.gc.space.check_dying(self.dying)?;
        match (self.phase, self.cursor) {
            (Phase::Merge, 1..) => self.gc.space.check_part(self.cursor),
            _ => Ok(()),
        }
    }

    /// Verifies that no live object is being freed, and that the sweep and the pass over grey
    /// objects are at a word of bits.
    fn check_phase(&self) -> Result<(), Corruption> {
        let words = self.gc.live.words().len();
        let is_there = self.phase != Phase::Sweep || (self.cursor as usize) < words;
        let what = "the sweep is beyond the bits; the word";
        ensure(is_there, "G4", what, self.cursor as usize)?;
        let may_die = |object| self.phase == Phase::Sweep && !self.gc.contains(object);
        let is_dead = self.dying.is_none_or(may_die);
        let at = self.dying.map_or(0, Object::number) as usize;
        let what = "a live object is being freed; its number";
        ensure(is_dead, "G10", what, at)?;
        let is_in_bits = |pass| (pass as usize) < self.gc.live.count();
        let is_there = self.pending.pass.is_none_or(is_in_bits);
        let what = "the pass over grey objects is beyond the bits; its number";
        ensure(
            is_there,
            "G6",
            what,
            self.pending.pass.unwrap_or(0) as usize,
        )
    }

    /// Verifies G9.
    fn check_kept(&self) -> Result<(), Corruption> {
        if self.phase == Phase::Idle {
            return Ok(());
        }
        let (cycle, pending) = (&self.cycle, self.pending.marked.objects);
        let has_roots = cycle.roots > 0 || self.phase == Phase::Roots;
        let may_have_freed = cycle.freed_objects == 0 || self.phase >= Phase::Sweep;
        let what = "the cycle is in a phase that it has not reached; objects that it freed";
        let at = cycle.freed_objects as usize;
        ensure(has_roots && may_have_freed, "G9", what, at)?;
        let is_white = |object: &Object| match self.phase {
            Phase::Roots | Phase::Mark => !self.is_marked(*object),
            _ => self.is_condemned(*object),
        };
        let white = self.objects().filter(is_white).count() as u64;
        let kept = [cycle.marked, pending, cycle.shaded, cycle.born];
        let kept = kept.into_iter().fold(0, u64::wrapping_add);
        let what = "other objects are marked than were; not marked are";
        let is_counted = kept.wrapping_add(white) == self.live_objects;
        ensure(is_counted, "G9", what, white as usize)
    }

    /// Verifies G4.
    fn check_marks(&self) -> Result<(), Corruption> {
        let least = match self.phase {
            Phase::Roots | Phase::Mark | Phase::Weak => 0,
            Phase::Sweep => self.cursor * BITS,
            Phase::Merge | Phase::Idle => u32::MAX,
        };
        let mut bits = 0;
        for object in self.objects().filter(|&object| self.is_marked(object)) {
            let is_early = object.number() < least;
            if is_early {
                return Err(broken_at(
                    "G4",
                    "an object is still marked; its number",
                    object,
                ));
            }
            bits += 1 + usize::from(self.gc.marks.is_grey(object));
        }
        let words = self.gc.marks.bits().words();
        let set = words.iter().map(|word| word.count_ones() as usize).sum();
        ensure(
            bits == set,
            "G4",
            "mark bits are set of what is no live object; bits",
            set,
        )
    }

    /// Verifies G5 and G6.
    fn check_pending(&self) -> Result<(), Corruption> {
        let may_pend = matches!(self.phase, Phase::Roots | Phase::Mark);
        let (len, room) = (self.pending.len, self.gc.stack.len());
        ensure(
            len <= room,
            "G5",
            "the mark stack is longer than its room; entries",
            len,
        )?;
        let stack = &self.gc.stack[..len];
        for &entry in stack {
            let object = Object::of((entry >> 32) as u32);
            let is_known = object.is_some_and(|object| {
                self.gc.contains(object) && self.is_marked(object) && may_pend
            });
            ensure(
                is_known,
                "G5",
                "an entry of the mark stack is not of a marked object; its number",
                (entry >> 32) as usize,
            )?;
        }
        let dropped = self.pending.dropped.map(Object::number);
        let known_from = dropped.into_iter().chain(self.pending.pass).min();
        for object in self
            .objects()
            .filter(|&object| self.gc.marks.is_grey(object))
        {
            let is_known = known_from.is_some_and(|from| from <= object.number());
            if !may_pend {
                return Err(broken_at("G5", "an object is grey; its number", object));
            }
            if !is_known {
                return Err(broken_at(
                    "G6",
                    "a grey object is forgotten; its number",
                    object,
                ));
            }
        }
        Ok(())
    }

    fn is_marked(&self, object: Object) -> bool {
        self.gc.marks.contains(object)
    }

    /// The objects that are marked and still to be scanned, an object perhaps twice. No other
    /// object that this cycle keeps leads to a white one.
    pub fn pending(&self) -> impl Iterator<Item = Object> {
        let stack = self.gc.stack.iter().take(self.pending.len);
        let stacked = stack.filter_map(|entry| Object::of((entry >> 32) as u32));
        let grey = self
            .objects()
            .filter(|&object| self.gc.marks.is_grey(object));
        stacked.chain(grey)
    }

    /// Whether the cycle that runs has reached an object, and so keeps it.
    #[must_use]
    pub fn is_reached(&self, object: Object) -> bool {
        self.gc.contains(object) && self.is_marked(object)
    }
}
