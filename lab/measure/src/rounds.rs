//! Many allocators, one trace: the untimed passes side by side, the timed ones in interleaved
//! rounds.
//!
//! All allocators of a round use the same region, whose pages were all touched before, so that no
//! page fault and no difference in physical memory falls into a time; its contents are what the
//! replay before left. The platform's malloc has no region: its page faults are in its times.
//! Ratios are taken inside a round.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow};
use surefit_core::Refused;
use surefit_os::Reservation;

use crate::child::{Child, Passes};
use crate::memory;
use crate::passes::access::{AT_PEAK, Access, AtPeak, Sample};
use crate::passes::min_heap::min_heap;
use crate::passes::replay::Stopped;
use crate::passes::timing::Timing;
use crate::progress::Progress;
use crate::ratio::{Ratio, median};
use crate::registry::Kind;
use crate::results::AllocatorResult;
use crate::single::{self, Setting, completed};
use crate::sizes::HeapSize;
use crate::source::Source;
use crate::spec::{Choice, Spec};
use crate::steps::Steps;
use crate::subject::{Certified, Pass};
use crate::subjects::null::Null;
use crate::{certified, instructions};

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The heap, and whether it is written.
    pub setting: Setting,
    /// Interleaved rounds of the timing pass.
    pub rounds: u32,
    /// Interleaved rounds of the access pass.
    pub access_rounds: u32,
    /// Whether every call is timed on its own.
    pub percentiles: bool,
    /// Whether the smallest heap is looked for.
    pub min_heap: bool,
    /// Whether instructions are counted.
    pub instructions: bool,
    /// What a clock reading costs, in nanoseconds.
    pub clock_ns: u64,
    /// What a first look saves and adds; `None` measures exactly the rounds above.
    pub brief: Option<Brief>,
}

/// A first look: it samples accesses, and adds rounds only while the figures scatter.
#[derive(Clone, Copy, Debug)]
pub struct Brief {
    /// The timing pass goes on to this many rounds while a ratio's spread is wide.
    pub most_rounds: u32,
    /// The access pass makes about this many accesses in a round, in windows of events spread over
    /// the trace.
    pub most_accesses: u64,
}

/// A ratio is wide if its least and its greatest are further apart than this part of its median.
const WIDE: f64 = 0.25;

impl Plan {
    /// One allocator in so many rounds of each timed pass: no smallest heap, no instructions.
    #[must_use]
    pub const fn of_one(setting: Setting, rounds: u32, clock_ns: u64) -> Self {
        Self {
            setting,
            rounds,
            access_rounds: rounds,
            percentiles: true,
            min_heap: false,
            instructions: false,
            clock_ns,
            brief: None,
        }
    }

    /// The most rounds of the timing pass.
    #[must_use]
    pub fn most_rounds(&self) -> u32 {
        self.brief
            .map_or(self.rounds, |brief| brief.most_rounds.max(self.rounds))
    }

    fn sample(&self, steps: &Steps) -> Sample {
        let events = steps.steps().len();
        self.brief.map_or(Sample::ALL, |brief| {
            Sample::of_at_most(brief.most_accesses, events)
        })
    }

    /// The most steps of progress that one allocator makes on one trace.
    #[must_use]
    pub fn progress_steps(&self) -> u64 {
        1 + u64::from(self.most_rounds())
            + u64::from(self.access_rounds)
            + u64::from(self.percentiles)
            + u64::from(self.min_heap)
            + u64::from(self.instructions)
    }
}

/// One allocator while it is measured.
#[derive(Debug)]
struct Row<'a> {
    spec: &'a Spec,
    result: AllocatorResult,
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

/// Measures all allocators on one trace; ratios are taken to the allocator number `baseline`.
///
/// # Errors
/// An allocator broke a rule; no memory; a child process failed.
pub fn measure(
    source: &Source,
    specs: &[Spec],
    baseline: usize,
    plan: Plan,
    progress: &Progress,
) -> Result<Vec<Measured>> {
    affordable(source, specs, plan)?;
    let checked = in_parallel(specs, |spec| {
        let row = check(source, spec, plan);
        progress.step(&source.steps.name, "checking", spec);
        row
    })?;
    let rows = specs.iter().zip(checked);
    let mut rows: Vec<_> = rows
        .map(|(spec, measured)| Row::new(spec, measured))
        .collect();
    timed(source, &mut rows, baseline, plan, progress)?;
    untimed(source, &mut rows, plan, progress)?;
    finish(&mut rows, baseline);
    Ok(rows.into_iter().map(Row::into_measured).collect())
}

