//! What the screen knows beyond the results: of the allocators, and of the whole comparison.

use surefit_measure::results::AllocatorResult;
use surefit_measure::sizes::HeapSize;
use surefit_measure::spec::Spec;
use surefit_measure::subject::HandleCost;

use super::words::short;

/// What the screen knows of the allocators beyond the results.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    /// The allocator that times are compared to.
    pub(crate) baseline: String,
    /// For each allocator, whether it hands out handles.
    pub(super) handles: Vec<bool>,
    /// The first allocator with handles: its row, and what they cost.
    pub(super) moving: Option<(usize, HandleCost)>,
    /// The allocators that live in no region, as they are shown.
    pub(super) without_region: Vec<String>,
    /// Whether all columns are shown, however wide the terminal.
    pub(crate) is_wide: bool,
}

impl Notes {
    /// Notes on these allocators.
    pub(crate) fn new(specs: &[Spec], baseline: &str) -> Self {
        let mut costs = specs.iter().map(Spec::handles).enumerate();
        Self {
            baseline: baseline.to_owned(),
            handles: specs.iter().map(|spec| spec.handles().is_some()).collect(),
            moving: costs.find_map(|(row, cost)| Some((row, cost?))),
            without_region: specs
                .iter()
                .filter(|spec| !spec.in_region())
                .map(|spec| short(spec.as_str()))
                .collect(),
            is_wide: false,
        }
    }

    /// Notes on the allocators of results, which may be saved ones: then an allocator may be
    /// unknown here, and hands out pointers.
    pub(crate) fn of_results(rows: &[AllocatorResult], baseline: &str) -> Self {
        let cost = |row: &AllocatorResult| known(&row.allocator)?.handles();
        let costs: Vec<_> = rows.iter().map(cost).collect();
        let moving = costs.iter().enumerate();
        let without_region = rows.iter().filter(|row| row.heap_bytes.is_none());
        Self {
            baseline: baseline.to_owned(),
            handles: costs.iter().map(Option::is_some).collect(),
            moving: moving
                .into_iter()
                .find_map(|(row, cost)| Some((row, (*cost)?))),
            without_region: without_region.map(|row| short(&row.allocator)).collect(),
            is_wide: false,
        }
    }

    /// What the handles of the first allocator with handles cost.
    pub(crate) fn handle_cost(&self) -> Option<HandleCost> {
        self.moving.map(|(_, cost)| cost)
    }
}

/// The allocator that saved results name. Its keys are left out if they name a file, which is not
/// read: results may come from anywhere.
fn known(allocator: &str) -> Option<Spec> {
    let names_file = ["preload:", "classes=", "config="];
    let names_file = names_file.iter().any(|word| allocator.contains(word));
    let text = match allocator.split_once(':') {
        Some((name, _)) if names_file => name,
        _ => allocator,
    };
    Spec::parse(text).ok()
}

/// How much is compared, and in which heap.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// How many traces.
    pub(crate) traces: usize,
    /// The fewest and the most interleaved rounds.
    pub(crate) rounds: (u32, u32),
    /// The size of the heap.
    pub(crate) heap: HeapSize,
}
