//! The allocators, and what the calls of each cost on a program.

use super::call_costs::{Cost, Costs, Counted};
use super::published::Call;
use surefit_measure::source::Source;

/// The allocators; the first is the papers' TLSF.
pub(super) const ALLOCATORS: [&str; 4] = ["tlsf", "cf-paper", "cf-direct", "cf:k=1"];

/// A system that is judged: its name and its row.
pub(super) type System = (&'static str, usize);

/// The paper's system, and ours without moves and handles.
pub(super) const SYSTEMS: [System; 2] = [("cf-paper", 1), ("cf-direct", 2)];

/// What was measured on one program.
#[derive(Clone, Debug)]
pub(super) struct OnProgram {
    pub(super) name: String,
    pub(super) live_bytes: u64,
    /// In the order of [`ALLOCATORS`].
    pub(super) costs: Vec<Costs>,
}

impl OnProgram {
    pub(super) fn new(program: &Source, costs: Vec<Costs>) -> Self {
        Self {
            name: program.steps.name.clone(),
            live_bytes: program.steps.peak_live_bytes,
            costs,
        }
    }

    pub(super) fn time(&self, row: usize, call: Call) -> Option<&Cost> {
        self.costs[row][call as usize].time.as_ref()
    }

    pub(super) fn instructions(&self, row: usize, call: Call) -> Option<Counted> {
        self.costs[row][call as usize].instructions
    }
}