impl<'a> Row<'a> {
    fn new(spec: &'a Spec, measured: Measured) -> Self {
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
    fn is_hopeless(&self) -> bool {
        let error = self.result.error.as_ref();
        error.is_some_and(|error| matches!(error.kind.as_str(), "too_large" | "too_aligned"))
    }

    fn into_measured(self) -> Measured {
        Measured {
            result: self.result,
            certified: self.certified,
        }
    }
}

/// Measures one allocator on one trace with these passes.
///
/// # Errors
/// As [`measure`].
pub fn measure_one(
    source: &Source,
    spec: &Spec,
    passes: Passes,
    plan: Plan,
) -> Result<AllocatorResult> {
    affordable(source, std::slice::from_ref(spec), plan)?;
    let checked = if passes.checking {
        check(source, spec, plan)?
    } else {
        unchecked(source, spec, plan)
    };
    let mut rows = [Row::new(spec, checked)];
    let plan = Plan {
        rounds: if passes.timing { plan.rounds } else { 0 },
        access_rounds: if passes.access { plan.access_rounds } else { 0 },
        percentiles: passes.percentiles,
        ..plan
    };
    timed(source, &mut rows, 0, plan, &Progress::hidden())?;
    finish(&mut rows, 0);
    let [row] = rows;
    Ok(AllocatorResult {
        ratio_to_baseline: None,
        ..row.result
    })
}

/// Refuses heaps, and objects without a heap, that this machine has no memory for: the timed passes
/// touch all of it; and what takes hours.
fn affordable(source: &Source, specs: &[Spec], plan: Plan) -> Result<()> {
    let steps = &source.steps;
    for spec in specs {
        match spec.heap_bytes(plan.setting.heap, steps) {
            Some(bytes) => memory::affordable("a heap", bytes as u64)?,
            None => memory::affordable("a trace", steps.peak_live_bytes)?,
        }
        if let Choice::InProcess(kind) = &spec.choice {
            let bearable = kind.bearable(steps);
            bearable.with_context(|| format!("{}: {spec}", steps.name))?;
        }
    }
    Ok(())
}

/// Replays once in a fresh region and says only whether that completed.
///
/// # Errors
/// The replay did not complete.
pub fn run_fresh<P: Pass<Output = Result<u64, Stopped>>>(
    spec: &Spec,
    kind: &Kind,
    steps: &Steps,
    heap: HeapSize,
    pass: P,
) -> Result<()> {
    let bytes = kind.heap_bytes(heap, steps);
    let mut region = if kind.in_region() {
        Some(Reservation::new(bytes)?)
    } else {
        None
    };
    completed(spec.as_str(), run_in(kind, &mut region, pass)).map(drop)
}

fn check(source: &Source, spec: &Spec, plan: Plan) -> Result<Measured> {
    match &spec.choice {
        Choice::InProcess(kind) if kind.in_region() || source.is_fed => {
            check_here(source, spec, kind, plan)
        }
        _ => {
            let mut passes = Passes::NONE;
            passes.checking = true;
            let result = child(source, spec, plan).run(passes)?;
            Ok(Measured {
                result: AllocatorResult {
                    allocator: spec.to_string(),
                    ..result
                },
                certified: None,
            })
        }
    }
}

fn check_here(source: &Source, spec: &Spec, kind: &Kind, plan: Plan) -> Result<Measured> {
    let mut result = single::check(spec, kind, &source.steps, plan.setting)?;
    let certified = certified::certify(kind, &source.steps, &mut result)?;
    Ok(Measured { result, certified })
}

/// The start of a row whose checking pass is left out.
fn unchecked(source: &Source, spec: &Spec, plan: Plan) -> Measured {
    Measured {
        result: AllocatorResult {
            completed: true,
            ..single::empty_row(spec, &source.steps, plan.setting)
        },
        certified: None,
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
    }
}

/// The timed passes, one allocator after the other in each round, nothing else running.
fn timed(
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
    for round in 0..plan.access_rounds {
        let empty = (
            run_empty(Access { steps, sample })?,
            run_empty(AtPeak { steps })?,
        );
        for row in in_turn(rows, round) {
            access_row(source, row, &mut region, empty, plan)?;
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

fn run_empty<P: Pass<Output = Result<u64, Stopped>>>(pass: P) -> Result<u64> {
    completed("the empty replay", Ok(pass.run(Null::default())))
}

fn run_in<P: Pass>(
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

fn access_row(
    source: &Source,
    row: &mut Row<'_>,
    region: &mut Option<Reservation>,
    (empty, empty_at_peak): (u64, u64),
    plan: Plan,
) -> Result<()> {
    let steps = &source.steps;
    if !row.result.completed || steps.calls.pairs() == 0 {
        return Ok(());
    }
    let pair_ns = match &row.spec.choice {
        Choice::InProcess(kind) => {
            let sample = plan.sample(steps);
            let pass = Access { steps, sample };
            let took = completed(&row.result.allocator, run_in(kind, region, pass))?;
            let at_peak = run_in(kind, region, AtPeak { steps });
            let at_peak = completed(&row.result.allocator, at_peak)?;
            let one = at_peak.saturating_sub(empty_at_peak) as f64 / AT_PEAK as f64;
            row.one_access_rounds.push(one);
            let without = median(&row.pair_rounds);
            of_all(without, per_pair(took, empty, steps), sample, steps)
        }
        Choice::Preload(_) => {
            let mut passes = Passes::NONE;
            passes.access = true;
            let figures = child(source, row.spec, plan).run(passes)?;
            row.one_access_rounds.extend(figures.access_ns_mean);
            let figure = figures.access_pair_ns_mean;
            figure.ok_or_else(|| anyhow!("{}: the child measured no time", row.spec))?
        }
    };
    row.access_rounds.push(pair_ns);
    Ok(())
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

/// What a pair takes if all events have accesses, from what it takes if those of a sample have;
/// `without` is what it takes if none has.
fn of_all(without: Option<f64>, sampled: f64, sample: Sample, steps: &Steps) -> f64 {
    match without {
        Some(without) if sample != Sample::ALL => {
            let events = steps.steps().len();
            let times = events as f64 / sample.events(events) as f64;
            without + (sampled - without).max(0.0) * times
        }
        _ => sampled,
    }
}

/// Nanoseconds per allocation or reallocation, less the empty replay's.
fn per_pair(took: u64, empty: u64, steps: &Steps) -> f64 {
    took.saturating_sub(empty) as f64 / steps.calls.pairs() as f64
}

/// The passes whose figures do not depend on time, side by side.
fn untimed(source: &Source, rows: &mut [Row<'_>], plan: Plan, progress: &Progress) -> Result<()> {
    let figures = in_parallel(rows, |row| {
        let figures = Figures::find(source, row, plan)?;
        if plan.min_heap {
            progress.step(&source.steps.name, "smallest heap", row.spec);
        }
        if plan.instructions {
            progress.step(&source.steps.name, "instructions", row.spec);
        }
        Ok(figures)
    })?;
    for (row, figures) in rows.iter_mut().zip(figures) {
        row.result.min_heap_bytes = figures.min_heap_bytes;
        row.result.instructions_per_malloc = figures.instructions.and_then(|count| count.malloc);
        row.result.instructions_per_free = figures.instructions.and_then(|count| count.free);
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Figures {
    min_heap_bytes: Option<u64>,
    instructions: Option<instructions::PerCall>,
}

impl Figures {
    fn find(source: &Source, row: &Row<'_>, plan: Plan) -> Result<Self> {
        let Choice::InProcess(kind) = &row.spec.choice else {
            return Ok(Self::default());
        };
        let mut figures = Self::default();
        if plan.min_heap && kind.in_region() && !row.is_hopeless() {
            let footprint = row.result.peak_footprint_bytes.unwrap_or(0) as usize;
            let guess = footprint + footprint / 50;
            figures.min_heap_bytes =
                min_heap(kind, &source.steps, guess)?.map(|bytes| bytes as u64);
        }
        if plan.instructions && row.result.completed {
            let heap_bytes = row.result.heap_bytes.unwrap_or(1 << 20);
            let allocator = &row.result.allocator;
            figures.instructions = Some(instructions::count(allocator, heap_bytes, source)?);
        }
        Ok(figures)
    }
}

/// Medians over the rounds, and ratios round by round.
fn finish(rows: &mut [Row<'_>], baseline: usize) {
    let base = rows[baseline].pair_rounds.clone();
    for row in rows {
        let result = &mut row.result;
        result.pair_ns_mean = median(&row.pair_rounds);
        result.access_pair_ns_mean = median(&row.access_rounds);
        result.access_ns_mean = median(&row.one_access_rounds);
        result.ratio_to_baseline = Ratio::round_by_round(&row.pair_rounds, &base);
        let rounds = std::mem::take(&mut row.pair_rounds);
        result.pair_ns_rounds = (!rounds.is_empty()).then_some(rounds);
    }
}

/// Maps over items on as many threads as there are processors, in order.
///
/// # Errors
/// The first error of `map`, in the order of the items.
///
/// # Panics
/// If `map` does.
pub fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    map: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let jobs = thread::available_parallelism().map_or(1, |jobs| jobs.get().min(8));
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<R>>>> = Mutex::new(items.iter().map(|_| None).collect());
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((at, item)) = take(items, &next) {
                    let result = map(item);
                    done.lock().expect("no panic while locked")[at] = Some(result);
                }
            });
        }
    });
    let done = done.into_inner().expect("no panic while locked");
    done.into_iter()
        .map(|result| result.expect("every item was mapped"))
        .collect()
}

fn take<'a, T>(items: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    items.get(at).map(|item| (at, item))
}

#[cfg(test)]
mod tests {
    use super::in_parallel;

    #[test]
    fn work_in_parallel_keeps_its_order() {
        let items: Vec<u32> = (0..100).collect();
        let squares = in_parallel(&items, |item| Ok(item * item)).expect("no error");
        assert!(
            squares
                .iter()
                .enumerate()
                .all(|(at, square)| *square as usize == at * at)
        );
    }
}
