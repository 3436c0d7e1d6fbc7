//! Runs of units: free runs lie in segregated lists with boundary tags, used runs are pages and
//! large objects.
//!
//! ```text
//! tags, one per unit:
//! | FREE 5 |   ?   |   ?   |   ?   | FREE 5 | USED 3 |   ?   |  712  | FREE 1 | USED 8 | …
//! |<----------- a free run -------------->|<-- 2360 bytes used ---->|        |<- a page
//! ```
//! The first tag of a run says whether it is free, and how many units it has. The last tag of a
//! free run says the same. The last tag of a used run of several units says how many bytes of its
//! last unit the object leaves unused. The tags between are stale. The first eight bytes of a free
//! run name its neighbours in its list.
//!
//! # Invariants
//! - R1 From the first unit behind the tables, first tags lead from run to run to the end of the
//!   region, where a USED tag is the sentinel.
//! - R2 The last tag of a run agrees with its first one, as above.
//! - R3 No two free runs touch.
//! - R4 Every free run is in the list of its length ([`list_of`]), and in no other one. Links back
//!   lead back.
//! - R5 A bit of `non_empty` is set iff its list has a run; a bit of `summary` is set iff its word
//!   has a bit.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::memory::{Memory, PAGE_UNITS, Page, UNIT_BYTES, Unit};

const FREE: u32 = 1 << 31;
const USED: u32 = 1 << 30;
const LEN: u32 = USED - 1;

/// The most room, in units, that is sought behind an object that grew. On the Emacs trace it saves
/// two fifths of the bytes that large objects copy to grow; more room saved little more.
const GROWTH_UNITS: u32 = 64;

/// Runs without a whole page are *crumbs*. Each length up to this one has a list.
const LONGEST_CRUMB: u32 = 2 * PAGE_UNITS - 2;
/// The first list of runs that hold a whole page.
const WHOLE: usize = LONGEST_CRUMB as usize + 1;
/// Lists per power of two of lengths, as a binary logarithm: a run is at most 1/16 longer than the
/// shortest of its list.
const STEPS_LOG2: u32 = 4;
/// The number of lists: crumbs, and lengths up to 2³⁰ units.
const LISTS: usize = WHOLE + ((30 - STEPS_LOG2 as usize + 1) << STEPS_LOG2);
const WORDS: usize = LISTS.div_ceil(64);

/// The free runs.
#[derive(Debug)]
pub(super) struct FreeRuns {
    summary: u64,
    non_empty: [u64; WORDS],
    heads: [Unit; LISTS],
}

/// A run as its first tag describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) start: Unit,
    pub(super) units: u32,
    pub(super) free: bool,
}

impl Run {
    /// The number of whole pages in the run.
    pub(super) fn whole_pages(self) -> usize {
        let first = self.start.number().next_multiple_of(PAGE_UNITS);
        let end = self.start.number() + self.units;
        (end.saturating_sub(first) / PAGE_UNITS) as usize
    }
}

impl FreeRuns {
    /// All units behind the tables, as one free run.
    pub(super) fn new(memory: &mut Memory<'_>) -> Self {
        let mut runs = Self {
            summary: 0,
            non_empty: [0; WORDS],
            heads: [Unit::NONE; LISTS],
        };
        let first = memory.first_unit();
        let units = memory.units() - first.number();
        memory.set_tag(memory.after(first, units), USED);
        runs.add(memory, first, units);
        runs
    }

    /// Takes one aligned page from the shortest list whose runs hold one.
    pub(super) fn take_page(&mut self, memory: &mut Memory<'_>) -> Option<Page> {
        let list = self.first_list(WHOLE)?;
        let run = self.heads[list];
        let page = memory.page_from(run);
        self.carve(memory, run, page.first_unit(), PAGE_UNITS);
        Some(page)
    }

