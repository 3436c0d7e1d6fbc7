//! The figures of the checking pass and the percentile pass, for one allocator and one trace.

use anyhow::Result;
use hdrhistogram::Histogram;
use surefit_core::Refused;
use surefit_os::Reservation;

use crate::feed::Feed;
use crate::growth::Growth;
use crate::passes::checking::{Checked, Checking, Streamed};
use crate::passes::percentiles::{CallTimes, Percentiles, tail};
use crate::passes::replay::Stopped;
use crate::passes::residence::{self, Place};
use crate::refusal::{refusal_kind, stopped};
use crate::registry::Kind;
use crate::results::{AllocatorResult, AtPeak, ReplayError};
use crate::sizes::HeapSize;
use crate::spec::Spec;
use crate::steps::Steps;

/// The heap of an allocator, and whether objects are written.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The size of the region.
    pub heap: HeapSize,
    /// Whether the checking pass writes every byte.
    pub touch: bool,
}

impl Setting {
    /// How many bytes of objects are written and live at once, at the peak.
    pub(crate) const fn written_at_peak(&self, steps: &Steps) -> u64 {
        if self.touch { steps.peak_live_bytes } else { 0 }
    }
}

/// A row without measurements.
#[must_use]
pub fn empty_row(spec: &Spec, steps: &Steps, setting: Setting) -> AllocatorResult {
    AllocatorResult {
        allocator: spec.to_string(),
        heap_bytes: spec
            .heap_bytes(setting.heap, steps)
            .map(|bytes| bytes as u64),
        mallocs: steps.calls.mallocs,
        frees: steps.calls.frees,
        reallocs: steps.calls.reallocs,
        contiguous: true,
        ..AllocatorResult::default()
    }
}

/// Runs the checking pass over a fresh region and starts the row.
///
/// # Errors
/// [`crate::error::Broken`] if the allocator broke a rule; any error if there is not enough memory.
pub fn check(spec: &Spec, kind: &Kind, steps: &Steps, setting: Setting) -> Result<AllocatorResult> {
    check_fed(spec, kind, steps, &mut Feed::of(steps), setting)
}

/// As [`check`], of steps that come in parts; `steps` says what is known of them.
pub(crate) fn check_fed<'a>(
    spec: &Spec,
    kind: &Kind,
    steps: &'a Steps,
    feed: &mut Feed<'a>,
    setting: Setting,
) -> Result<AllocatorResult> {
    let mut row = empty_row(spec, steps, setting);
    let outcome = if kind.in_region() {
        check_in_region(kind, steps, feed, setting, &mut row)?
    } else {
        check_resident(kind, steps, feed, setting, &mut row)?
    };
    match outcome {
        Ok(Ok(checked)) => record(&mut row, steps, &checked),
        Ok(Err(stop)) => row.error = Some(stopped(&row.allocator, &stop)?),
        Err(refused) => row.error = Some(not_built(refused)),
    }
    row.completed = row.error.is_none();
    if row.error.is_some() {
        row.peak_footprint_bytes = None;
    }
    Ok(row)
}

/// What a pass returns through the registry. The outer error says that the allocator could not be
/// built, the inner one that the replay stopped.
type Outcome<T> = Result<Result<T, Stopped>, Refused>;

fn check_in_region<'a>(
    kind: &Kind,
    steps: &'a Steps,
    feed: &mut Feed<'a>,
    setting: Setting,
    row: &mut AllocatorResult,
) -> Result<Outcome<Checked>> {
    let heap_bytes = kind.heap_bytes(setting.heap, steps);
    let mut region = Reservation::new(heap_bytes)?;
    let pass = Checking {
        steps,
        heap_bytes: Some(heap_bytes),
        touch: setting.touch,
        place: Place::Region(region.extent()),
    };
    let outcome = kind.run_untimed(region.memory(), Streamed { pass, feed });
    row.peak_footprint_bytes = Some(region.touched_bytes()? as u64);
    Ok(outcome)
}

fn check_resident<'a>(
    kind: &Kind,
    steps: &'a Steps,
    feed: &mut Feed<'a>,
    setting: Setting,
    row: &mut AllocatorResult,
) -> Result<Outcome<Checked>> {
    let pass = Checking {
        steps,
        heap_bytes: None,
        touch: setting.touch,
        place: Place::Process,
    };
    let growth = Growth::over(|| pass.run_empty());
    let outcome = kind.run_untimed(&mut [], Streamed { pass, feed });
    row.peak_resident_bytes = growth.bytes(setting.written_at_peak(steps));
    Ok(outcome)
}

