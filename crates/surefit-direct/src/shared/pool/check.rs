//! The invariants of the pool.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::super::memory::{Kind, Memory, Span};
#[cfg(test)]
use super::super::runs::Runs;
use super::{COMMITTED_AT_ONCE, Pool, is_zero};

/// What the records below the top show.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::shared) struct Found {
    /// Free runs.
    pub(in crate::shared) free_runs: usize,
    /// Units that are nothing, but for those inside runs.
    pub(in crate::shared) nothing: u64,
    /// Those of them that are in no instance's buffer.
    pub(in crate::shared) nobodys: u64,
    /// Whether no instance was lost, which may have been in the middle of a call.
    pub(in crate::shared) is_whole: bool,
}

impl Pool {
    /// Verifies P4. Returns the top.
    pub(in crate::shared) fn check_top(&self, memory: &Memory) -> Result<Span, Corruption> {
        let (first, committed) = (memory.first(), memory.committed());
        let whole = committed % COMMITTED_AT_ONCE == 0
            || committed == memory.units()
            || committed == first.number();
        ensure(
            whole && (first.number()..=memory.units()).contains(&committed),
            "P4",
            "units are committed that cannot be",
            committed as usize,
        )?;
        ensure(
            first <= self.top && self.top.number() <= committed,
            "P4",
            "the top is not committed",
            self.top.number() as usize,
        )?;
        Ok(self.top)
    }

    /// Verifies P2, P3, and the lists of free runs, after the records and the top.
    pub(in crate::shared) fn check(
        &self,
        memory: &Memory,
        found: &Found,
    ) -> Result<(), Corruption> {
        let mut listed = 0;
        for (runs, zero) in [(&self.dirty, false), (&self.clean, true)] {
            listed += runs.check(memory, self.top, |run| self.check_run(memory, run, zero))?;
        }
        ensure(
            listed == found.free_runs,
            "R2",
            "a free run is in no list",
            listed,
        )?;
        let free = self.dirty.units() + self.clean.units();
        let below = u64::from(self.top.number() - memory.first().number());
        let all = free.checked_add(self.used);
        ensure(
            all.and_then(|all| all.checked_add(self.leaving)) == Some(below),
            "P3",
            "units are lost",
            self.top.number() as usize,
        )?;
        ensure(
            self.leaving == found.nobodys || !found.is_whole,
            "P3",
            "a unit is nobody's",
            self.top.number() as usize,
        )?;
        ensure(
            self.used <= self.most_used && self.most_used <= u64::from(memory.units()),
            "P3",
            "more units are used than ever were, or ever were than there are",
            0,
        )
    }

    /// Verifies P2, and the kind of a free run whose records are sound.
    fn check_run(&self, memory: &Memory, run: Span, zero: bool) -> Result<(), Corruption> {
        let at = run.number() as usize;
        ensure(
            is_zero(memory, run) == zero,
            "R1",
            "a run is in the other lists",
            at,
        )?;
        let end = memory.after(run, memory.record(run).units.get());
        ensure(
            end < self.top || !zero,
            "P2",
            "a free run is behind the top, or should be",
            at,
        )?;
        let touches = end < self.top
            && memory.record(end).kind() == Kind::Free
            && self.joins(memory, end, zero);
        ensure(!touches, "P2", "two free runs touch", at)
    }
}

#[cfg(test)]
impl Pool {
    /// What changes while the heap lives, but for limits and counters, for tests of the checker.
    pub(in crate::shared) fn words(&self) -> impl Iterator<Item = u64> {
        let narrow = [self.top.number(), self.looked_last].map(u64::from);
        let runs = [&self.dirty, &self.clean].into_iter().flat_map(Runs::words);
        runs.chain(narrow)
            .chain([self.used, self.leaving, self.most_used])
    }

    /// Changes them. Narrow ones lose what is too much.
    pub(in crate::shared) fn set_words(&mut self, words: &mut impl Iterator<Item = u64>) {
        self.dirty.set_words(words);
        self.clean.set_words(words);
        let mut next = || words.next().unwrap_or(0);
        (self.top, self.looked_last) = (Span::of(next() as u32), next() as u32);
        for word in [&mut self.used, &mut self.leaving, &mut self.most_used] {
            *word = next();
        }
    }
}
