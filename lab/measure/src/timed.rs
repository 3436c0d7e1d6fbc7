//! The timed passes, in interleaved rounds: in each round one allocator after the other, nothing
//! else running.
//!
//! All allocators of a round use the same region, whose pages were all touched before, so that no
//! page fault and no difference in physical memory falls into a time; its contents are what the
//! replay before left. The platform's malloc has no region: its page faults are in its times.
//! Ratios are taken inside a round.

use anyhow::{Result, anyhow};
use surefit_core::Refused;
use surefit_os::Reservation;

use crate::child::{Child, Passes};
use crate::passes::access::{AT_PEAK, Access, Took};
use crate::passes::replay::Stopped;
use crate::passes::timing::Timing;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::ratio::{Ratio, median};
use crate::registry::Kind;
use crate::results::AllocatorResult;
use crate::single::{self, completed};
use crate::source::Source;
use crate::spec::{Choice, Spec};
use crate::steps::Steps;
use crate::subject::{Certified, Pass};
use crate::subjects::null::Null;

/// A ratio is wide if its least and its greatest are further apart than this part of its median.
const WIDE: f64 = 0.25;

/// One allocator while it is measured.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    pub(crate) spec: &'a Spec,
    pub(crate) result: AllocatorResult,
    certified: Option<Certified>,
    pair_rounds: Vec<f64>,
    access_rounds: Vec<f64>,
    one_access_rounds: Vec<f64>,
}

/// What was measured of one allocator, and what was proven before.
#[derive(Debug)]
pub struct Measured {
    /// The figures.
    pub result: AllocatorResult,
    /// The certificate for the trace's joint demand.
    pub certified: Option<Certified>,
}

impl<'a> Row<'a> {
    /// A row of which nothing is timed yet.
    pub(crate) fn new(spec: &'a Spec, measured: Measured) -> Self {
        Self {
            spec,
            result: measured.result,
            certified: measured.certified,
            pair_rounds: Vec::new(),
            access_rounds: Vec::new(),
            one_access_rounds: Vec::new(),
        }
    }

    /// Whether no heap, however large, would serve the trace.
    pub(crate) fn is_hopeless(&self) -> bool {
        let error = self.result.error.as_ref();
        error.is_some_and(|error| matches!(error.kind.as_str(), "too_large" | "too_aligned"))
    }

    /// Its figures and its certificate.
    pub(crate) fn into_measured(self) -> Measured {
        Measured {
            result: self.result,
            certified: self.certified,
        }
    }
}

/// A replay of this allocator, which has no region, in a child process.
#[must_use]
pub fn child<'a>(source: &'a Source, spec: &'a Spec, plan: Plan) -> Child<'a> {
    Child {
        allocator: spec.as_str(),
        library: match &spec.choice {
            Choice::Preload(library) => Some(library),
            Choice::InProcess(_) => None,
        },
        source,
        touch: plan.setting.touch,
        threads: None,
        most_accesses: plan.brief.map(|brief| brief.most_accesses),
    }
}

/// Runs the timed passes.
///
/// # Errors
/// A replay that completed before did not complete again; a child process failed.
pub(crate) fn timed(
    source: &Source,
    rows: &mut [Row<'_>],
    baseline: usize,
    plan: Plan,
    progress: &Progress,
) -> Result<()> {
    let steps = &source.steps;
    let mut region = shared_region(rows)?;
    for round in 0..plan.most_rounds() {
        if round >= plan.rounds && !is_wide(rows, baseline) {
            progress.skip(u64::from(plan.most_rounds() - round) * rows.len() as u64);
            break;
        }
        let empty = run_empty(Timing { steps })?;
        for row in in_turn(rows, round) {
            time_row(source, row, &mut region, empty, plan)?;
            progress.step(&steps.name, "timing", row.spec);
        }
    }
    let sample = plan.sample(steps);
    let accesses = Accesses {
        pass: Access { steps, sample },
        pairs: sample.pairs(steps.steps()),
        plan,
    };
    for round in 0..plan.access_rounds {
        let empty = run_empty(accesses.pass)?;
        for row in in_turn(rows, round) {
            accesses.row(source, row, &mut region, empty)?;
            progress.step(&steps.name, "accesses", row.spec);
        }
    }
    for row in rows.iter_mut().filter(|_| plan.percentiles) {
        percentile_row(source, row, &mut region, plan)?;
        progress.step(&steps.name, "percentiles", row.spec);
    }
    Ok(())
}

/// All rows, each round another one first: the first one finds the region in no cache.
fn in_turn<'r, 'a>(rows: &'r mut [Row<'a>], round: u32) -> impl Iterator<Item = &'r mut Row<'a>> {
    let first = round as usize % rows.len().max(1);
    let (before, from_first) = rows.split_at_mut(first);
    from_first.iter_mut().chain(before)
}

