//! The tables and plots of the experiment.

use surefit_freelist::When;

use super::claims::{PAPERS_ALLOCATIONS_PER_UPDATE, PAPERS_GAIN};
use super::counts::Counts;
use super::rows::{Row, find};
use crate::shared::collector_gain::Gains;
use surefit_clients::lists::{Finds, Lists};

use super::systems::{LISTS, SWEEP, scanned, thesis};
use crate::kit::table::TableOf;
use crate::kit::{Axis, Plot, Series, Table};
use crate::shared::merges::{MERGES, merges_name};
use surefit_measure::results::Ratio;

/// A table of systems with 256 lists, each named by what merges and what finds a list.
fn of_systems<'a>(title: String, rows: impl Iterator<Item = &'a Row>) -> TableOf<&'a Row> {
    Table::of(title, rows)
        .text("coalescing", |row| match row.system {
            None => "immediate".to_owned(),
            Some(system) if system.is_tree => format!("{}, tree", merges_name(system.merges)),
            Some(system) => merges_name(system.merges).to_owned(),
        })
        .text("found by", |row| {
            row.system.map_or("tlsf", |system| system.finds.name())
        })
}

/// Those with 256 lists, and TLSF.
fn usual(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter()
        .filter(|row| row.system.is_none_or(|system| system.count == LISTS))
}

/// Time and instructions with 256 lists.
pub(super) fn times(name: &str, rows: &[Row]) -> Table {
    let title = format!("{name}, {LISTS} lists: time and instructions of a malloc and its free");
    let to_scan = |row: &Row| row.over(find(rows, scanned(row.system?))?);
    of_systems(title, usual(rows))
        .figure("ns malloc+free", 1, |row| {
            row.time().map(|time| time.median)
        })
        .ratios("÷ scan", 3, |row| to_scan(row))
        .figure("instr. malloc", 1, |row| row.malloc)
        .figure("instr. free", 1, |row| row.free)
        .figure("instr. both", 1, |row| row.instructions())
        .table()
}

/// What is counted with 256 lists, beside the thesis.
pub(super) fn counted(name: &str, rows: &[Row]) -> Table {
    let title =
        format!("{name}, {LISTS} lists: counted for each allocation; last list linear unless said");
    let per = |count: fn(&Counts) -> u64| {
        move |row: &&Row| {
            let counts = row.counts.as_ref();
            counts.map(|counts| counts.per_allocation(count(counts)))
        }
    };
    let is_papers = |system: Lists| system == thesis(Finds::NextHitTable, When::Deferred);
    of_systems(title, usual(rows).filter(|row| row.system.is_some()))
        .figure("visits", 2, per(|counts| counts.counters.visits))
        .figure("updates", 4, per(|counts| counts.counters.table_updates))
        .figure("entries", 2, per(|counts| counts.counters.table_stores))
        .figure("allocs/update", 1, |row| {
            let counts = row.counts.as_ref();
            let updated = counts.filter(|counts| counts.counters.table_updates > 0);
            updated.map(|counts| 1.0 / counts.updates())
        })
        .papers("allocs/update", 0, |row| {
            let is_papers = row.system.is_some_and(is_papers);
            is_papers.then_some(PAPERS_ALLOCATIONS_PER_UPDATE)
        })
        .figure("table B", 0, |row| {
            row.counts.as_ref().map(|counts| counts.table_bytes)
        })
        .table()
}

/// The systems of the sweep with a given number of lists: walk, table, bitmap.
fn of_lists(rows: &[Row], lists: u32) -> [Option<&Row>; 3] {
    Finds::ALL.map(|finds| {
        let system = thesis(finds, When::Immediate);
        find(
            rows,
            Lists {
                count: lists,
                ..system
            },
        )
    })
}

/// Time and instructions against the number of lists.
pub(super) fn sweep(name: &str, rows: &[Row]) -> Table {
    type Systems<'a> = [Option<&'a Row>; 3];
    let title = format!("{name}: immediate coalescing, last list linear, by the number of lists");
    let systems = |lists: &u32| of_lists(rows, *lists);
    let ns = |systems: Systems<'_>, place: usize| systems[place]?.time().map(|time| time.median);
    let instructions = |systems: Systems<'_>, place: usize| systems[place]?.instructions();
    let to_scan = |systems: Systems<'_>, place: usize| {
        let ratio = systems[place]?.over(systems[0]?);
        ratio.map(|ratio| ratio.median)
    };
    Table::of(title, SWEEP)
        .figure("lists", 0, |lists| *lists)
        .figure("ns scan", 1, |lists| ns(systems(lists), 0))
        .figure("table", 1, |lists| ns(systems(lists), 1))
        .figure("bitmap", 1, |lists| ns(systems(lists), 2))
        .figure("table ÷ scan", 3, |lists| to_scan(systems(lists), 1))
        .figure("bitmap ÷ scan", 3, |lists| to_scan(systems(lists), 2))
        .figure("instr. scan", 0, |lists| instructions(systems(lists), 0))
        .figure("table", 0, |lists| instructions(systems(lists), 1))
        .figure("bitmap", 0, |lists| instructions(systems(lists), 2))
        .table()
}

