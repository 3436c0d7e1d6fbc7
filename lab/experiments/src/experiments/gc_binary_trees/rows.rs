//! The rows: one collector in one setting each, and what came of it.

use super::points::Point;
use super::process::Took;
use surefit_measure::ratio::median;

/// One collector in one setting, and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) point: Point,
    pub(super) outcome: Outcome,
}

/// What came of a point.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    /// Its binary is not there.
    NotBuilt,
    /// It could not run: a heap that is too small for it.
    Failed(String),
    /// What it took in each round.
    Took(Vec<Took>),
}

impl Row {
    /// What it took in each round; nothing if it did not run.
    pub(super) fn rounds(&self) -> &[Took] {
        match &self.outcome {
            Outcome::Took(rounds) => rounds,
            _ => &[],
        }
    }

    pub(super) fn median(&self, figure: impl Fn(&Took) -> f64) -> Option<f64> {
        median(&self.rounds().iter().map(figure).collect::<Vec<_>>())
    }

    /// Wall time of the whole process, in nanoseconds.
    pub(super) fn time(&self) -> Option<f64> {
        self.median(|took| took.wall_ns)
    }

    /// Most resident memory, in bytes.
    pub(super) fn peak(&self) -> Option<f64> {
        self.median(|took| took.peak_bytes as f64)
    }
}
