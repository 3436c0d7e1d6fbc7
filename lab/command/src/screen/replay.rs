//! What people see of one replay.

use surefit_measure::error::one_line;
use surefit_measure::results::AllocatorResult;
use surefit_measure::sizes::Size;
use surefit_measure::steps::Steps;

use super::words::left_out;
use surefit_measure::grid::plain_table;

/// A line of the table: its name, and a figure if it has one.
type Line = (&'static str, Option<String>);

/// The table of one replay.
pub(crate) fn replay(steps: &Steps, row: &AllocatorResult) -> String {
    let mut table = plain_table();
    let lines = [
        trace_lines(steps, row),
        time_lines(row),
        memory_lines(steps.peak_live_bytes, row),
    ];
    for (name, figure) in lines.into_iter().flatten() {
        if let Some(figure) = figure {
            table.add_row([name.to_owned(), figure]);
        }
    }
    let title = format!("{} on {}", row.allocator, one_line(&steps.name));
    format!("{title}\n{}\n", table.trim_fmt())
}

fn trace_lines(steps: &Steps, row: &AllocatorResult) -> Vec<Line> {
    vec![
        ("completed", Some(completed(row))),
        ("left out", row.left_out.map(left_out)),
        ("events", Some(steps.events.to_string())),
        ("peak live", Some(Size(steps.peak_live_bytes).to_string())),
        ("heap", row.heap_bytes.map(size)),
    ]
}

fn time_lines(row: &AllocatorResult) -> Vec<Line> {
    vec![
        ("time per pair", row.pair_ns_mean.map(nanoseconds)),
        (
            "with 8 accesses an event",
            row.access_pair_ns_mean.map(nanoseconds),
        ),
        ("one access", row.access_ns_mean.map(nanoseconds)),
        (
            "malloc p50 / p99.99 / max",
            times([row.malloc_ns_p50, row.malloc_ns_p9999, row.malloc_ns_max]),
        ),
        (
            "free p50 / p99.99 / max",
            times([row.free_ns_p50, row.free_ns_p9999, row.free_ns_max]),
        ),
        (
            "realloc p50 / p99.99 / max",
            times([row.realloc_ns_p50, row.realloc_ns_p9999, row.realloc_ns_max]),
        ),
    ]
}

fn memory_lines(live: u64, row: &AllocatorResult) -> Vec<Line> {
    let share = |bytes: Option<u64>| bytes.map(|bytes| share(bytes, live));
    vec![
        ("peak footprint", share(row.peak_footprint_bytes)),
        ("peak resident", share(row.peak_resident_bytes)),
        (
            "resident ÷ live, mean",
            row.resident_over_live_mean.map(|mean| format!("{mean:.3}")),
        ),
        ("in pieces at the peak", share(row.bytes_in_pieces_at_peak)),
        ("moves", row.moves_total.map(|moves| moves.to_string())),
        ("moved bytes", row.moved_bytes_total.map(size)),
        (
            "most moved by one call",
            row.moved_bytes_max_per_op.map(size),
        ),
        ("certified", share(row.certified_bytes)),
    ]
}

fn completed(row: &AllocatorResult) -> String {
    match &row.error {
        None => "yes".to_owned(),
        Some(error) => format!("no: {} at event {}", error.kind, error.event),
    }
}

fn size(bytes: u64) -> String {
    Size(bytes).to_string()
}

/// Bytes, and what they are of the live bytes.
fn share(bytes: u64, live: u64) -> String {
    format!(
        "{} ({:.3} x live)",
        Size(bytes),
        bytes as f64 / live.max(1) as f64
    )
}

fn nanoseconds(figure: f64) -> String {
    format!("{figure:.1} ns")
}

fn times(figures: [Option<u64>; 3]) -> Option<String> {
    let [p50, p9999, max] = figures;
    Some(format!("{} / {} / {} ns", p50?, p9999?, max?))
}
