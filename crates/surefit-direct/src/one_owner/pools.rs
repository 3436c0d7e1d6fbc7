//! Pools: the certified mode of a direct heap. Pages and the runs of each length are carved once,
//! and never become anything else.
//!
//! ```text
//! | tables | pad | page | page | page |  never carved  | run of 3 units | run of 8 units | run of 3 units |
//!                first              next →          ← start                                              end
//! ```
//! What a class or a length may still carve is a count in the tables: the *budget* of its demand. A
//! page that its class gives back serves any class, and adds to the budget of the one that gave it.
//!
//! # Invariants
//! - Q1 The pages from `first` to `next` hold page-blocks, or are in the list of free pages, linked
//!   through their first eight bytes. Pages that hold page-blocks, and the budgets of all classes,
//!   are as many as fit from `first` to `limit`.
//! - Q2 From `start`, first tags lead from run to run to the end of the region; each has the length
//!   of a pool, and is free iff it is in that pool's list. Last tags are as `tags` says. Budgets of
//!   all pools, times their lengths, are the units from `limit` to `start`.
//! - Q3 The lengths of pools rise.
#![deny(unsafe_code)]

use core::marker::PhantomData;

use surefit_core::{Corruption, Refused, ensure};

use super::demand::{DirectDemand, Needs, first_page_unit, run_units};
use super::memory::{Memory, Page, Plan, Unit, page_units};
use super::partition::{Class, Partitioning, class_of, classes, each_class};
use super::space::Space;
use super::tags::{self, LEN, Run};

/// Pools for a demand: the certified mode of [`DirectHeap`](super::DirectHeap).
#[derive(Debug)]
pub struct Pools<S> {
    /// The first page; the first page that was never carved; the end of pages.
    first: Unit,
    next: Unit,
    limit: Unit,
    /// The last run that was carved.
    start: Unit,
    free_pages: Unit,
    partition: PhantomData<S>,
}

/// Where the budgets of the classes are among the counts: first. Behind them are the lengths of the
/// pools, and behind those their budgets.
const fn budget_of(class: Class) -> usize {
    class.index()
}

const fn length_at<S: Partitioning>(pool: usize) -> usize {
    classes::<S>() + pool
}

fn budget_at<S: Partitioning>(memory: &Memory<'_, S>, pool: usize) -> usize {
    classes::<S>() + memory.lists() + pool
}

impl<S: Partitioning> Pools<S> {
    /// Writes the budgets of a demand into tables of zeros.
    pub(super) fn new(
        memory: &mut Memory<'_, S>,
        plan: Plan,
        needs: &Needs,
        demand: &[DirectDemand],
    ) -> Self {
        let first = memory.unit(first_page_unit::<S>(plan));
        let mut pages = 0;
        for class in each_class::<S>() {
            memory.set_count(budget_of(class), needs.pages[class.index()]);
            pages += needs.pages[class.index()];
        }
        let mut pools = 0;
        for line in demand {
            if class_of::<S>(line.bytes, line.align).is_some() {
                continue;
            }
            if let Some(units) = run_units::<S>(line) {
                pools = add_line(memory, pools, units, line.objects);
            }
        }
        Self {
            first,
            next: first,
            limit: memory.after(first, pages * page_units::<S>()),
            start: memory.unit(plan.units),
            free_pages: Unit::NONE,
            partition: PhantomData,
        }
    }

