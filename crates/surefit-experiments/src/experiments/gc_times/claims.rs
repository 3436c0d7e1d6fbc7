//! What the thesis says of the three times, each with a verdict from the figures.

use surefit_clients::java::{Finds, Lists, MinHeap};
use surefit_freelist::When;

use crate::kit::{Claim, Verdict};
use crate::shared::merges::{MERGES, merges_name};
use crate::shared::thesis::measured::{Measured, PLATEAU, What, geometric_mean, spread};
use crate::shared::thesis::systems::{lists, with_tree};
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// A program's name and what was measured.
type Figures<'f> = (&'f str, &'f Measured);

/// With the scan, as figures 4-1 to 4-3.
const fn scan(merges: When) -> Lists {
    lists(merges, Finds::Scan)
}

/// With the table.
const fn with_table(merges: When) -> Lists {
    lists(merges, Finds::NextHitTable)
}

/// With the bitmap.
const fn with_bitmap(merges: When) -> Lists {
    lists(merges, Finds::Bitmap)
}

/// "By 100 %": with the table, heap management takes half the time.
const TWICE: f64 = 2.0;

/// How much faster deferred and never allocate than immediate in large heaps.
const FASTER: f64 = 2.5;

/// Measured factors that are that much smaller than a printed one still are that one.
const SLACK: f64 = 0.9;

/// All claims.
pub(super) fn all(found: &[Figures<'_>]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for place in [Place::Plateau, Place::Twice] {
        for last in [Last::Searched, Last::Tree] {
            claims.extend(
                found
                    .iter()
                    .map(|one| twice_as_fast(one.0, place, last, &[one.1])),
            );
            if found.len() > 1 {
                let all: Vec<_> = found.iter().map(|(_, measured)| *measured).collect();
                claims.push(twice_as_fast("geometric mean", place, last, &all));
            }
        }
    }
    for (name, measured) in found {
        claims.extend([
            allocation_faster(name, measured, When::Deferred),
            allocation_faster(name, measured, When::Never),
            collection_shorter(name, measured),
            never_and_deferred_fail(name, measured),
            table_leaves_collection(name, measured),
            smaller_heap_collects_faster(name, measured),
        ]);
    }
    claims
}

#[derive(Clone, Copy)]
enum Place {
    Plateau,
    Twice,
}

impl Place {
    fn holds(self, multiple: f64) -> bool {
        match self {
            Self::Plateau => multiple >= PLATEAU,
            Self::Twice => multiple == 2.0,
        }
    }

    fn name(self) -> String {
        match self {
            Self::Plateau => format!("from {PLATEAU} x the minimum on"),
            Self::Twice => "at 2 x the minimum".to_owned(),
        }
    }
}

#[derive(Clone, Copy)]
enum Last {
    Searched,
    Tree,
}

impl Last {
    fn of(self, lists: Lists) -> Lists {
        match self {
            Self::Searched => lists,
            Self::Tree => with_tree(lists),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Searched => "",
            Self::Tree => " and a tree as the last list",
        }
    }
}

/// The scan's heap management time over that of a lookup, under immediate coalescing, over all
/// programs.
fn gain(all: &[&Measured], place: Place, last: Last, lookup: Lists) -> Option<Ratio> {
    let scan = last.of(scan(When::Immediate));
    let of = |measured: &&Measured| {
        let rounds = measured.over(scan, last.of(lookup), What::Management, |multiple| {
            place.holds(multiple)
        });
        (!rounds.is_empty()).then_some(rounds)
    };
    let rounds: Option<Vec<_>> = all.iter().map(of).collect();
    spread(&geometric_mean(&rounds?))
}

fn words(ratio: Option<Ratio>) -> String {
    or_not_measured(ratio)
}

fn twice_as_fast(name: &str, place: Place, last: Last, all: &[&Measured]) -> Claim {
    let [table, bitmap] = [with_table(When::Immediate), with_bitmap(When::Immediate)]
        .map(|lookup| gain(all, place, last, lookup));
    Claim::that(format!(
        "{name}: immediate{}, {}: the table makes heap management twice as fast",
        last.name(),
        place.name()
    ))
    .papers(match last {
        Last::Searched => "2 x: \"by 100 %\"".to_owned(),
        Last::Tree => "2 x, with a last list that is searched".to_owned(),
    })
    .ours(format!(
        "scan ÷ table {}, scan ÷ bitmap {}",
        words(table),
        words(bitmap)
    ))
    .decide(
        table.and_then(|table| Verdict::reaches(table, TWICE * SLACK)),
        format!(
            "updates included; every round reaches {:.1}; if rounds disagree, the \
             clock decides nothing",
            TWICE * SLACK
        ),
    )
}

