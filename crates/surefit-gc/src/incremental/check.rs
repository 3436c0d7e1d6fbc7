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
    /// Verifies G2 to G6, G8 and the invariants of the space, also for a merge that is not at its end.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        self.gc.check_live()?;
        self.check_marks()?;
        self.check_pending()?;
        let words = self.objects().map(|object| u64::from(self.words(object)));
        let live = words.fold((0, 0), |(count, bytes), words| {
            (count + 1, bytes + words * WORD)
        });
        ensure(
            live == self.live(),
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
        match (self.phase, self.cursor) {
            (Phase::Merge, 1..) => self.gc.space.check_part(self.cursor),
            _ => Ok(()),
        }
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
        let stack = self.gc.stack.get(..self.pending.len).unwrap_or(&[]);
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

    /// The objects that are marked and still to be scanned, an object perhaps twice. No other object that
    /// this cycle keeps leads to a white one.
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
