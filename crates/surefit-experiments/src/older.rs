//! `bounds` and `small-heaps` as reports, for `experiment all`: their own formats are older than the shared one.

use anyhow::Result;

use super::small_heaps::{self, SmallHeaps};
use crate::experiments::bounds::{self, BoundRow, Bounds};
use crate::kit::{Cell, Claim, Column, Entry, Report, Request, Table, Verdict};

/// `bounds`.
pub(super) const BOUNDS: Entry = Entry {
    name: "bounds",
    about: "What each bound on fragmentation costs and saves",
    takes_traces: true,
    takes_rounds: true,
    run: bounds_report,
};

/// `small-heaps`.
pub(super) const SMALL_HEAPS: Entry = Entry {
    name: "small-heaps",
    about: "Certificates of small heaps beside the bounds of heaps that never move",
    takes_traces: false,
    takes_rounds: false,
    run: small_heaps_report,
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
    Claim {
        claim: "what was certified from counts suffices in every replay".to_owned(),
        papers_figure: String::new(),
        ours: format!("{held} of {all} heaps"),
        verdict: Verdict::of((all > 0).then_some(held == all)),
        because: "the smallest heap in which the trace completes is at most the certified one"
            .to_owned(),
    }
}

fn small_heaps_report(request: &Request) -> Result<Report> {
    let document = small_heaps::measure()?;
    let source = "Robson 1971, 1974; o1heap's bound; docs/bounds.md, section 6";
    let mut report = Report::new(SMALL_HEAPS.name, SMALL_HEAPS.about, source, request.quick);
    report.setting.push(
        "Bytes that suffice as multiples of the live bytes M; pages of 1 KiB, words of two bytes."
            .to_owned(),
    );
    report.tables.push(small_heaps_table(&document));
    report.claims.push(break_even(&document));
    Ok(report)
}

fn small_heaps_table(document: &SmallHeaps) -> Table {
    let columns = [
        Column::figure("n, bytes", 0),
        Column::figure("M, bytes", 0),
        Column::figure("powers: cf", 2),
        Column::figure("k=1", 2),
        Column::papers("Robson", 2),
        Column::figure("any: cf", 2),
        Column::figure("k=1", 2),
        Column::papers("2 Robson", 2),
        Column::papers("o1heap", 2),
    ];
    let mut table = Table::new("Certified ÷ M for requests of 16 to n bytes", columns);
    for row in &document.rows {
        let ratio = |bytes: Option<u64>| {
            Cell::from(bytes.map(|bytes| bytes as f64 / row.live_bytes as f64))
        };
        table.row([
            row.largest_bytes.into(),
            row.live_bytes.into(),
            ratio(row.powers_holes_bytes),
            ratio(row.powers_full_bytes),
            ratio(Some(row.powers_robson_bytes)),
            ratio(row.any_holes_bytes),
            ratio(row.any_full_bytes),
            ratio(Some(row.any_robson_bytes)),
            ratio(Some(row.o1heap_bytes)),
        ]);
    }
    table
}

fn break_even(document: &SmallHeaps) -> Claim {
    let lines = document.break_even.iter();
    let live = lines.map(|line| line.powers_full_bytes);
    let all: Option<Vec<_>> = live.collect();
    let ours = all.as_ref().map_or_else(
        || "never".to_owned(),
        |all| {
            all.iter()
                .map(|live| format!("from {live} B"))
                .collect::<Vec<_>>()
                .join(", ")
        },
    );
    Claim {
        claim: "with full compaction small heaps need less than any allocator that never moves"
            .to_owned(),
        papers_figure: "Robson's bound".to_owned(),
        ours,
        verdict: Verdict::of(Some(all.is_some())),
        because:
            "for each n there are live bytes from which on the certificate is below Robson's bound"
                .to_owned(),
    }
}