fn allocation_faster(name: &str, measured: &Measured, merges: When) -> Claim {
    let rounds = measured.over(
        scan(When::Immediate),
        scan(merges),
        What::Allocation,
        |multiple| multiple >= 2.0,
    );
    let ratio = spread(&rounds);
    Claim::that(format!(
        "{name}: scan, from 2 x the minimum on: {} allocates {FASTER} x as fast \
         as immediate",
        merges_name(merges)
    ))
    .papers(format!("figure 4-1: {FASTER} x"))
    .ours(format!(
        "immediate ÷ {} {}",
        merges_name(merges),
        words(ratio)
    ))
    .decide(
        ratio.and_then(|ratio| Verdict::reaches(ratio, FASTER * SLACK)),
        format!(
            "every round reaches {:.2}; if rounds disagree, the clock decides nothing",
            FASTER * SLACK
        ),
    )
}

/// At the smallest heap in which both complete.
fn collection_shorter(name: &str, measured: &Measured) -> Claim {
    let over = |multiple: f64| {
        let rounds = measured.over(
            scan(When::Deferred),
            scan(When::Immediate),
            What::Collection,
            |one| one == multiple,
        );
        Some((multiple, spread(&rounds)?))
    };
    let smallest = measured.multiples().into_iter().find_map(over);
    Claim::that(format!(
        "{name}: scan, small heaps: immediate collects in less time than deferred"
    ))
    .papers("figure 4-2: far shorter, most in small heaps")
    .ours(match smallest {
        Some((multiple, ratio)) => {
            format!("at {multiple} x: deferred ÷ immediate {}", ratio)
        }
        None => "deferred completes in none of the heaps".to_owned(),
    })
    .decide(
        smallest.and_then(|(_, ratio)| Verdict::is_greater(ratio)),
        "in the smallest heap in which both complete, over 3 % in the median; if \
         a round disagrees, the clock decides nothing",
    )
}

fn never_and_deferred_fail(name: &str, measured: &Measured) -> Claim {
    let [never, deferred, immediate] = measured
        .minima
        .map(|bytes| bytes as f64 / measured.common() as f64);
    let (of_immediate, next) = (
        measured.minima[2],
        measured.minima[0].min(measured.minima[1]),
    );
    Claim::that(format!(
        "{name}: immediate completes in smaller heaps than deferred and never"
    ))
    .papers("figure 4-3: only immediate is usable if memory is very constrained")
    .ours(format!(
        "smallest heaps ÷ the common minimum: never {never:.2}, deferred \
         {deferred:.2}, immediate {immediate:.2}"
    ))
    .decide(
        of_immediate + MinHeap::open_bytes(next) < next,
        "found by bisection; it holds if immediate's is smaller than both by \
         more than the bisection's step",
    )
}

fn table_leaves_collection(name: &str, measured: &Measured) -> Claim {
    let ratios = MERGES.map(|merges| {
        let rounds = measured.over(
            scan(merges),
            with_table(merges),
            What::Collection,
            |multiple| multiple >= 2.0,
        );
        Some((merges, spread(&rounds)?))
    });
    let known: Vec<_> = ratios.into_iter().flatten().collect();
    let same = known
        .iter()
        .all(|(_, ratio)| (0.9..=1.1).contains(&ratio.median));
    let shown = known
        .iter()
        .map(|(merges, ratio)| format!("{} {}", merges_name(*merges), ratio));
    Claim::that(format!(
        "{name}: the table does not change garbage collection time"
    ))
    .papers("figures 4-5 and 4-9: unchanged")
    .ours(format!(
        "scan ÷ table from 2 x on: {}",
        shown.collect::<Vec<_>>().join(", ")
    ))
    .decide(
        (!known.is_empty()).then_some(same),
        "every median is within 10 % of 1",
    )
}

