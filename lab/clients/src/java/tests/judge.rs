//! The naive model: ids, sets, breadth-first search. It knows nothing about memory, and says how
//! many objects live at every collection.

use std::collections::{BTreeMap, BTreeSet};

use surefit_trace::graph::Walk;

use crate::java::program::Program;
use crate::java::{Collected, Outcome};

pub(super) struct Judge<'p> {
    program: &'p Program,
    /// Objects that no collection freed, and their references.
    present: BTreeMap<u32, Vec<u32>>,
    roots: BTreeSet<u32>,
    given: BTreeSet<u32>,
    allocations: u64,
}

impl<'p> Judge<'p> {
    pub(super) fn new(program: &'p Program) -> Self {
        Self {
            program,
            present: BTreeMap::new(),
            roots: BTreeSet::new(),
            given: BTreeSet::new(),
            allocations: 0,
        }
    }

    pub(super) fn judge(mut self, outcome: &Outcome) {
        let mut collections = outcome.collections.iter().peekable();
        for batch in &self.program.batches {
            for given in &batch.given {
                if let Some(slots) = self.present.get_mut(&given.id) {
                    slots.clear();
                    self.given.insert(given.id);
                    continue;
                }
                let before = self.allocations;
                while let Some(collected) = collections.next_if(|c| c.allocations == before) {
                    self.collect(collected);
                }
                self.present.insert(given.id, Vec::new());
                self.given.insert(given.id);
                self.allocations += 1;
            }
            batch.walk.iter().for_each(|walk| self.walk(walk));
        }
        assert_eq!(self.allocations, outcome.totals.allocations);
        assert!(collections.next().is_none(), "every collection was judged");
    }

    fn walk(&mut self, walk: &Walk) {
        for change in walk.changes() {
            let own = change.references.iter().map(|reference| reference.target);
            let all = own.chain(change.class_level.iter().copied()).collect();
            self.present.insert(change.object, all);
        }
        self.roots.extend(&walk.roots_gained);
        self.roots.retain(|id| !walk.roots_lost.contains(id));
        self.given.clear();
    }

    fn collect(&mut self, collected: &Collected) {
        let mut reached: BTreeSet<u32> = self.roots.union(&self.given).copied().collect();
        let mut queue: Vec<u32> = reached.iter().copied().collect();
        while let Some(id) = queue.pop() {
            let new = self.present[&id].iter().filter(|id| reached.insert(**id));
            queue.extend(new);
        }
        self.present.retain(|id, _| reached.contains(id));
        let marked = collected.collection.swept.live_objects;
        assert_eq!(
            marked,
            reached.len() as u64,
            "after {} allocations",
            self.allocations
        );
    }
}
