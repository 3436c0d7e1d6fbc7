//! What people see: tables of figures, every one of them computed from the results.

mod replay;

use std::fmt::Write as _;

use surefit_measure::error::one_line;
use surefit_measure::grid::Grid;
use surefit_measure::results::{AllocatorResult, Comparison, LeftOut, TraceResults};
use surefit_measure::sizes::{HeapSize, Size, counted};
use surefit_measure::spec::Spec;
use surefit_measure::subject::{Certified, HandleCost};

pub(crate) use replay::replay;

/// A loss of less than this is noise.
const WORTH_SAYING: f64 = 1.01;

/// Shown where a figure has no meaning.
const NO_FIGURE: &str = "-";

/// What the screen says beyond the rows.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    /// For each allocator, whether it hands out handles.
    handles: Vec<bool>,
    /// The first allocator with handles: its row, and what they cost.
    pub(crate) moving: Option<(usize, HandleCost)>,
    /// One element for each trace.
    pub(crate) traces: Vec<TraceNote>,
}

/// What the screen says of one trace beyond its rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TraceNote {
    /// The certificate of the first allocator with handles.
    pub(crate) certified: Option<Certified>,
    /// The smallest heap of the same partitioning that never compacts, in bytes.
    pub(crate) unbounded_min_heap_bytes: Option<u64>,
}

impl Notes {
    /// Notes of no trace yet.
    pub(crate) fn new(specs: &[Spec]) -> Self {
        let mut costs = specs.iter().map(Spec::handles).enumerate();
        Self {
            handles: specs.iter().map(|spec| spec.handles().is_some()).collect(),
            moving: costs.find_map(|(row, cost)| Some((row, cost?))),
            traces: Vec::new(),
        }
    }
}

/// The screen of a comparison.
pub(crate) fn comparison(comparison: &Comparison, heap: HeapSize, notes: &Notes) -> String {
    let mut screen = format!("surefit compare: {}\n{KEY}\n\n", setting(comparison, heap));
    for trace in &comparison.traces {
        let rows = rows(trace, &comparison.baseline, notes).to_text();
        let _ = writeln!(screen, "{}\n{rows}\n", title(trace));
    }
    screen + &footer(comparison, notes).join("\n") + "\nNext: surefit compare YOUR.sft.zst\n"
}

/// What the columns are measured against.
const KEY: &str = "live: the peak of live requests. certified: bytes that suffice for the trace's joint demand, \
    in any order.";

/// How much was compared, and in which heap.
pub(crate) fn setting(comparison: &Comparison, heap: HeapSize) -> String {
    format!(
        "{}, {}, heap {heap}",
        counted(comparison.traces.len() as u64, "recorded program"),
        counted(u64::from(comparison.rounds), "interleaved round"),
    )
}

/// The name of a trace and what it holds.
pub(crate) fn title(trace: &TraceResults) -> String {
    let pieces = trace
        .results
        .iter()
        .find_map(|row| row.bytes_in_pieces_at_peak);
    let pieces = pieces.map_or_else(String::new, |bytes| {
        format!(", {:.0} % in pieces", percent(bytes, trace.peak_live_bytes))
    });
    let without = trace.left_out.map_or_else(String::new, |these| {
        format!("; left out: {}", left_out(these))
    });
    format!(
        "{}   {}, peak live {}{pieces}{without}",
        one_line(&trace.name),
        counted(trace.events, "event"),
        Size(trace.peak_live_bytes)
    )
}

/// What `--largest` took off a trace.
fn left_out(left_out: LeftOut) -> String {
    format!(
        "{} over {}, {} live at their peak",
        counted(left_out.objects, "object"),
        Size(left_out.larger_than_bytes),
        Size(left_out.peak_live_bytes)
    )
}

fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// The rows of one trace.
pub(crate) fn rows(trace: &TraceResults, baseline: &str, notes: &Notes) -> Grid {
    let short = short(baseline);
    let counted = |row: &AllocatorResult| row.instructions_per_free.is_some();
    let counted = trace.results.iter().any(counted);
    let mut header = vec![
        "allocator".to_owned(),
        "pointer".to_owned(),
        format!("time÷{short} [min-max]"),
        "with access".to_owned(),
        "free: p99.99 / max µs".to_owned(),
        "min heap÷live".to_owned(),
        "certified÷live".to_owned(),
        "moved B/free".to_owned(),
    ];
    if counted {
        header.push("instr malloc / free".to_owned());
    }
    let base = trace.results.iter().find(|row| row.allocator == baseline);
    let row = |(row, has_handles): (&AllocatorResult, &bool)| {
        let pointer = if *has_handles { "handle*" } else { "raw" };
        let mut cells = cells(row, pointer, base, trace.peak_live_bytes);
        if counted {
            cells.push(instructions(row));
        }
        cells
    };
    Grid {
        header,
        rows: trace.results.iter().zip(&notes.handles).map(row).collect(),
        text_columns: 2,
    }
}

/// The baseline's name as columns show it.
pub(crate) fn short(baseline: &str) -> &str {
    baseline.strip_prefix("peer-").unwrap_or(baseline)
}

