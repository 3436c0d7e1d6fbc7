//! The tables and plots of the experiment.

use surefit_freelist::When;

use super::claims::PAPERS_ALLOCATIONS_PER_UPDATE;
use super::counts::Counts;
use super::rows::{Row, find};
use super::systems::{Finds, LISTS, SWEEP, System};
use crate::kit::{Axis, Cell, Column, Plot, Series, Table};
use crate::shared::merges::{MERGES, merges_name};
use surefit_measure::results::Ratio;

/// The columns that name a system with 256 lists.
fn names() -> [Column; 2] {
    ["coalescing", "found by"].map(Column::text)
}

fn name_cells(row: &Row) -> [Cell; 2] {
    let Some(system) = row.system else {
        return ["immediate", "tlsf"].map(Cell::from);
    };
    let merges = merges_name(system.merges);
    let merges = if system.is_tree {
        merges.into()
    } else {
        format!("{merges}, linear").into()
    };
    [merges, system.finds.name().into()]
}

/// Those with 256 lists, and TLSF.
fn usual(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter()
        .filter(|row| row.system.is_none_or(|system| system.lists == LISTS))
}

/// Time and instructions with 256 lists.
pub(super) fn times(name: &str, rows: &[Row]) -> Table {
    let figures = [
        Column::figure("ns malloc+free", 1),
        Column::figure("÷ scan", 3),
        Column::figure("least", 3),
        Column::figure("greatest", 3),
        Column::figure("instr. malloc", 1),
        Column::figure("free", 1),
        Column::figure("both", 1),
    ];
    let title = format!("{name}, {LISTS} lists: time and instructions of a malloc and its free");
    let mut table = Table::new(title, [&names()[..], &figures].concat());
    for row in usual(rows) {
        let scan = row.system.and_then(|system| find(rows, system.scanned()));
        let ratio = scan.and_then(|scan| row.over(scan));
        let figures = [
            row.time().map(|time| time.median).into(),
            ratio.map(|ratio| ratio.median).into(),
            ratio.map(|ratio| ratio.min).into(),
            ratio.map(|ratio| ratio.max).into(),
            row.malloc.into(),
            row.free.into(),
            row.instructions().into(),
        ];
        table.row([&name_cells(row)[..], &figures].concat());
    }
    table
}

/// What is counted with 256 lists, beside the thesis.
pub(super) fn counted(name: &str, rows: &[Row]) -> Table {
    let figures = [
        Column::figure("visits", 2),
        Column::figure("updates", 4),
        Column::figure("entries", 2),
        Column::figure("allocs/update", 1),
        Column::papers("allocs/update", 0),
        Column::figure("table B", 0),
    ];
    let title =
        format!("{name}, {LISTS} lists: counted for each allocation; last list a tree unless said");
    let mut table = Table::new(title, [&names()[..], &figures].concat());
    for row in usual(rows).filter(|row| row.system.is_some()) {
        let counts = row.counts.as_ref();
        let per = |count: fn(&Counts) -> u64| {
            Cell::from(counts.map(|counts| counts.per_allocation(count(counts))))
        };
        let is_table = |system: System| system == System::usual(Finds::Table, When::Deferred);
        let papers = row.system.is_some_and(is_table);
        let figures = [
            per(|counts| counts.counters.visits),
            per(|counts| counts.counters.table_updates),
            per(|counts| counts.counters.table_stores),
            counts
                .filter(|counts| counts.counters.table_updates > 0)
                .map(|counts| 1.0 / counts.updates())
                .into(),
            papers.then_some(PAPERS_ALLOCATIONS_PER_UPDATE).into(),
            counts.map(|counts| counts.table_bytes).into(),
        ];
        table.row([&name_cells(row)[..], &figures].concat());
    }
    table
}

/// The systems of the sweep with so many lists: walk, table, bitmap.
fn of_lists(rows: &[Row], lists: u32) -> [Option<&Row>; 3] {
    Finds::ALL.map(|finds| {
        let system = System::usual(finds, When::Immediate);
        find(rows, System { lists, ..system })
    })
}