/// Whether more rounds would tell more: the spread of a ratio is wide.
fn is_wide(rows: &[Row<'_>], baseline: usize) -> bool {
    let base = &rows[baseline].pair_rounds;
    let ratios = rows.iter().map(|row| &row.pair_rounds);
    ratios
        .filter_map(|own| Ratio::round_by_round(own, base))
        .any(|ratio| ratio.max - ratio.min > WIDE * ratio.median)
}

/// One region for all, every page of it touched; `None` if no allocator lives in one.
fn shared_region(rows: &[Row<'_>]) -> Result<Option<Reservation>> {
    let Some(bytes) = rows.iter().filter_map(|row| row.result.heap_bytes).max() else {
        return Ok(None);
    };
    let mut region = Reservation::new(usize::try_from(bytes)?)?;
    region.fault_in();
    Ok(Some(region))
}

fn run_empty<T, P: Pass<Output = Result<T, Stopped>>>(pass: P) -> Result<T> {
    completed("the empty replay", Ok(pass.run(Null::default())))
}

/// Runs a pass over the region, if the allocator lives in one.
///
/// # Errors
/// The region is too small for the allocator's own tables.
pub(crate) fn run_in<P: Pass>(
    kind: &Kind,
    region: &mut Option<Reservation>,
    pass: P,
) -> Result<P::Output, Refused> {
    let memory = match region {
        Some(region) if kind.in_region() => region.memory(),
        _ => &mut [],
    };
    kind.run(memory, pass)
}

fn time_row(
    source: &Source,
    row: &mut Row<'_>,
    region: &mut Option<Reservation>,
    empty: u64,
    plan: Plan,
) -> Result<()> {
    let steps = &source.steps;
    if !row.result.completed || steps.calls.pairs() == 0 {
        return Ok(());
    }
    let pair_ns = match &row.spec.choice {
        Choice::InProcess(kind) => {
            let took = completed(
                &row.result.allocator,
                run_in(kind, region, Timing { steps }),
            )?;
            per_pair(took, empty, steps)
        }
        Choice::Preload(_) => {
            let mut passes = Passes::NONE;
            passes.timing = true;
            let figure = child(source, row.spec, plan).run(passes)?.pair_ns_mean;
            figure.ok_or_else(|| anyhow!("{}: the child measured no time", row.spec))?
        }
    };
    row.pair_rounds.push(pair_ns);
    Ok(())
}

/// The access pass of a trace.
#[derive(Clone, Copy, Debug)]
struct Accesses<'a> {
    pass: Access<'a>,
    /// Allocations and reallocations of the sample.
    pairs: u64,
    plan: Plan,
}

impl Accesses<'_> {
    /// One round of one allocator; `empty` is the empty replay's of this round.
    fn row(
        &self,
        source: &Source,
        row: &mut Row<'_>,
        region: &mut Option<Reservation>,
        empty: Took,
    ) -> Result<()> {
        if !row.result.completed || self.pairs == 0 {
            return Ok(());
        }
        let (pair_ns, one_ns) = match &row.spec.choice {
            Choice::InProcess(kind) => {
                let took = completed(&row.result.allocator, run_in(kind, region, self.pass))?;
                let less = |took: u64, empty: u64, times: u64| {
                    took.saturating_sub(empty) as f64 / times as f64
                };
                (
                    less(took.sample, empty.sample, self.pairs),
                    less(took.at_peak, empty.at_peak, AT_PEAK),
                )
            }
            Choice::Preload(_) => {
                let mut passes = Passes::NONE;
                passes.access = true;
                let figures = child(source, row.spec, self.plan).run(passes)?;
                let both = figures.access_pair_ns_mean.zip(figures.access_ns_mean);
                both.ok_or_else(|| anyhow!("{}: the child measured no time", row.spec))?
            }
        };
        row.access_rounds.push(pair_ns);
        row.one_access_rounds.push(one_ns);
        Ok(())
    }
}

fn percentile_row(
    source: &Source,
    row: &mut Row<'_>,
    region: &mut Option<Reservation>,
    plan: Plan,
) -> Result<()> {
    if !row.result.completed {
        return Ok(());
    }
    match &row.spec.choice {
        Choice::InProcess(kind) => {
            let mut none = None;
            let region = if kind.in_region() { region } else { &mut none };
            single::percentiles(kind, &source.steps, region, plan.clock_ns, &mut row.result)
        }
        Choice::Preload(_) => {
            let mut passes = Passes::NONE;
            passes.percentiles = true;
            let figures = child(source, row.spec, plan).run(passes)?;
            single::copy_times(&mut row.result, &figures);
            Ok(())
        }
    }
}

/// Nanoseconds per allocation or reallocation, less the empty replay's.
fn per_pair(took: u64, empty: u64, steps: &Steps) -> f64 {
    took.saturating_sub(empty) as f64 / steps.calls.pairs() as f64
}

/// Medians over the rounds, and ratios round by round.
pub(crate) fn finish(rows: &mut [Row<'_>], baseline: usize) {
    let base = &rows[baseline];
    let (base, access_base) = (base.pair_rounds.clone(), base.access_rounds.clone());
    for row in rows {
        let result = &mut row.result;
        result.pair_ns_mean = median(&row.pair_rounds);
        result.ratio_to_baseline = Ratio::round_by_round(&row.pair_rounds, &base);
        result.access_pair_ns_mean = median(&row.access_rounds);
        result.access_ratio_to_baseline = Ratio::round_by_round(&row.access_rounds, &access_base);
        result.access_ns_mean = median(&row.one_access_rounds);
        result.pair_ns_rounds = not_empty(std::mem::take(&mut row.pair_rounds));
        result.access_pair_ns_rounds = not_empty(std::mem::take(&mut row.access_rounds));
    }
}

fn not_empty(rounds: Vec<f64>) -> Option<Vec<f64>> {
    (!rounds.is_empty()).then_some(rounds)
}
