//! The goal of the collector: a program of small objects in 0.7 of the time and of the memory of
//! the best other collector.
//!
//! ```text
//! best in time      the setting of any other collector with the least median time
//! best in memory    the setting with the least median peak: it may be another one, of another collector
//! tuned             among all settings;  as it comes: among the settings that their authors left
//! ```
//! Ours is one setting for both. Beside each other collector's fastest setting stands also the
//! fastest of ours that takes no more memory than that one.

use std::collections::BTreeSet;

use super::points::{POINTS, Role};
use super::process::Took;
use super::rows::Row;
use crate::kit::Claim;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// The other collectors, by the beginnings of what tables call them; the last one is a mode of the
/// one before.
const COLLECTORS: [&str; 4] = ["gc-arena", "MMTk", "Boehm", "Boehm, incremental"];

/// At most so much of the best other collector.
const GOAL: f64 = 0.7;

/// What is compared: of the process, a name and a figure.
type Figure = (&'static str, fn(&Took) -> f64);

const TIME: Figure = ("time", |took| took.wall_ns);
const PEAK: Figure = ("peak memory", |took| took.peak_bytes as f64);

/// All of them; none is decided unless the trees are as deep as the goal says.
pub(super) fn claims(rows: &[Row], is_deep: bool) -> Vec<Claim> {
    let is_peer = |role: Role| role.is_peer();
    let tuned = [TIME, PEAK].map(|figure| claim(rows, is_deep, figure, is_peer, "best setting"));
    let usual = |role| role == Role::AsItComes;
    let usual =
        [TIME, PEAK].map(|figure| claim(rows, is_deep, figure, usual, "setting as it comes"));
    let at_its_memory = COLLECTORS.map(|name| at_its_memory(rows, is_deep, name));
    let all = tuned.into_iter().chain(usual);
    all.chain(at_its_memory).collect()
}

/// Our ratio to the row that is best in this figure, among the rows of these roles.
fn claim(
    rows: &[Row],
    is_deep: bool,
    figure: Figure,
    is_among: impl Fn(Role) -> bool,
    which: &str,
) -> Claim {
    let (name, of) = figure;
    let ours = rows.iter().find(|row| row.point.role == Role::Subject);
    let theirs = rows.iter().filter(|row| is_among(row.point.role));
    let best = theirs
        .filter_map(|row| Some((row, row.median(of)?)))
        .min_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(row, _)| row);
    let found = ours.zip(best);
    let found = found.and_then(|(ours, best)| Some((best, over(ours, best, of)?)));
    Claim::that(format!(
        "{name} is at most {GOAL} of the best other collector's, in its {which}"
    ))
    .ours_alone()
    .papers("none: the goal is ours")
    .ours(or_not_measured(found.map(|(best, ratio)| {
        format!("{ratio} of {}", best.point.name())
    })))
    .decide(
        found
            .filter(|_| is_deep)
            .and_then(|(_, ratio)| meets(ratio, ran_all(rows))),
        format!(
            "{} in the setting {}; at most {GOAL} in every round holds, above it in \
             every round does not, and else the clock decides nothing; it cannot \
             hold while a collector has not run; trees that are less deep than the goal \
             says decide nothing",
            "ours ÷ theirs in the same round",
            ours.map_or("that is not built", |row| row.point.settings)
        ),
    )
}

/// Our processor time ÷ that of a collector in its fastest setting, in no more memory than that one
/// takes.
fn at_its_memory(rows: &[Row], is_deep: bool, collector: &str) -> Claim {
    let is_theirs =
        |row: &&Row| row.point.role.is_peer() && row.point.collector.starts_with(collector);
    let best = fastest(rows.iter().filter(is_theirs));
    let most = best.and_then(Row::peak);
    let is_ours = |row: &&Row| matches!(row.point.role, Role::Subject | Role::Ours);
    let is_as_lean = |row: &&Row| row.peak().zip(most).is_some_and(|(own, most)| own <= most);
    let ran = rows.iter().any(|row| is_ours(&row) && row.peak().is_some());
    let ours = fastest(rows.iter().filter(is_ours).filter(is_as_lean));
    let ratio = ours
        .zip(best)
        .and_then(|(ours, best)| over(ours, best, |took| took.cpu_ns));
    let found = ours.zip(best).zip(ratio).map(|((ours, best), ratio)| {
        let (ours, best) = (ours.point, best.point.name());
        format!("{ratio}: {} beside {best}", ours.settings)
    });
    Claim::that(format!(
        "processor time is at most {GOAL} of that of {collector} in its fastest setting, at its \
         memory"
    ))
    .ours_alone()
    .papers(format!("the goal: at most {GOAL}"))
    .measured(found)
    .decide(
        match (ratio, best) {
            _ if !is_deep => None,
            (Some(ratio), _) => meets(ratio, true),
            (None, best) => best.filter(|_| ran).map(|_| false),
        },
        "our fastest setting whose peak is not above that one's, in the same round; decided as the \
         others; it does not hold if no setting of ours is so lean",
    )
}

