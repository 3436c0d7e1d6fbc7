//! Runs of units: free runs lie in segregated lists with boundary tags, used runs are pages and
//! large objects. The first eight bytes of a free run name its neighbours in its list. For tags see
//! `tags`.
//!
//! # Invariants
//! - R1 From the first unit behind the tables, first tags lead from run to run to the end of the
//!   region, where a USED tag is the sentinel. The tag before the first unit is zero.
//! - R2 The last tag of a run agrees with its first one, as above.
//! - R3 No two free runs touch.
//! - R4 Every free run is in the list of its length ([`list_of`]), and in no other one. Links back
//!   lead back.
//! - R5 A bit of `non_empty` is set iff its list has a run; a bit of `summary` is set iff its word
//!   has a bit.
#![deny(unsafe_code)]

use core::marker::PhantomData;

use surefit_core::{Corruption, Refused, ensure};

use super::memory::{Memory, Page, Plan, Unit, page_units};
use super::pages::check_runs_of_pages;
use super::partition::{Class, Partitioning};
use super::space::Space;
use super::tags::{
    FREE, LEN, Run, USED, begins, runs_from, set_free, set_tail, set_used, used_units,
};

/// The strictest alignment that runs which coalesce serve, in bytes.
pub const MAX_ALIGN: usize = 1 << 16;

/// The most room, in units, that is sought behind an object that grew. On the Emacs trace it saves
/// two fifths of the bytes that large objects copy to grow; more room saved little more.
const GROWTH_UNITS: u32 = 64;

/// Lists per power of two of lengths, as a binary logarithm: a run is at most 1/16 longer than the
/// shortest of its list.
const STEPS_LOG2: u32 = 4;
/// Words of bits, one per list: enough for crumbs of 16 units a page, and lengths up to 2³⁰ units.
const WORDS: usize = 8;

/// Runs without a whole page are *crumbs*. Each length up to this one has a list.
const fn longest_crumb<S: Partitioning>() -> u32 {
    2 * page_units::<S>() - 2
}

/// The first list of runs that hold a whole page.
const fn whole<S: Partitioning>() -> usize {
    longest_crumb::<S>() as usize + 1
}

/// The tables of a region with so many units.
#[expect(clippy::cast_possible_truncation, reason = "at most MAX_UNITS")]
pub(super) const fn plan<S: Partitioning>(units: usize) -> Plan {
    Plan {
        units,
        lists: list_of_whole::<S>(units as u32) + 1,
        counts: 0,
    }
}

/// The units of a free run that neither a page nor a run of up to `longest` units misses: it holds
/// an aligned page, and it lies in a list behind that of `longest`, of which only the first run is
/// tried.
pub(super) const fn found<S: Partitioning>(longest: u32) -> u32 {
    let page = longest_crumb::<S>() + 1;
    let run = longest
        .saturating_add(longest >> STEPS_LOG2)
        .saturating_add(1);
    if run > page { run } else { page }
}

/// Free runs that coalesce: the general mode of [`DirectHeap`](super::DirectHeap). The first run of
/// each list is kept in the region.
#[derive(Debug)]
pub struct FreeRuns<S> {
    summary: u64,
    non_empty: [u64; WORDS],
    partition: PhantomData<S>,
}

impl<S: Partitioning> FreeRuns<S> {
    /// All units behind the tables, as one free run.
    pub(super) fn new(memory: &mut Memory<'_, S>) -> Self {
        let mut runs = Self {
            summary: 0,
            non_empty: [0; WORDS],
            partition: PhantomData,
        };
        let first = memory.first_unit();
        let units = memory.units() - first.number();
        memory.set_tag(memory.after(first, units), USED);
        runs.add(memory, first, units);
        runs
    }

    /// A list whose first run has at least `units` units: a crumb if one is long enough, otherwise
    /// a run with whole pages.
    fn find(&self, memory: &Memory<'_, S>, units: u32) -> Option<usize> {
        if units <= longest_crumb::<S>() {
            let list = self.first_list(units as usize)?;
            if list < whole::<S>() {
                return Some(list);
            }
        }
        if units > LEN {
            return None;
        }
        let own = list_of_whole::<S>(units);
        if own >= memory.lists() {
            return None;
        }
        let head = memory.list(own);
        if head != Unit::NONE && memory.tag(head) & LEN >= units {
            return Some(own);
        }
        self.first_list(own + 1)
    }

