//! The claims, each with a verdict from the figures of all programs.
#![deny(unsafe_code)]

use super::measure::{Found, HEAPS, InHeap};
use super::spaces::{BASE, LOOKUPS, STRATEGIES, Space};
use crate::kit::{Claim, Verdict};
use crate::shared::threads::figures::spread;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// By how much the table makes a collector's heap management faster: "by 100 %".
const UNDER_A_COLLECTOR: f64 = 2.0;

/// Allocations between two updates of the table under deferred coalescing, on average over the
/// programs of table 3-1.
const PAPERS_ALLOCATIONS_PER_UPDATE: f64 = 1029.0;

/// What the search for smallest heaps leaves open, and a little more: heaps that differ by less are
/// the same.
const SAME: f64 = 0.02;

/// All of them.
pub(super) fn all(found: &[Found]) -> Vec<Claim> {
    let heaps = 0..HEAPS.len();
    let mut claims = vec![prints_the_same(found)];
    claims.extend(heaps.clone().map(|at| twice_as_fast(found, at)));
    claims.extend(heaps.clone().map(|at| gains_less(found, at)));
    claims.extend(heaps.map(|at| turns_around(found, at)));
    claims.extend([
        visits_more(found),
        rarely_updated(found),
        immediate_needs_least(found),
    ]);
    claims
}

/// The ratio of two spaces' times in a heap, over the programs that end on both: its geometric
/// mean, round by round; and how many programs these are.
pub(super) fn mean_ratio(
    found: &[Found],
    at: usize,
    above: Space,
    below: Space,
    time: impl Fn(&InHeap) -> Vec<f64>,
) -> (Option<Ratio>, usize) {
    let of = |one: &Found, space| Some(time(one.row(space)?.heaps[at].as_ref()?));
    let both: Vec<_> = found
        .iter()
        .filter_map(|one| Some((of(one, above)?, of(one, below)?)))
        .collect();
    let rounds = both
        .iter()
        .map(|(above, below)| above.len().min(below.len()))
        .min();
    let mean = |round: usize| {
        let logarithms = both
            .iter()
            .map(|(above, below)| (above[round] / below[round]).ln());
        (logarithms.sum::<f64>() / both.len() as f64).exp()
    };
    let rounds: Vec<_> = (0..rounds.unwrap_or(0)).map(mean).collect();
    let is_sound = !rounds.is_empty() && rounds.iter().all(|ratio| ratio.is_finite());
    (is_sound.then(|| spread(&rounds)), both.len())
}

fn prints_the_same(found: &[Found]) -> Claim {
    let runs: u64 = found.iter().map(|one| one.runs).sum();
    let same: u64 = found.iter().map(|one| one.same).sum();
    Claim::that("every program prints the same on every space as on the platform's malloc")
        .papers("none: ours")
        .ours(format!("{same} of {runs} runs"))
        .decide(
            (runs > 0).then_some(same == runs),
            "what is printed is compared byte by byte",
        )
}

/// Heap management time with the walk over that with the table, merged at once.
fn scan_over_table(found: &[Found], at: usize) -> (Option<Ratio>, usize) {
    let scan = Space::new(BASE.strategy, "scan");
    mean_ratio(found, at, scan, BASE, InHeap::management_ns)
}

fn twice_as_fast(found: &[Found], at: usize) -> Claim {
    let (ratio, programs) = scan_over_table(found, at);
    let decided = ratio.and_then(|ratio| Verdict::reaches(ratio, UNDER_A_COLLECTOR));
    Claim::that(format!(
        "{}x: the table makes heap management twice as fast as the walk, merged \
         at once",
        HEAPS[at]
    ))
    .papers("\"by 100 %\": 2 under a collector that sweeps in one pass")
    .measured(ratio.map(|ratio| format!("walk ÷ table {}, {programs} programs", ratio)))
    .decide(
        decided,
        "calls and collections, Lua's own marking included, geometric mean; if \
         rounds disagree, the clock decides nothing",
    )
}