/// Visits, updates and bytes against the number of lists.
pub(super) fn sweep_counted(name: &str, rows: &[Row]) -> Table {
    let title = format!(
        "{name}: immediate coalescing, counted for each allocation, by the number of lists"
    );
    let per = |counts: &Counts, count: u64| counts.per_allocation(count);
    let visits = |counts: &Counts| per(counts, counts.counters.visits);
    let counted = |lists: u32| {
        let systems = of_lists(rows, lists);
        let [scan, table, bitmap] = systems.map(|row| row.and_then(|row| row.counts.as_ref()));
        (lists, scan, table, bitmap)
    };
    // Nobody's words and the last list's head are in both, so the difference is the lookup's own.
    let own = |counts: Option<&Counts>, scan: Option<&Counts>| {
        let both = counts.zip(scan);
        both.map(|(counts, scan)| counts.table_bytes - scan.table_bytes)
    };
    Table::of(title, SWEEP.map(counted))
        .figure("lists", 0, |(lists, ..)| *lists)
        .figure("scan visits", 2, |(_, scan, ..)| scan.map(visits))
        .figure("table visits", 2, |(_, _, table, _)| table.map(visits))
        .figure("updates", 3, |(_, _, table, _)| table.map(Counts::updates))
        .figure("entries", 2, |(_, _, table, _)| {
            table.map(|counts| per(counts, counts.counters.table_stores))
        })
        .figure("heads B", 0, |(_, scan, ..)| {
            scan.map(|counts| counts.table_bytes)
        })
        .figure("table B", 0, |(_, scan, table, _)| own(*table, *scan))
        .figure("bitmap B", 0, |(_, scan, _, bitmap)| own(*bitmap, *scan))
        .table()
}

/// Table updates in heaps of several sizes, policy by policy; absent where the heap refused a
/// request.
pub(super) fn heaps(name: &str, counts: &[(f64, Vec<Option<Counts>>)]) -> Table {
    let title =
        format!("{name}, {LISTS} lists: table updates per allocation, by the size of the heap");
    let mut table = Table::of(title, counts).figure("heap ÷ live", 2, |(times, _)| *times);
    for (place, merges) in MERGES.into_iter().enumerate() {
        table = table.figure(merges_name(merges), 4, |(_, counts)| {
            counts[place].map(|counts| counts.updates())
        });
    }
    table.table()
}

/// Time, instructions if they were counted, table updates and entries written, against the number
/// of lists.
pub(super) fn plots(name: &str, rows: &[Row]) -> Vec<Plot> {
    let plot = |what: &str, unit: &str, series: Vec<Series>| Plot {
        title: format!("{name}: {what}"),
        x: Axis::named("lists", SWEEP.iter().map(ToString::to_string)),
        y: Axis::from_zero(unit),
        series,
    };
    let of_each = |figure: fn(&Row) -> Option<Ratio>| {
        let series = (0..Finds::ALL.len()).map(|number| series(rows, number, figure));
        series.collect::<Vec<_>>()
    };
    let of_table = |figure: fn(&Row) -> Option<Ratio>| vec![series(rows, 1, figure)];
    let plots = [
        plot("malloc and free, immediate", "ns", of_each(Row::time)),
        plot(
            "malloc and free, immediate",
            "instructions",
            of_each(|row| exact(row.instructions())),
        ),
        plot(
            "updates of the table",
            "an allocation",
            of_table(|row| table_figure(row, Counts::updates)),
        ),
        plot(
            "entries of the table written",
            "an allocation",
            of_table(|row| {
                table_figure(row, |counts| {
                    counts.per_allocation(counts.counters.table_stores)
                })
            }),
        ),
    ];
    let has_points = |plot: &Plot| plot.series.iter().any(|series| !series.points.is_empty());
    plots.into_iter().filter(has_points).collect()
}

/// What the table gains under a collector.
pub(super) fn collector(gains: &Gains) -> Table {
    let title = format!(
        "explicit free: {} under a collector, heap {} times the smallest, {} collections or more: \
         heap management",
        gains.program, gains.heap, gains.collections
    );
    Table::of(title, &gains.gains)
        .text("coalescing", |(merges, _)| merges_name(*merges))
        .ratios("walk ÷ table", 3, |(_, gain)| Some(*gain))
        .papers("the thesis", 0, |_| PAPERS_GAIN)
        .table()
}

/// A figure without spread.
fn exact(figure: Option<f64>) -> Option<Ratio> {
    figure.map(|figure| Ratio {
        median: figure,
        min: figure,
        max: figure,
    })
}

fn table_figure(row: &Row, figure: fn(&Counts) -> f64) -> Option<Ratio> {
    exact(row.counts.as_ref().map(figure))
}

/// A figure of the systems of the sweep that find lists in one way.
fn series(rows: &[Row], number: usize, figure: fn(&Row) -> Option<Ratio>) -> Series {
    let mut series = Series::new(Finds::ALL[number].name(), Vec::new());
    for (place, lists) in SWEEP.into_iter().enumerate() {
        if let Some(figure) = of_lists(rows, lists)[number].and_then(figure) {
            series.points.push((place as f64, figure.median));
            series.spread.push((figure.min, figure.max));
        }
    }
    series
}