fn lists_column() -> Column {
    Column::figure("lists", 0)
}

/// Time and instructions against the number of lists.
pub(super) fn sweep(name: &str, rows: &[Row]) -> Table {
    let of_each = |unit: &str, digits| {
        let names = [
            format!("{unit} scan"),
            "table".to_owned(),
            "bitmap".to_owned(),
        ];
        names.map(|name| Column::figure(name, digits))
    };
    let ratios = ["table ÷ scan", "bitmap ÷ scan"].map(|name| Column::figure(name, 3));
    let columns = [
        &[lists_column()][..],
        &of_each("ns", 1),
        &ratios,
        &of_each("instr.", 0),
    ];
    let title = format!("{name}: immediate coalescing, last list a tree, by the number of lists");
    let mut table = Table::new(title, columns.concat());
    for lists in SWEEP {
        let systems = of_lists(rows, lists);
        let [scan, others @ ..] = systems;
        let times = systems.map(|row| Cell::from(row.and_then(Row::time).map(|time| time.median)));
        let ratios = others.map(|row| {
            let ratio = row.zip(scan).and_then(|(row, scan)| row.over(scan));
            Cell::from(ratio.map(|ratio| ratio.median))
        });
        let instructions = systems.map(|row| Cell::from(row.and_then(Row::instructions)));
        table.row([&[lists.into()][..], &times, &ratios, &instructions].concat());
    }
    table
}

/// Visits, updates and bytes against the number of lists.
pub(super) fn sweep_counted(name: &str, rows: &[Row]) -> Table {
    let columns = [
        lists_column(),
        Column::figure("scan visits", 2),
        Column::figure("table visits", 2),
        Column::figure("updates", 3),
        Column::figure("entries", 2),
        Column::figure("heads B", 0),
        Column::figure("table B", 0),
        Column::figure("bitmap B", 0),
    ];
    let title = format!(
        "{name}: immediate coalescing, counted for each allocation, by the number of lists"
    );
    let mut table = Table::new(title, columns);
    for lists in SWEEP {
        let [scan, found, bitmap] =
            of_lists(rows, lists).map(|row| row.and_then(|row| row.counts.as_ref()));
        let visits = |counts: Option<&Counts>| {
            Cell::from(counts.map(|counts| counts.per_allocation(counts.counters.visits)))
        };
        // Nobody's words and the last list's head are in both, so the difference is the lookup's own.
        let own = |counts: Option<&Counts>| {
            let both = counts.zip(scan);
            Cell::from(both.map(|(counts, scan)| counts.table_bytes - scan.table_bytes))
        };
        table.row([
            lists.into(),
            visits(scan),
            visits(found),
            found.map(Counts::updates).into(),
            found
                .map(|counts| counts.per_allocation(counts.counters.table_stores))
                .into(),
            scan.map(|counts| counts.table_bytes).into(),
            own(found),
            own(bitmap),
        ]);
    }
    table
}

/// Table updates in heaps of several sizes, policy by policy; absent where the heap refused a request.
pub(super) fn heaps(name: &str, counts: &[(f64, Vec<Option<Counts>>)]) -> Table {
    let columns = MERGES.map(|merges| Column::figure(merges_name(merges), 4));
    let columns = [&[Column::figure("heap ÷ live", 2)][..], &columns].concat();
    let title =
        format!("{name}, {LISTS} lists: table updates an allocation, by the size of the heap");
    let mut table = Table::new(title, columns);
    for (times, counts) in counts {
        let updates = counts
            .iter()
            .map(|counts| counts.map(|counts| counts.updates()).into());
        table.row(
            [Cell::from(*times)]
                .into_iter()
                .chain(updates)
                .collect::<Vec<_>>(),
        );
    }
    table
}

/// Time, instructions if they were counted, table updates and entries written, against the number of lists.
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
