//! Figures 4-1 to 4-3: never, deferred and immediate coalescing, without a table.

use surefit_freelist::When;

use super::rules::{LARGE, SAME, SLACK, is_at_most, is_large, is_same, on_each, over, scan};
use crate::experiments::gc_times::measure::{Measured, What};
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::merges::{MERGES, merges_name};
use crate::shared::thesis::heaps::Minima;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// How much faster deferred and never allocate than immediate in large heaps.
const FASTER: f64 = 2.5;

/// How much better their heap management is there.
const TWICE: f64 = 2.0;

/// All claims.
pub(super) fn all(found: &[Measured]) -> Vec<Claim> {
    vec![
        allocates_faster(found, When::Deferred),
        allocates_faster(found, When::Never),
        never_is_as_deferred(found),
        degrades(found, When::Deferred),
        degrades(found, When::Never),
        collects_faster(found),
        most_in_small_heaps(found),
        larger_heaps_collect_no_faster(found),
        manages_twice_as_fast(found, When::Deferred),
        manages_twice_as_fast(found, When::Never),
        only_immediate_is_usable(found),
    ]
}

fn allocates_faster(found: &[Measured], merges: When) -> Claim {
    let pair = [scan(When::Immediate), scan(merges)];
    let rounds = |one: &Measured| one.over(pair, What::Allocation, is_large);
    let name = merges_name(merges);
    Claim::that(format!(
        "without the table, {name} allocates {FASTER} x as fast as immediate from {LARGE} x the minimum on"
    ))
    .of("figure 4-1")
    .papers(format!("{FASTER} x"))
    .ours(format!("immediate ÷ {name}"))
    .over(
        on_each(found, rounds, |ratio| Verdict::reaches(ratio, FASTER * SLACK)),
        format!(
            "every round reaches {:.2}; nothing is decided if rounds disagree or both collect in no such heap",
            FASTER * SLACK
        ),
    )
}

fn never_is_as_deferred(found: &[Measured]) -> Claim {
    let pair = [scan(When::Never), scan(When::Deferred)];
    let rounds = |one: &Measured| one.over(pair, What::Allocation, is_large);
    Claim::that(format!(
        "without the table, never's allocation time is comparable to deferred's from {LARGE} x the minimum on"
    ))
    .of("figure 4-1")
    .papers("never ÷ deferred about 1")
    .ours("never ÷ deferred")
    .over(
        on_each(found, rounds, is_same),
        "within 10 % of 1 in every round; nothing is decided if rounds disagree or both collect in no such heap",
    )
}

/// How much a system's allocation time grows from a large heap to the smallest in which it
/// collects.
fn growth(measured: &Measured, merges: When, smallest: f64, large: f64) -> Option<Vec<f64>> {
    let ns = |multiple| {
        let one = measured.at(scan(merges), multiple)?;
        Some(one.ns(What::Allocation))
    };
    Some(over(&ns(smallest)?, &ns(large)?))
}

/// How much a strategy's allocation time grows, and how much immediate's, between the same two
/// heaps; round by round.
fn growths(measured: &Measured, merges: When) -> Option<[Ratio; 2]> {
    let heaps = measured.collected(&[scan(merges), scan(When::Immediate)]);
    let smallest = *heaps.iter().find(|multiple| **multiple < LARGE)?;
    let large = *heaps.iter().find(|multiple| is_large(**multiple))?;
    let theirs = growth(measured, merges, smallest, large)?;
    let immediates = growth(measured, When::Immediate, smallest, large)?;
    Some([Ratio::of(&theirs)?, Ratio::of(&immediates)?])
}

/// Whether the first grows by more than a tenth and immediate by less; `None` if rounds disagree.
fn is_sharp_and_hardly([theirs, immediates]: [Ratio; 2]) -> Option<bool> {
    match (is_at_most(theirs, SAME), is_at_most(immediates, SAME)) {
        (Some(true), _) | (_, Some(false)) => Some(false),
        (Some(false), Some(true)) => Some(true),
        _ => None,
    }
}

fn degrades(found: &[Measured], merges: When) -> Claim {
    let name = merges_name(merges);
    let on = |measured: &Measured| {
        let growths = growths(measured, merges);
        let shown = growths.map(|[theirs, immediates]| format!("{theirs}, immediate {immediates}"));
        OnProgram {
            name: measured.name.clone(),
            test: growths.and_then(is_sharp_and_hardly),
            ratio: growths.map(|[theirs, _]| theirs),
            shown: or_not_measured(shown),
        }
    };
    Claim::that(format!(
        "without the table, below {LARGE} x the minimum {name}'s allocation degrades sharply, immediate's hardly"
    ))
    .of("figure 4-1")
    .papers("sharply, and hardly")
    .ours(format!("growth of {name}, and of immediate"))
    .over(
        found.iter().map(on).collect(),
        format!(
            "allocation time in the smallest heap in which both collect, below {LARGE} x, over that in the first heap \
             from {LARGE} x on: {name}'s grows by over a tenth in every round, and immediate's does not; nothing is \
             decided if rounds disagree or one of the heaps is missing. The mean is of {name}'s growth"
        ),
    )
}