/// The row with the least median processor time, of all threads.
fn fastest<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<&'r Row> {
    rows.filter_map(|row| Some((row, row.median(|took| took.cpu_ns)?)))
        .min_by(|(_, one), (_, other)| one.total_cmp(other))
        .map(|(row, _)| row)
}

/// A figure of one row ÷ that of another, round by round.
pub(super) fn over(ours: &Row, theirs: &Row, of: impl Fn(&Took) -> f64) -> Option<Ratio> {
    let rounds = ours.rounds().iter().zip(theirs.rounds());
    Ratio::of(
        &rounds
            .map(|(ours, theirs)| of(ours) / of(theirs))
            .collect::<Vec<_>>(),
    )
}

/// Whether the goal is met; `None` if rounds disagree, or if it is met beside some collectors only.
fn meets(ratio: Ratio, ran_all: bool) -> Option<bool> {
    match (ratio.max <= GOAL, ratio.min > GOAL) {
        (_, true) => Some(false),
        (true, _) if ran_all => Some(true),
        _ => None,
    }
}

/// Whether every other collector ran, in one setting at least.
fn ran_all(rows: &[Row]) -> bool {
    let peers = POINTS.iter().filter(|point| point.role.is_peer());
    let wanted: BTreeSet<_> = peers.map(|point| family(point.collector)).collect();
    let ran = rows.iter().filter(|row| !row.rounds().is_empty());
    let ran: BTreeSet<_> = ran.map(|row| family(row.point.collector)).collect();
    wanted.is_subset(&ran)
}

/// The collector without the malloc that it stands on.
fn family(collector: &str) -> &str {
    collector.split(',').next().unwrap_or(collector)
}

#[cfg(test)]
mod tests {
    use super::super::points::POINTS;
    use super::super::process::Took;
    use super::super::rows::{Outcome, Row};
    use super::{claims, meets};
    use crate::kit::Verdict;
    use surefit_measure::results::Ratio;

    const fn took(wall_ns: f64, peak_bytes: u64) -> Took {
        Took {
            wall_ns,
            cpu_ns: wall_ns,
            peak_bytes,
            collections: None,
        }
    }

    /// All points: ours takes this, the others 100 ns and 100 bytes, Boehm's in the setting
    /// `divisor=30` 80 bytes.
    fn rows(ours: Took) -> Vec<Row> {
        let rows = POINTS.iter().map(|&point| {
            let took = match (point.collector, point.settings) {
                ("surefit", _) => ours,
                ("Boehm", "divisor=30") => took(110.0, 80),
                _ => took(100.0, 100),
            };
            let outcome = Outcome::Took(vec![took; 3]);
            Row { point, outcome }
        });
        rows.collect()
    }

    fn verdicts(rows: &[Row], is_deep: bool) -> Vec<&'static str> {
        let claims = claims(rows, is_deep);
        claims.iter().map(|claim| claim.verdict.words()).collect()
    }

    #[test]
    fn verdicts_come_out_both_ways() {
        assert_eq!(verdicts(&rows(took(70.0, 56)), true), ["holds"; 8]);
        assert_eq!(verdicts(&rows(took(71.0, 71)), true), ["does not"; 8]);
        // best beside the setting as it comes, not beside the leanest one
        let mixed = verdicts(&rows(took(60.0, 60)), true);
        assert_eq!(mixed[..4], ["holds", "does not", "holds", "holds"]);
        assert_eq!(mixed[4..], ["holds"; 4]);
        // no setting of ours is as lean as the fastest ones
        let fat = verdicts(&rows(took(60.0, 101)), true);
        assert_eq!(fat[4..], ["does not"; 4]);
        assert_eq!(verdicts(&rows(took(1.0, 1)), false), ["not comparable"; 8]);
    }

    #[test]
    fn nothing_holds_while_a_collector_has_not_run() {
        let mut rows = rows(took(60.0, 50));
        for row in &mut rows {
            if row.point.collector == "MMTk MarkSweep" {
                row.outcome = Outcome::NotBuilt;
            }
        }
        let missing = verdicts(&rows, true);
        assert_eq!(missing[..4], ["not comparable"; 4]);
        assert_eq!(missing[4..], ["holds", "not comparable", "holds", "holds"]);
        rows[1].outcome = Outcome::Took(vec![took(90.0, 90); 3]);
        assert_eq!(verdicts(&rows, true)[..4], ["does not"; 4]);
    }

    #[test]
    fn rounds_that_disagree_decide_nothing() {
        let ratio = |min, max| Ratio {
            median: f64::midpoint(min, max),
            min,
            max,
        };
        assert_eq!(meets(ratio(0.6, 0.7), true), Some(true));
        assert_eq!(meets(ratio(0.6, 0.75), true), None);
        assert_eq!(
            Verdict::of(meets(ratio(0.71, 0.75), true)),
            Verdict::DoesNot
        );
    }
}
