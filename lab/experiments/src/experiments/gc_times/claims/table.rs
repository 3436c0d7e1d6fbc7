//! Figures 4-4 to 4-10: each strategy without the table and with it.

use surefit_freelist::When;

use super::rules::{LARGE, is_large, is_same, on_each, over, scan, with_table};
use crate::experiments::gc_times::measure::{Measured, What};
use crate::kit::{Claim, Verdict};
use crate::shared::merges::{MERGES, merges_name};

/// "By 100 %": with the table, heap management takes half the time.
const TWICE: f64 = 2.0;

/// A time of the thesis's that the table is said to change, or not to change: the strategy, the
/// time, the figure.
type Compared = (When, What, &'static str);

const FASTER: [Compared; 5] = [
    (When::Deferred, What::Allocation, "figure 4-4"),
    (When::Deferred, What::Management, "figure 4-6"),
    (When::Never, What::Management, "figure 4-7"),
    (When::Immediate, What::Allocation, "figure 4-8"),
    (When::Immediate, What::Management, "figure 4-10"),
];

const UNCHANGED: [Compared; 2] = [
    (When::Deferred, What::Collection, "figure 4-5"),
    (When::Immediate, What::Collection, "figure 4-9"),
];

/// All claims.
pub(super) fn all(found: &[Measured]) -> Vec<Claim> {
    let mut claims = Vec::new();
    claims.extend(FASTER.map(|compared| is_faster(found, compared)));
    claims.extend(UNCHANGED.map(|compared| is_unchanged(found, compared)));
    claims.extend([
        twice_as_fast(found),
        most_for_immediate(found),
        they_meet(found),
    ]);
    claims
}

/// The time without the table over that with it.
fn gain(
    measured: &Measured,
    merges: When,
    what: What,
    is_wanted: impl Fn(f64) -> bool,
) -> Vec<f64> {
    measured.over([scan(merges), with_table(merges)], what, is_wanted)
}

fn is_faster(found: &[Measured], (merges, what, figure): Compared) -> Claim {
    let name = merges_name(merges);
    Claim::that(format!("{name}: the table makes {} shorter", what.name()))
        .of(figure)
        .papers("shorter")
        .ours("without ÷ with the table")
        .over(
            on_each(found, |one| gain(one, merges, what, |_| true), Verdict::is_greater),
            "over all heaps in which both collect, by over 3 %, in every round; updates of the table included; nothing \
             is decided if rounds disagree or there is no such heap",
        )
}

fn is_unchanged(found: &[Measured], (merges, what, figure): Compared) -> Claim {
    let name = merges_name(merges);
    Claim::that(format!("{name}: the table does not change {}", what.name()))
        .of(figure)
        .papers("unchanged")
        .ours("without ÷ with the table")
        .over(
            on_each(found, |one| gain(one, merges, what, |_| true), is_same),
            "over all heaps in which both collect, within 10 % of 1 in every round; nothing is decided if rounds \
             disagree or there is no such heap",
        )
}

fn twice_as_fast(found: &[Measured]) -> Claim {
    let rounds = |one: &Measured| gain(one, When::Immediate, What::Management, is_large);
    Claim::that("the table improves immediate's heap management \"by 100 %\"")
        .of("headline")
        .of("figure 4-10")
        .papers(format!("{TWICE} x"))
        .ours(format!("without ÷ with the table, from {LARGE} x the minimum on"))
        .over(
            on_each(found, rounds, |ratio| Verdict::reaches(ratio, TWICE)),
            format!(
                "every round reaches {TWICE}; updates of the table included; nothing is decided if rounds disagree or \
                 both collect in no such heap"
            ),
        )
}

/// Immediate's gain in allocation over the greater gain of the other two, in every round.
fn immediates_lead(measured: &Measured) -> Vec<f64> {
    let gain = |merges| gain(measured, merges, What::Allocation, |_| true);
    let [never, deferred, immediate] = MERGES.map(gain);
    let greatest = |round: usize| {
        let others = [&never, &deferred];
        let others = others.iter().filter_map(|rounds| rounds.get(round));
        others.copied().reduce(f64::max)
    };
    let rounds = immediate.iter().enumerate();
    rounds
        .filter_map(|(round, gain)| Some(gain / greatest(round)?))
        .collect()
}

fn most_for_immediate(found: &[Measured]) -> Claim {
    Claim::that("the table's gain in allocation is greatest for immediate")
        .of("figure 4-8")
        .papers("the largest gain")
        .ours("immediate's gain ÷ the greater of never's and deferred's")
        .over(
            on_each(found, immediates_lead, Verdict::is_greater),
            "gain: without ÷ with the table, over all heaps in which both collect; greater by over 3 %, in every round; \
             nothing is decided if rounds disagree, or if immediate or both others collect in no such heap",
        )
}

fn they_meet(found: &[Measured]) -> Claim {
    let rounds = |one: &Measured| {
        let gain =
            |is_wanted: fn(f64) -> bool| gain(one, When::Immediate, What::Management, is_wanted);
        over(&gain(is_large), &gain(|multiple| !is_large(multiple)))
    };
    Claim::that(format!(
        "immediate: below {LARGE} x the minimum the table gains less: both curves meet in small heaps"
    ))
    .of("figure 4-10")
    .papers("the gain shrinks below about 2 x, because of updates")
    .ours(format!("gain from {LARGE} x the minimum on ÷ gain below"))
    .over(
        on_each(found, rounds, Verdict::is_greater),
        "gain in heap management: without ÷ with the table; by over 3 %, in every round; nothing is decided if rounds \
         disagree or both collect in no heap of either kind",
    )
}

#[cfg(test)]
mod tests {
    use surefit_clients::java::Finds;
    use surefit_freelist::When;

    use super::super::tests::verdict;
    use super::all;
    use crate::experiments::gc_times::measure::Measured;
    use crate::experiments::gc_times::measure::tests::made_up;
    use crate::kit::{Claim, Verdict};

    const ALL: [&str; 10] = [
        "deferred: the table makes object allocation",
        "deferred: the table makes heap management",
        "never: the table makes heap management",
        "immediate: the table makes object allocation",
        "immediate: the table makes heap management",
        "deferred: the table does not change",
        "immediate: the table does not change",
        "by 100 %",
        "greatest for immediate",
        "meet in small heaps",
    ];

    fn claims(measured: Measured) -> Vec<Claim> {
        all(&[measured])
    }

    #[test]
    fn the_table_gains_where_the_figures_are_the_thesis_s() {
        let claims = claims(made_up(|system, multiple| {
            let allocation = match (system.lists.finds, system.lists.merges) {
                (Finds::Scan, When::Immediate) if multiple < 2.0 => 2000,
                (Finds::Scan, When::Immediate) => 5000,
                (Finds::Scan, _) => 1500,
                _ => 1000,
            };
            Some((allocation, 100))
        }));
        for words in ALL {
            assert_eq!(verdict(&claims, words), Verdict::Holds, "{words}");
        }
    }

    #[test]
    fn a_table_that_costs_more_than_it_gains_is_seen() {
        let claims = claims(made_up(|system, multiple| {
            let allocation = match (system.lists.finds, system.lists.merges) {
                (Finds::Scan, When::Immediate) if multiple < 2.0 => 1000,
                (Finds::Scan, When::Immediate) => 800,
                (Finds::Scan, _) => 950,
                _ => 1000,
            };
            let collection = if system.lists.finds == Finds::Scan {
                100
            } else {
                200
            };
            Some((allocation, collection))
        }));
        for words in ALL {
            assert_eq!(verdict(&claims, words), Verdict::DoesNot, "{words}");
        }
    }
}