    /// Cuts `units` units at `start` out of the first run of a list, as a used run. The rest on
    /// both sides stays free.
    fn carve(&mut self, memory: &mut Memory<'_, S>, list: usize, start: Unit, units: u32) {
        let run = memory.list(list);
        let all = memory.tag(run) & LEN;
        let before = start.number() - run.number();
        debug_assert!(before + units <= all, "the run is long enough");
        let [next, _] = memory.run_links(run);
        self.remove_first(memory, list, next);
        if before > 0 {
            self.add(memory, run, before);
        }
        if before + units < all {
            let rest = memory.after(start, units);
            self.add(memory, rest, all - before - units);
        }
        set_used(memory, start, units);
    }

    fn add(&mut self, memory: &mut Memory<'_, S>, start: Unit, units: u32) {
        set_free(memory, start, units);
        let list = list_of::<S>(start, units);
        let head = memory.list(list);
        memory.set_run_links(start, [head, Unit::NONE]);
        if head != Unit::NONE {
            let [next, _] = memory.run_links(head);
            memory.set_run_links(head, [next, start]);
        }
        memory.set_list(list, start);
        let word = word_of(list);
        self.non_empty[word] |= 1 << (list % 64);
        self.summary |= 1 << word;
    }

    fn remove(&mut self, memory: &mut Memory<'_, S>, start: Unit) {
        let [next, previous] = memory.run_links(start);
        if previous == Unit::NONE {
            let list = list_of::<S>(start, memory.tag(start) & LEN);
            self.remove_first(memory, list, next);
            return;
        }
        let [_, before] = memory.run_links(previous);
        memory.set_run_links(previous, [next, before]);
        if next != Unit::NONE {
            let [after, _] = memory.run_links(next);
            memory.set_run_links(next, [after, previous]);
        }
    }

    /// Removes the first run of a list. The one behind it is `next`.
    #[inline]
    fn remove_first(&mut self, memory: &mut Memory<'_, S>, list: usize, next: Unit) {
        memory.set_list(list, next);
        if next != Unit::NONE {
            let [after, _] = memory.run_links(next);
            memory.set_run_links(next, [after, Unit::NONE]);
            return;
        }
        let word = word_of(list);
        self.non_empty[word] &= !(1 << (list % 64));
        self.summary &= !(u64::from(self.non_empty[word] == 0) << word);
    }

