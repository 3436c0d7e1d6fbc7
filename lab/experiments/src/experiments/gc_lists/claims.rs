//! The claims, each over all programs: those of the thesis's one heap.

use super::found::{BEST, Found, Row, find, of_kind, to_best};
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::thesis::published::RARE_PERCENT;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// Less than one visit per allocation is nothing: reading the table costs as much.
const NOTHING: f64 = 1.0;

/// All of them.
pub(super) fn all(found: &[Found]) -> Vec<Claim> {
    vec![
        improves(found),
        is_flat(found),
        visits_fall(found),
        visits_stay(found),
        rare_large(found),
    ]
}

/// The rows of one heap with fewer lists than 256, or with more.
fn rows(found: &Found, is_wanted: impl Fn(u32) -> bool) -> Vec<&Row> {
    of_kind(&found.rows, false)
        .filter(|row| is_wanted(row.lists))
        .collect()
}

/// Times over that with 256 lists, or none if one is missing.
fn ratios(found: &Found, rows: &[&Row]) -> Option<Vec<(u32, Ratio)>> {
    let all = rows
        .iter()
        .map(|row| Some((row.lists, to_best(&found.rows, row)?)));
    all.collect::<Option<Vec<_>>>()
        .filter(|all| !all.is_empty())
}

/// One program: whether a test holds for each ratio, and all of them in words.
fn timed(found: &Found, rows: &[&Row], test: impl Fn(Ratio) -> Option<bool>) -> OnProgram {
    let ratios = ratios(found, rows);
    let each = ratios.iter().flatten().map(|(_, ratio)| test(*ratio));
    let decided = Verdict::all_of(each);
    let words = ratios.as_ref().map(|ratios| {
        let each: Vec<_> = ratios
            .iter()
            .map(|(lists, ratio)| format!("{lists}: {:.2}", ratio.median))
            .collect();
        each.join(", ")
    });
    OnProgram {
        name: found.name.clone(),
        test: decided,
        ratio: ratios.and_then(|ratios| Some(ratios.first()?.1)),
        shown: words.unwrap_or_else(|| "does not complete".to_owned()),
    }
}

fn improves(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let few = rows(one, |lists| lists < BEST);
        timed(one, &few, Verdict::is_greater)
    });
    Claim::that(format!(
        "heap management is faster with {BEST} lists than with fewer"
    ))
    .of("figure 4-14")
    .of("object sizes")
    .papers(format!("improves up to {BEST}"))
    .over(
        programs.collect(),
        format!(
            "time ÷ that with {BEST} lists, in one heap: each smaller number takes over 3 % \
                 longer in the median and longer in every round; where rounds disagree, the clock \
                 decides nothing. The mean is that of the fewest lists"
        ),
    )
}

fn is_flat(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let many = rows(one, |lists| lists > BEST);
        timed(one, &many, Verdict::is_level)
    });
    Claim::that(format!("more than {BEST} lists change nothing"))
        .of("figure 4-14")
        .papers(format!("flat beyond {BEST}"))
        .over(
            programs.collect(),
            format!(
                "time ÷ that with {BEST} lists, in one heap: every round is within 3 % of 1; \
                 where rounds disagree, the clock decides nothing. The mean is that of twice as \
                 many lists"
            ),
        )
}

/// One program: whether a test holds for the visits with each number of lists and with 256.
fn counted(found: &Found, rows: &[&Row], test: fn(f64, f64) -> bool) -> OnProgram {
    let best = find(&found.rows, false, BEST).filter(|_| !rows.is_empty());
    let words = best.map(|best| {
        let each: Vec<_> = rows
            .iter()
            .map(|row| format!("{}: {:.2}", row.lists, row.visits))
            .collect();
        format!("{BEST}: {:.2}, {}", best.visits, each.join(", "))
    });
    OnProgram {
        name: found.name.clone(),
        test: best.map(|best| rows.iter().all(|row| test(row.visits, best.visits))),
        ratio: None,
        shown: words.unwrap_or_else(|| "does not complete".to_owned()),
    }
}