fn gains_less(found: &[Found], at: usize) -> Claim {
    let scan = Space::new(BASE.strategy, "scan");
    let (ratio, programs) = mean_ratio(found, at, scan, BASE, |in_heap| in_heap.call_ns.clone());
    let decided = ratio.and_then(|ratio| Verdict::reaches(ratio, UNDER_A_COLLECTOR));
    Claim::that(format!(
        "{}x: with explicit frees the table gains less",
        HEAPS[at]
    ))
    .papers("predicted in the outlook; 2 under a collector")
    .measured(ratio.map(|ratio| format!("walk ÷ table {}, {programs} programs", ratio)))
    .decide(
        decided.map(|reaches| !reaches),
        "calls outside of collections alone; it holds if the ratio is below 2 in \
         every round",
    )
}

fn turns_around(found: &[Found], at: usize) -> Claim {
    let over = |strategy| {
        let other = Space::new(strategy, BASE.lookup);
        mean_ratio(found, at, other, BASE, InHeap::management_ns)
    };
    let others = [STRATEGIES[0], STRATEGIES[1]];
    let ratios = others.map(|strategy| (strategy, over(strategy)));
    let decided: Option<Vec<_>> = ratios
        .iter()
        .map(|(_, (ratio, _))| ratio.and_then(Verdict::is_greater))
        .collect();
    let shown = ratios.map(|(strategy, (ratio, programs))| {
        let ratio = or_not_measured(ratio);
        format!("{strategy} ÷ immediate {ratio}, {programs} programs")
    });
    Claim::that(format!(
        "{}x: with the table, immediate coalescing takes less time than deferred \
         and never",
        HEAPS[at]
    ))
    .papers("figures 4-11 to 4-13: best or equal at all heap sizes")
    .ours(shown.join("; "))
    .decide(
        decided.map(|decided| decided.into_iter().all(|greater| greater)),
        "over 3 % less than each in the median, over the programs that end on \
         both; if a round disagrees, the clock decides nothing",
    )
}

/// Visits an allocation with the walk in the larger heap, strategy by strategy: means over the
/// programs that end on all three; and how many programs these are.
fn visits(found: &[Found]) -> Option<([f64; 3], usize)> {
    let of = |one: &Found, strategy| {
        let row = one.row(Space::new(strategy, LOOKUPS[0]))?;
        Some(row.heaps[1].as_ref()?.visits())
    };
    let all: Vec<[f64; 3]> = found
        .iter()
        .filter_map(|one| {
            let [never, deferred, immediate] = STRATEGIES.map(|strategy| of(one, strategy));
            Some([never?, deferred?, immediate?])
        })
        .collect();
    let mean = |at: usize| all.iter().map(|visits| visits[at]).sum::<f64>() / all.len() as f64;
    (!all.is_empty()).then(|| ([0, 1, 2].map(mean), all.len()))
}

fn visits_more(found: &[Found]) -> Claim {
    let visits = visits(found);
    Claim::that(
        "with the walk, immediate coalescing visits more nodes an allocation \
         than deferred and never",
    )
    .papers("table 2-2: never 15-40, deferred 17-40, immediate 50")
    .measured(visits.map(|([never, deferred, immediate], programs)| {
        format!(
            "never {never:.1}, deferred {deferred:.1}, immediate {immediate:.1}, \
                 {programs} programs"
        )
    }))
    .decide(
        visits.map(|([never, deferred, immediate], _)| immediate > never.max(deferred)),
        format!(
            "counted; means over the programs that end on all three in {}x; heads \
             and chunks looked at",
            HEAPS[1]
        ),
    )
}

fn rarely_updated(found: &[Found]) -> Claim {
    let space = Space::new("deferred", BASE.lookup);
    let ended = found
        .iter()
        .filter_map(|one| one.row(space)?.heaps[1].as_ref());
    let (mut allocations, mut updates) = (0, 0);
    for in_heap in ended {
        allocations += in_heap.counts.allocations;
        updates += in_heap.counters.table_updates;
    }
    let between = (allocations > 0).then(|| allocations as f64 / updates.max(1) as f64);
    let least = PAPERS_ALLOCATIONS_PER_UPDATE / 10.0;
    Claim::that("deferred coalescing updates the table once in about 1000 allocations")
        .papers(format!(
            "table 3-1: once in {PAPERS_ALLOCATIONS_PER_UPDATE:.0}, rebuilt in one \
             pass after a collection"
        ))
        .measured(between.map(|between| format!("once in {between:.1}")))
        .decide(
            between.map(|between| between >= least),
            format!(
                "counted over all programs in {}x; it holds from once in {least:.0} on",
                HEAPS[1]
            ),
        )
}

