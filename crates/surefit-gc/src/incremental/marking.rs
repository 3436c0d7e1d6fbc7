//! Marking in steps, from the snapshot of the roots on.
#![deny(unsafe_code)]

use core::mem;

use crate::client::{Client, Living};
use crate::edges::Edges;
use crate::incremental::pending::Scanning;
use crate::incremental::{Incremental, Phase};
use crate::statistics::Clock;
use crate::stepwise::Stepwise;

impl<S: Stepwise, K: Clock> Incremental<'_, S, K> {
    /// Takes the snapshot of the roots, all at once.
    pub(super) fn take_roots(&mut self, client: &mut impl Client<S>) -> u64 {
        let gc = &mut self.gc;
        let marks = gc.marks.reborrow();
        let mut scanning = Scanning::resume(&mut self.pending, gc.stack, &gc.live, marks);
        client.roots(&mut scanning.edges);
        let work = 1 + scanning.edges.marked.edges;
        drop(scanning);
        self.count();
        self.cycle.roots = work;
        self.steps.largest_roots = self.steps.largest_roots.max(work);
        self.phase = Phase::Mark;
        work
    }

    /// Scans what is pending until nothing is, or the budget is used up.
    pub(super) fn mark(&mut self, client: &mut impl Client<S>, budget: u64) -> u64 {
        let (mut work, mut overruns, mut goes_on) = (0, 0, true);
        let gc = &mut self.gc;
        let marks = gc.marks.reborrow();
        let mut scanning = Scanning::resume(&mut self.pending, gc.stack, &gc.live, marks);
        while work < budget && goes_on {
            match scanning.scan(&gc.space, client) {
                Some((units, edges)) => {
                    work += units;
                    overruns += u64::from(edges > u64::from(Edges::STRIDE));
                }
                None => {
                    work += 1;
                    goes_on = scanning.find_grey(gc.space.unused());
                }
            }
        }
        drop(scanning);
        self.count();
        self.steps.overruns += overruns;
        if !goes_on {
            (self.phase, self.cursor) = (Phase::Weak, 0);
        }
        work
    }

    /// Adds what was marked to the figures of the cycle, also before the client unwound.
    fn count(&mut self) {
        let marked = mem::take(&mut self.pending.marked);
        self.cycle.marked += marked.objects;
        self.cycle.edges += marked.edges;
        self.cycle.rescans += marked.rescans;
        self.cycle.deepest = self.pending.deepest;
    }

    /// Has the client clear some weak references.
    pub(super) fn clear_weak(&mut self, client: &mut impl Client<S>) -> u64 {
        let living = Living::new(&self.gc.marks);
        let next = client.weak_from(self.cursor, &living);
        let looks = living.looks();
        self.steps.overruns += u64::from(looks > u64::from(Edges::STRIDE));
        self.cursor = next.unwrap_or(0);
        if next.is_none() {
            self.phase = Phase::Sweep;
            self.gc.space.sweep_begins();
        }
        1 + looks
    }
}
