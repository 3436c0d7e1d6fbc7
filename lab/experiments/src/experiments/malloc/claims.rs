//! The goals: ours beside glibc and beside the best library of others.
//!
//! ```text
//! time        geometric mean over all shapes            at most .74 of glibc's (snmalloc: .760)
//! memory      peak of recorded programs                 at most 1.03 of glibc's (rpmalloc: 1.07)
//! rows        every shape                               at most 1.25 of the best other library's time
//! phases      held ÷ live at the worst                  at most 1.5 (glibc: 1.50)
//! pair        a malloc and its free of 64 bytes         at most 40 instructions
//! ```
//! A shape on which ours fails refutes the goals that it is part of.
#![deny(unsafe_code)]

use super::found::{CPU, Figure, Found, PEAK, Row};
use super::shapes::Shape;
use crate::kit::{Claim, OnProgram};
use crate::shared::threads::figures::{LEAST_ROUNDS, untimed};
use surefit_measure::ratio::Ratio;

const TIME: f64 = 0.74;
const MEMORY: f64 = 1.03;
const ROW: f64 = 1.25;
const HELD: f64 = 1.5;
const PAIR: f64 = 40.0;

/// All of them; a run of parts only decides none but the pair's.
pub(super) fn claims(found: &Found, is_whole: bool) -> Vec<Claim> {
    vec![
        time(found, is_whole),
        memory(found, is_whole),
        no_slow_row(found, is_whole),
        held(found, is_whole),
        pair(found),
    ]
}

/// When nothing is judged, in words.
fn unjudged() -> String {
    format!(
        "not judged without our library, or if only parts are played; {}",
        untimed()
    )
}

/// Whether a ratio is at most so much in every round; `None` if rounds disagree.
fn at_most(ratio: Ratio, most: f64) -> Option<bool> {
    let is_below = ratio.max <= most;
    (is_below || ratio.min > most).then_some(is_below)
}

/// Ours, if there are rounds enough to judge it.
fn judged(found: &Found, is_whole: bool) -> Option<&Row> {
    let ours = found.ours().filter(|_| is_whole)?;
    let base = found.base()?;
    let is_long = |cell: &super::found::Cell| cell.rounds.len() >= LEAST_ROUNDS;
    base.cells.iter().all(is_long).then_some(ours)
}

/// Whether ours failed on one of these shapes.
fn has_failed(found: &Found, ours: &Row, is_among: impl Fn(&Shape) -> bool) -> bool {
    let cells = found.shapes.iter().zip(&ours.cells);
    cells
        .into_iter()
        .any(|(shape, cell)| is_among(shape) && cell.failed.is_some())
}

/// Whether the geometric mean over some shapes is at most so much of glibc's.
fn mean_at_most(
    found: &Found,
    is_whole: bool,
    figure: Figure,
    most: f64,
    is_among: impl Fn(&Shape) -> bool + Copy,
) -> Option<bool> {
    let ours = judged(found, is_whole)?;
    if has_failed(found, ours, is_among) {
        return Some(false);
    }
    at_most(found.mean(ours, figure, is_among)?, most)
}

fn time(found: &Found, is_whole: bool) -> Claim {
    let all = |_: &Shape| true;
    let ours = found.ours().and_then(|ours| found.mean(ours, CPU, all));
    Claim::that(format!("time is at most {TIME} of glibc's in the mean"))
        .ours_alone()
        .papers("none: the goal is ours; snmalloc .760 on the public suite")
        .measured(ours)
        .decide(
            mean_at_most(found, is_whole, CPU, TIME, all),
            format!(
                "geometric mean over all shapes of time on processors, in every round; {}",
                unjudged()
            ),
        )
}

fn memory(found: &Found, is_whole: bool) -> Claim {
    let ours = found
        .ours()
        .and_then(|ours| found.mean(ours, PEAK, Shape::is_recorded));
    Claim::that(format!(
        "peak resident memory of recorded programs is at most {MEMORY} of glibc's in the mean"
    ))
    .ours_alone()
    .papers("none: the goal is ours; rpmalloc 1.07 on real programs")
    .measured(ours)
    .decide(
        mean_at_most(found, is_whole, PEAK, MEMORY, Shape::is_recorded),
        format!("geometric mean, in every round; {}", unjudged()),
    )
}

fn no_slow_row(found: &Found, is_whole: bool) -> Claim {
    let mut programs = Vec::new();
    if let Some(ours) = found.ours() {
        let shapes = found.shapes.iter().enumerate();
        programs.extend(shapes.map(|(at, shape)| on_shape(found, ours, at, shape, is_whole)));
    }
    Claim::that(format!(
        "no shape takes over {ROW} of the time of the best other library"
    ))
    .ours_alone()
    .papers("none: the goal is ours")
    .over(
        programs,
        format!(
            "time on processors, in every round, beside the library of others with the least \
             median on this shape; not judged without such a library; {}",
            unjudged()
        ),
    )
}