fn visits_fall(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let few = rows(one, |lists| lists < BEST);
        counted(one, &few, |visits, best| visits > best)
    });
    Claim::that(format!(
        "fewer free chunks are visited with {BEST} lists than with fewer"
    ))
    .ours_alone()
    .papers("none: figure 4-14 shows time")
    .over(
        programs.collect(),
        "counted, per allocation, in one heap; each smaller number of lists visits more",
    )
}

fn visits_stay(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let many = rows(one, |lists| lists > BEST);
        counted(one, &many, |visits, best| best - visits < NOTHING)
    });
    Claim::that(format!(
        "more than {BEST} lists save less than one visit per allocation"
    ))
    .ours_alone()
    .papers("none: figure 4-14 shows time")
    .over(programs.collect(), "counted, per allocation, in one heap")
}

fn rare_large(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let share = find(&one.rows, false, BEST).and_then(|row| row.percent_large);
        OnProgram {
            name: one.name.clone(),
            test: share.map(|share| share <= RARE_PERCENT),
            ratio: None,
            shown: or_not_measured(share.map(|share| format!("{share:.2} %"))),
        }
    });
    Claim::that("immediate coalescing: free chunks above 1 KB are rare")
        .of("figure 4-14")
        .papers(format!("rare, so that more than {BEST} lists gain nothing"))
        .ours("of all free chunks after a collection")
        .over(
            programs.collect(),
            format!(
                "counted over all collections with {BEST} lists, in one heap; rare is up to {RARE_PERCENT} % of the \
                 chunks, which is what the thesis calls very few of the objects; not comparable without a collection"
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::super::found::{COUNTS, Found, Row};
    use super::all;
    use crate::kit::Verdict;
    use crate::shared::thesis::collecting::Collecting;

    fn found(time: impl Fn(u32) -> f64, visits: impl Fn(u32) -> f64) -> Found {
        let row = |lists| Row {
            lists,
            management_ms: vec![time(lists), 1.01 * time(lists)],
            visits: visits(lists),
            percent_large: Some(visits(256)),
            ..Row::default()
        };
        Found {
            name: "p".to_owned(),
            heap: Collecting {
                least: 1 << 20,
                multiple: 2.0,
                collections: 3,
            },
            rows: COUNTS.map(row).to_vec(),
        }
    }

    fn verdicts(found: &[Found]) -> Vec<Verdict> {
        all(found).iter().map(|claim| claim.verdict).collect()
    }

    fn falls(lists: u32) -> f64 {
        0.5 + 100.0 / f64::from(lists.min(256))
    }

    #[test]
    fn the_thesis_is_a_fall_up_to_256_and_a_level_beyond() {
        assert_eq!(verdicts(&[found(falls, falls)]), [Verdict::Holds; 5]);
    }

    #[test]
    fn a_rise_then_a_fall_refutes_it() {
        let other = |lists: u32| if lists == 256 { 10.0 } else { 5.0 };
        assert_eq!(verdicts(&[found(other, other)]), [Verdict::DoesNot; 5]);
        let both = [found(falls, falls), found(other, other)];
        assert_eq!(
            verdicts(&both),
            [Verdict::HoldsOn { programs: 1, of: 2 }; 5]
        );
    }

    /// As printed before: 8 to 26 % of the chunks are above 1 KB.
    #[test]
    fn eight_percent_are_not_rare() {
        let verdict = |percent| all(&[found(falls, |_| percent)])[4].verdict;
        assert_eq!(verdict(8.0), Verdict::DoesNot);
        assert_eq!(verdict(26.0), Verdict::DoesNot);
        assert_eq!(verdict(0.5), Verdict::Holds);
    }

    #[test]
    fn without_times_the_clock_says_nothing() {
        let mut nothing = found(falls, falls);
        nothing.rows.clear();
        assert_eq!(verdicts(&[nothing]), [Verdict::NotComparable; 5]);
    }
}