fn not_built(refused: Refused) -> ReplayError {
    ReplayError {
        kind: refusal_kind(refused).to_owned(),
        event: 0,
    }
}

fn record(row: &mut AllocatorResult, steps: &Steps, checked: &Checked) {
    row.contiguous = checked.contiguous;
    row.bytes_in_pieces_at_peak = (!checked.contiguous).then_some(checked.bytes_in_pieces_at_peak);
    row.at_peak = checked
        .usage_at_peak
        .map(|usage| AtPeak::of(usage, steps.peak_live_bytes));
    row.locality = checked.locality;
    row.resident_over_live_mean = residence::over_live(&checked.resident);
    row.resident_over_time = (!checked.resident.is_empty()).then(|| checked.resident.clone());
    if let Some(moves) = checked.moves {
        row.moves_total = Some(moves.total);
        row.moved_bytes_total = Some(moves.bytes_total);
        row.moved_bytes_max_per_op = moves.bytes_max_per_op;
        row.moved_bytes_max_per_section = moves.bytes_max_per_section;
    }
}

/// Runs the percentile pass over a region and fills the row's call times.
///
/// # Errors
/// The replay stopped although the checking pass had completed.
pub fn percentiles(
    kind: &Kind,
    steps: &Steps,
    region: &mut Option<Reservation>,
    clock_ns: u64,
    row: &mut AllocatorResult,
) -> Result<()> {
    let memory = region.as_mut().map_or(&mut [][..], Reservation::memory);
    let outcome = kind.run(memory, Percentiles { steps, clock_ns });
    let times = completed(&row.allocator, outcome)?;
    fill_times(row, &times);
    Ok(())
}

/// The output of a pass that must complete because an earlier pass completed.
///
/// # Errors
/// [`crate::error::Broken`] if it did not.
pub fn completed<T>(allocator: &str, outcome: Outcome<T>) -> Result<T> {
    let broken = |event: usize, what: &dyn std::fmt::Debug| {
        crate::error::Broken(format!(
            "{allocator}: event {event}: a replay that completed before did not complete again: {what:?}"
        ))
    };
    match outcome {
        Ok(Ok(output)) => Ok(output),
        Ok(Err(stop)) => Err(broken(stop.event, &stop.stop).into()),
        Err(refused) => Err(broken(0, &refused).into()),
    }
}

fn fill_times(row: &mut AllocatorResult, times: &CallTimes) {
    macro_rules! fill {
        ($histogram:expr, $mean:ident $p50:ident $p99:ident $p9999:ident $max:ident $tail:ident) => {
            if let Some(histogram) = not_empty($histogram) {
                row.$mean = Some(histogram.mean());
                row.$p50 = Some(histogram.value_at_quantile(0.5));
                row.$p99 = Some(histogram.value_at_quantile(0.99));
                row.$p9999 = Some(histogram.value_at_quantile(0.9999));
                row.$max = Some(histogram.max());
                row.$tail = Some(tail(histogram));
            }
        };
    }
    fill!(&times.malloc, malloc_ns_mean malloc_ns_p50 malloc_ns_p99 malloc_ns_p9999 malloc_ns_max malloc_ns_tail);
    fill!(&times.free, free_ns_mean free_ns_p50 free_ns_p99 free_ns_p9999 free_ns_max free_ns_tail);
    fill!(&times.realloc, realloc_ns_mean realloc_ns_p50 realloc_ns_p99 realloc_ns_p9999 realloc_ns_max realloc_ns_tail);
}

/// Copies the call times that a child process measured.
pub fn copy_times(row: &mut AllocatorResult, from: &AllocatorResult) {
    macro_rules! copy {
        ($($field:ident)*) => {$(row.$field.clone_from(&from.$field);)*};
    }
    copy!(malloc_ns_mean malloc_ns_p50 malloc_ns_p99 malloc_ns_p9999 malloc_ns_max malloc_ns_tail);
    copy!(free_ns_mean free_ns_p50 free_ns_p99 free_ns_p9999 free_ns_max free_ns_tail);
    copy!(realloc_ns_mean realloc_ns_p50 realloc_ns_p99 realloc_ns_p9999 realloc_ns_max realloc_ns_tail);
}

fn not_empty(histogram: &Histogram<u64>) -> Option<&Histogram<u64>> {
    (!histogram.is_empty()).then_some(histogram)
}
