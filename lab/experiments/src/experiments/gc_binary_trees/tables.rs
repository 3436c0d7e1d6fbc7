//! The figures of all points, ours beside them, and time over memory as a picture.

use super::claims::over;
use super::points::{Role, build_command};
use super::process::Took;
use super::rows::{Outcome, Row};
use crate::kit::{Axis, Cell, Column, Plot, Report, Series, Table};

/// Nanoseconds of a millisecond.
const MS: f64 = 1e6;

/// Bytes of a MiB.
const MIB: f64 = (1_u64 << 20) as f64;

fn peak(took: &Took) -> f64 {
    took.peak_bytes as f64
}

/// What a process without trees takes at its peak, in bytes.
fn empty_peak(rows: &[Row]) -> Option<f64> {
    let mut rows = rows.iter();
    rows.find(|row| row.point.role == Role::Empty)?.peak()
}

/// Time and memory of every point.
fn figures(rows: &[Row]) -> Table {
    let mut table = Table::new(
        "a process",
        [
            Column::text("collector"),
            Column::text("settings"),
            Column::figure("ms", 1),
            Column::figure("min", 1),
            Column::figure("max", 1),
            Column::figure("CPU ms", 1),
            Column::figure("peak MiB", 1),
            Column::figure("trees MiB", 1),
            Column::figure("collections", 0),
        ],
    );
    let empty = empty_peak(rows);
    rows.iter().for_each(|row| add_row(&mut table, row, empty));
    table
}

/// One row; one that is not built only once, whatever settings it has.
fn add_row(table: &mut Table, row: &Row, empty: Option<f64>) {
    let settings = match &row.outcome {
        Outcome::NotBuilt => "not built",
        Outcome::Failed(_) => "failed",
        Outcome::Took(_) => row.point.settings,
    };
    let ms = |ns: Option<f64>| Cell::from(ns.map(|ns| ns / MS));
    let walls = || row.rounds().iter().map(|took| took.wall_ns);
    let less = row.peak().zip(empty).map(|(peak, empty)| peak - empty);
    let collections = row.rounds().first().and_then(|took| took.collections);
    let cells = [
        row.point.collector.into(),
        settings.into(),
        ms(row.time()),
        ms(walls().reduce(f64::min)),
        ms(walls().reduce(f64::max)),
        ms(row.median(|took| took.cpu_ns)),
        row.peak().map(|bytes| bytes / MIB).into(),
        less.map(|bytes| bytes / MIB).into(),
        collections.into(),
    ];
    let is_built = !matches!(row.outcome, Outcome::NotBuilt);
    if is_built || table.rows.last().is_none_or(|last| last[..2] != cells[..2]) {
        table.row(cells);
    }
}

/// Our point that the claims are about ÷ every other one, round by round.
fn ratios(rows: &[Row]) -> Option<Table> {
    let ran = |row: &&Row| !row.rounds().is_empty();
    let subject = |row: &&Row| row.point.role == Role::Subject;
    let ours = rows.iter().filter(ran).find(subject)?;
    let mut table = Table::new(
        format!("{} ÷ another, in the same round", ours.point.name()),
        [
            Column::text("collector"),
            Column::text("settings"),
            Column::figure("time", 2),
            Column::figure("min", 2),
            Column::figure("max", 2),
            Column::figure("peak", 2),
            Column::figure("trees", 2),
        ],
    );
    let empty = empty_peak(rows);
    let others = |row: &&Row| !matches!(row.point.role, Role::Empty | Role::Subject);
    for row in rows.iter().filter(ran).filter(others) {
        let time = over(ours, row, |took| took.wall_ns);
        let less = empty.and_then(|empty| over(ours, row, |took| peak(took) - empty));
        table.row([
            row.point.collector.into(),
            row.point.settings.into(),
            time.map(|ratio| ratio.median).into(),
            time.map(|ratio| ratio.min).into(),
            time.map(|ratio| ratio.max).into(),
            over(ours, row, peak).map(|ratio| ratio.median).into(),
            less.map(|ratio| ratio.median).into(),
        ]);
    }
    Some(table)
}

