//! The objects of an arena in steps without its root: its tables, and the steps of a cycle.
#![deny(unsafe_code)]

use core::mem::MaybeUninit;

use surefit_core::{Refused, Usage};
use surefit_freelist::Index;

use super::phase::ArenaPhase;
use super::tables::{State, Tables};
use crate::arena::allocator::Allocator;
use crate::arena::collect::{ArenaTotals, MARKED_BYTES, Store};
use crate::arena::collected::Collected;
use crate::arena::limits::Limits;
use crate::arena::supply::Supply;
use crate::arena::trace::{Trace, Tracer};
use crate::bits::Bits;
use crate::incremental::{Cycle, Step};
use crate::tables;

/// A store whose bits and stack are lent to mutations.
pub(in crate::arena) struct StepStore<'m, I: Index> {
    /// Its own marks and stack are empty: they are here.
    pub(super) base: Store<'m, I>,
    live: &'m mut [u64],
    marks: &'m mut [u64],
    stack: &'m mut [u64],
    pub(super) state: State,
}

impl<'m, I: Index> StepStore<'m, I> {
    /// An empty store in a region.
    pub(super) fn new(region: &'m mut [MaybeUninit<u8>], limits: &Limits) -> Result<Self, Refused> {
        let (region_bytes, words) = (region.len(), region.len() / MARKED_BYTES + 1);
        let Some((live, rest)) = tables::split(region, words) else {
            let refused = Store::<I>::new(&mut [], limits).err();
            return Err(with_live(refused.unwrap_or(Refused::NoChunk)));
        };
        let table_bytes = region_bytes - rest.len();
        let mut base = Store::new(rest, limits).map_err(with_live)?;
        base.table_bytes += table_bytes;
        Ok(Self {
            live: tables::zeroed(live),
            marks: core::mem::take(&mut base.marks),
            stack: core::mem::take(&mut base.stack),
            state: State::default(),
            base,
        })
    }

    /// What a mutation needs.
    pub(super) fn lend<'gc>(&'gc mut self) -> (&'gc Allocator<'gc, dyn Supply + 'gc>, Tables<'gc>) {
        let tables = Tables {
            origin: self.base.allocator.origin(),
            live: Bits::over(self.live),
            marks: Bits::over(self.marks),
            stack: self.stack,
            state: &mut self.state,
        };
        (self.base.supply(), tables)
    }

    /// What a step needs. The bump chunk is closed.
    pub(super) fn open<'s>(&'s mut self) -> (&'s mut Store<'m, I>, Tables<'s>) {
        let tables = Tables {
            origin: self.base.allocator.origin(),
            live: Bits::over(self.live),
            marks: Bits::over(self.marks),
            stack: self.stack,
            state: &mut self.state,
        };
        (&mut self.base, tables)
    }

    /// Takes the snapshot of the root, unless a cycle runs that has one.
    pub(super) fn start(&mut self, root: &impl Trace) -> Step {
        let state = &mut self.state;
        match state.phase {
            ArenaPhase::Idle => {
                state.cycle = Cycle::default();
                state.pending = Default::default();
                state.phase = ArenaPhase::Roots;
            }
            ArenaPhase::Roots => {}
            _ => return self.did(0),
        }
        let (_, mut tables) = self.open();
        let mut tracing = tables.tracing();
        root.trace(&mut tracing.tracer);
        let (references, objects) = tracing.counts();
        drop(tracing);
        let work = 1 + references;
        let State { cycle, steps, .. } = &mut self.state;
        cycle.roots = work;
        cycle.edges += references;
        cycle.marked += objects;
        steps.largest_roots = steps.largest_roots.max(work);
        self.state.phase = ArenaPhase::Mark;
        self.count(work);
        self.did(work)
    }

    pub(super) fn step(&mut self, root: &impl Trace, budget: u64) -> Step {
        match self.state.phase {
            ArenaPhase::Idle => return self.did(0),
            ArenaPhase::Roots => return self.start(root),
            _ => {}
        }
        let budget = budget.max(1);
        let overruns = self.state.steps.overruns;
        self.state.cycle.steps += 1;
        self.state.steps.steps += 1;
        let work = self.run(budget);
        let steps = &mut self.state.steps;
        let excess = work.saturating_sub(budget);
        debug_assert!(
            excess < MOST_EXCESS || overruns < steps.overruns,
            "a step exceeds its bound by {excess}"
        );
        steps.largest_step = steps.largest_step.max(work);
        steps.largest_excess = steps.largest_excess.max(excess);
        self.did(work)
    }

    pub(super) fn finish(&mut self, root: &impl Trace) -> Step {
        let roots = match self.state.phase {
            ArenaPhase::Roots => self.start(root).work,
            _ => 0,
        };
        let work = self.run(u64::MAX);
        self.did(roots + work)
    }

    pub(super) fn collect(&mut self, root: &impl Trace) -> Collected {
        let before = self.state.steps.freed_objects;
        self.finish(root);
        self.start(root);
        self.finish(root);
        let freed = self.state.steps.freed_objects - before;
        self.base.collected(freed, self.state.live_objects)
    }

    /// Finishes the cycle that runs, because there is no room. Returns whether one did.
    pub(super) fn finish_forced(&mut self, root: &impl Trace) -> bool {
        if self.state.phase == ArenaPhase::Idle {
            return false;
        }
        self.state.steps.forced += 1;
        self.state.cycle.forced = true;
        let work = self.finish(root).work;
        self.forced(work);
        true
    }

    /// Runs a whole cycle, because there is no room, and grows.
    pub(super) fn make_room(&mut self, root: &impl Trace, bytes: usize) {
        self.state.steps.whole += 1;
        let before = self.state.steps.work;
        self.collect(root);
        self.forced(self.state.steps.work - before);
        self.base.grow_to(bytes);
    }

    fn forced(&mut self, work: u64) {
        let steps = &mut self.state.steps;
        steps.largest_forced = steps.largest_forced.max(work);
    }

    /// Works on the cycle, past the root, until it ends or the budget is used up.
    fn run(&mut self, budget: u64) -> u64 {
        let mut work = 0;
        while work < budget && self.state.phase != ArenaPhase::Idle {
            let done = self.advance(budget - work);
            self.count(done);
            work += done;
        }
        work
    }

    fn count(&mut self, work: u64) {
        self.state.cycle.work += work;
        self.state.steps.work += work;
    }

    fn did(&self, work: u64) -> Step {
        Step {
            work,
            done: self.state.phase == ArenaPhase::Idle,
        }
    }

    pub(super) fn totals(&mut self) -> ArenaTotals {
        self.base.totals()
    }

    pub(super) fn usage(&mut self) -> Usage {
        self.base.usage()
    }
}

/// A step does less than its budget and so many units of work: one for a scan, and one for each
/// reference of a stride, or each word of a short object.
pub(super) const MOST_EXCESS: u64 = 1 + Tracer::STRIDE as u64;

/// Turns a refusal of the store into one of the arena: the live bits come first.
fn with_live(refused: Refused) -> Refused {
    let Refused::Region { needed } = refused else {
        return refused;
    };
    let rest = needed.saturating_add(2 * tables::WORD);
    let bits = rest / (MARKED_BYTES / tables::WORD - 1) + 1;
    Refused::Region {
        needed: rest.saturating_add(bits),
    }
}
