//! The evidence as tables and plots.
#![deny(unsafe_code)]

use super::chart::Measured;
use super::scripts::{Operation, Parameter};
use super::space::SIZES;
use super::systems::Space;
use super::time::points;
use crate::kit::{Axis, Cell, Column, Plot, Series, Table};
use crate::shared::growth::Growth;

/// What the names stand for.
pub(super) fn systems(measured: &[Measured]) -> Table {
    Table::of("the systems", measured)
        .text("system", |one| one.system.name)
        .text("allocator", |one| one.system.spec)
        .table()
}

/// One table a parameter: the largest count of each operation of each system at each value, and the
/// growth.
pub(super) fn times(measured: &[Measured], is_quick: bool) -> Vec<Table> {
    Parameter::ALL
        .into_iter()
        .map(|parameter| times_with(measured, parameter, is_quick))
        .collect()
}

fn times_with(measured: &[Measured], parameter: Parameter, is_quick: bool) -> Table {
    let values = parameter.values(is_quick);
    let mut columns = vec![
        Column::text("system"),
        Column::text("call"),
        Column::text("growth"),
    ];
    columns.extend(
        values
            .iter()
            .map(|value| Column::figure(value.to_string(), 0)),
    );
    let title = format!("instructions of the dearest call by {}", words(parameter));
    let mut table = Table::new(title, columns);
    for one in measured {
        for operation in Operation::ALL {
            let Some(counts) = &one.counts else { continue };
            let largest = counts.largest(operation, parameter);
            let growth =
                Growth::of(&points(counts, operation, parameter)).map_or("-", Growth::words);
            let at = |value: &u64| {
                largest
                    .iter()
                    .find(|(at, _)| at == value)
                    .map(|(_, count)| *count)
            };
            let mut cells: Vec<Cell> = vec![
                one.system.name.into(),
                operation.name().into(),
                growth.into(),
            ];
            cells.extend(values.iter().map(|value| Cell::from(at(value))));
            table.row(cells);
        }
    }
    table
}

const fn words(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::Heap => "live objects of 256 B",
        Parameter::Holes => "holes, all too small for the request",
        Parameter::Size => "the object's size in bytes",
    }
}

/// Where growth is best seen: malloc over holes, free and access over sizes.
pub(super) fn plots(measured: &[Measured]) -> Vec<Plot> {
    [
        (Operation::Malloc, Parameter::Holes),
        (Operation::Free, Parameter::Size),
        (Operation::Access, Parameter::Size),
    ]
    .map(|(operation, parameter)| plot(measured, operation, parameter))
    .into()
}

/// The systems of the slides, and their counts.
fn plot(measured: &[Measured], operation: Operation, parameter: Parameter) -> Plot {
    let slides = measured.iter().filter(|one| one.system.slides.is_some());
    let series = slides.filter_map(|one| {
        let counts = one.counts.as_ref()?.largest(operation, parameter);
        let points = counts
            .iter()
            .map(|&(value, count)| (value as f64, count as f64));
        Some(Series::new(one.system.name, points.collect::<Vec<_>>()))
    });
    Plot {
        title: format!("{} by {}", operation.name(), parameter.name()),
        x: Axis::logarithmic(words(parameter)),
        y: Axis::logarithmic("instructions"),
        series: series.collect(),
    }
}

/// The least and the greatest degree of each size over all orders.
pub(super) fn degrees(measured: &[Measured], formula: [u64; SIZES.len()]) -> Table {
    let mut columns = vec![
        Column::text("system"),
        Column::text("space"),
        Column::figure("spread %", 1),
    ];
    columns.extend(SIZES.map(|bytes| Column::figure(format!("{bytes} B"), 0)));
    let title = "degree of fragmentation: pieces that can still be allocated, least–most over all orders; spread: what the worst \
         order takes of what the best one leaves, for the size where it is most";
    let mut table = Table::new(title, columns);
    for one in measured {
        let space = one.degrees.space().map_or("-", Space::name);
        let mut cells: Vec<Cell> = vec![
            one.system.name.into(),
            space.into(),
            one.degrees.spread_percent().into(),
        ];
        cells.extend(
            one.degrees.0.map(|degree| {
                degree.map_or(Cell::Absent, |(least, most)| range(least, most).into())
            }),
        );
        table.row(cells);
    }
    let mut cells: Vec<Cell> = vec!["CFM".into(), "by formula".into(), Cell::Absent];
    cells.extend(formula.map(Cell::from));
    table.row(cells);
    table
}

fn range(least: u64, most: u64) -> String {
    if least == most {
        return least.to_string();
    }
    format!("{least}–{most}")
}