    /// The first list at `from` or above that is not empty.
    fn first_list(&self, from: usize) -> Option<usize> {
        let word = from / 64;
        let here = self.non_empty.get(word)? & (u64::MAX << (from % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        let above = self.summary & (u64::MAX << word << 1);
        let word = above.trailing_zeros() as usize;
        let there = self.non_empty.get(word)?;
        Some(word * 64 + there.trailing_zeros() as usize)
    }

    /// Corrupts a bit, a head or the summary, for tests of the checker.
    #[cfg(test)]
    pub(super) fn corrupt(&mut self, memory: &mut Memory<'_, S>, what: usize, used: Unit) {
        match what {
            0 => self.summary ^= 1,
            1 => self.non_empty[0] ^= 1 << 3,
            2 => memory.set_list(4, used),
            _ => {
                memory.set_list(4, used);
                self.non_empty[0] |= 1 << 4;
            }
        }
    }

    /// Verifies R4 and R5. `free_runs` is the number of free runs that the tags show.
    fn check_lists(&self, memory: &Memory<'_, S>, free_runs: usize) -> Result<(), Corruption> {
        let mut listed = 0;
        for list in 0..memory.lists() {
            let head = memory.list(list);
            let bit = self.non_empty[list / 64] >> (list % 64) & 1;
            ensure(
                (bit == 1) == (head != Unit::NONE),
                "R5",
                "the bit of a list does not say whether it is empty",
                list,
            )?;
            let (mut run, mut previous) = (head, Unit::NONE);
            while run != Unit::NONE {
                check_listed(memory, run, previous, list)?;
                listed += 1;
                ensure(
                    listed <= free_runs,
                    "R4",
                    "a list holds more than the free runs",
                    list,
                )?;
                (previous, run) = (run, memory.run_links(run)[0]);
            }
        }
        for (word, bits) in self.non_empty.iter().enumerate() {
            ensure(
                (self.summary >> word & 1 == 1) == (*bits != 0),
                "R5",
                "the summary does not match its word",
                word,
            )?;
        }
        ensure(
            listed == free_runs,
            "R4",
            "a free run is in no list",
            listed,
        )
    }
}

impl<S: Partitioning> Space<S> for FreeRuns<S> {
    /// Takes one aligned page from the shortest list whose runs hold one.
    fn take_page(&mut self, memory: &mut Memory<'_, S>, _class: Class) -> Option<Page> {
        let list = self.first_list(whole::<S>())?;
        let run = memory.list(list);
        let page = memory.page_from(run);
        self.carve(memory, list, memory.first_unit_of(page), page_units::<S>());
        Some(page)
    }

    /// Takes `units` units, the first at a multiple of `align` bytes, for an object that leaves
    /// `tail` bytes unused.
    fn take(
        &mut self,
        memory: &mut Memory<'_, S>,
        units: u32,
        align: usize,
        tail: u32,
    ) -> Result<Unit, Refused> {
        if align > MAX_ALIGN {
            return Err(Refused::TooAligned { limit: MAX_ALIGN });
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an alignment is at most 64 KiB"
        )]
        let skipped = (align.div_ceil(S::UNIT_BYTES) - 1) as u32;
        let all = units.checked_add(skipped).ok_or(Refused::NoPage)?;
        let list = self.find(memory, all).ok_or(Refused::NoPage)?;
        let run = memory.list(list);
        let start = memory.after(run, memory.units_to_aligned(run, align));
        self.carve(memory, list, start, units);
        set_tail(memory, start, units, tail);
        Ok(start)
    }

    /// As [`Space::take`] without alignment, for an object that grew. Prefers a run with room
    /// behind the object, because what has grown will grow again.
    fn take_growing(
        &mut self,
        memory: &mut Memory<'_, S>,
        units: u32,
        tail: u32,
    ) -> Result<Unit, Refused> {
        let list = self
            .find(memory, units + units.min(GROWTH_UNITS))
            .or_else(|| self.find(memory, units))
            .ok_or(Refused::NoPage)?;
        let run = memory.list(list);
        self.carve(memory, list, run, units);
        set_tail(memory, run, units, tail);
        Ok(run)
    }

    fn give_page(&mut self, memory: &mut Memory<'_, S>, _class: Class, page: Page) {
        let unit = memory.first_unit_of(page);
        self.give(memory, unit);
    }

    /// Gives a used run back. It coalesces with free neighbours.
    fn give(&mut self, memory: &mut Memory<'_, S>, start: Unit) {
        let (mut start, mut units) = (start, used_units(memory, start));
        memory.set_tag(start, 0);
        let next = memory.after(start, units);
        if memory.tag(next) & FREE != 0 {
            units += memory.tag(next) & LEN;
            self.remove(memory, next);
        }
        let before = memory.tag(memory.back(start, 1));
        if before & FREE != 0 {
            start = memory.back(start, before & LEN);
            units += before & LEN;
            self.remove(memory, start);
        }
        self.add(memory, start, units);
    }

    /// Changes the length of a used run to `units` in place. Returns `false`, and changes nothing,
    /// if the run behind it does not allow that.
    fn resize(&mut self, memory: &mut Memory<'_, S>, start: Unit, units: u32, tail: u32) -> bool {
        let had = used_units(memory, start);
        if units > had {
            let next = memory.after(start, had);
            let tag = memory.tag(next);
            if tag & FREE == 0 || had + (tag & LEN) < units {
                return false;
            }
            self.remove(memory, next);
            set_used(memory, start, had + (tag & LEN));
        }
        let all = used_units(memory, start);
        if units < all {
            let rest = memory.after(start, units);
            set_used(memory, start, units);
            set_used(memory, rest, all - units);
            self.give(memory, rest);
        }
        set_tail(memory, start, units, tail);
        true
    }

    fn has_page(&self, _memory: &Memory<'_, S>, _class: Class) -> bool {
        self.first_list(whole::<S>()).is_some()
    }

    /// The most units of a run that [`Space::take`] is sure to find; 0 if there is no free run.
    fn longest(&self, memory: &Memory<'_, S>) -> u32 {
        let crumbs = self.non_empty[0] & ((1 << whole::<S>()) - 1);
        let Some(word) = self.summary.checked_ilog2() else {
            return 0;
        };
        let list = word * 64 + self.non_empty[word as usize].ilog2();
        let longest = memory.tag(memory.list(list as usize)) & LEN;
        longest.max(crumbs.checked_ilog2().unwrap_or(0))
    }

    fn free_pages(&self, memory: &Memory<'_, S>, _class: Class) -> usize {
        let free = runs_from(memory, memory.first_unit()).filter(|run| run.free);
        free.map(|run| run.whole_pages::<S>()).sum()
    }

    fn free_runs(&self, memory: &Memory<'_, S>, units: u32) -> usize {
        let free = runs_from(memory, memory.first_unit()).filter(|run| run.free);
        free.map(|run| (run.units / units) as usize).sum()
    }

    fn first_unit(&self, memory: &Memory<'_, S>) -> Unit {
        memory.first_unit()
    }

    fn runs<'a>(&'a self, memory: &'a Memory<'_, S>) -> impl Iterator<Item = Run> + 'a {
        runs_from(memory, memory.first_unit())
    }

    /// Verifies R1 to R5.
    fn check(&self, memory: &Memory<'_, S>) -> Result<(), Corruption> {
        let free_runs = check_tags(memory)?;
        self.check_lists(memory, free_runs)?;
        check_runs_of_pages(memory)
    }
}

