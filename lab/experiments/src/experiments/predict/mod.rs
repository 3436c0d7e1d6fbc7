//! `surefit experiment predict`: how often a free moves a page-block, by formula, by Markov chain,
//! by simulation, and by the heap itself.
//!
//! The model: one size-class of π page-blocks per page. Allocations arrive at rate λ, each live
//! page-block is freed at rate μ, ρ = λ/μ: with h live, the next event is an allocation with
//! probability ρ/(ρ + h), else a free of a uniformly random page-block.
//!
//! ```text
//! formula      closed, for many live page-blocks (√ρ ≫ κ, π) and the packed order, r = P(free)/P(malloc):
//!                  moves per free   (1 − 1/π)·r^(κ−1)·(r − 1)/(r^κ − 1)      r = 1: (1 − 1/π)/κ
//!                  not-full pages   r = 1: (1 − 1/π) + (κ − 1)/2
//! chain        the stationary distribution over all states (h; u of each not-full page), by power iteration: exact
//! simulation   the automaton over a list of numbers, the process seeded
//! heap         `surefit_compact::Heap` under the same process: its moves are counted
//! ```
//! Everything is counted and seeded: the same run gives the same report.
//!
//! # Source
//! After Craciunas et al. (2009), section 4 (probabilistic analysis of partial compaction);
//! formulas and chain are ours.

mod chain;
mod formula;
mod large;
mod process;
mod small;

use anyhow::Result;

use crate::kit::{Entry, Report, Request, papers};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "predict",
    about: "Moves per free: by formula, by Markov chain, by simulation, by the heap",
    takes_traces: false,
    takes_rounds: false,
    run,
};

/// Figures of moves per free that differ by less are the same: the smallest of the tables, 0.02, is
/// still told from none.
const TOLERANCE: f64 = 0.01;

/// How far apart two figures of moves per free may lie in a run of so many events: a share of half
/// of them varies by ½·√(2/events) at most, and this is eight times as much, because events depend
/// on those before.
fn tolerance(events: u64) -> f64 {
    TOLERANCE.max(6.0 / (events as f64).sqrt())
}

fn run(request: &Request) -> Result<Report> {
    let steps = if request.quick { 40_000 } else { 1_000_000 };
    let tolerance = tolerance(steps);
    let source = papers::of_2009!("section 4; the model is ours");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting.push(format!(
        "One size-class, {steps} random events after a fill and a fifth as many unobserved; seeded. Figures are moves per \
         free, and mean not-full pages n."
    ));
    let small = small::loads(steps)?;
    let large = large::loads(steps)?;
    let drifting = large::drifting_loads(steps)?;
    report.tables.extend([
        small::table(&small),
        large::table(&large),
        large::drifting_table(&drifting),
    ]);
    report
        .plots
        .extend([small::plot(&small), large::plot(&large)]);
    report.claims.extend(small::claims(&small, tolerance));
    report
        .claims
        .extend(large::claims(&large, &drifting, tolerance));
    report.notes.push(
        "packed: allocate from the fullest not-full page, drain the emptiest; no heap does, the formula assumes it. newest: \
         allocate from the newest, drain the oldest. original: the other way round, as the original Compact-fit does."
            .to_owned(),
    );
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::tolerance;

    #[test]
    fn a_shorter_run_tolerates_more() {
        assert!((tolerance(40_000) - 0.03).abs() < 1e-9);
        assert!((tolerance(1_000_000) - 0.01).abs() < 1e-9);
    }
}
