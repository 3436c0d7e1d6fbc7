//! What was counted of the table's updates.

use surefit_freelist::{Counters, When};
use surefit_vm::Watched;

use crate::shared::thesis::collecting::Collecting;
use crate::shared::thesis::published::Updates;
use crate::shared::thesis::systems::System;

/// What was counted in one heap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) system: System,
    pub(super) counters: Counters,
    pub(super) allocations: u64,
    pub(super) collections: u64,
}

impl Counted {
    pub(super) fn new(system: System, outcome: &Watched) -> Self {
        Self {
            system,
            counters: outcome.counters,
            allocations: outcome.totals.allocations,
            collections: outcome.totals.collections,
        }
    }

    /// Lists that became non-empty, by collections too.
    pub(super) const fn filled(&self) -> u64 {
        self.counters.table_fills + self.counters.table_rebuilt_fills
    }

    /// Lists that became empty, by collections too.
    pub(super) const fn emptied(&self) -> u64 {
        self.emptied_running() + self.counters.table_rebuilt_drains
    }

    /// Lists that became empty while the program ran.
    pub(super) const fn emptied_running(&self) -> u64 {
        self.counters.table_updates - self.counters.table_fills
    }

    /// As the thesis counts them.
    pub(super) const fn updates(&self) -> u64 {
        self.filled() + self.emptied()
    }

    /// `None` without an update.
    pub(super) fn allocations_per_update(&self) -> Option<f64> {
        (self.updates() > 0).then(|| self.allocations as f64 / self.updates() as f64)
    }

    /// Counting only those while the program ran.
    pub(super) fn allocations_per_running(&self) -> Option<f64> {
        let updates = self.counters.table_updates;
        (updates > 0).then(|| self.allocations as f64 / updates as f64)
    }
}

/// One program.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) name: String,
    pub(super) heap: Collecting,
    /// The systems that complete in it.
    pub(super) counted: Vec<Counted>,
    pub(super) theirs: Option<Updates>,
}

impl Row {
    /// A strategy in one heap, if it collected there: without a collection, no list ever fills.
    pub(super) fn of(&self, merges: When) -> Option<&Counted> {
        let of = |counted: &&Counted| {
            let system = counted.system;
            system.lists.merges == merges && !system.has_two_ends && counted.collections > 0
        };
        self.counted.iter().find(of)
    }
}
