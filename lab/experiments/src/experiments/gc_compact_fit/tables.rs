//! The tables and plots of the experiment.
#![deny(unsafe_code)]

use super::measure::{Found, HEAPS, InHeap, Row};
use super::parts::TIMES;
use super::spaces::DRAWN;
use crate::kit::{Axis, Cell, Column, Plot, Series, Table};
use surefit_measure::output::grouped;
use surefit_measure::ratio::median;

/// What stands for the time of a program that does not complete.
const FAILS: &str = "no";

/// The heaps whose collections are counted in a table, by their places in [`HEAPS`].
pub(super) const COUNTED: [usize; 2] = [1, 3];

/// The spaces whose parts are shown: free lists, and Compact-fit by the size of its pages.
const PARTS: [(&str, &str); 4] = [
    ("free lists", "TLSF"),
    ("CF 2K", "CF 2K, holes"),
    ("CF 4K", "CF 4K, holes"),
    ("CF 16K", "CF 16K, holes"),
];

/// The smallest heap of Compact-fit beside the smallest of all others.
pub(super) fn smallest(found: &[Found]) -> Table {
    let title = "smallest heaps: the best setting of Compact-fit, the best of the other spaces";
    let name = |one: &Found, compact_fit| one.smallest(compact_fit).map(|(row, _)| row.choice.name);
    let to_live = |one: &Found, compact_fit| {
        let best = one.smallest(compact_fit);
        best.map(|(_, bytes)| one.times_live(bytes))
    };
    Table::of(title, found)
        .text("client", |one| one.client.as_str())
        .figure("live B", 0, |one| one.live)
        .text("Compact-fit", |one| name(one, true))
        .figure("÷ live", 3, |one| to_live(one, true))
        .text("best other", |one| name(one, false))
        .figure("÷ live", 3, |one| to_live(one, false))
        .table()
}

/// The least heap management time of Compact-fit beside the least of all others, in every heap.
pub(super) fn fastest(found: &[Found]) -> Table {
    let title = "heap management: the best setting of Compact-fit, the best of the other spaces";
    let heaps = found
        .iter()
        .flat_map(|one| (0..HEAPS.len()).map(move |at| (one, at)));
    let name = |one: &Found, at, compact_fit| {
        let best = one.fastest(compact_fit, at);
        best.map_or("none completes", |(row, _)| row.choice.name)
    };
    let time = |one: &Found, at, compact_fit| {
        let best = one.fastest(compact_fit, at);
        best.map_or(Cell::Absent, |(_, in_heap)| ms(in_heap.median_ns()))
    };
    Table::of(title, heaps)
        .text("client", |(one, _)| one.client.as_str())
        .figure("heap ÷ live", 2, |(_, at)| HEAPS[*at])
        .text("Compact-fit", |(one, at)| name(one, *at, true))
        .figure("ms", 2, |(one, at)| time(one, *at, true))
        .text("best other", |(one, at)| name(one, *at, false))
        .figure("ms", 2, |(one, at)| time(one, *at, false))
        .table()
}

/// Smallest heaps and times of every space.
pub(super) fn times(found: &Found) -> Table {
    let title = format!(
        "{}: smallest heaps, and milliseconds of heap management in multiples of {} B",
        found.client,
        grouped(found.live)
    );
    let mut table = Table::of(title, &found.rows)
        .text("space", |row| row.choice.name)
        .figure("smallest B", 0, |row| {
            row.smallest.map(|bytes| bytes as u64)
        })
        .figure("÷ live", 3, |row| {
            row.smallest.map(|bytes| found.times_live(bytes))
        });
    for (at, times) in HEAPS.into_iter().enumerate() {
        table = table.figure(format!("{times}x ms"), 2, |row| match &row.heaps[at] {
            Some(in_heap) => ms(in_heap.median_ns()),
            None => FAILS.into(),
        });
    }
    table.table()
}

