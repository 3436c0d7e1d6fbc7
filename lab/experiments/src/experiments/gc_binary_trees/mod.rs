//! `surefit experiment gc-binary-trees`: time and peak memory of a program that allocates, on our
//! collector and on others.
//!
//! ```text
//! per round, interleaved:   one process per collector and setting: binary trees of depth 16, references of 64 bits
//! time                      of the whole process, by our clock; processor time and peak resident memory by its own account
//! ratios                    ours ÷ theirs, in the same round
//! peer's best               its fastest setting for time, its leanest for memory: two points, if it must be
//! ```
//! The binaries are those of `peers/`, a workspace of its own. One that is not built is a row that
//! says how to build it.
//!
//! # Source
//! Binary trees of the benchmarks game, after Boehm's GCBench. No figure of the thesis: the goal is
//! ours.

mod claims;
mod points;
mod process;
mod rows;
mod tables;

use std::path::PathBuf;

use anyhow::Result;

use self::points::{POINTS, Point, Role};
use self::rows::{Outcome, Row};
use crate::kit::{Entry, Report, Request};
use surefit_measure::progress::Progress;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-binary-trees",
    about: "Binary trees: time and memory beside gc-arena, Boehm's collector and MMTk",
    takes_traces: false,
    takes_rounds: true,
    run,
};

/// Depth of the deepest trees that stay.
const DEPTH: u32 = 16;
/// The same, quick: all is over before a collector has much to do.
const QUICK_DEPTH: u32 = 10;

fn run(request: &Request) -> Result<Report> {
    let depth = if request.quick { QUICK_DEPTH } else { DEPTH };
    let rounds = request.rounds_or(9);
    let rows = measure(POINTS, &points::folders(), depth, rounds)?;
    Ok(report(request.quick, depth, rounds, &rows))
}

/// Runs every point once a round.
///
/// # Errors
/// A process counts other nodes than there are, in a round after the first: what ran once runs
/// again.
fn measure(points: &[Point], folders: &[PathBuf], depth: u32, rounds: u32) -> Result<Vec<Row>> {
    let mut rows: Vec<_> = points
        .iter()
        .map(|&point| started(point, folders))
        .collect();
    let progress = Progress::new(u64::from(rounds) * rows.len() as u64);
    for round in 0..rounds {
        for row in &mut rows {
            progress.step("binary trees", "running", &row.point.name());
            one(row, folders, depth, round == 0)?;
        }
    }
    progress.finish();
    Ok(rows)
}

fn started(point: Point, folders: &[PathBuf]) -> Row {
    let outcome = match point.find(folders) {
        Some(_) => Outcome::Took(Vec::new()),
        None => Outcome::NotBuilt,
    };
    Row { point, outcome }
}

/// One more round of a point that runs.
fn one(row: &mut Row, folders: &[PathBuf], depth: u32, is_first: bool) -> Result<()> {
    let Outcome::Took(rounds) = &mut row.outcome else {
        return Ok(());
    };
    let Some(binary) = row.point.find(folders) else {
        return Ok(());
    };
    let has_trees = row.point.role != Role::Empty;
    match process::run(&binary, depth, row.point.settings, has_trees) {
        Ok(took) => rounds.push(took),
        Err(error) if is_first => row.outcome = Outcome::Failed(format!("{error:#}")),
        Err(error) => return Err(error),
    }
    Ok(())
}

fn report(quick: bool, depth: u32, rounds: u32, rows: &[Row]) -> Report {
    let source = "ours; the program: binary trees of the benchmarks game";
    let mut report = Report::new(ENTRY.name, ENTRY.about, source, quick);
    report.setting = vec![
        format!(
            "Binary trees to depth {depth}, two references of 64 bits per node; {rounds} interleaved rounds of one process each. \
             Times are those of whole processes; peaks are VmHWM."
        ),
        "Every collector collects when it sees fit, and none takes its heap down at the end. Settings are explained in \
         peers/README.md."
            .to_owned(),
    ];
    tables::add(&mut report, rows);
    report.claims = claims::claims(rows, depth == DEPTH);
    report
}

#[cfg(test)]
mod tests {
    use super::points::POINTS;
    use super::process::tests::script;
    use super::{Outcome, QUICK_DEPTH, measure, process, report};

    #[test]
    fn what_is_not_built_and_what_fails_are_rows() {
        let folder = tempfile::tempdir().expect("a folder");
        let good = process::expected(QUICK_DEPTH);
        let figures = "cpu_ns=1000 peak_bytes=4096 collections=3";
        script(&folder.path().join("binary-trees-surefit"), &good, figures);
        script(&folder.path().join("binary-trees-boehm"), "", figures);
        let folders = [folder.path().to_owned()];
        let rows = measure(POINTS, &folders, QUICK_DEPTH, 2).expect("no point fails late");
        for row in &rows {
            match (row.point.collector, &row.outcome) {
                ("surefit", Outcome::Took(rounds)) => assert_eq!(rounds.len(), 2),
                ("Boehm" | "Boehm, incremental", Outcome::Failed(why)) => {
                    assert!(why.contains("other nodes"), "{why}")
                }
                (_, Outcome::NotBuilt) => {}
                (name, outcome) => panic!("{name}: {outcome:?}"),
            }
        }
        let report = report(true, QUICK_DEPTH, 2, &rows);
        let shown = &report.tables[0].rows;
        let one_each = shown.iter().filter(|row| row[1] == "not built".into());
        assert_eq!(one_each.count(), 6, "{shown:?}");
        assert!(
            report
                .notes
                .iter()
                .any(|note| note.ends_with("--features mimalloc,mmtk"))
        );
    }
}