fn immediate_needs_least(found: &[Found]) -> Claim {
    let of =
        |one: &Found, strategy| Some(one.row(Space::new(strategy, BASE.lookup))?.smallest as f64);
    let ratios: Option<Vec<_>> = found
        .iter()
        .map(|one| {
            let immediate = of(one, STRATEGIES[2])?;
            Some([
                of(one, STRATEGIES[0])? / immediate,
                of(one, STRATEGIES[1])? / immediate,
            ])
        })
        .collect();
    let ratios = ratios.filter(|ratios| !ratios.is_empty());
    let range = |ratios: &[[f64; 2]], at: usize| {
        let values = ratios.iter().map(|ratio| ratio[at]);
        let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        format!("{least:.2} to {most:.2}")
    };
    Claim::that("no strategy needs a smaller heap than immediate coalescing")
        .papers("figure 4-3: only immediate is usable if memory is very constrained")
        .measured(ratios.as_ref().map(|ratios| {
            format!(
                "smallest heap ÷ immediate's: never {}, deferred {}",
                range(ratios, 0),
                range(ratios, 1)
            )
        }))
        .decide(
            ratios.map(|ratios| ratios.iter().flatten().all(|ratio| *ratio > 1.0 - SAME)),
            format!(
                "found by the table, in every program; {:.0} % less counts as the same",
                SAME * 100.0
            ),
        )
}

#[cfg(test)]
mod tests {
    use super::all;
    use crate::experiments::gc_lua::measure::{Found, InHeap, Row};
    use crate::experiments::gc_lua::spaces::Space;
    use crate::kit::Verdict;

    /// One program whose every space has figures of its own.
    fn found(figures: impl Fn(Space) -> (usize, f64, u64)) -> Vec<Found> {
        let rows = Space::all().into_iter().map(|space| {
            let (smallest, ns, updates) = figures(space);
            let mut in_heap = InHeap {
                call_ns: vec![ns; 3],
                collection_ns: vec![0.0; 3],
                run_ns: vec![ns; 3],
                ..InHeap::default()
            };
            in_heap.counts.allocations = 1000;
            in_heap.counters.visits = ns as u64;
            in_heap.counters.table_updates = updates;
            Row {
                space,
                smallest,
                heaps: [Some(in_heap.clone()), Some(in_heap)],
            }
        });
        let rows = rows.collect();
        vec![Found {
            program: "p",
            rows,
            runs: 2,
            same: 2,
        }]
    }

    fn verdicts(found: &[Found]) -> Vec<Verdict> {
        all(found).iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn every_claim_can_hold_and_can_fail() {
        let thesis = verdicts(&found(|space| match (space.strategy, space.lookup) {
            ("immediate", "scan") => (100, 250.0, 0),
            ("immediate", _) => (100, 100.0, 1),
            (_, "scan") => (150, 200.0, 0),
            _ => (150, 150.0, 1),
        }));
        let other = verdicts(&found(|space| match (space.strategy, space.lookup) {
            ("immediate", "scan") => (100, 110.0, 0),
            ("immediate", _) => (100, 100.0, 900),
            (_, "scan") => (90, 200.0, 0),
            _ => (90, 90.0, 900),
        }));
        let (holds, fails) = (Verdict::Holds, Verdict::DoesNot);
        let expected = [
            holds, holds, holds, fails, fails, holds, holds, holds, holds, holds,
        ];
        assert_eq!(thesis, expected);
        assert_eq!(
            other,
            [
                holds, fails, fails, holds, holds, fails, fails, fails, fails, fails
            ]
        );
        let mut wrong = found(|_| (100, 1.0, 0));
        wrong[0].same = 1;
        assert_eq!(verdicts(&wrong)[0], fails);
        let mut nothing = found(|_| (100, 1.0, 0));
        nothing[0]
            .rows
            .iter_mut()
            .for_each(|row| row.heaps = [None, None]);
        assert!(
            verdicts(&nothing)[1..9]
                .iter()
                .all(|verdict| *verdict == Verdict::NotComparable)
        );
    }
}