    /// Takes `units` units, the first at a multiple of `align` bytes, for an object that leaves
    /// `tail` bytes unused.
    pub(super) fn take(
        &mut self,
        memory: &mut Memory<'_>,
        units: u32,
        align: usize,
        tail: u32,
    ) -> Option<Unit> {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "an alignment is at most 64 KiB"
        )]
        let slack = (align.div_ceil(UNIT_BYTES) - 1) as u32;
        let run = self.find(memory, units.checked_add(slack)?)?;
        let start = memory.after(run, memory.units_to_aligned(run, align));
        self.carve(memory, run, start, units);
        set_tail(memory, start, units, tail);
        Some(start)
    }

    /// As [`FreeRuns::take`] without alignment, for an object that grew. Prefers a run with room
    /// behind the object, because what has grown will grow again.
    pub(super) fn take_growing(
        &mut self,
        memory: &mut Memory<'_>,
        units: u32,
        tail: u32,
    ) -> Option<Unit> {
        let run = self
            .find(memory, units + units.min(GROWTH_UNITS))
            .or_else(|| self.find(memory, units))?;
        self.carve(memory, run, run, units);
        set_tail(memory, run, units, tail);
        Some(run)
    }

    /// Gives a used run back. It coalesces with free neighbours.
    pub(super) fn give(&mut self, memory: &mut Memory<'_>, start: Unit) {
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
    pub(super) fn resize(
        &mut self,
        memory: &mut Memory<'_>,
        start: Unit,
        units: u32,
        tail: u32,
    ) -> bool {
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

    /// A free run of at least `units` units: a crumb if one is long enough, otherwise a run with
    /// whole pages.
    fn find(&self, memory: &Memory<'_>, units: u32) -> Option<Unit> {
        if units <= LONGEST_CRUMB {
            let list = self.first_list(units as usize)?;
            if list < WHOLE {
                return Some(self.heads[list]);
            }
        }
        if units > LEN {
            return None;
        }
        let own = list_of_whole(units);
        let head = self.heads[own];
        if head != Unit::NONE && memory.tag(head) & LEN >= units {
            return Some(head);
        }
        self.first_list(own + 1).map(|list| self.heads[list])
    }

    /// Cuts `units` units at `start` out of a free run, as a used run. The rest on both sides stays
    /// free.
    fn carve(&mut self, memory: &mut Memory<'_>, run: Unit, start: Unit, units: u32) {
        let all = memory.tag(run) & LEN;
        let before = start.number() - run.number();
        debug_assert!(before + units <= all, "the run is long enough");
        self.remove(memory, run);
        if before > 0 {
            self.add(memory, run, before);
        }
        if before + units < all {
            let rest = memory.after(start, units);
            self.add(memory, rest, all - before - units);
        }
        set_used(memory, start, units);
    }

    fn add(&mut self, memory: &mut Memory<'_>, start: Unit, units: u32) {
        memory.set_tag(start, FREE | units);
        memory.set_tag(memory.after(start, units - 1), FREE | units);
        let list = list_of(start, units);
        let head = self.heads[list];
        memory.set_run_links(start, [head, Unit::NONE]);
        if head != Unit::NONE {
            let [next, _] = memory.run_links(head);
            memory.set_run_links(head, [next, start]);
        }
        self.heads[list] = start;
        self.non_empty[list / 64] |= 1 << (list % 64);
        self.summary |= 1 << (list / 64);
    }

    fn remove(&mut self, memory: &mut Memory<'_>, start: Unit) {
        let list = list_of(start, memory.tag(start) & LEN);
        let [next, previous] = memory.run_links(start);
        if next != Unit::NONE {
            let [after, _] = memory.run_links(next);
            memory.set_run_links(next, [after, previous]);
        }
        if previous != Unit::NONE {
            let [_, before] = memory.run_links(previous);
            memory.set_run_links(previous, [next, before]);
            return;
        }
        self.heads[list] = next;
        if next == Unit::NONE {
            self.non_empty[list / 64] &= !(1 << (list % 64));
            self.summary &= !(u64::from(self.non_empty[list / 64] == 0) << (list / 64));
        }
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
    pub(super) fn corrupt(&mut self, what: usize, used: Unit) {
        match what {
            0 => self.summary ^= 1,
            1 => self.non_empty[0] ^= 1 << 3,
            2 => self.heads[4] = used,
            _ => {
                self.heads[4] = used;
                self.non_empty[0] |= 1 << 4;
            }
        }
    }

    /// The most units of a run that [`FreeRuns::take`] is sure to find; 0 if there is no free run.
    pub(super) fn longest(&self, memory: &Memory<'_>) -> u32 {
        let crumbs = self.non_empty[0] & ((1 << WHOLE) - 1);
        let Some(word) = self.summary.checked_ilog2() else {
            return 0;
        };
        let list = word * 64 + self.non_empty[word as usize].ilog2();
        let longest = memory.tag(self.heads[list as usize]) & LEN;
        longest.max(crumbs.checked_ilog2().unwrap_or(0))
    }

    /// Verifies R4 and R5. `free_runs` is the number of free runs that the tags show.
    pub(super) fn check(&self, memory: &Memory<'_>, free_runs: usize) -> Result<(), Corruption> {
        let mut listed = 0;
        for (list, &head) in self.heads.iter().enumerate() {
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

/// The list that a free run belongs to.
fn list_of(start: Unit, units: u32) -> usize {
    let run = Run {
        start,
        units,
        free: true,
    };
    if run.whole_pages() == 0 {
        return units as usize;
    }
    list_of_whole(units)
}

/// The list that a run of `units` units belongs to if it holds a whole page.
fn list_of_whole(units: u32) -> usize {
    if units < 1 << STEPS_LOG2 {
        return WHOLE + units as usize;
    }
    let power = units.ilog2() - STEPS_LOG2;
    WHOLE + ((power as usize) << STEPS_LOG2) + (units >> power) as usize
}

/// Whether a used run begins at `start`.
pub(super) fn begins(memory: &Memory<'_>, start: Unit) -> bool {
    memory.tag(start) & USED != 0
}

/// The length of the used run that begins at `start`.
pub(super) fn used_units(memory: &Memory<'_>, start: Unit) -> u32 {
    debug_assert!(begins(memory, start), "R1: a used run begins here");
    memory.tag(start) & LEN
}

/// The bytes of a used run's last unit that its object leaves unused; 0 for a single unit.
pub(super) fn tail_bytes(memory: &Memory<'_>, run: Run) -> usize {
    if run.units == 1 {
        return 0;
    }
    memory.tag(memory.after(run.start, run.units - 1)) as usize
}

/// Writes the tags of a free run that is in no list, for tests of the checker.
#[cfg(test)]
pub(super) fn corrupt_free(memory: &mut Memory<'_>, start: Unit, units: u32) {
    memory.set_tag(start, FREE | units);
    memory.set_tag(memory.after(start, units - 1), FREE | units);
}

fn set_used(memory: &mut Memory<'_>, start: Unit, units: u32) {
    set_tail(memory, start, units, 0);
    memory.set_tag(start, USED | units);
}

fn set_tail(memory: &mut Memory<'_>, start: Unit, units: u32, tail: u32) {
    if units > 1 {
        memory.set_tag(memory.after(start, units - 1), tail);
    }
}

/// The runs of a region in address order. It ends early at a tag that describes no run.
pub(super) fn runs<'a>(memory: &'a Memory<'_>) -> impl Iterator<Item = Run> + 'a {
    let mut start = memory.first_unit();
    core::iter::from_fn(move || {
        let run = run_at(memory, start)?;
        start = memory.after(start, run.units);
        Some(run)
    })
}

fn run_at(memory: &Memory<'_>, start: Unit) -> Option<Run> {
    let left = memory.units() - start.number();
    let tag = memory.tag(start);
    let (units, free) = (tag & LEN, tag & FREE != 0);
    let sound = units > 0 && units <= left && free != (tag & USED != 0);
    sound.then_some(Run { start, units, free })
}

/// Verifies R1 to R3: the runs fill the region, no two free runs touch, and last tags agree with
/// first tags. Returns the number of free runs.
pub(super) fn check_tags(memory: &Memory<'_>) -> Result<usize, Corruption> {
    let (mut end, mut free_runs, mut after_free) = (memory.first_unit(), 0, false);
    for run in runs(memory) {
        let last = memory.tag(memory.after(run.start, run.units - 1));
        let agrees = if run.free {
            last == FREE | run.units
        } else {
            run.units == 1 || last < UNIT_BYTES as u32
        };
        ensure(
            agrees,
            "R2",
            "the last tag does not agree with the first",
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

fn check_listed(
    memory: &Memory<'_>,
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
        tag & FREE != 0 && list_of(run, tag & LEN) == list,
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
