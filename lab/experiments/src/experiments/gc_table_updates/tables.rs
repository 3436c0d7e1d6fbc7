//! The tables and plots of the experiment.

use super::counted::{Counted, Row};
use crate::kit::{Axis, Cell, Column, Plot, Series, Table};
use crate::shared::merges::{MERGES, merges_name};
use crate::shared::thesis::published::Updates;
use surefit_freelist::When;

/// Table 3-1, and the thesis's own beside it.
pub(super) fn updates(rows: &[Row]) -> Table {
    let of = |figure: fn(&Counted) -> u64| move |row: &&Row| row.of(When::Deferred).map(figure);
    let theirs = |figure: fn(Updates) -> f64| move |row: &&Row| row.theirs.map(figure);
    Table::of(
        "table 3-1: updates of the table under deferred coalescing, collections included",
        rows,
    )
    .text("program", |row| row.name.as_str())
    .figure("coll.", 0, of(|counted| counted.collections))
    .figure("non-empty", 0, of(Counted::filled))
    .papers("non-empty", 0, theirs(|theirs| f64::from(theirs.filled)))
    .figure("empty", 0, of(Counted::emptied))
    .papers("empty", 0, theirs(|theirs| f64::from(theirs.emptied)))
    .figure("per update", 1, |row| {
        row.of(When::Deferred)
            .and_then(Counted::allocations_per_update)
    })
    .papers("per update", 0, theirs(Updates::allocations_per_update))
    .table()
}

/// Their sums and the allocations that they are divided by.
pub(super) fn sums(rows: &[Row]) -> Table {
    let of = |figure: fn(&Counted) -> u64| move |row: &&Row| row.of(When::Deferred).map(figure);
    let theirs = |figure: fn(Updates) -> u32| move |row: &&Row| row.theirs.map(figure);
    Table::of(
        "table 3-1: updates and allocations; the heap over deferred's smallest",
        rows,
    )
    .text("program", |row| row.name.as_str())
    .figure("heap ÷ least", 2, |row| row.heap.multiple)
    .figure("updates", 0, of(Counted::updates))
    .papers(
        "updates",
        0,
        theirs(|theirs| theirs.filled + theirs.emptied),
    )
    .figure("allocations", 0, of(|counted| counted.allocations))
    .papers("allocations", 0, theirs(|theirs| theirs.allocations))
    .table()
}

/// Where the updates of all systems come from.
pub(super) fn origins(rows: &[Row]) -> Table {
    let each = rows
        .iter()
        .flat_map(|row| row.counted.iter().map(move |counted| (row, counted)));
    Table::of(
        "lists that became non-empty (+) and empty (-) while the program ran and by collections; entries \
         written while it ran; allocations per update, collections left out",
        each,
    )
    .text("program", |(row, _)| row.name.as_str())
    .text("system", |(_, counted)| counted.system.name())
    .figure("run +", 0, |(_, counted)| counted.counters.table_fills)
    .figure("run -", 0, |(_, counted)| counted.emptied_running())
    .figure("coll. +", 0, |(_, counted)| counted.counters.table_rebuilt_fills)
    .figure("coll. -", 0, |(_, counted)| counted.counters.table_rebuilt_drains)
    .figure("entries", 0, |(_, counted)| counted.counters.table_stores)
    .figure("per update", 1, |(_, counted)| counted.allocations_per_running())
    .table()
}

/// Allocations per update, program by program, beside the thesis's.
pub(super) fn plot(rows: &[Row]) -> Plot {
    let places = || (0..).map(f64::from).zip(rows);
    let ours = MERGES.map(|merges| {
        let points = places()
            .filter_map(|(place, row)| Some((place, row.of(merges)?.allocations_per_update()?)));
        Series::new(merges_name(merges), points.collect::<Vec<_>>())
    });
    let theirs = places()
        .filter_map(|(place, row)| Some((place, row.theirs.map(Updates::allocations_per_update)?)));
    let theirs = Series::papers("deferred", theirs.collect::<Vec<_>>());
    Plot {
        title: "table 3-1: allocations per update of the table".to_owned(),
        x: Axis::kinds("program", rows.iter().map(|row| row.name.clone())),
        y: Axis::logarithmic("allocations per update"),
        series: ours.into_iter().chain([theirs]).collect(),
    }
}

/// What one program counts in several heaps: multiples of deferred's smallest.
type InHeaps = [(f64, [Option<Counted>; 3])];

fn per_thousand(counted: &Counted) -> f64 {
    1000.0 * counted.updates() as f64 / counted.allocations.max(1) as f64
}

pub(super) fn by_heap(name: &str, in_heaps: &InHeaps) -> Table {
    let strategies = MERGES.map(|merges| Column::figure(merges_name(merges), 2));
    let columns = [&[Column::figure("heap ÷ least", 2)][..], &strategies].concat();
    let mut table = Table::new(
        format!(
            "{name}: updates per 1000 allocations in other heaps; absent where it does not complete"
        ),
        columns,
    );
    for (multiple, counted) in in_heaps {
        let figures =
            counted.map(|counted| Cell::from(counted.map(|counted| per_thousand(&counted))));
        table.row([&[Cell::from(*multiple)][..], &figures].concat());
    }
    table
}

pub(super) fn plot_by_heap(name: &str, in_heaps: &InHeaps) -> Option<Plot> {
    let series = [0, 1, 2].map(|place| {
        let points = in_heaps.iter().filter_map(|(multiple, counted)| {
            let updates = per_thousand(counted[place].as_ref()?);
            (updates > 0.0).then_some((*multiple, updates))
        });
        Series::new(merges_name(MERGES[place]), points.collect::<Vec<_>>())
    });
    // A line needs two heaps.
    series
        .iter()
        .any(|line| line.points.len() > 1)
        .then(|| Plot {
            title: format!("{name}: updates of the table"),
            x: Axis::new("heap ÷ deferred's smallest"),
            y: Axis::logarithmic("updates per 1000 allocations"),
            series: series.into(),
        })
}
