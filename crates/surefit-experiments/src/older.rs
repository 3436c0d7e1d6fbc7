//! `bounds` as a report, for `experiment all`: its own format is older than the shared one.

use anyhow::Result;

use crate::experiments::bounds::{self, BoundRow, Bounds};
use crate::kit::{Cell, Claim, Column, Entry, Report, Request, Table};

/// `bounds`.
pub(super) const BOUNDS: Entry = Entry {
    name: "bounds",
    about: "What each bound on fragmentation costs and saves",
    takes_traces: true,
    takes_rounds: true,
    run: bounds_report,
};

fn bounds_report(request: &Request) -> Result<Report> {
    let document = bounds::measure(&request.files, request.rounds_or(5))?;
    let mut report = Report::new(
        BOUNDS.name,
        BOUNDS.about,
        "the bounds: docs/bounds.md",
        request.quick,
    );
    report
        .setting
        .push(format!("{} interleaved rounds, heap 4x.", document.rounds));
    report.tables = document.traces.iter().map(bounds_table).collect();
    report.claims.push(certificates_hold(&document));
    Ok(report)
}

fn bounds_table(trace: &bounds::TraceBounds) -> Table {
    let columns = [
        Column::text("bound"),
        Column::figure("moves/free", 4),
        Column::figure("B/free", 1),
        Column::figure("ns/pair", 1),
        Column::figure("certified÷B", 3),
        Column::figure("min heap÷live", 3),
    ];
    let mut table = Table::new(trace.name.clone(), columns);
    let of = |bytes: Option<u64>, whole: u64| {
        Cell::from(bytes.map(|bytes| bytes as f64 / whole.max(1) as f64))
    };
    for row in &trace.bounds {
        table.row([
            row.allocator.clone().into(),
            row.moves_per_free.into(),
            row.moved_bytes_per_free.into(),
            row.pair_ns_mean.into(),
            of(row.certified_bytes, trace.demand_bytes),
            of(row.min_heap_bytes, trace.peak_live_bytes),
        ]);
    }
    table
}

fn certificates_hold(document: &Bounds) -> Claim {
    let rows = || document.traces.iter().flat_map(|trace| &trace.bounds);
    let both = |row: &BoundRow| row.certified_bytes.zip(row.min_heap_bytes);
    let held = rows()
        .filter_map(both)
        .filter(|(certified, least)| certified >= least)
        .count();
    let all = rows().filter_map(both).count();
    Claim::that("what was certified from counts suffices in every replay")
        .ours(format!("{held} of {all} heaps"))
        .decide(
            (all > 0).then_some(held == all),
            "the smallest heap in which the trace completes is at most the certified \
             one",
        )
}
