//! The rounds: in each one every shape on every library, in a child of its own, one after the
//! other. The library that begins is another one in every round.
#![deny(unsafe_code)]

use std::path::Path;

use anyhow::{Result, anyhow, ensure};
use tempfile::TempDir;

use super::child::{self, Took};
use super::found::{Cell, Found, Row};
use super::libraries::Library;
use super::pairs::{self, Counter};
use super::shapes::recorded::{self, Recording};
use super::shapes::{Play, SHAPES, Shape};
use super::work::Work;
use crate::shared::threads::figures::cores;
use surefit_measure::progress::Progress;
use surefit_measure::source::Source;

/// A recorded program is played until it has made so many steps.
const STEPS: usize = 3_000_000;

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// How much of each shape.
    pub(super) work: Work,
    /// Rounds.
    pub(super) rounds: u32,
    /// Pairs whose instructions are counted.
    pub(super) pairs: u64,
    /// Who counts them, if anybody does.
    pub(super) counter: Option<Counter>,
}

/// Threads that run at once: as many as the machine runs, within limits.
pub(super) fn threads() -> usize {
    cores().clamp(2, 8)
}

/// A shape, with its recording if it needs one.
struct Case {
    shape: &'static Shape,
    recording: Option<Recording>,
}

/// Measures all libraries.
///
/// # Errors
/// A bundled trace cannot be prepared; glibc fails: then nothing can be compared.
pub(super) fn measure(plan: Plan, libraries: Vec<Library>) -> Result<Found> {
    let folder = tempfile::tempdir()?;
    let cases = cases(plan, &folder)?;
    let empty = |library| Row {
        library,
        cells: vec![Cell::default(); cases.len()],
        pair: None,
    };
    let mut rows: Vec<_> = libraries.into_iter().map(empty).collect();
    let steps = cases.len() * rows.len() * plan.rounds as usize + rows.len();
    let progress = Progress::new(steps as u64);
    for round in 0..plan.rounds as usize {
        for (at, case) in cases.iter().enumerate() {
            for place in 0..rows.len() {
                let row = (place + round) % rows.len();
                progress.step(case.shape.name, "rounds", &rows[row].library.name);
                one(plan.work, case, at, &mut rows[row])?;
            }
            compare(at, &mut rows)?;
        }
    }
    for row in &mut rows {
        progress.step("pairs", "counting", &row.library.name);
        count(plan, row)?;
    }
    progress.finish();
    let shapes = cases.iter().map(|case| case.shape).collect();
    Ok(Found { shapes, rows })
}

/// The shapes of a plan; only the smallest of the recorded programs if it plays parts only.
fn cases(plan: Plan, folder: &TempDir) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for shape in SHAPES {
        let Play::Recorded(trace) = shape.play else {
            let recording = None;
            cases.push(Case { shape, recording });
            continue;
        };
        if plan.work.part == 1 || cases.iter().all(|case| case.recording.is_none()) {
            let recording = Some(recording(plan.work, shape, trace, folder)?);
            cases.push(Case { shape, recording });
        }
    }
    Ok(cases)
}

fn recording(work: Work, shape: &Shape, trace: &str, folder: &TempDir) -> Result<Recording> {
    let source = Source::load(Path::new(trace), None)?;
    let all = source.steps.steps();
    ensure!(!all.is_empty(), "{trace}: no steps");
    let file = folder.path().join(shape.name);
    let some = work.of(all.len() as u64) as usize;
    recorded::write(&all[..some], &file)?;
    Ok(Recording {
        file,
        slots: source.steps.slots(),
        times: work.of(STEPS.div_ceil(all.len()) as u64),
    })
}

/// One more round of a library on a shape, unless it is missing or has failed.
fn one(work: Work, case: &Case, at: usize, row: &mut Row) -> Result<()> {
    let cell = &mut row.cells[at];
    if row.library.missing.is_some() || cell.failed.is_some() {
        return Ok(());
    }
    match child::run(&row.library, case.shape, work, case.recording.as_ref()) {
        Ok(took) => cell.rounds.push(took),
        Err(error) if row.library.file.is_none() => return Err(error),
        Err(error) => cell.fail(format!("{error:#}")),
    }
    Ok(())
}

/// Fails every library that freed other objects than glibc in this round.
///
/// # Errors
/// glibc freed other objects than in the round before: then the shape is not fixed.
fn compare(at: usize, rows: &mut [Row]) -> Result<()> {
    let checksums = |cell: &Cell| -> Vec<u64> {
        let rounds = cell.rounds.iter();
        rounds.map(|took: &Took| took.checksum).collect()
    };
    let base = rows
        .iter()
        .find(|row| row.library.file.is_none() && row.library.missing.is_none());
    let base = base.ok_or_else(|| anyhow!("glibc is not among the libraries"))?;
    let expected = checksums(&base.cells[at]);
    let is_fixed = expected.iter().all(|one| *one == expected[0]);
    ensure!(is_fixed, "{}: glibc's rounds differ", SHAPES[at].name);
    for row in rows {
        let found = checksums(&row.cells[at]);
        if found.iter().zip(&expected).any(|(own, base)| own != base) {
            let why = "it freed other bytes than were written to its objects";
            let name = &row.library.name;
            row.cells[at].fail(format!("{name}: {}: {why}", SHAPES[at].name));
        }
    }
    Ok(())
}

/// Counts the instructions of a pair; a library that cannot be counted has none.
fn count(plan: Plan, row: &mut Row) -> Result<()> {
    let Some(counter) = plan.counter.filter(|_| row.library.missing.is_none()) else {
        return Ok(());
    };
    match pairs::count(&row.library, counter, plan.pairs) {
        Ok(count) => row.pair = Some(count),
        Err(error) if row.library.file.is_none() => return Err(error),
        Err(_) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::found::tests::{found, took};
    use super::super::work::Work;
    use super::{Counter, Plan, cases, compare};

    #[test]
    fn other_bytes_fail_a_library_and_no_other() {
        let mut rows = found(took(50.0, 1000)).rows;
        for row in &mut rows[1..] {
            row.library.file = Some("lib.so".into());
        }
        compare(0, &mut rows).expect("glibc's rounds agree");
        assert!(rows.iter().all(|row| row.cells[0].failed.is_none()));
        rows[2].cells[0].rounds[1].checksum = 2;
        compare(0, &mut rows).expect("glibc's rounds agree");
        assert!(rows[2].cells[0].failed.is_some() && rows[1].cells[0].ran());
        assert!(rows[2].cells[0].rounds.is_empty() && rows[2].cells[1].ran());
        rows[0].cells[0].rounds[2].checksum = 9;
        assert!(compare(0, &mut rows).is_err());
        assert!(compare(0, &mut rows[1..]).is_err());
    }

    #[test]
    fn parts_replay_one_recorded_program() {
        let folder = tempfile::tempdir().expect("a folder");
        let work = Work {
            part: 1000,
            threads: 2,
        };
        let plan = Plan {
            work,
            rounds: 1,
            pairs: 1,
            counter: Some(Counter::Valgrind),
        };
        let cases = cases(plan, &folder).expect("bundled traces");
        let recorded = cases.iter().filter_map(|case| case.recording.as_ref());
        let recorded: Vec<_> = recorded.collect();
        assert_eq!(recorded.len(), 1);
        let bytes = recorded[0].file.metadata().expect("a file").len();
        assert!(bytes > 0 && bytes % 8 == 0);
    }
}