/// Deferred's collection time over immediate's at one multiple.
fn collection(measured: &Measured, multiple: f64) -> Vec<f64> {
    let pair = [scan(When::Deferred), scan(When::Immediate)];
    measured.ratio(pair, What::Collection, multiple)
}

fn collects_faster(found: &[Measured]) -> Claim {
    let rounds = |one: &Measured| {
        let heaps = one.collected(&[scan(When::Deferred), scan(When::Immediate)]);
        heaps
            .first()
            .map_or_else(Vec::new, |first| collection(one, *first))
    };
    Claim::that("in small heaps immediate collects in less time than deferred")
        .of("figure 4-2")
        .papers("far shorter, most in small heaps")
        .ours("deferred ÷ immediate")
        .over(
            on_each(found, rounds, Verdict::is_greater),
            "in the smallest heap in which both collect, by over 3 %, in every round; nothing is decided if rounds \
             disagree or there is no such heap",
        )
}

fn most_in_small_heaps(found: &[Measured]) -> Claim {
    let rounds = |one: &Measured| {
        let heaps = one.collected(&[scan(When::Deferred), scan(When::Immediate)]);
        match heaps.as_slice() {
            [smallest, .., largest] => {
                over(&collection(one, *smallest), &collection(one, *largest))
            }
            _ => Vec::new(),
        }
    };
    Claim::that("immediate's gain in collection time is greatest in small heaps")
        .of("figure 4-2")
        .papers("most in small heaps")
        .ours("deferred ÷ immediate in the smallest heap ÷ the same in the largest")
        .over(
            on_each(found, rounds, Verdict::is_greater),
            "by over 3 %, in every round, between the smallest and the largest heap in which both collect; nothing is \
             decided if rounds disagree or there is one such heap at most",
        )
}

/// Among neighbouring heap sizes with equal numbers of collections: pairs in which sweeps of the
/// larger heap read as many headers or more, and all pairs.
fn pairs(measured: &Measured) -> (usize, usize) {
    let multiples = measured.multiples();
    let totals = |merges, multiple| {
        let round = measured.at(scan(merges), multiple)?.rounds.first()?;
        Some((round.totals.collections, round.totals.visited))
    };
    let pairs = MERGES.iter().flat_map(|&merges| {
        let pairs = multiples.windows(2).filter_map(move |pair| {
            let (smaller, larger) = (totals(merges, pair[0])?, totals(merges, pair[1])?);
            (smaller.0 == larger.0 && smaller.0 > 0).then_some(larger.1 >= smaller.1)
        });
        pairs.collect::<Vec<_>>()
    });
    let pairs: Vec<bool> = pairs.collect();
    (pairs.iter().filter(|more| **more).count(), pairs.len())
}

fn larger_heaps_collect_no_faster(found: &[Measured]) -> Claim {
    let on = |measured: &Measured| {
        let (more, all) = pairs(measured);
        OnProgram {
            name: measured.name.clone(),
            test: (all > 0).then_some(more == all),
            ratio: None,
            shown: format!("{more} of {all} pairs"),
        }
    };
    Claim::that("with as many collections, a larger heap does not collect faster")
        .of("figure 4-2")
        .papers("collection time does not improve with heap size within a range")
        .ours("pairs in which the larger heap's sweeps read as many headers or more")
        .over(
            found.iter().map(on).collect(),
            "counted: in all pairs of neighbouring heap sizes with equal numbers of collections; nothing is decided if \
             there is no such pair",
        )
}

fn manages_twice_as_fast(found: &[Measured], merges: When) -> Claim {
    let pair = [scan(When::Immediate), scan(merges)];
    let rounds = |one: &Measured| one.over(pair, What::Management, is_large);
    let name = merges_name(merges);
    Claim::that(format!(
        "without the table, {name} manages large heaps {TWICE} x better than immediate"
    ))
    .of("figure 4-3")
    .papers(format!("{TWICE} x"))
    .ours(format!("immediate ÷ {name}"))
    .over(
        on_each(found, rounds, |ratio| Verdict::reaches(ratio, TWICE * SLACK)),
        format!(
            "from {LARGE} x the minimum on, every round reaches {:.1}; nothing is decided if rounds disagree or both \
             collect in no such heap",
            TWICE * SLACK
        ),
    )
}

