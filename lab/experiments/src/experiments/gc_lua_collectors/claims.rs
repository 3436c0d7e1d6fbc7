//! The claims: Lua that collects when it is refused takes no longer than Lua's own collectors do,
//! in their memory.
#![deny(unsafe_code)]

use surefit_measure::ratio::{Ratio, or_not_measured};

use super::measure::{REFUSED, Row, TIGHT, mean};
use super::tunings::{TUNINGS, Tuning};
use crate::kit::{Claim, OnProgram};

/// At most so much of the time of Lua's own collector.
const GOAL: f64 = 1.0;

/// Lua's collectors.
const COLLECTORS: [&str; 2] = ["incremental", "generational"];

/// All of them; times of short programs decide nothing.
pub(super) fn all(rows: &[Row], is_quick: bool) -> Vec<Claim> {
    let mut claims = vec![prints_the_same(rows)];
    for way in [REFUSED, TIGHT] {
        for collector in COLLECTORS {
            let own = || {
                TUNINGS
                    .into_iter()
                    .filter(move |it| it.collector == collector)
            };
            let usual = own().find(Tuning::is_as_it_comes);
            claims.push(claim(rows, usual, way, is_quick, collector, "as it comes"));
            // The tuning that is hardest to be as fast as.
            let hardest = own()
                .filter_map(|tuning| Some((tuning, mean(of(rows, tuning), way)?.median)))
                .max_by(|(_, one), (_, other)| one.total_cmp(other))
                .map(|(tuning, _)| tuning);
            let which = "in the tuning that is hardest to reach";
            claims.push(claim(rows, hardest, way, is_quick, collector, which));
        }
    }
    claims
}

/// The rows of a tuning.
pub(super) fn of(rows: &[Row], tuning: Tuning) -> impl Iterator<Item = &Row> {
    rows.iter().filter(move |row| row.tuning == tuning)
}

fn prints_the_same(rows: &[Row]) -> Claim {
    let mut programs: Vec<_> = rows.iter().map(|row| row.program).collect();
    programs.dedup();
    let programs = programs.into_iter().map(|name| {
        let own = rows.iter().filter(|row| row.program == name);
        let (runs, same) = own.fold((0, 0), |(runs, same), row| {
            (runs + row.runs, same + row.same)
        });
        OnProgram {
            name: name.to_owned(),
            test: (runs > 0).then_some(runs == same),
            ratio: None,
            shown: format!("{same} of {runs} runs"),
        }
    });
    Claim::that("every program prints the same whatever collects and whatever serves")
        .ours_alone()
        .papers("none: ours")
        .over(
            programs.collect(),
            "what is printed is compared byte by byte",
        )
}

fn claim(
    rows: &[Row],
    tuning: Option<Tuning>,
    way: usize,
    is_quick: bool,
    collector: &str,
    which: &str,
) -> Claim {
    let rows: Vec<_> = tuning.map_or_else(Vec::new, |tuning| of(rows, tuning).collect());
    let ratio = mean(rows.iter().copied(), way);
    let each = rows.iter().map(|row| match row.ratio(way) {
        Some(ratio) => format!("{} {ratio}", row.program),
        None => format!("{} does not end", row.program),
    });
    let each: Vec<_> = each.collect();
    let memory = match way {
        TIGHT => "in the bytes that Lua counts on malloc, without what malloc adds",
        _ => "in the bytes of malloc's chunks",
    };
    let name = tuning.map(|tuning| tuning.name());
    Claim::that(format!(
        "collecting when refused takes at most {GOAL} of the time of Lua's {collector} collector \
         {which}, {memory}"
    ))
    .ours_alone()
    .papers(format!("the goal: at most {GOAL}"))
    .ours(format!(
        "{}: geometric mean {}; {}",
        or_not_measured(name),
        or_not_measured(ratio),
        each.join("; ")
    ))
    .decide(
        match rows.iter().all(|row| row.ratio(way).is_some()) {
            _ if is_quick => None,
            false => Some(false),
            true => ratio.and_then(meets),
        },
        format!(
            "processor time ÷ that of Lua's own on malloc in the same round, geometric mean: at most \
             {GOAL} in every round holds, above it in every round does not, else the clock decides \
             nothing; a program that does not end refutes it; short ones decide nothing"
        ),
    )
}

/// Whether the goal is met; `None` if rounds disagree.
fn meets(ratio: Ratio) -> Option<bool> {
    match (ratio.max <= GOAL, ratio.min > GOAL) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::{OnOurs, Row};
    use super::super::tunings::TUNINGS;
    use super::all;
    use crate::kit::Verdict;

    /// Two programs; ours takes so much of the time of Lua's own.
    fn rows(ours: f64) -> Vec<Row> {
        let of = |program| {
            TUNINGS.into_iter().map(move |tuning| Row {
                program,
                tuning,
                requested_bytes: 1,
                chunk_bytes: 2,
                cycles: 3,
                own_ns: vec![100.0; 3],
                ways: core::array::from_fn(|_| {
                    Some(OnOurs {
                        ns: vec![100.0 * ours; 3],
                        collections: 3,
                    })
                }),
                enough: None,
                collecting_ns: None,
                runs: 5,
                same: 5,
            })
        };
        of("one").chain(of("two")).collect()
    }

    fn verdicts(rows: &[Row]) -> Vec<Verdict> {
        let claims = all(rows, false);
        claims.iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn every_claim_can_hold_and_can_fail() {
        assert_eq!(verdicts(&rows(0.9)), [Verdict::Holds; 9]);
        let mut worse = rows(1.1);
        for row in &mut worse {
            row.same = 0;
        }
        assert_eq!(verdicts(&worse), [Verdict::DoesNot; 9]);
    }

    #[test]
    fn the_hardest_tuning_is_the_one_that_is_claimed() {
        let mut rows = rows(0.9);
        for row in rows.iter_mut().filter(|row| row.tuning == TUNINGS[3]) {
            row.own_ns = vec![80.0; 3];
        }
        let claims = all(&rows, false);
        let failing: Vec<_> = claims
            .iter()
            .filter(|claim| claim.verdict == Verdict::DoesNot)
            .collect();
        assert_eq!(failing.len(), 2);
        assert!(failing[0].ours.starts_with("incremental pause=300: "));
    }

    #[test]
    fn what_does_not_end_refutes_and_rounds_that_disagree_decide_nothing() {
        let mut full = rows(0.9);
        full[0].ways[0] = None;
        let found = verdicts(&full);
        assert_eq!(found[1], Verdict::DoesNot);
        assert_eq!(found[3..], [Verdict::Holds; 6]);
        let mut noisy = rows(0.9);
        noisy.iter_mut().for_each(|row| row.own_ns[2] = 50.0);
        assert_eq!(verdicts(&noisy)[1..], [Verdict::NotComparable; 8]);
        assert_eq!(all(&rows(0.9), true)[1].verdict, Verdict::NotComparable);
        assert_eq!(verdicts(&[]), [Verdict::NotComparable; 9]);
    }
}
