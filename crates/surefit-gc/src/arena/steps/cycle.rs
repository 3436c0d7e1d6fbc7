//! The phases of a cycle past the root, each in small parts.

use surefit_freelist::{Index, When};

use super::phase::ArenaPhase;
use super::store::StepStore;
use crate::arena::place::Place;
use crate::arena::trace::Tracer;
use crate::bits::BITS;

impl<I: Index> StepStore<'_, I> {
    /// Works on the present phase, until it ends or the budget is used up. Returns the work.
    pub(super) fn advance(&mut self, budget: u64) -> u64 {
        match self.state.phase {
            ArenaPhase::Mark => self.mark(budget),
            ArenaPhase::Weak => self.process_one(),
            ArenaPhase::Drop => self.drop_one(),
            ArenaPhase::Sweep => self.sweep(budget),
            ArenaPhase::Merge => self.merge(),
            ArenaPhase::Idle | ArenaPhase::Roots => 0,
        }
    }

    /// Traces what is pending until nothing is, or the budget is used up.
    fn mark(&mut self, budget: u64) -> u64 {
        let (store, mut tables) = self.open();
        let (source, kinds, finalizable) = store.allocator.closed();
        let heap = &source.heap;
        let (mut work, mut overruns, mut passes, mut goes_on) = (0, 0, 0, true);
        let mut tracing = tables.tracing();
        while work < budget && goes_on {
            let traced = tracing.trace_next(|tracer, number, from| {
                // SAFETY: S1: it is on the stack, so it lives (A6).
                let place = unsafe { Place::of(heap, number) };
                // SAFETY: S1: only finished objects are reached.
                let kind = kinds.get(unsafe { place.kind() });
                // SAFETY: an object of that kind (A2).
                unsafe { (kind.trace)(place.object, from, tracer) };
                place.bytes / size_of::<usize>()
            });
            if let Some((units, references)) = traced {
                work += units;
                overruns += u64::from(references > Tracer::STRIDE as u64);
            } else {
                work += 1;
                goes_on = tracing.find_grey(heap.unused(), &mut passes);
            }
        }
        let (references, objects) = tracing.counts();
        drop(tracing);
        let state = tables.state;
        state.cycle.edges += references;
        state.cycle.marked += objects;
        state.cycle.rescans += passes;
        state.cycle.deepest = state.pending.deepest();
        state.steps.overruns += overruns;
        if !goes_on {
            finalizable.begin_to_process();
            state.phase = ArenaPhase::Weak;
        }
        work
    }

    /// Processes one finalizable object.
    fn process_one(&mut self) -> u64 {
        let (store, tables) = self.open();
        let (source, kinds, finalizable) = store.allocator.closed();
        let is_reached = |object| tables.is_marked(object);
        // SAFETY: S1: of that heap. S2: marking has ended, and what was not reached then is dead:
        // no reference leads to it, except weak ones, which no longer do (A8).
        let is_more = unsafe { finalizable.process_one(&source.heap, kinds, is_reached) };
        if !is_more {
            self.state.phase = ArenaPhase::Drop;
        }
        1
    }

    /// Drops one dying value.
    fn drop_one(&mut self) -> u64 {
        let (source, kinds, finalizable) = self.base.allocator.closed();
        // SAFETY: S1: of that heap.
        let is_more = unsafe { finalizable.drop_one(&source.heap, kinds) };
        if !is_more {
            (self.state.phase, self.state.cursor) = (ArenaPhase::Sweep, 0);
        }
        1
    }

    /// Frees dead objects until there are no more, or the budget is used up.
    fn sweep(&mut self, budget: u64) -> u64 {
        let mut work = 0;
        while work < budget && self.state.phase == ArenaPhase::Sweep {
            if !self.free_one() {
                self.next_word();
            }
            work += 1;
        }
        work
    }

    /// Frees the lowest dead object in the word of bits that is being swept. Returns whether there
    /// was one.
    fn free_one(&mut self) -> bool {
        let (store, mut tables) = self.open();
        let (source, _, _) = store.allocator.closed();
        let nth = tables.state.cursor as usize;
        let dead = tables.live.word(nth) & !tables.marks.word(nth);
        if dead == 0 {
            return false;
        }
        let number = tables.state.cursor * BITS + dead.trailing_zeros();
        tables.live.reset(number);
        tables.state.live_objects -= 1;
        // SAFETY: S1: closed. S2: it had a live bit (A4), which it has lost, so it is freed once;
        // it is dead: it is ahead of the sweep and not marked (A8), and was dropped.
        let bytes = unsafe { source.free(number) };
        tables.state.cycle.freed_objects += 1;
        tables.state.cycle.freed_bytes += bytes as u64;
        true
    }

    /// Leaves a word of bits whose dead objects are all freed: what is kept becomes white.
    fn next_word(&mut self) {
        let (store, mut tables) = self.open();
        let unused = store.allocator.closed().0.heap.unused();
        let nth = tables.state.cursor as usize;
        if let Some(word) = tables.marks.words_mut().get_mut(nth) {
            *word = 0;
        }
        let next = tables.live.beyond(nth + 1, unused);
        let state = tables.state;
        state.cursor = next as u32;
        if next >= tables.live.words().len() {
            (state.phase, state.cursor) = (ArenaPhase::Merge, 0);
        }
    }

    /// Merges a pair of free neighbours, or ends the cycle.
    fn merge(&mut self) -> u64 {
        let from = self.state.cursor;
        let heap = &mut self.base.allocator.closed().0.heap;
        let next = match I::COALESCING {
            // SAFETY: S1: since the last call, mutations have only allocated: such a heap opens no
            // bump chunks, whose rests would be freed. It grows only in `Idle`.
            When::Deferred => unsafe { heap.coalesce_part(from) }.0,
            _ => None,
        };
        match next {
            Some(next) => self.state.cursor = next,
            None => self.end_cycle(),
        }
        1
    }

    fn end_cycle(&mut self) {
        let chunk_bytes = self.base.allocator.closed().0.heap.chunk_bytes();
        let live_bytes = chunk_bytes - self.base.free_bytes();
        let (state, base) = (&mut self.state, &mut self.base);
        (state.phase, state.cursor) = (ArenaPhase::Idle, 0);
        state.cycle.live_objects = state.live_objects;
        state.cycle.live_bytes = live_bytes;
        let (cycle, steps) = (&state.cycle, &mut state.steps);
        steps.cycles += 1;
        steps.shaded += cycle.shaded;
        steps.born += cycle.born;
        steps.freed_objects += cycle.freed_objects;
        steps.freed_bytes += cycle.freed_bytes;
        base.live_bytes = live_bytes;
        base.totals.collections += 1;
        base.totals.marked += cycle.marked + cycle.shaded;
        base.totals.rescans += cycle.rescans;
        base.totals.deepest = base.totals.deepest.max(cycle.deepest);
        base.totals.freed_objects += cycle.freed_objects;
    }
}
