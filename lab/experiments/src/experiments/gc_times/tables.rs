//! Smallest heaps, times and collections.

use super::measure::{BITMAP, Measured, OURS, What, systems};
use crate::kit::{Cell, Column, Table};
use crate::shared::merges::merges_name;
use crate::shared::thesis::java::counterpart;
use crate::shared::thesis::systems::System;
use surefit_vm::Watched;

/// All tables.
pub(super) fn all(found: &[Measured]) -> Vec<Table> {
    let mut tables = vec![minima(found)];
    for measured in found {
        tables.extend(What::ALL.map(|what| times(measured, what)));
        tables.push(collections(measured));
        tables.extend(WHY.map(|why| counts(measured, why)));
    }
    tables
}

fn minima(found: &[Measured]) -> Table {
    let title = "smallest heaps, x the least in one heap, of which heap sizes are multiples: never, deferred and immediate in \
                 one heap, then immediate in ours";
    let over = |row: &&Measured, bytes: usize| bytes as f64 / row.minima.common() as f64;
    let one = |at: usize| move |row: &&Measured| over(row, row.minima.one_heap[at]);
    Table::of(title, found)
        .text("program", |row| row.name.as_str())
        .text("of the thesis", |row| {
            counterpart(&row.name).map(|theirs| theirs.name)
        })
        .figure("least B", 0, |row| row.minima.common() as u64)
        .figure("never", 2, one(0))
        .figure("deferred", 2, one(1))
        .figure("immediate", 2, one(2))
        .figure("ours", 2, move |row| over(row, row.minima.ours))
        .text("least", |row| row.minima.common_of())
        .table()
}

fn times(measured: &Measured, what: What) -> Table {
    let title = format!(
        "{}: {}, ms (n never, d deferred, i immediate)",
        measured.name,
        what.name()
    );
    grid(title, 1, measured, |system, multiple| {
        measured.at(system, multiple)?.ms(what).map(Cell::from)
    })
}

fn collections(measured: &Measured) -> Table {
    let title = format!("{}: collections", measured.name);
    grid(title, 0, measured, |system, multiple| {
        measured.at(system, multiple)?.collections().map(Cell::from)
    })
}

/// What is counted for an allocation: the reasons of its time.
type Why = (&'static str, u32, fn(&Watched) -> f64);

const WHY: [Why; 3] = [
    (
        "heads and free chunks visited per allocation",
        1,
        Watched::visits_per_allocation,
    ),
    ("updates of the table per 1,000 allocations", 1, |round| {
        1e3 * per_allocation(round, round.counters.table_updates)
    }),
    ("headers that sweeps read, per allocation", 1, |round| {
        per_allocation(round, round.totals.visited)
    }),
];

fn per_allocation(round: &Watched, count: u64) -> f64 {
    count as f64 / round.totals.allocations.max(1) as f64
}

fn counts(measured: &Measured, (what, digits, of): Why) -> Table {
    let title = format!("{}: {what}", measured.name);
    grid(title, digits, measured, |system, multiple| {
        let round = measured.at(system, multiple)?.rounds.first()?;
        Some(Cell::from(of(round)))
    })
}

/// A column for each system, a row for each heap.
fn grid(
    title: String,
    digits: u32,
    measured: &Measured,
    cell: impl Fn(System, f64) -> Option<Cell>,
) -> Table {
    let columns = systems().map(|system| Column::figure(header(system), digits));
    let columns = [Column::figure("x min", 2)].into_iter().chain(columns);
    let mut table = Table::new(title, columns.collect::<Vec<_>>());
    for multiple in measured.multiples() {
        let cells = systems().map(|system| cell(system, multiple).unwrap_or(Cell::Absent));
        let row = [Cell::from(multiple)].into_iter().chain(cells);
        table.row(row.collect::<Vec<_>>());
    }
    table
}

/// A system in one letter and one word.
fn header(system: System) -> String {
    let letter = &merges_name(system.lists.merges)[..1];
    match system {
        OURS => "ours".to_owned(),
        BITMAP => format!("{letter} bitmap"),
        _ => format!("{letter} {}", system.lists.finds.name()),
    }
}