/// Time over peak memory: for every collector a line through those of its settings of which no
/// other is both leaner and faster; none if nothing ran.
fn plot(rows: &[Row]) -> Option<Plot> {
    let mut series: Vec<Series> = Vec::new();
    let mut rows: Vec<_> = rows
        .iter()
        .filter(|row| row.point.role != Role::Empty)
        .collect();
    // a line goes from the leanest setting to the one that takes most
    rows.sort_by(|one, other| {
        one.peak()
            .unwrap_or(0.0)
            .total_cmp(&other.peak().unwrap_or(0.0))
    });
    for row in rows {
        let Some((time, peak)) = row.time().zip(row.peak()) else {
            continue;
        };
        let name = row.point.collector;
        let place = series.iter().position(|series| series.name == name);
        let place = place.unwrap_or_else(|| {
            series.push(Series::new(name, []));
            series.len() - 1
        });
        // those before are leaner: it must be faster
        let fastest = series[place].points.last();
        if fastest.is_some_and(|fastest| fastest.1 <= time / MS) {
            continue;
        }
        let walls = || row.rounds().iter().map(|took| took.wall_ns / MS);
        let least = walls().fold(f64::INFINITY, f64::min);
        series[place].points.push((peak / MIB, time / MS));
        series[place]
            .spread
            .push((least, walls().fold(0.0, f64::max)));
    }
    (!series.is_empty()).then(|| Plot {
        title: "time over peak memory, best settings".to_owned(),
        x: Axis::from_zero("peak MiB"),
        y: Axis::logarithmic("ms"),
        series,
    })
}

/// What is not built and how to build it, and what failed.
fn notes(rows: &[Row]) -> Vec<String> {
    let mut notes = vec![
        "Box is freed by name and no collector: it stands beside the claims. `trees` is the peak less that of a process that \
         makes no tree."
            .to_owned(),
    ];
    let missing = rows
        .iter()
        .filter(|row| matches!(row.outcome, Outcome::NotBuilt));
    let missing: Vec<_> = missing.map(|row| row.point).collect();
    let mut names: Vec<_> = missing.iter().map(|point| point.collector).collect();
    names.dedup();
    if !names.is_empty() {
        let (names, command) = (names.join("; "), build_command(&missing));
        notes.push(format!("Not built: {names}. Build them: {command}"));
    }
    if names.contains(&"Boehm") {
        notes.push("Boehm's collector is the system's: libgc-dev on Debian.".to_owned());
    }
    notes.extend(rows.iter().filter_map(|row| match &row.outcome {
        Outcome::Failed(why) => Some(format!("{} failed: {why}", row.point.name())),
        _ => None,
    }));
    notes
}

/// Adds everything to a report.
pub(super) fn add(report: &mut Report, rows: &[Row]) {
    report.tables.push(figures(rows));
    report.tables.extend(ratios(rows));
    report.plots.extend(plot(rows));
    report.notes.extend(notes(rows));
}

#[cfg(test)]
mod tests {
    use super::super::points::POINTS;
    use super::super::process::Took;
    use super::super::rows::{Outcome, Row};
    use super::{figures, plot, ratios};
    use crate::kit::Cell;

    fn rows() -> Vec<Row> {
        let rows = POINTS.iter().enumerate().map(|(number, &point)| {
            let took = |wall_ns| Took {
                wall_ns,
                cpu_ns: wall_ns,
                peak_bytes: 1 << (20 + number % 4),
                collections: Some(7),
            };
            let outcome = Outcome::Took(vec![took(1e6), took(2e6), took(9e6)]);
            Row { point, outcome }
        });
        rows.collect()
    }

    #[test]
    fn medians_and_ends_are_shown() {
        let table = figures(&rows());
        let shown: Vec<_> = table.rows[1][2..]
            .iter()
            .map(|cell| cell.shown(1))
            .collect();
        assert_eq!(shown, ["2.0", "1.0", "9.0", "2.0", "2.0", "1.0", "7"]);
        assert_eq!(table.rows[0][7], Cell::Figure(0.0));
    }

    #[test]
    fn ratios_are_those_of_the_same_round() {
        let table = ratios(&rows()).expect("ours ran");
        assert_eq!(table.rows.len(), POINTS.len() - 2);
        // rounds of the same length: no spread, though the rounds themselves have one
        assert_eq!(table.rows[0][2..5], [1.0, 1.0, 1.0].map(Cell::from));
    }

    #[test]
    fn a_line_of_the_picture_rises_in_memory_and_falls_in_time() {
        let mut rows = rows();
        for (number, row) in rows.iter_mut().enumerate() {
            if let Outcome::Took(rounds) = &mut row.outcome {
                rounds.truncate(1);
                rounds[0].wall_ns = 1e6 * (1 + number * 7 % 5) as f64;
            }
        }
        let plot = plot(&rows).expect("something ran");
        for series in &plot.series {
            let is_better =
                |one: &(f64, f64), other: &(f64, f64)| one.0 <= other.0 && one.1 > other.1;
            assert!(series.points.is_sorted_by(is_better), "{series:?}");
            assert_eq!(series.points.len(), series.spread.len());
        }
        assert!(plot.series.iter().any(|series| series.points.len() > 1));
        let nothing = rows.into_iter().map(|row| Row {
            outcome: Outcome::NotBuilt,
            ..row
        });
        assert!(super::plot(&nothing.collect::<Vec<_>>()).is_none());
    }
}
