//! The goals for the handle heap's time, beside what was found.

use super::found::{
    CERTIFIED, FOUR_TIMES, Found, HALF_MORE, HEAPS, REGIONS, RLSF, TALC, mean_rounds,
};
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::threads::figures::{LEAST_ROUNDS, untimed};
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// At most so much of rlsf's time, in exactly the certified bytes: the geometric mean.
pub(super) const CERTIFIED_GOAL: f64 = 0.95;

/// The same in four times the live bytes.
pub(super) const FOUR_TIMES_GOAL: f64 = 0.8;

/// At most so much of talc's time from 1.5 times the live bytes on: the geometric mean.
pub(super) const TALC_GOAL: f64 = 1.0;

/// At most so much of rlsf's time in 1.5 times the live bytes: every program.
pub(super) const PROGRAM_GOAL: f64 = 1.15;

/// At most so many instructions of a free in 1.5 times the live bytes, in the mean: every program.
pub(super) const FREE_GOAL: f64 = 90.0;

/// All claims.
pub(super) fn all(found: &[Found]) -> Vec<Claim> {
    let all: Vec<_> = found.iter().collect();
    let from_half_more: Vec<_> = (HALF_MORE..REGIONS.len()).collect();
    vec![
        means(&all, &[CERTIFIED], RLSF, CERTIFIED_GOAL),
        means(&all, &from_half_more, TALC, TALC_GOAL),
        means(&all, &[FOUR_TIMES], RLSF, FOUR_TIMES_GOAL),
        each_program(&all),
        frees(&all),
    ]
}

/// Whether a ratio of times is at most so much; `None` if rounds disagree or are too few.
fn at_most(rounds: &[f64], goal: f64) -> Option<bool> {
    let ratio = Ratio::of(rounds).filter(|_| rounds.len() >= LEAST_ROUNDS)?;
    Verdict::reaches(ratio.inverse(), 1.0 / goal)
}

fn means(all: &[&Found], places: &[usize], heap: usize, goal: f64) -> Claim {
    let names: Vec<_> = places.iter().map(|place| REGIONS[*place]).collect();
    let rounds = places.iter().map(|place| mean_rounds(all, *place, heap));
    let rounds: Vec<_> = rounds.collect();
    let test = Verdict::all_of(rounds.iter().map(|of| at_most(of, goal)));
    let shown = rounds.iter().map(|of| or_not_measured(Ratio::of(of)));
    let shown: Vec<_> = shown.collect();
    Claim::that(format!(
        "region {}: cf takes at most {goal} of {}'s time, in the geometric mean",
        names.join(", "),
        HEAPS[heap]
    ))
    .ours_alone()
    .ours(format!("{} programs: {}", all.len(), shown.join(", ")))
    .decide(
        test,
        format!(
            "the geometric mean of the programs is at most that in every round, in each of these regions; {}, or if a \
             program was not timed",
            untimed()
        ),
    )
}

fn each_program(all: &[&Found]) -> Claim {
    let on = |found: &&Found| {
        let rounds = found.rounds(HALF_MORE, RLSF);
        OnProgram::timed(&found.name, at_most(&rounds, PROGRAM_GOAL), &rounds)
    };
    Claim::that(format!(
        "region {}: cf takes at most {PROGRAM_GOAL} of rlsf's time on every program",
        REGIONS[HALF_MORE]
    ))
    .ours_alone()
    .over(
        all.iter().map(on).collect(),
        format!(
            "its time is at most that in every round; more in every round is not; {}",
            untimed()
        ),
    )
}

fn frees(all: &[&Found]) -> Claim {
    let on = |found: &&Found| {
        let count = found.regions[HALF_MORE].instructions_per_free;
        OnProgram {
            name: found.name.clone(),
            test: count.map(|count| count <= FREE_GOAL),
            ratio: None,
            shown: or_not_measured(count.map(|count| format!("{count:.1}"))),
        }
    };
    Claim::that(format!(
        "region {}: a free takes at most {FREE_GOAL} instructions in the mean, on every program",
        REGIONS[HALF_MORE]
    ))
    .ours_alone()
    .over(
        all.iter().map(on).collect(),
        "counted by valgrind; not comparable without it",
    )
}

#[cfg(test)]
mod tests {
    use super::super::found::tests::found;
    use super::{
        CERTIFIED, CERTIFIED_GOAL, HALF_MORE, REGIONS, RLSF, TALC, TALC_GOAL, each_program, frees,
        means,
    };
    use crate::kit::Verdict;

    #[test]
    fn a_mean_must_reach_its_goal_in_every_round_and_region() {
        let verdict = |ns: &[f64]| {
            let program = found([ns; REGIONS.len()]);
            means(&[&program], &[CERTIFIED], RLSF, CERTIFIED_GOAL).verdict
        };
        assert_eq!(verdict(&[94.0, 90.0, 80.0]), Verdict::Holds);
        assert_eq!(verdict(&[96.0, 99.0, 98.0]), Verdict::DoesNot);
        assert_eq!(verdict(&[94.0, 96.0, 94.0]), Verdict::NotComparable);
        assert_eq!(verdict(&[94.0, 90.0]), Verdict::NotComparable);
        assert_eq!(verdict(&[]), Verdict::NotComparable);
        let (fast, slow): (&[f64], &[f64]) = (&[90.0; 3], &[110.0; 3]);
        let later = found([slow, slow, fast, fast, slow]);
        let of = |places: &[usize]| means(&[&later], places, TALC, TALC_GOAL).verdict;
        assert_eq!(of(&[2, 3]), Verdict::Holds);
        assert_eq!(of(&[2, 3, 4]), Verdict::DoesNot);
    }

    #[test]
    fn a_program_that_was_not_timed_leaves_a_mean_undecided() {
        let [timed, untimed] = [&[50.0; 3][..], &[]].map(|ns| found([ns; REGIONS.len()]));
        let claim = means(&[&timed, &untimed], &[CERTIFIED], RLSF, CERTIFIED_GOAL);
        assert_eq!(claim.verdict, Verdict::NotComparable);
        assert!(claim.ours.contains("not measured"), "{}", claim.ours);
    }

    #[test]
    fn one_slow_program_is_counted() {
        let [fast, slow] = [&[110.0; 3], &[120.0; 3]].map(|ns| found([ns; REGIONS.len()]));
        assert_eq!(each_program(&[&fast]).verdict, Verdict::Holds);
        assert_eq!(each_program(&[&slow]).verdict, Verdict::DoesNot);
        let both = each_program(&[&fast, &slow]).verdict;
        assert_eq!(both, Verdict::HoldsOn { programs: 1, of: 2 });
    }

    #[test]
    fn instructions_are_judged_where_they_were_counted() {
        let verdict = |count: Option<f64>| {
            let mut program = found([&[1.0]; REGIONS.len()]);
            program.regions[HALF_MORE].instructions_per_free = count;
            frees(&[&program]).verdict
        };
        assert_eq!(verdict(Some(90.0)), Verdict::Holds);
        assert_eq!(verdict(Some(90.5)), Verdict::DoesNot);
        assert_eq!(verdict(None), Verdict::NotComparable);
    }
}