    /// The pool of the shortest runs that have so many units.
    fn pool(memory: &Memory<'_, S>, units: u32) -> Option<usize> {
        let pools = memory.lists();
        let (mut low, mut high) = (0, pools);
        while low < high {
            let middle = usize::midpoint(low, high);
            if memory.count(length_at::<S>(middle)) < units {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        (low < pools).then_some(low)
    }

    fn pool_or_refuse(memory: &Memory<'_, S>, units: u32) -> Result<usize, Refused> {
        Self::pool(memory, units).ok_or_else(|| Refused::TooLarge {
            limit: match memory.lists() {
                0 => S::LARGEST_BLOCK,
                pools => memory.count(length_at::<S>(pools - 1)) as usize * S::UNIT_BYTES,
            },
        })
    }

    /// How many runs of a pool were carved and are free. Linear in them.
    fn listed(&self, memory: &Memory<'_, S>, pool: usize) -> usize {
        let units = memory.count(length_at::<S>(pool));
        let free = self.carved(memory).filter(|run| run.free);
        free.filter(|run| run.units == units).count()
    }

    /// The runs that were carved, in address order.
    fn carved<'a>(&'a self, memory: &'a Memory<'_, S>) -> impl Iterator<Item = Run> + 'a {
        tags::runs_from(memory, self.start)
    }

    fn page_runs<'a>(&'a self, memory: &'a Memory<'_, S>) -> impl Iterator<Item = Run> + 'a {
        let mut start = self.first;
        core::iter::from_fn(move || {
            if start >= self.next {
                return None;
            }
            let page = memory.page_at(start)?;
            let run = Run {
                start,
                units: page_units::<S>(),
                free: !memory.record(page).holds_blocks(),
            };
            start = memory.after(start, run.units);
            Some(run)
        })
    }

    /// Verifies Q1.
    fn check_pages(&self, memory: &Memory<'_, S>) -> Result<(), Corruption> {
        let at = self.next.number() as usize;
        let in_order = self.first <= self.next && self.next <= self.limit;
        ensure(
            in_order && self.limit <= self.start && self.start.number() <= memory.units(),
            "Q1",
            "pages and runs overlap, or lie outside",
            at,
        )?;
        let pages = (self.limit.number() - self.first.number()) / page_units::<S>();
        let outside = memory.pages().filter(|&page| {
            let first = memory.first_unit_of(page);
            memory.record(page).holds_blocks() && !(self.first <= first && first < self.next)
        });
        ensure(outside.count() == 0, "Q1", "a page was never carved", at)?;
        let free = self.page_runs(memory).filter(|run| run.free).count();
        let (mut unit, mut listed) = (self.free_pages, 0);
        while unit != Unit::NONE {
            let page = memory.page_at(unit);
            let inside = self.first <= unit && unit < self.next && listed < free;
            let is_free = inside && page.is_some_and(|page| !memory.record(page).holds_blocks());
            ensure(
                is_free,
                "Q1",
                "a page in the list of free pages is not free",
                listed,
            )?;
            listed += 1;
            [unit, _] = memory.run_links(unit);
        }
        ensure(listed == free, "Q1", "a free page is not listed", listed)?;
        let holding = self.page_runs(memory).filter(|run| !run.free).count() as u64;
        let budgets = each_class::<S>().map(|class| u64::from(memory.count(budget_of(class))));
        ensure(
            holding + budgets.sum::<u64>() == u64::from(pages),
            "Q1",
            "budgets of pages do not add up",
            at,
        )
    }

    /// Verifies Q2.
    fn check_runs(&self, memory: &Memory<'_, S>) -> Result<(), Corruption> {
        let (mut end, mut left) = (self.start, 0);
        for run in self.carved(memory) {
            let pool = Self::pool(memory, run.units);
            let exact = pool.is_some_and(|pool| memory.count(length_at::<S>(pool)) == run.units);
            let at = run.start.number() as usize;
            ensure(exact, "Q2", "a run has the length of no pool", at)?;
            ensure(
                is_last_tag_right(memory, run),
                "Q2",
                "the last tag of a run does not fit it",
                at,
            )?;
            end = memory.after(run.start, run.units);
        }
        ensure(
            end.number() == memory.units(),
            "Q2",
            "a tag describes no run",
            end.number() as usize,
        )?;
        for pool in 0..memory.lists() {
            let units = memory.count(length_at::<S>(pool));
            let budget = memory.count(budget_at(memory, pool));
            left += u64::from(units) * u64::from(budget);
            self.check_pool(memory, pool)?;
        }
        ensure(
            left == u64::from(self.start.number() - self.limit.number()),
            "Q2",
            "budgets of runs do not add up",
            self.start.number() as usize,
        )
    }

    fn check_lengths(memory: &Memory<'_, S>) -> Result<(), Corruption> {
        let mut previous = 0;
        for pool in 0..memory.lists() {
            let units = memory.count(length_at::<S>(pool));
            ensure(
                units > previous,
                "Q3",
                "the lengths of pools do not rise",
                pool,
            )?;
            previous = units;
        }
        Ok(())
    }

    fn check_pool(&self, memory: &Memory<'_, S>, pool: usize) -> Result<(), Corruption> {
        let units = memory.count(length_at::<S>(pool));
        let (mut unit, mut listed, free) = (memory.list(pool), 0, self.listed(memory, pool));
        while unit != Unit::NONE {
            let inside = self.start <= unit && unit.number() < memory.units() && listed < free;
            let is_own = inside && tags::is_free(memory, unit, units);
            ensure(
                is_own,
                "Q2",
                "a run in a pool's list is not free, or not of this pool",
                pool,
            )?;
            listed += 1;
            [unit, _] = memory.run_links(unit);
        }
        ensure(listed == free, "Q2", "a free run is not listed", pool)
    }
}

