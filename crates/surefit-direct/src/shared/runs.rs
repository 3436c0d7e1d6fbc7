//! Lists of free runs of units by length: the shortest that is long enough is found by two bitmaps.
//!
//! Lengths up to 31 have a list each; above, there are eight for each power of two. A list is
//! searched at its first run only, or one further up is taken: O(1), and a run at most 1/8 longer
//! than needed is taken for it.
//!
//! # Invariants
//! - R1 A run in a list is [`Kind::Free`](super::memory::Kind::Free) in its first and its last
//!   record, and both give its units.
//! - R2 It is in the list of its length. Links back lead back.
//! - R3 A bit is set iff its list has a run; a bit of the summary iff its word has a bit.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::memory::{Kind, Memory, Span};

/// Lengths below this have lists of their own.
const EXACT: u32 = 32;
/// Lists: of lengths to 2³¹.
const LISTS: usize = EXACT as usize + 26 * 8;
const WORDS: usize = LISTS.div_ceil(64);

/// Free runs.
#[derive(Debug)]
pub(super) struct Runs {
    first: [Span; LISTS],
    bits: [u64; WORDS],
    summary: u64,
    units: u64,
}

impl Runs {
    pub(super) const fn new() -> Self {
        Self {
            first: [Span::NONE; LISTS],
            bits: [0; WORDS],
            summary: 0,
            units: 0,
        }
    }

    /// Units of all runs together.
    pub(super) fn units(&self) -> u64 {
        self.units
    }

    /// Adds a run whose records say that it is one.
    pub(super) fn add(&mut self, memory: &Memory, run: Span) {
        let record = memory.record(run);
        let list = list_of(record.units.get());
        let head = self.first[list];
        record.next.set(head);
        record.previous.set(Span::NONE);
        if head != Span::NONE {
            memory.record(head).previous.set(run);
        }
        self.first[list] = run;
        self.bits[list / 64] |= 1 << (list % 64);
        self.summary |= 1 << (list / 64);
        self.units += u64::from(record.units.get());
    }

    /// Takes a run out.
    pub(super) fn remove(&mut self, memory: &Memory, run: Span) {
        let record = memory.record(run);
        let (next, previous) = (record.next.get(), record.previous.get());
        let list = list_of(record.units.get());
        if next != Span::NONE {
            memory.record(next).previous.set(previous);
        }
        if previous != Span::NONE {
            memory.record(previous).next.set(next);
        } else {
            self.first[list] = next;
            if next == Span::NONE {
                self.bits[list / 64] &= !(1 << (list % 64));
                if self.bits[list / 64] == 0 {
                    self.summary &= !(1 << (list / 64));
                }
            }
        }
        self.units -= u64::from(record.units.get());
    }

    /// A run of at least `units` units, still in its list. O(1).
    pub(super) fn find(&self, memory: &Memory, units: u32) -> Option<Span> {
        let own = list_of(units);
        let head = self.first[own];
        if head != Span::NONE && memory.record(head).units.get() >= units {
            return Some(head);
        }
        self.first_from(own + 1)
    }

    /// The longest run, or one of nearly its length.
    pub(super) fn longest(&self) -> Option<Span> {
        let word = self.summary.checked_ilog2()? as usize;
        let bit = self.bits[word].checked_ilog2()? as usize;
        Some(self.first[word * 64 + bit])
    }

    fn first_from(&self, list: usize) -> Option<Span> {
        let word = list / 64;
        let here = self.bits.get(word)? & (u64::MAX << (list % 64));
        if here != 0 {
            return Some(self.first[word * 64 + here.trailing_zeros() as usize]);
        }
        let above = self.summary & (u64::MAX << word << 1);
        let word = above.trailing_zeros() as usize;
        let there = self.bits.get(word)?;
        Some(self.first[word * 64 + there.trailing_zeros() as usize])
    }

