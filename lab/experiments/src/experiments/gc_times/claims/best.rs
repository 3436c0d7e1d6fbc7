//! Figures 4-11 to 4-13: the three strategies with the table.

use surefit_freelist::When;

use super::rules::{SAME, is_at_most, is_large, on_each, with_table};
use crate::experiments::gc_times::measure::{Measured, What};
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::merges::merges_name;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// All claims.
pub(super) fn all(found: &[Measured]) -> Vec<Claim> {
    vec![
        allocates_as_deferred(found),
        collects_fastest(found),
        is_best(found),
    ]
}

fn allocates_as_deferred(found: &[Measured]) -> Claim {
    let pair = [with_table(When::Immediate), with_table(When::Deferred)];
    Claim::that("with the table, no gap in allocation time from immediate to deferred is observable")
        .of("figure 4-11")
        .papers("not observable")
        .ours("immediate ÷ deferred")
        .over(
            on_each(
                found,
                |one| one.over(pair, What::Allocation, |_| true),
                |ratio| is_at_most(ratio, SAME),
            ),
            "over all heaps in which both collect, at most 1.1 in every round; nothing is decided if rounds disagree or \
             there is no such heap",
        )
}

fn collects_fastest(found: &[Measured]) -> Claim {
    let pair = [with_table(When::Deferred), with_table(When::Immediate)];
    Claim::that("with the table, immediate collects in less time than deferred")
        .of("figure 4-12")
        .papers("less: as without the table")
        .ours("deferred ÷ immediate")
        .over(
            on_each(
                found,
                |one| one.over(pair, What::Collection, |_| true),
                Verdict::is_greater,
            ),
            "over all heaps in which both collect, by over 3 %, in every round; nothing is decided if rounds disagree \
             or there is no such heap",
        )
}

/// Immediate's heap management time over another strategy's, below 2 x the minimum and from there
/// on.
fn compared(measured: &Measured) -> Vec<(When, Ratio)> {
    let places: [fn(f64) -> bool; 2] = [|multiple| !is_large(multiple), is_large];
    let pairs = [When::Deferred, When::Never]
        .into_iter()
        .flat_map(|other| places.map(|place| (other, place)));
    let ratios = pairs.filter_map(|(other, place)| {
        let pair = [with_table(When::Immediate), with_table(other)];
        let ratio = Ratio::of(&measured.over(pair, What::Management, place))?;
        Some((other, ratio))
    });
    ratios.collect()
}

/// Whether immediate is slower nowhere; `None` if it is nowhere known to be slower, and somewhere
/// not known.
fn is_slower_nowhere(compared: &[(When, Ratio)]) -> Option<bool> {
    let slower = compared.iter();
    let slower = slower.map(|(_, ratio)| Verdict::is_greater(*ratio));
    Verdict::any_of(slower).map(|is_slower| !is_slower)
}

fn is_best(found: &[Measured]) -> Claim {
    let on = |measured: &Measured| {
        let compared = compared(measured);
        let worst = compared
            .iter()
            .max_by(|(_, one), (_, other)| one.median.total_cmp(&other.median));
        let shown = match worst {
            Some((other, ratio)) => format!("at worst {ratio} of {}", merges_name(*other)),
            None => or_not_measured(None::<Ratio>),
        };
        OnProgram {
            name: measured.name.clone(),
            test: is_slower_nowhere(&compared),
            ratio: worst.map(|(_, ratio)| *ratio),
            shown,
        }
    };
    Claim::that("with the table, immediate's heap management is the best or equal at all heap sizes")
        .of("figure 4-13")
        .papers("the turn-around: the best or equal")
        .ours("immediate ÷ deferred and ÷ never")
        .over(
            found.iter().map(on).collect(),
            "below 2 x the minimum and from there on, in no round over 3 % slower than either, where both collect; nothing is \
             decided if rounds disagree or there is no such heap",
        )
}

#[cfg(test)]
mod tests {
    use surefit_freelist::When;

    use super::super::tests::verdict;
    use super::all;
    use crate::experiments::gc_times::measure::tests::made_up;
    use crate::kit::Verdict;

    const ALL: [&str; 3] = [
        "no gap in allocation",
        "immediate collects in less time",
        "best or equal at all heap sizes",
    ];

    #[test]
    fn the_turn_around_is_seen_and_so_is_the_contrary() {
        let verdicts = |immediate: u64| {
            let measured = made_up(|system, _| {
                Some(match system.lists.merges {
                    When::Immediate => (immediate, immediate),
                    _ => (1000, 1000),
                })
            });
            let claims = all(&[measured]);
            ALL.map(|words| verdict(&claims, words))
        };
        assert_eq!(verdicts(900), [Verdict::Holds; 3]);
        assert_eq!(verdicts(2000), [Verdict::DoesNot; 3]);
    }

    #[test]
    fn where_only_immediate_completes_nothing_is_decided() {
        let alone = made_up(|system, _| (system.lists.merges == When::Immediate).then_some((1, 1)));
        let claims = all(&[alone]);
        let verdicts = ALL.map(|words| verdict(&claims, words));
        assert_eq!(verdicts, [Verdict::NotComparable; 3]);
    }
}
