//! `surefit experiment gc-times`: the thesis's three times against the heap's size, for every
//! program.

mod claims;

use anyhow::Result;
use surefit_clients::java::Lists;

use crate::kit::{Axis, Cell, Column, Entry, Plot, Report, Request, Series, Table};
use crate::shared::merges::{MERGES, merges_name};
use crate::shared::thesis::measured::{Measured, What};
use crate::shared::thesis::recorded::Recorded;
use crate::shared::thesis::systems::{FINDS, finds_name, lists, name, with_tree};
use crate::shared::thesis::times::{self, Found};

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-times",
    about: "Allocation, collection and heap management time against heap size",
    takes_traces: true,
    takes_rounds: true,
    run,
};

const SOURCE: &str = "the thesis on free-list organisation, figures 4-1 to 4-13 and A-1 to A-15";

fn run(request: &Request) -> Result<Report> {
    let found = times::all(request)?;
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, request.quick);
    report.setting = times::setting();
    report.tables.push(minima(&found));
    for (client, measured) in &found {
        report
            .tables
            .extend(What::ALL.map(|what| table(client, measured, what)));
        report.tables.push(table_with_tree(client, measured));
        report.tables.push(collections(client, measured));
        report.plots.extend(plots(client, measured));
    }
    let figures: Vec<_> = found
        .iter()
        .map(|(client, measured)| (client.name.as_str(), &**measured))
        .collect();
    report.claims = claims::all(&figures);
    report.notes.push(
        "A program may fail in a heap that is larger than the smallest one in which it completes: where free chunks end up is \
         chance. Then the cell is empty."
            .to_owned(),
    );
    report.notes.push(
        "The thesis prints no numbers in these figures, so only directions and factors can be compared. Its programs, machine and \
         interpreter were others."
            .to_owned(),
    );
    Ok(report)
}

fn minima(found: &[Found]) -> Table {
    let minimum = |place: usize| move |found: &&Found| found.1.minima[place] as u64;
    let title = "Smallest heaps, in bytes; the least of each row is what heaps are multiples of";
    Table::of(title, found)
        .text("program", |(client, _)| client.name.as_str())
        .figure("most live bytes", 0, |(client, _)| {
            client.program.most_live().bytes
        })
        .figure("never", 0, minimum(0))
        .figure("deferred", 0, minimum(1))
        .figure("immediate", 0, minimum(2))
        .text("common: of", |(_, measured)| {
            let minima = MERGES.iter().zip(measured.minima);
            let common = minima.min_by_key(|(_, bytes)| *bytes);
            common.map(|(merges, _)| merges_name(*merges))
        })
        .table()
}

fn columns() -> Vec<Column> {
    let systems = MERGES.iter().flat_map(|merges| {
        FINDS.iter().map(|finds| {
            let letter = &merges_name(*merges)[..1];
            Column::figure(format!("{letter} {}", finds_name(*finds)), 1)
        })
    });
    [Column::figure("x min", 2)]
        .into_iter()
        .chain(systems)
        .collect()
}

fn table(client: &Recorded, measured: &Measured, what: What) -> Table {
    let title = format!(
        "{}: {}, ms (n never, d deferred, i immediate)",
        client.name,
        what.name()
    );
    grid(title, measured, |lists, multiple| {
        measured.at(lists, multiple)?.ms(what).map(Cell::from)
    })
}

/// Heap management time where a search of the last list is bounded.
fn table_with_tree(client: &Recorded, measured: &Measured) -> Table {
    let title = format!(
        "{}: {}, ms, the last list a tree",
        client.name,
        What::Management.name()
    );
    grid(title, measured, |lists, multiple| {
        measured
            .at(with_tree(lists), multiple)?
            .ms(What::Management)
            .map(Cell::from)
    })
}

fn collections(client: &Recorded, measured: &Measured) -> Table {
    let title = format!("{}: collections", client.name);
    grid(title, measured, |lists, multiple| {
        let outcome = measured.at(lists, multiple)?.outcome.as_ref()?;
        Some(Cell::from(outcome.totals.collections))
    })
}

fn grid(title: String, measured: &Measured, cell: impl Fn(Lists, f64) -> Option<Cell>) -> Table {
    let mut table = Table::new(title, columns());
    for multiple in measured.multiples() {
        let cells = MERGES.iter().flat_map(|merges| {
            FINDS.map(|finds| cell(lists(*merges, finds), multiple).unwrap_or(Cell::Absent))
        });
        table.row(
            [Cell::from(multiple)]
                .into_iter()
                .chain(cells)
                .collect::<Vec<_>>(),
        );
    }
    table
}

/// Three plots a program: figures, and in their lines 4-1 to 4-13; and one of ours,
/// with trees.
fn plots(client: &Recorded, measured: &Measured) -> [Plot; 4] {
    let [allocation, collection, management] = What::ALL.map(|what| {
        let title = format!("{}: {}", client.name, what.name());
        plot(title, measured, what, |lists| lists)
    });
    let title = format!("{}: heap management time, last list a tree", client.name);
    let trees = plot(title, measured, What::Management, with_tree);
    [allocation, collection, management, trees]
}

fn plot(title: String, measured: &Measured, what: What, of: impl Fn(Lists) -> Lists) -> Plot {
    let systems = FINDS
        .iter()
        .flat_map(|finds| MERGES.map(|merges| lists(merges, *finds)));
    Plot {
        title,
        x: Axis::new("heap, x the common minimum"),
        y: Axis::from_zero("ms"),
        series: systems
            .map(|lists| line(measured, of(lists), what))
            .collect(),
    }
}

/// A system's line; without points where it does not complete, so that the others keep their
/// colours.
fn line(measured: &Measured, lists: Lists, what: What) -> Series {
    let points = measured
        .multiples()
        .into_iter()
        .filter_map(|multiple| Some((multiple, measured.at(lists, multiple)?.ms(what)?)));
    Series::new(name(lists), points.collect::<Vec<_>>())
}