/// The word of a list's bit. It is masked instead of checked: there are fewer lists than bits.
const fn word_of(list: usize) -> usize {
    list / 64 % WORDS
}

/// The list that a free run belongs to.
fn list_of<S: Partitioning>(start: Unit, units: u32) -> usize {
    let run = Run {
        start,
        units,
        free: true,
    };
    if !run.holds_page::<S>() {
        return units as usize;
    }
    list_of_whole::<S>(units)
}

/// The list that a run of `units` units belongs to if it holds a whole page.
const fn list_of_whole<S: Partitioning>(units: u32) -> usize {
    if units < 1 << STEPS_LOG2 {
        return whole::<S>() + units as usize;
    }
    let power = units.ilog2() - STEPS_LOG2;
    whole::<S>() + ((power as usize) << STEPS_LOG2) + (units >> power) as usize
}

/// Verifies R1 to R3: the runs fill the region, no two free runs touch, and last tags agree with
/// first tags. Returns the number of free runs.
fn check_tags<S: Partitioning>(memory: &Memory<'_, S>) -> Result<usize, Corruption> {
    let first = memory.first_unit();
    // A free looks at the tag before it.
    let before = memory.tag(memory.back(first, 1));
    ensure(
        before == 0,
        "R1",
        "the tables end in a tag",
        first.number() as usize - 1,
    )?;
    let (mut end, mut free_runs, mut after_free) = (first, 0, false);
    for run in runs_from(memory, memory.first_unit()) {
        let last = memory.tag(memory.after(run.start, run.units - 1));
        let agrees = if run.free {
            last == FREE | run.units
        } else {
            run.units == 1 || last < S::UNIT_BYTES as u32
        };
        ensure(
            agrees,
            "R2",
            "the last tag does not agree with the first",
            run.start.number() as usize,
        )?;
        let mut inside = (1..run.units).map(|unit| memory.after(run.start, unit));
        ensure(
            !inside.any(|unit| begins(memory, unit)),
            "R2",
            "a used run begins inside a run",
            run.start.number() as usize,
        )?;
        ensure(
            !(run.free && after_free),
            "R3",
            "two free runs touch",
            run.start.number() as usize,
        )?;
        after_free = run.free;
        free_runs += usize::from(run.free);
        end = memory.after(run.start, run.units);
    }
    ensure(
        end.number() == memory.units() && memory.tag(end) == USED,
        "R1",
        "a tag describes no run",
        end.number() as usize,
    )?;
    Ok(free_runs)
}

fn check_listed<S: Partitioning>(
    memory: &Memory<'_, S>,
    run: Unit,
    previous: Unit,
    list: usize,
) -> Result<(), Corruption> {
    let at = run.number() as usize;
    ensure(
        run >= memory.first_unit() && run.number() < memory.units(),
        "R4",
        "a list leads out of the region",
        at,
    )?;
    let tag = memory.tag(run);
    ensure(
        tag & FREE != 0 && list_of::<S>(run, tag & LEN) == list,
        "R4",
        "a run is in a list that is not its own",
        at,
    )?;
    ensure(
        memory.run_links(run)[1] == previous,
        "R4",
        "a link back does not lead back",
        at,
    )
}
