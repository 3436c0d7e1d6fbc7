//! What was found of a program, beside the papers' figures.

use super::sections::Sections;
use crate::shared::programs::StandsFor;
use crate::shared::settings::{Family, of_family};
use surefit_measure::results::Ratio;
use surefit_measure::rounds::Measured;
use surefit_measure::source::Source;
use surefit_measure::steps::{Action, Steps};

/// The ends of the axes of figure 10, in thousand allocations per second.
pub(super) const EMACS_AXIS: (f64, f64) = (370.0, 420.0);

pub(super) const HUMMINGBIRD_AXIS: (f64, f64) = (186.0, 204.0);

/// What a program may need, by the slides: MB/s, and milliseconds of execution and of preemption.
pub(super) const REQUIRED_MB: f64 = 10.0;

pub(super) const EXECUTION_MS: f64 = 1.0;

pub(super) const PREEMPTION_MS: f64 = 0.1;

/// What was found of one program.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) live_bytes: u64,
    pub(super) rounds: u32,
    /// For each of [`SETTINGS`](crate::shared::settings::SETTINGS).
    pub(super) rows: Vec<Row>,
    /// For κ = 1, 3, … ∞.
    pub(super) longest: Vec<Sections>,
}

impl Found {
    pub(super) fn of(
        program: &Source,
        measured: &[Measured],
        longest: Vec<Sections>,
        rounds: u32,
    ) -> Self {
        let request = mean_request(&program.steps);
        Self {
            name: program.steps.name.clone(),
            live_bytes: program.steps.peak_live_bytes,
            rounds,
            rows: measured.iter().map(|one| Row::of(one, request)).collect(),
            longest,
        }
    }

    /// κ = 1, 3, … ∞: labels and rows.
    pub(super) fn kappas(&self) -> impl Iterator<Item = (&'static str, Row)> {
        of_family(Family::Pages).map(|(at, setting)| (setting.label, self.rows[at]))
    }

    /// The ends of the paper's axis, in thousand allocations per second.
    pub(super) fn papers_axis(&self) -> Option<(f64, f64)> {
        StandsFor::of(&self.name).choose(EMACS_AXIS, HUMMINGBIRD_AXIS)
    }

    pub(super) fn title(&self, what: &str) -> String {
        format!("figure 10, {}: {what}", self.name)
    }
}

/// The bytes of an allocation, or of a resize, on average.
pub(super) fn mean_request(steps: &Steps) -> f64 {
    let requests = steps
        .steps()
        .iter()
        .filter(|step| step.action != Action::Free);
    let bytes: u64 = requests.map(|step| u64::from(step.size)).sum();
    bytes as f64 / steps.calls.pairs().max(1) as f64
}

/// One bound on one trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) moves_per_free: Option<f64>,
    pub(super) bytes_per_free: Option<f64>,
    /// Allocations with their frees per second, over the rounds.
    pub(super) per_second: Option<Ratio>,
    /// MB allocated and freed per second, over the rounds.
    pub(super) mb_per_second: Option<Ratio>,
    /// To κ = 1.
    pub(super) relative: Option<Ratio>,
}

impl Row {
    pub(super) fn of(measured: &Measured, request_bytes: f64) -> Self {
        let result = &measured.result;
        let per_free =
            |total: Option<u64>| total.map(|total| total as f64 / result.frees.max(1) as f64);
        let over_rounds = |of: &dyn Fn(f64) -> f64| {
            let rounds = result.pair_ns_rounds.as_ref()?;
            let rounds: Vec<_> = rounds.iter().map(|ns| of(*ns)).collect();
            Ratio::of(&rounds)
        };
        Self {
            moves_per_free: per_free(result.moves_total),
            bytes_per_free: per_free(result.moved_bytes_total),
            per_second: over_rounds(&|ns| 1e9 / ns),
            mb_per_second: over_rounds(&|ns| 1e3 * request_bytes / ns),
            // of times: the greatest ratio is the least throughput
            relative: result.ratio_to_baseline.map(Ratio::inverse),
        }
    }
}
