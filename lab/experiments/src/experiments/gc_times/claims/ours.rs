//! Ours beside the thesis's one heap: two ends with a reserve, a bitmap, a tree.

use surefit_freelist::When;

use super::rules::{on_each, with_table};
use crate::experiments::gc_times::measure::{BITMAP, Measured, OURS, What};
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::thesis::heaps::Minima;
use crate::shared::thesis::systems::System;

/// All claims.
pub(super) fn all(found: &[Measured]) -> Vec<Claim> {
    vec![
        completes_in_less(found),
        is_faster(found, "a bitmap instead of the table", BITMAP),
        is_faster(found, "ours: two ends, a bitmap and a tree", OURS),
    ]
}

fn completes_in_less(found: &[Measured]) -> Claim {
    let on = |measured: &Measured| {
        let (one_heap, ours) = (measured.minima.one_heap[2], measured.minima.ours);
        let ratio = one_heap as f64 / ours as f64;
        let is_less = ours + Minima::open_bytes(one_heap) < one_heap;
        OnProgram::timed(measured.name.as_str(), is_less, &[ratio])
    };
    Claim::that("immediate: ours completes in smaller heaps than one heap")
        .ours_alone()
        .papers("no second end, no reserve")
        .ours("one heap's smallest ÷ ours")
        .over(
            found.iter().map(on).collect(),
            "found by bisection; smaller by more than the bisection's step",
        )
}

fn is_faster(found: &[Measured], what: &str, ours: System) -> Claim {
    let pair = [with_table(When::Immediate), ours];
    Claim::that(format!("immediate: {what} makes heap management shorter than with the table"))
        .ours_alone()
        .ours("one heap with the table ÷ it")
        .over(
            on_each(
                found,
                |one| one.over(pair, What::Management, |_| true),
                Verdict::is_greater,
            ),
            "over all heaps in which both collect, by over 3 %, in every round; nothing is decided if rounds disagree \
             or there is no such heap",
        )
}

#[cfg(test)]
mod tests {
    use surefit_clients::java::Finds;

    use super::super::tests::verdict;
    use super::all;
    use crate::experiments::gc_times::measure::tests::made_up;
    use crate::kit::Verdict;

    const ALL: [&str; 3] = [
        "ours completes in smaller heaps",
        "a bitmap instead of the table",
        "two ends, a bitmap and a tree",
    ];

    #[test]
    fn ours_may_gain_or_lose() {
        let verdicts = |bitmap: u64, ours: usize| {
            let mut measured = made_up(|system, _| {
                let is_bitmap = system.lists.finds == Finds::Bitmap;
                Some((if is_bitmap { bitmap } else { 1000 }, 100))
            });
            measured.minima.ours = ours;
            let claims = all(&[measured]);
            ALL.map(|words| verdict(&claims, words))
        };
        assert_eq!(verdicts(500, 900_000), [Verdict::Holds; 3]);
        assert_eq!(verdicts(2000, 1_000_000), [Verdict::DoesNot; 3]);
    }
}