/// Adds a line to the pools, which are sorted by length; returns how many there are now.
fn add_line<S: Partitioning>(
    memory: &mut Memory<'_, S>,
    pools: usize,
    units: u32,
    objects: u32,
) -> usize {
    let mut at = pools;
    while at > 0 && memory.count(length_at::<S>(at - 1)) >= units {
        at -= 1;
    }
    if at < pools && memory.count(length_at::<S>(at)) == units {
        let budget = budget_at(memory, at);
        memory.set_count(budget, memory.count(budget) + objects);
        return pools;
    }
    for pool in (at..pools).rev() {
        let (length, budget) = (length_at::<S>(pool), budget_at(memory, pool));
        memory.set_count(length + 1, memory.count(length));
        memory.set_count(budget + 1, memory.count(budget));
    }
    memory.set_count(length_at::<S>(at), units);
    memory.set_count(budget_at(memory, at), objects);
    pools + 1
}

impl<S: Partitioning> Space<S> for Pools<S> {
    fn take_page(&mut self, memory: &mut Memory<'_, S>, class: Class) -> Option<Page> {
        let left = memory.count(budget_of(class)).checked_sub(1)?;
        memory.set_count(budget_of(class), left);
        let mut unit = self.free_pages;
        if unit == Unit::NONE {
            unit = self.next;
            self.next = memory.after(unit, page_units::<S>());
        } else {
            [self.free_pages, _] = memory.run_links(unit);
        }
        memory.page_at(unit)
    }

    fn give_page(&mut self, memory: &mut Memory<'_, S>, class: Class, page: Page) {
        memory.set_count(budget_of(class), memory.count(budget_of(class)) + 1);
        let unit = memory.first_unit_of(page);
        memory.set_run_links(unit, [self.free_pages, Unit::NONE]);
        self.free_pages = unit;
    }

    /// O(log of the pools), as the next three.
    fn take(
        &mut self,
        memory: &mut Memory<'_, S>,
        units: u32,
        align: usize,
        tail: u32,
    ) -> Result<Unit, Refused> {
        if align > S::UNIT_BYTES {
            return Err(Refused::TooAligned {
                limit: S::UNIT_BYTES,
            });
        }
        let pool = Self::pool_or_refuse(memory, units)?;
        let length = memory.count(length_at::<S>(pool));
        let listed = memory.list(pool);
        let start = if listed == Unit::NONE {
            let budget = budget_at(memory, pool);
            let left = memory.count(budget).checked_sub(1).ok_or(Refused::NoPage)?;
            memory.set_count(budget, left);
            self.start = memory.back(self.start, length);
            self.start
        } else {
            let [next, _] = memory.run_links(listed);
            memory.set_list(pool, next);
            listed
        };
        tags::set_used(memory, start, length);
        tags::set_tail(memory, start, length, tail_of::<S>(length, units, tail));
        Ok(start)
    }