fn only_immediate_is_usable(found: &[Measured]) -> Claim {
    let on = |measured: &Measured| {
        let [never, deferred, immediate] = measured.minima.one_heap;
        let next = never.min(deferred);
        let ratio = next as f64 / immediate as f64;
        let is_usable = immediate + Minima::open_bytes(next) < next;
        OnProgram::timed(measured.name.as_str(), is_usable, &[ratio])
    };
    Claim::that("immediate completes in smaller heaps than deferred and never")
        .of("figure 4-3")
        .papers("only immediate is usable if memory is very constrained")
        .ours("the smaller of never's and deferred's smallest heaps ÷ immediate's")
        .over(
            found.iter().map(on).collect(),
            "found by bisection in one heap; immediate's is smaller than both by more than the bisection's step",
        )
}

#[cfg(test)]
mod tests {
    use surefit_freelist::When;

    use super::super::tests::verdict;
    use super::all;
    use crate::experiments::gc_times::measure::tests::{Made, made, made_up};
    use crate::kit::Verdict;

    const TIMED: [&str; 9] = [
        "deferred allocates 2.5 x",
        "never allocates 2.5 x",
        "never's allocation time is comparable",
        "deferred's allocation degrades",
        "never's allocation degrades",
        "immediate collects in less time",
        "gain in collection time is greatest",
        "deferred manages large heaps",
        "never manages large heaps",
    ];

    #[test]
    fn the_thesis_holds_where_the_figures_are_its_own() {
        let measured = made_up(|system, multiple| {
            let is_immediate = system.lists.merges == When::Immediate;
            let is_small = multiple < 2.0;
            let allocation = match (is_immediate, is_small) {
                (true, _) => 3000,
                (false, true) => 5000,
                (false, false) => 1000,
            };
            let collection = match (is_immediate, is_small) {
                (true, _) => 200,
                (false, true) => 900,
                (false, false) => 300,
            };
            (is_immediate || multiple > 1.0).then_some((allocation, collection))
        });
        let claims = all(&[measured]);
        for words in TIMED {
            assert_eq!(verdict(&claims, words), Verdict::Holds, "{words}");
        }
        let usable = verdict(&claims, "completes in smaller heaps");
        assert_eq!(usable, Verdict::Holds);
    }

    #[test]
    fn the_contrary_is_seen_and_programs_are_counted() {
        let contrary = || {
            made_up(|system, multiple| {
                let slow = match system.lists.merges {
                    When::Immediate => 1000,
                    When::Deferred => 2000,
                    When::Never => 5000,
                };
                let collection = match system.lists.merges {
                    When::Immediate => 500,
                    _ => 100 * multiple as u64,
                };
                let allocation = match system.lists.merges {
                    When::Immediate => slow + (4000.0 / multiple) as u64,
                    _ => slow,
                };
                Some((allocation, collection))
            })
        };
        let mut measured = contrary();
        measured.minima.one_heap = [1000, 1000, 1000];
        let claims = all(&[measured, contrary()]);
        for words in TIMED {
            assert_eq!(verdict(&claims, words), Verdict::DoesNot, "{words}");
        }
        let half = Verdict::HoldsOn { programs: 1, of: 2 };
        assert_eq!(verdict(&claims, "completes in smaller heaps"), half);
        let mut level = contrary();
        level.minima.one_heap = [1000, 1000, 1000];
        let usable = verdict(&all(&[level]), "completes in smaller heaps");
        assert_eq!(usable, Verdict::DoesNot);
    }

    #[test]
    fn both_must_be_seen_that_deferred_degrades_sharply_and_immediate_hardly() {
        let grows = |deferreds: u64, immediates: u64| {
            let measured = made_up(|system, multiple| {
                let most = match system.lists.merges {
                    When::Immediate => immediates,
                    _ => deferreds,
                };
                Some((if multiple < 2.0 { most } else { 1000 }, 100))
            });
            verdict(&all(&[measured]), "deferred's allocation degrades")
        };
        assert_eq!(grows(1500, 1050), Verdict::Holds);
        assert_eq!(grows(1500, 1300), Verdict::DoesNot);
        assert_eq!(grows(1050, 1000), Verdict::DoesNot);
    }

    #[test]
    fn larger_heaps_with_as_many_collections_may_read_more_headers_or_fewer() {
        let counted = |of: fn(f64) -> (u64, u64)| {
            let measured = made(move |_, multiple| {
                let (collections, visited) = of(multiple);
                Some(Made {
                    allocation: 1,
                    collection: 1,
                    collections,
                    visited,
                })
            });
            verdict(&all(&[measured]), "as many collections")
        };
        assert_eq!(
            counted(|multiple| (3, (multiple * 100.0) as u64)),
            Verdict::Holds
        );
        assert_eq!(
            counted(|multiple| (3, (1000.0 / multiple) as u64)),
            Verdict::DoesNot
        );
        let no_pair = counted(|multiple| ((100.0 / multiple) as u64, 1));
        assert_eq!(no_pair, Verdict::NotComparable);
    }
}
