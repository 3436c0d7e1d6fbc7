//! `surefit experiment gc-free-chunks`: the sizes of free chunks after each collection.
//!
//! ```text
//! systems   one heap, found by the table: never, deferred, immediate; ours (two ends, reserve, tree), immediate
//! heap      that in which deferred collects, the same for all
//! when      each collection, once the request that caused it has been served; at most 64 B is small, above 1 KiB large
//! ```
//! Sizes are payloads: a chunk of 1 KiB serves a request of 1 KiB. Every figure is counted.
//!
//! # Source
//! Huang's thesis (2005), figures 2-2, 2-9, 2-10 and 3-3; "few free chunks above
//! 1 KB" of its chapter 4, which explains why more than 256 lists gain nothing.

mod claims;
mod found;

use anyhow::Result;
use surefit_vm::Watching;

use self::claims::all as claims;
use self::found::{ENDS, Found, LARGE, SMALL, Sizes, all_systems};
use crate::kit::{Axis, Cell, Column, Entry, Plot, Report, Request, Series, Table, papers};
use crate::shared::merges::merges_name;
use crate::shared::thesis::collecting::{self, collecting};
use crate::shared::thesis::heaps::outcome;
use crate::shared::thesis::java::{self, Java};
use crate::shared::thesis::systems::{self, System};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-free-chunks",
    about: "Sizes of free chunks after each collection of Java programs",
    takes_traces: false,
    takes_rounds: false,
    run,
};

/// The name of a system in tables: how chunks are found makes no difference.
fn system_name(system: System) -> String {
    if system.has_two_ends {
        system.name()
    } else {
        merges_name(system.lists.merges).to_owned()
    }
}

fn run(request: &Request) -> Result<Report> {
    let source = papers::of_the_thesis!("figures 2-2, 2-9, 2-10 and 3-3");
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, request.quick);
    report.setting = vec![
        systems::setting(),
        collecting::setting(),
        "Sizes of payloads, noted when the request that caused a collection had been served. Counted: the same run gives \
         the same figures."
            .to_owned(),
    ];
    let mut all = Vec::new();
    for java in java::all(request) {
        all.push(add(&mut report, &java)?);
    }
    report.claims = claims(&all);
    let names: Vec<_> = all.iter().map(|found| found.name.as_str()).collect();
    report.notes.extend(java::missing(&names));
    Ok(report)
}

/// Measures a program, and adds its tables and plots.
fn add(report: &mut Report, java: &Java) -> Result<Found> {
    let watching = Watching {
        free_sizes: true,
        ..Watching::default()
    };
    let heap = collecting(java)?;
    let mut found = Found {
        name: java.name.to_owned(),
        sizes: Vec::new(),
    };
    for system in all_systems() {
        let outcome = outcome(java, system, heap.bytes(), watching)?;
        found
            .sizes
            .extend(outcome.map(|outcome| Sizes::new(system, &outcome)));
    }
    let heap = format!("{}, {}", found.name, heap.words());
    report.tables.extend([
        distribution(&heap, &found.sizes),
        sums(&heap, &found.sizes),
        drift(&heap, &found.sizes),
    ]);
    report.plots.extend(plots(&found));
    Ok(found)
}

// ---- tables and plots

/// The sizes of a row of the distribution.
fn in_row(row: usize) -> impl Fn(u32) -> bool {
    let after = if row == 0 { 0 } else { ENDS[row - 1] };
    move |size| size > after && size <= ENDS[row]
}

fn row_name(row: usize) -> String {
    match ENDS[row] {
        u32::MAX => "more".to_owned(),
        end if end < 1024 => format!("{end}"),
        end => format!("{}K", end / 1024),
    }
}

fn columns(first: &str, all: &[Sizes]) -> Vec<Column> {
    let strategies = all
        .iter()
        .map(|sizes| Column::figure(system_name(sizes.system), 1));
    [Column::text(first)]
        .into_iter()
        .chain(strategies)
        .collect()
}

fn distribution(heap: &str, all: &[Sizes]) -> Table {
    let columns = columns("bytes, up to", all);
    let title =
        format!("figure 2-9, figure 2-10, {heap}: free chunks after a collection, on average");
    let mut table = Table::new(title, columns);
    for row in 0..ENDS.len() {
        let counts = all.iter().map(|sizes| Cell::from(sizes.mean(in_row(row))));
        let cells = [row_name(row).into()].into_iter().chain(counts);
        table.row(cells.collect::<Vec<_>>());
    }
    table
}