    fn take_growing(
        &mut self,
        memory: &mut Memory<'_, S>,
        units: u32,
        tail: u32,
    ) -> Result<Unit, Refused> {
        self.take(memory, units, 1, tail)
    }

    fn give(&mut self, memory: &mut Memory<'_, S>, start: Unit) {
        let units = tags::used_units(memory, start);
        if let Some(pool) = Self::pool(memory, units) {
            tags::set_free(memory, start, units);
            memory.set_run_links(start, [memory.list(pool), Unit::NONE]);
            memory.set_list(pool, start);
        }
    }

    fn resize(&mut self, memory: &mut Memory<'_, S>, start: Unit, units: u32, tail: u32) -> bool {
        let length = tags::used_units(memory, start);
        let stays = Self::pool(memory, units) == Self::pool(memory, length);
        if stays {
            tags::set_tail(memory, start, length, tail_of::<S>(length, units, tail));
        }
        stays
    }

    fn has_page(&self, memory: &Memory<'_, S>, class: Class) -> bool {
        memory.count(budget_of(class)) > 0
    }

    fn longest(&self, memory: &Memory<'_, S>) -> u32 {
        let has_run = |&pool: &usize| {
            memory.list(pool) != Unit::NONE || memory.count(budget_at(memory, pool)) > 0
        };
        let pool = (0..memory.lists()).rev().find(has_run);
        pool.map_or(0, |pool| memory.count(length_at::<S>(pool)))
    }

    fn free_pages(&self, memory: &Memory<'_, S>, class: Class) -> usize {
        memory.count(budget_of(class)) as usize
    }

    fn free_runs(&self, memory: &Memory<'_, S>, units: u32) -> usize {
        Self::pool(memory, units).map_or(0, |pool| {
            self.listed(memory, pool) + memory.count(budget_at(memory, pool)) as usize
        })
    }

    fn first_unit(&self, _memory: &Memory<'_, S>) -> Unit {
        self.first
    }

    fn runs<'a>(&'a self, memory: &'a Memory<'_, S>) -> impl Iterator<Item = Run> + 'a {
        let never_carved = Run {
            start: self.next,
            units: self.start.number() - self.next.number(),
            free: true,
        };
        self.page_runs(memory)
            .chain((never_carved.units > 0).then_some(never_carved))
            .chain(self.carved(memory))
    }

    fn check(&self, memory: &Memory<'_, S>) -> Result<(), Corruption> {
        Self::check_lengths(memory)?;
        self.check_pages(memory)?;
        self.check_runs(memory)
    }
}

/// Whether the last tag of a run says what `tags` says of it.
fn is_last_tag_right<S: Partitioning>(memory: &Memory<'_, S>, run: Run) -> bool {
    if run.free {
        let last = memory.after(run.start, run.units - 1);
        return tags::is_free(memory, last, run.units);
    }
    let tail = tags::tail_bytes(memory, run);
    tail <= LEN as usize && tail < run.units as usize * S::UNIT_BYTES
}

/// The bytes of a pool's run that an object of `units` units less `tail` bytes leaves unused; at
/// most as many as a tag can say, [`LEN`].
#[expect(
    clippy::cast_possible_truncation,
    reason = "a unit has at most half of a page's 8 KiB"
)]
pub(super) const fn tail_of<S: Partitioning>(length: u32, units: u32, tail: u32) -> u32 {
    let bytes = (length - units)
        .saturating_mul(S::UNIT_BYTES as u32)
        .saturating_add(tail);
    if bytes < LEN { bytes } else { LEN }
}