/// Among heaps with as many collections as the next larger one, whether the larger one's sweeps
/// read more headers.
fn smaller_heap_collects_faster(name: &str, measured: &Measured) -> Claim {
    let multiples = measured.multiples();
    let pairs = MERGES.iter().flat_map(|&merges| {
        let pairs = multiples.windows(2);
        pairs.filter_map(move |pair| {
            let [smaller, larger] =
                [pair[0], pair[1]].map(|multiple| measured.at(scan(merges), multiple));
            let (smaller, larger) = (
                &smaller?.outcome.as_ref()?.totals,
                &larger?.outcome.as_ref()?.totals,
            );
            let is_equal = smaller.collections == larger.collections && smaller.collections > 0;
            let per_collection = |totals: &surefit_gc::Totals| totals.visited;
            is_equal.then(|| per_collection(larger) >= per_collection(smaller))
        })
    });
    let pairs: Vec<bool> = pairs.collect();
    let more = pairs.iter().filter(|more| **more).count();
    Claim::that(format!(
        "{name}: with as many collections, a larger heap does not collect faster"
    ))
    .papers(
        "figure 4-2: collection time does not improve with heap size within a \
         range",
    )
    .ours(format!(
        "sweeps of the larger heap read as many headers or more in {more} of {} \
         pairs",
        pairs.len()
    ))
    .decide(
        (!pairs.is_empty()).then_some(more == pairs.len()),
        "scan; counted, for neighbouring heap sizes with equal numbers of \
         collections",
    )
}

#[cfg(test)]
mod tests {
    use surefit_clients::java::{Finds, Outcome};
    use surefit_freelist::When;

    use super::{all, smaller_heap_collects_faster};
    use crate::kit::Verdict;
    use crate::shared::thesis::measured::Measured;
    use crate::shared::thesis::measured::tests::made_up;

    fn verdicts(measured: &Measured) -> Vec<(String, Verdict)> {
        let claims = all(&[("t", measured), ("u", measured)]);
        let decided = claims
            .into_iter()
            .filter(|claim| !claim.claim.contains("as many collections"));
        decided.map(|claim| (claim.claim, claim.verdict)).collect()
    }

    #[test]
    fn the_thesis_holds_where_the_figures_are_its_own() {
        let measured = made_up(|lists, multiple| {
            let is_immediate = lists.merges == When::Immediate;
            let allocation = match (lists.finds, is_immediate) {
                (Finds::Scan, true) => 3000,
                (Finds::Scan, false) => 1000,
                _ => 500,
            };
            let collection = if is_immediate { 500 } else { 1000 };
            (is_immediate || multiple > 1.0).then_some((allocation, collection))
        });
        for (claim, verdict) in verdicts(&measured) {
            assert_eq!(verdict, Verdict::Holds, "{claim}");
        }
    }

    /// Collections and headers read, in every heap.
    fn counted(of: impl Fn(f64) -> (u64, u64)) -> Measured {
        let mut measured = made_up(|_, _| Some((1, 1)));
        for one in &mut measured.timed {
            let mut outcome = Outcome::default();
            (outcome.totals.collections, outcome.totals.visited) = of(one.multiple);
            one.outcome = Some(outcome);
        }
        measured
    }

    #[test]
    fn larger_heaps_with_as_many_collections_may_read_more_headers_or_fewer() {
        let verdict = |measured| smaller_heap_collects_faster("t", &measured).verdict;
        let more = counted(|multiple| (3, (multiple * 100.0) as u64));
        assert_eq!(verdict(more), Verdict::Holds);
        let fewer = counted(|multiple| (3, (1000.0 / multiple) as u64));
        assert_eq!(verdict(fewer), Verdict::DoesNot);
        let no_pair = counted(|multiple| ((100.0 / multiple) as u64, 1));
        assert_eq!(verdict(no_pair), Verdict::NotComparable);
    }

    #[test]
    fn the_contrary_is_told() {
        let mut measured = made_up(|lists, _| {
            let collection = if lists.merges == When::Immediate {
                900
            } else {
                500
            };
            let collection = if lists.finds == Finds::Scan {
                collection * 2
            } else {
                collection
            };
            Some((
                if lists.merges == When::Immediate {
                    10
                } else {
                    100
                },
                collection,
            ))
        });
        measured.minima = [1000, 1000, 1000];
        for (claim, verdict) in verdicts(&measured) {
            let expected = match claim.contains("twice as fast") {
                true => Verdict::Holds, // made up so, by collections
                false => Verdict::DoesNot,
            };
            assert_eq!(verdict, expected, "{claim}");
        }
        let slow = made_up(|_, _| Some((100, 100)));
        let twice = verdicts(&slow)
            .into_iter()
            .filter(|(claim, _)| claim.contains("twice as fast"));
        assert!(
            twice
                .into_iter()
                .all(|(_, verdict)| verdict == Verdict::DoesNot)
        );
    }
}
