//! Smallest heaps, times and collections.

use super::measure::{BITMAP, Measured, OURS, What, systems};
use crate::kit::{Cell, Column, Table};
use crate::shared::merges::merges_name;
use crate::shared::thesis::recorded::counterpart;
use crate::shared::thesis::systems::System;

/// All tables.
pub(super) fn all(found: &[Measured]) -> Vec<Table> {
    let mut tables = vec![minima(found)];
    for measured in found {
        tables.extend(What::ALL.map(|what| times(measured, what)));
        tables.push(collections(measured));
    }
    tables
}

fn minima(found: &[Measured]) -> Table {
    let title = "smallest heaps, x what lives most: never, deferred and immediate in one heap, then immediate in ours; the \
                 least in one heap is what heap sizes are multiples of";
    let over_live = |measured: &&Measured, bytes: usize| bytes as f64 / measured.live_bytes as f64;
    let one = |at: usize| move |row: &&Measured| over_live(row, row.minima.one_heap[at]);
    Table::of(title, found)
        .text("program", |row| row.name.as_str())
        .text("of the thesis", |row| {
            counterpart(&row.name).map(|theirs| theirs.name)
        })
        .figure("live bytes", 0, |row| row.live_bytes)
        .figure("never", 2, one(0))
        .figure("deferred", 2, one(1))
        .figure("immediate", 2, one(2))
        .figure("ours", 2, |row| over_live(row, row.minima.ours))
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