/// Ours beside the best of the others on one shape.
fn on_shape(found: &Found, ours: &Row, at: usize, shape: &Shape, is_whole: bool) -> OnProgram {
    let best = found.best_peer(at);
    let theirs = best.map_or_else(Vec::new, |best| best.figures(at, CPU));
    let ratios = ours.figures(at, CPU).into_iter().zip(theirs);
    let ratios: Vec<_> = ratios.map(|(ours, theirs)| ours / theirs).collect();
    let is_failed = ours.cells[at].failed.is_some();
    let test = judged(found, is_whole)
        .filter(|_| best.is_some())
        .and_then(|_| match Ratio::of(&ratios) {
            Some(ratio) => at_most(ratio, ROW),
            None => is_failed.then_some(false),
        });
    let name = best.map_or_else(
        || shape.name.to_owned(),
        |best| format!("{} ÷ {}", shape.name, best.library.name),
    );
    OnProgram::timed(name, test, &ratios)
}

fn held(found: &Found, is_whole: bool) -> Claim {
    let phases = |shape: &Shape| shape.name == "phases";
    let ours = found.ours().and_then(Row::held);
    let test = judged(found, is_whole).and_then(|row| {
        let is_failed = has_failed(found, row, phases).then_some(false);
        is_failed.or_else(|| at_most(ours?, HELD))
    });
    Claim::that(format!("phases hold at most {HELD} of what lives"))
        .ours_alone()
        .papers("none: the goal is ours; glibc 1.50, fast libraries 3.8 to 8.1")
        .measured(ours)
        .decide(
            test,
            format!(
                "resident bytes beyond those of the idle process ÷ live bytes, when a phase is \
                 full, at the worst, in every round; {}",
                unjudged()
            ),
        )
}

fn pair(found: &Found) -> Claim {
    let ours = found.ours().and_then(|row| row.pair);
    Claim::that(format!(
        "a malloc and its free take at most {PAIR} instructions"
    ))
    .ours_alone()
    .papers("none: the goal is ours")
    .measured(ours.map(|count| format!("{count:.1}")))
    .decide(
        ours.map(|count| count <= PAIR),
        "counted, 64 bytes that are freed at once; not judged without our library, or if neither \
         the processor nor valgrind counts",
    )
}

#[cfg(test)]
mod tests {
    use super::super::found::Found;
    use super::super::found::tests::{found, took};
    use super::claims;

    fn verdicts(found: &Found, is_whole: bool) -> Vec<String> {
        let claims = claims(found, is_whole);
        let words = claims.iter().map(|claim| claim.verdict.to_string());
        words.collect()
    }

    #[test]
    fn verdicts_come_out_both_ways() {
        assert_eq!(verdicts(&found(took(40.0, 1030)), true), ["holds"; 5]);
        assert_eq!(verdicts(&found(took(101.0, 1031)), true), ["does not"; 5]);
        // 1.25 of the peer's 80 is 100; held is a fiftieth of the time
        let mixed = verdicts(&found(took(74.0, 1000)), true);
        assert_eq!(mixed, ["holds", "holds", "holds", "holds", "does not"]);
    }

    #[test]
    fn what_is_missing_or_small_is_not_judged() {
        let unjudged = vec!["not comparable"; 5];
        let mut gone = found(took(40.0, 1000));
        gone.rows[2].library.missing = Some("not built".to_owned());
        assert_eq!(verdicts(&gone, true), unjudged);
        let parts = verdicts(&found(took(40.0, 1000)), false);
        assert_eq!(parts[..4], unjudged[..4]);
        assert_eq!(parts[4], "holds");
        let mut brief = found(took(40.0, 1000));
        for row in &mut brief.rows {
            row.cells
                .iter_mut()
                .for_each(|cell| cell.rounds.truncate(2));
        }
        assert_eq!(verdicts(&brief, true)[..4], unjudged[..4]);
        let mut alone = found(took(40.0, 1000));
        alone.rows.remove(1);
        assert_eq!(verdicts(&alone, true)[2], "not comparable");
    }

    #[test]
    fn a_shape_that_fails_refutes_its_goals() {
        let mut failed = found(took(40.0, 1000));
        for cell in &mut failed.rows[2].cells {
            cell.fail("it ended with signal 11".to_owned());
        }
        assert_eq!(verdicts(&failed, true)[..4], ["does not"; 4]);
        let mut one = found(took(40.0, 1000));
        one.rows[2].cells[0].fail("it ended with signal 11".to_owned());
        let verdicts = verdicts(&one, true);
        assert_eq!(verdicts[..2], ["does not", "holds"]);
        assert_eq!(verdicts[2], "holds on 14 of 15");
    }

    #[test]
    fn rounds_that_disagree_decide_nothing() {
        let mut found = found(took(40.0, 1000));
        for cell in &mut found.rows[2].cells {
            cell.rounds[1] = took(120.0, 1200);
        }
        assert_eq!(verdicts(&found, true)[..4], ["not comparable"; 4]);
    }
}