fn cells(
    row: &AllocatorResult,
    pointer: &str,
    base: Option<&AllocatorResult>,
    live: u64,
) -> Vec<String> {
    let of_live = |bytes: Option<u64>| {
        or_none(bytes.map(|bytes| format!("{:.3}", bytes as f64 / live.max(1) as f64)))
    };
    let with_access = row
        .access_pair_ns_mean
        .zip(base.and_then(|base| base.access_pair_ns_mean));
    let ratio = row.ratio_to_baseline;
    let tail = row.free_ns_p9999.zip(row.free_ns_max);
    let time = match &row.error {
        Some(error) => error.kind.clone(),
        None => or_none(ratio.map(|r| format!("{:.2} [{:.2}-{:.2}]", r.median, r.min, r.max))),
    };
    vec![
        row.allocator.clone(),
        pointer.to_owned(),
        time,
        or_none(with_access.map(|(own, base)| format!("{:.2}", own / base))),
        or_none(tail.map(|(p9999, max)| format!("{:.1} / {:.0}", micros(p9999), micros(max)))),
        of_live(row.min_heap_bytes),
        of_live(row.certified_bytes),
        or_none(
            row.moved_bytes_total
                .map(|bytes| format!("{:.1}", bytes as f64 / row.frees.max(1) as f64)),
        ),
    ]
}

fn micros(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e3
}

fn instructions(row: &AllocatorResult) -> String {
    let both = row.instructions_per_malloc.zip(row.instructions_per_free);
    or_none(both.map(|(malloc, free)| format!("{malloc:.0} / {free:.0}")))
}

fn or_none(figure: Option<String>) -> String {
    figure.unwrap_or_else(|| NO_FIGURE.to_owned())
}

/// What the figures mean, and where the moving heap loses.
pub(crate) fn footer(comparison: &Comparison, notes: &Notes) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some((row, cost)) = notes.moving {
        lines.push(handle_line(cost));
        let pairs = comparison.traces.iter().zip(&notes.traces);
        lines.extend(
            pairs
                .clone()
                .filter_map(|(trace, note)| demand_line(trace, row, note)),
        );
        lines.extend(saved_line(pairs, row));
        lines.extend(
            comparison
                .traces
                .iter()
                .filter_map(|trace| loss_line(trace, row)),
        );
    }
    lines.extend(smaller_lines(comparison));
    lines.extend(no_region_line(comparison));
    lines
}

/// The allocators that cannot use a region as large as the others'.
fn smaller_lines(comparison: &Comparison) -> impl Iterator<Item = String> {
    comparison.traces.iter().flat_map(|trace| {
        let most = trace.results.iter().filter_map(|row| row.heap_bytes).max();
        let smaller =
            move |row: &&AllocatorResult| row.heap_bytes < most && row.heap_bytes.is_some();
        trace.results.iter().filter(smaller).map(|row| {
            let bytes = Size(row.heap_bytes.unwrap_or(0));
            let (name, on) = (&row.allocator, one_line(&trace.name));
            format!("{name} can name no more than {bytes}: that is its heap on {on}.")
        })
    })
}

/// The allocators that live in no region.
fn no_region_line(comparison: &Comparison) -> Option<String> {
    let rows = &comparison.traces.first()?.results;
    let without: Vec<_> = rows
        .iter()
        .filter(|row| row.heap_bytes.is_none())
        .map(|row| row.allocator.as_str())
        .collect();
    let verb = if without.len() == 1 { "has" } else { "have" };
    let names = without.join(", ");
    (!without.is_empty())
        .then(|| format!("{names} {verb} no region: page faults are in the times."))
}

fn handle_line(cost: HandleCost) -> String {
    let bytes = cost.bytes_per_object;
    let handles = format!("handles cost {bytes} B an object, included");
    match cost.piece_bytes {
        Some(piece) => format!(
            "* objects over {} are in pieces; {handles}",
            Size(piece as u64)
        ),
        None => format!("* {handles}"),
    }
}

fn demand_line(trace: &TraceResults, row: usize, note: &TraceNote) -> Option<String> {
    let certified = note.certified?;
    let row = &trace.results[row];
    let measured = row.min_heap_bytes.map_or_else(String::new, |bytes| {
        format!("; {} completes in {}", one_line(&trace.name), Size(bytes))
    });
    Some(format!(
        "Any order of a joint demand of {} in {}: {} needs at most {}{measured}.",
        Size(certified.demand_bytes),
        counted(certified.demand_objects, "page-block"),
        row.allocator,
        Size(certified.heap_bytes)
    ))
}

fn saved_line<'a>(
    pairs: impl Iterator<Item = (&'a TraceResults, &'a TraceNote)>,
    row: usize,
) -> Option<String> {
    let saved: Vec<_> = pairs
        .filter_map(|(trace, note)| {
            let with = trace.results[row].min_heap_bytes?;
            let without = note.unbounded_min_heap_bytes?;
            let saved = 100.0 - percent(with, without);
            Some(format!("{} {saved:.1} %", one_line(&trace.name)))
        })
        .collect();
    (!saved.is_empty()).then(|| format!("Memory that compaction saved: {}.", saved.join(", ")))
}

/// By how much the best other allocator beats the moving heap on a trace.
fn loss_line(trace: &TraceResults, row: usize) -> Option<String> {
    let figures = [
        loss(trace, row, "time", |row| row.pair_ns_mean),
        loss(trace, row, "with access", |row| row.access_pair_ns_mean),
        loss(trace, row, "min heap", |row| {
            row.min_heap_bytes.map(|bytes| bytes as f64)
        }),
    ];
    let figures: Vec<_> = figures.into_iter().flatten().collect();
    let (name, on) = (&trace.results[row].allocator, one_line(&trace.name));
    (!figures.is_empty()).then(|| format!("Where {name} loses on {on}: {}.", figures.join(", ")))
}

fn loss(
    trace: &TraceResults,
    row: usize,
    what: &str,
    figure: impl Fn(&AllocatorResult) -> Option<f64>,
) -> Option<String> {
    let own = figure(&trace.results[row])?;
    let others = trace
        .results
        .iter()
        .filter_map(|row| Some((figure(row)?, row)));
    let (best, winner) = others.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let ratio = own / best;
    (ratio > WORTH_SAYING).then(|| format!("{what} {ratio:.2} x {}", winner.allocator))
}
