//! The figures: a summary of each library, time and memory of each shape beside glibc's, and all
//! of it in one long table.
#![deny(unsafe_code)]

use super::found::{CPU, Figure, Found, PEAK, Row, WALL};
use super::shapes::Shape;
use crate::kit::{Axis, Cell, Column, Plot, Report, Series, Table};
use surefit_measure::ratio::median;

/// Nanoseconds of a millisecond.
const MS: f64 = 1e6;

/// Bytes of a MiB.
const MIB: f64 = (1_u64 << 20) as f64;

/// Adds everything to a report.
pub(super) fn add(report: &mut Report, found: &Found) {
    report.tables.push(summary(found));
    let time = "time on processors ÷ glibc, medians of the rounds";
    report.tables.push(beside(found, time, CPU));
    let peak = "peak resident memory ÷ glibc, medians of the rounds";
    report.tables.push(beside(found, peak, PEAK));
    report.tables.push(all(found));
    report.plots.extend(plot(found, "time on processors", CPU));
    report
        .plots
        .extend(plot(found, "peak resident memory", PEAK));
    report.notes.extend(notes(found));
}

/// Geometric means of each library ÷ glibc, and what has no shape.
fn summary(found: &Found) -> Table {
    let mut table = Table::new(
        "geometric means ÷ glibc; rec: of recorded programs",
        [
            Column::text("library"),
            Column::text("shapes"),
            Column::figure("time", 3),
            Column::figure("least", 3),
            Column::figure("most", 3),
            Column::figure("wall", 3),
            Column::figure("peak", 3),
            Column::figure("time, rec", 3),
            Column::figure("peak, rec", 3),
            Column::figure("held÷live", 2),
            Column::figure("instr", 1),
        ],
    );
    for row in &found.rows {
        let every = |_: &Shape| true;
        let mean = |figure| found.mean(row, figure, every).map(|mean| mean.median);
        let recorded = |figure| {
            let mean = found.mean(row, figure, Shape::is_recorded);
            mean.map(|mean| mean.median)
        };
        let time = found.mean(row, CPU, every);
        table.row([
            row.library.name.as_str().into(),
            status(row).into(),
            time.map(|time| time.median).into(),
            time.map(|time| time.min).into(),
            time.map(|time| time.max).into(),
            mean(WALL).into(),
            mean(PEAK).into(),
            recorded(CPU).into(),
            recorded(PEAK).into(),
            row.held().map(|held| held.median).into(),
            row.pair.into(),
        ]);
    }
    table
}

/// How many shapes ran, or that the library is not there.
fn status(row: &Row) -> String {
    let ran = row.cells.iter().filter(|cell| cell.ran()).count();
    match &row.library.missing {
        Some(_) => "not there".to_owned(),
        None => format!("{ran} of {}", row.cells.len()),
    }
}

/// A figure of each shape ÷ glibc's, a column for each library that ran.
fn beside(found: &Found, title: &str, figure: Figure) -> Table {
    let rows: Vec<_> = found.rows.iter().filter(|row| row.ran()).collect();
    let mut columns = vec![Column::text("shape")];
    columns.extend(rows.iter().map(|row| Column::figure(&row.library.name, 2)));
    let mut table = Table::new(title, columns);
    for (at, shape) in found.shapes.iter().enumerate() {
        let mut cells = vec![Cell::from(shape.name)];
        let ratios = rows.iter().map(|row| found.ratio(row, at, figure));
        cells.extend(ratios.map(|ratio| Cell::from(ratio.map(|ratio| ratio.median))));
        table.row(cells);
    }
    let mut cells = vec![Cell::from("geometric mean")];
    let means = rows.iter().map(|row| found.mean(row, figure, |_| true));
    cells.extend(means.map(|mean| Cell::from(mean.map(|mean| mean.median))));
    table.row(cells);
    table
}

/// One library on one shape.
#[derive(Clone, Copy)]
struct One<'f> {
    row: &'f Row,
    shape: &'static Shape,
    at: usize,
}

impl One<'_> {
    /// The median of a figure.
    fn median(&self, figure: Figure) -> Option<f64> {
        median(&self.row.figures(self.at, figure))
    }
}

/// Everything, a row for each shape and library.
fn all(found: &Found) -> Table {
    let ran = || found.rows.iter().filter(|row| row.ran());
    let ones = found.shapes.iter().enumerate();
    let ones = ones.flat_map(|(at, shape)| ran().map(move |row| One { row, shape, at }));
    Table::of("every shape on every library", ones)
        .text("shape", |one| one.shape.name)
        .text("library", |one| one.row.library.name.as_str())
        .figure("CPU ms", 1, |one| one.median(CPU).map(|ns| ns / MS))
        .ratios("÷ glibc", 2, |one| found.ratio(one.row, one.at, CPU))
        .figure("wall ms", 1, |one| one.median(WALL).map(|ns| ns / MS))
        .figure("wall ÷", 2, |one| {
            let wall = found.ratio(one.row, one.at, WALL);
            wall.map(|wall| wall.median)
        })
        .figure("peak MiB", 1, |one| one.median(PEAK).map(|peak| peak / MIB))
        .figure("peak ÷", 2, |one| {
            let peak = found.ratio(one.row, one.at, PEAK);
            peak.map(|peak| peak.median)
        })
        .table()
}

/// A figure of every shape ÷ glibc's, as bars; none if nothing but glibc ran.
fn plot(found: &Found, what: &str, figure: Figure) -> Option<Plot> {
    let others = found.rows.iter().skip(1).filter(|row| row.ran());
    let series = others.map(|row| {
        let ratios = (0..found.shapes.len()).filter_map(|at| {
            let ratio = found.ratio(row, at, figure)?;
            Some((at as f64, ratio))
        });
        let ratios: Vec<_> = ratios.collect();
        let points = ratios.iter().map(|(x, ratio)| (*x, ratio.median));
        let mut series = Series::new(row.library.name.as_str(), points.collect::<Vec<_>>());
        let spread = ratios.iter().map(|(_, ratio)| (ratio.min, ratio.max));
        series.spread = spread.collect();
        series
    });
    let series: Vec<_> = series.collect();
    let names = found.shapes.iter().map(|shape| shape.name.to_owned());
    (!series.is_empty()).then(|| Plot {
        title: format!("{what} ÷ glibc"),
        x: Axis::kinds("shape", names),
        y: Axis::from_zero("÷ glibc"),
        series,
    })
}

/// Which files ran, and what is missing or failed.
fn notes(found: &Found) -> Vec<String> {
    let mut notes = Vec::new();
    for Row { library, cells, .. } in &found.rows {
        if let Some(file) = &library.file {
            notes.push(format!("{}: {}", library.name, file.display()));
        }
        notes.extend(library.missing.clone());
        notes.extend(cells.iter().filter_map(|cell| cell.failed.clone()));
    }
    notes
}