/// A figure of a strategy.
type Figure = fn(&Sizes) -> Option<f64>;

const FIGURES: [(&str, Figure); 8] = [
    ("collections", |sizes| Some(sizes.collections.len() as f64)),
    ("free chunks", |sizes| sizes.mean(|_| true)),
    ("free KiB", |sizes| {
        Some(sizes.mean_bytes(|_| true)? / 1024.0)
    }),
    ("largest ÷ all free, %", Sizes::percent_in_the_largest),
    ("chunks of at most 64 B", |sizes| {
        sizes.mean(|size| size <= SMALL)
    }),
    ("chunks above 1 KiB", |sizes| {
        sizes.mean(|size| size > LARGE)
    }),
    ("  % of the chunks", Sizes::percent_large),
    ("  % of the free bytes", Sizes::percent_of_bytes),
];

fn sums(heap: &str, all: &[Sizes]) -> Table {
    let columns = columns("after a collection", all);
    let mut table = Table::new(format!("figure 2-2, {heap}: a scattered heap"), columns);
    for (name, figure) in FIGURES {
        let figures = all.iter().map(|sizes| Cell::from(figure(sizes)));
        let cells = [name.into()].into_iter().chain(figures);
        table.row(cells.collect::<Vec<_>>());
    }
    table
}

/// Figure 3-3: how the distribution changes from collection to collection.
fn drift(heap: &str, all: &[Sizes]) -> Table {
    let columns = [
        Column::text("system"),
        Column::text("collection"),
        Column::figure("number", 0),
        Column::figure("free chunks", 0),
        Column::figure("mean B", 1),
    ];
    let title = format!("figure 3-3, {heap}: how free chunks change from collection to collection");
    let mut table = Table::new(title, columns);
    for sizes in all {
        let last = sizes.collections.len().saturating_sub(1);
        for (name, collection) in [("first", 0), ("middle", last / 2), ("last", last)] {
            let figures = sizes.at(collection);
            table.row([
                system_name(sizes.system).into(),
                name.into(),
                figures.map(|_| collection as u64 + 1).into(),
                figures.map(|(chunks, _)| chunks).into(),
                figures.map(|(_, mean)| mean).into(),
            ]);
        }
    }
    table
}

fn plots(found: &Found) -> impl Iterator<Item = Plot> {
    // A system keeps its colour where another one is missing.
    let series = |points: fn(&Sizes) -> Vec<(f64, f64)>| {
        let one = |system| {
            let sizes = found.sizes.iter().find(|sizes| sizes.system == system);
            Series::new(system_name(system), sizes.map(points).unwrap_or_default())
        };
        all_systems().map(one).to_vec()
    };
    let program = &found.name;
    let sizes = Plot {
        title: format!("figure 2-9, figure 2-10, {program}: sizes of free chunks"),
        x: Axis::named("bytes, up to", (0..ENDS.len()).map(row_name)),
        y: Axis::from_zero("% of the chunks are so small"),
        series: series(Sizes::up_to_each),
    };
    let drift = Plot {
        title: format!("figure 3-3, {program}: drift of their sizes"),
        x: Axis::new("collection"),
        y: Axis::logarithmic("mean size, bytes"),
        series: series(Sizes::means),
    };
    let has_drift = found.sizes.iter().any(|sizes| sizes.collections.len() > 1);
    [sizes].into_iter().chain(has_drift.then_some(drift))
}

#[cfg(test)]
mod tests {
    use super::{ENDS, Sizes, all_systems, in_row};

    #[test]
    fn every_size_is_in_one_row() {
        for size in [8, 16, 17, 64, 65, 1024, 1025, 4096, 4097, u32::MAX] {
            let rows = (0..ENDS.len()).filter(|&row| in_row(row)(size));
            assert_eq!(rows.count(), 1, "{size}");
        }
    }

    #[test]
    fn means_are_over_collections() {
        let two = Sizes {
            system: all_systems()[0],
            collections: vec![vec![(16, 4), (2000, 1)], vec![(16, 2)]],
        };
        assert_eq!(two.mean(|size| size <= 64), Some(3.0));
        assert_eq!(
            two.mean_bytes(|_| true),
            Some(f64::from(4 * 16 + 2000 + 2 * 16) / 2.0)
        );
        assert_eq!(two.at(1), Some((2, 16.0)));
        assert_eq!(two.at(2), None);
        let shares = [100.0 * 2000.0 / 2064.0, 50.0];
        assert_eq!(
            two.percent_in_the_largest(),
            Some((shares[0] + shares[1]) / 2.0)
        );
    }
}
