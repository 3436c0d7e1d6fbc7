//! Many allocators, one trace: the untimed passes side by side, the timed ones in interleaved
//! rounds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result};
use surefit_os::Reservation;

use crate::child::Passes;
use crate::memory;
use crate::passes::min_heap::min_heap;
use crate::passes::replay::Stopped;
use crate::progress::Progress;
use crate::registry::Kind;
use crate::results::AllocatorResult;
use crate::single::{self, completed};
use crate::sizes::HeapSize;
use crate::source::Source;
use crate::spec::{Choice, Spec};
use crate::steps::Steps;
use crate::subject::Pass;
use crate::timed::{Row, finish, run_in, timed};
use crate::{certified, instructions};

pub use crate::plan::{Brief, Plan};
pub use crate::timed::{Measured, child};

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
    let specs = &in_parallel(specs, |spec| Ok(spec.told(&source.steps)))?[..];
    let checked = in_parallel(specs, |spec| {
        let row = check(source, spec, plan);
        progress.step(&source.steps.name, "checking", spec);
        row
    })?;
    let rows = specs.iter().zip(checked);
    let mut rows: Vec<_> = rows
        .map(|(spec, measured)| Row::new(spec, measured))
        .collect();
    let part = plan.timed_events(&source.steps);
    let part = part.map(|events| source.first(events)).transpose()?;
    let timed_part = part.as_ref().unwrap_or(source);
    timed(timed_part, &mut rows, baseline, plan, progress)?;
    drop(part);
    untimed(source, &mut rows, plan, progress)?;
    finish(&mut rows, baseline);
    Ok(rows.into_iter().map(Row::into_measured).collect())
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
    let spec = &spec.told(&source.steps);
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
        access_ratio_to_baseline: None,
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
    let kind = &kind.told(steps);
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