/// Collections in one of the heaps, and what was free before them; allocation and collection apart.
pub(super) fn collections(found: &Found, at: usize) -> Table {
    let title = format!(
        "{}, {}x: collections, those with enough bytes free, those that moves would have spared",
        found.client, HEAPS[at]
    );
    let columns = [
        Column::text("space"),
        Column::figure("collections", 0),
        Column::figure("bytes", 0),
        Column::figure("moves", 0),
        Column::figure("allocation ms", 2),
        Column::figure("collection ms", 2),
    ];
    let mut table = Table::new(title, columns);
    for row in &found.rows {
        let figures = row.heaps[at].as_ref().map_or_else(fails, counts);
        table.row([&[Cell::from(row.choice.name)][..], &figures].concat());
    }
    table
}

fn counts(in_heap: &InHeap) -> [Cell; 5] {
    [
        in_heap.collections.into(),
        in_heap.with_bytes.into(),
        in_heap.fragmented.into(),
        ms(median(&in_heap.allocation_ns)),
        ms(median(&in_heap.collection_ns)),
    ]
}

fn fails() -> [Cell; 5] {
    let absent = || Cell::Absent;
    [FAILS.into(), absent(), absent(), absent(), absent()]
}

/// Where the bytes are of a space that holds what must be held.
pub(super) fn parts(found: &Found) -> Table {
    let title = format!(
        "{}: bytes that it takes to hold {} B, in a region of {TIMES}x",
        found.client,
        grouped(found.live)
    );
    let columns = [
        Column::text("space"),
        Column::figure("internal B", 0),
        Column::figure("page ends B", 0),
        Column::figure("not-full pages B", 0),
        Column::figure("administrative B", 0),
        Column::figure("all ÷ live", 3),
    ];
    let mut table = Table::new(title, columns);
    for (label, name) in PARTS {
        let row = found.rows.iter().find(|row| row.choice.name == name);
        let usage = row.and_then(|row| row.usage);
        let cell = |bytes: Option<usize>| Cell::from(bytes.map(|bytes| bytes as u64));
        let of = |part: fn(&surefit_core::Usage) -> usize| cell(usage.as_ref().map(part));
        let taken =
            usage.map(|usage| usage.total() - usage.free_chunk_bytes - usage.free_page_bytes);
        table.row([
            label.into(),
            cell(usage.map(|usage| usage.block_bytes.saturating_sub(found.live as usize))),
            of(|usage| usage.page_internal_bytes),
            of(|usage| usage.size_class_bytes),
            of(|usage| usage.administrative_bytes),
            taken.map(|bytes| found.times_live(bytes)).into(),
        ]);
    }
    table
}

fn ms(ns: Option<f64>) -> Cell {
    ns.map(|ns| ns / 1e6).into()
}

/// Heap management time against the heap, client by client; smallest heaps of all clients.
pub(super) fn plots(found: &[Found]) -> Vec<Plot> {
    let sizes = Plot {
        title: "smallest heap ÷ live".to_owned(),
        x: Axis::kinds("client", found.iter().map(|one| one.client.clone())),
        y: Axis::from_zero("÷ live"),
        series: drawn(|name| {
            let points = found.iter().enumerate().filter_map(|(at, one)| {
                Some((at as f64, one.times_live(row(one, name)?.smallest?)))
            });
            points.collect()
        }),
    };
    let times = found.iter().map(|one| Plot {
        title: format!("{}: heap management time", one.client),
        x: Axis::kinds("heap ÷ live", HEAPS.map(|times| times.to_string())),
        y: Axis::from_zero("ms"),
        series: drawn(|name| row(one, name).map(points).unwrap_or_default()),
    });
    std::iter::once(sizes)
        .chain(times)
        .filter(|plot| plot.series.iter().any(|line| !line.points.is_empty()))
        .collect()
}

/// A line for each space that is drawn, without points too: so a space has one colour.
fn drawn(points: impl Fn(&str) -> Vec<(f64, f64)>) -> Vec<Series> {
    DRAWN.map(|name| Series::new(name, points(name))).to_vec()
}

fn row<'f>(found: &'f Found, name: &str) -> Option<&'f Row> {
    found.rows.iter().find(|row| row.choice.name == name)
}

/// The times by the places of the heaps: bars, so that a space which completes in one heap only is
/// seen.
fn points(row: &Row) -> Vec<(f64, f64)> {
    let heaps = row.heaps.iter().enumerate();
    let timed =
        heaps.filter_map(|(at, in_heap)| Some((at as f64, in_heap.as_ref()?.median_ns()? / 1e6)));
    timed.collect()
}