    /// Each run, those of the longest lists first.
    pub(super) fn each<'a>(&'a self, memory: &'a Memory) -> impl Iterator<Item = Span> + 'a {
        let listed = |run: Span| Some(run).filter(|run| *run != Span::NONE);
        self.first.iter().rev().flat_map(move |first| {
            core::iter::successors(listed(*first), move |run| {
                listed(memory.record(*run).next.get())
            })
        })
    }

    /// Verifies R1 to R3, for runs below the top that are `zero` or not. Returns how many there
    /// are.
    pub(super) fn check(
        &self,
        memory: &Memory,
        top: Span,
        mut sound: impl FnMut(Span) -> Result<(), Corruption>,
    ) -> Result<usize, Corruption> {
        let bit = |list: usize| self.bits[list / 64] >> (list % 64) & 1 == 1;
        let summary = |word: usize| self.summary >> word & 1 == 1;
        let listed = |list: usize| self.first.get(list).is_some_and(|run| *run != Span::NONE);
        let agree = (0..WORDS * 64).all(|list| bit(list) == listed(list))
            && (0..64)
                .all(|word| summary(word) == self.bits.get(word).is_some_and(|bits| *bits != 0));
        ensure(agree, "R3", "a bit lies", 0)?;
        let (mut units, mut runs) = (0, 0);
        for (list, first) in self.first.iter().enumerate() {
            let (mut before, mut run) = (Span::NONE, *first);
            while run != Span::NONE {
                let at = run.number() as usize;
                let record = Some(run).filter(|run| memory.is_usable(*run) && *run < top);
                let record = record.map(|run| memory.record(run));
                let Some(record) = record.filter(|record| record.kind() == Kind::Free) else {
                    return Err(Corruption::new("R1", "a list holds what is not free", at));
                };
                let long = record.units.get();
                let inside = long > 0 && long <= top.number() - run.number();
                ensure(inside, "R1", "a run leads over the top", at)?;
                let last = memory.record(memory.after(run, long - 1));
                ensure(
                    last.kind() == Kind::Free && last.units.get() == long,
                    "R1",
                    "a run has no ends",
                    at,
                )?;
                ensure(list_of(long) == list, "R2", "a run is in another list", at)?;
                ensure(
                    record.previous.get() == before && runs < memory.committed() as usize,
                    "R2",
                    "a link back does not lead back",
                    at,
                )?;
                sound(run)?;
                (units, runs) = (units + u64::from(long), runs + 1);
                (before, run) = (run, record.next.get());
            }
        }
        ensure(
            units == self.units,
            "R1",
            "units of free runs are miscounted",
            0,
        )?;
        Ok(runs)
    }
}

/// The list of a length.
const fn list_of(units: u32) -> usize {
    if units < EXACT {
        return units as usize;
    }
    let power = units.ilog2();
    let step = (units >> (power - 3)) as usize - 8;
    EXACT as usize + (power as usize - 5) * 8 + step
}

#[cfg(test)]
impl Runs {
    /// All but the lists of long runs, for tests of the checker.
    pub(super) fn words(&self) -> impl Iterator<Item = u64> {
        let first = self.first[..48].iter().map(|run| u64::from(run.number()));
        first.chain(self.bits).chain([self.summary, self.units])
    }

    /// Changes them.
    pub(super) fn set_words(&mut self, words: &mut impl Iterator<Item = u64>) {
        let mut next = || words.next().unwrap_or(0);
        self.first[..48].fill_with(|| Span::of(next() as u32));
        self.bits.fill_with(&mut next);
        (self.summary, self.units) = (next(), next());
    }
}

#[cfg(test)]
mod tests {
    use super::{LISTS, list_of};

    #[test]
    fn lists_are_in_the_order_of_lengths() {
        let mut before = 0;
        for units in 1..100_000 {
            let list = list_of(units);
            assert!(list == before || list == before + 1);
            before = list;
        }
        assert!(list_of((1 << 31) - 1) < LISTS);
    }
}
