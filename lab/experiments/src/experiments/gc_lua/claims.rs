//! The claims, each over all programs.
#![deny(unsafe_code)]

use super::measure::{Found, HEAPS, InHeap};
use super::spaces::{BASE, LOOKUPS, STRATEGIES, Space};
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::collector_gain::Gains;
use crate::shared::threads::figures::spread;
use surefit_freelist::When;
use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// By how much the table makes a collector's heap management faster: "by 100 %".
const UNDER_A_COLLECTOR: f64 = 2.0;

/// Allocations between two updates of the table under deferred coalescing, on average over the
/// programs of table 3-1.
const PAPERS_ALLOCATIONS_PER_UPDATE: f64 = 1029.0;

/// An order of magnitude: figures within this factor are alike, since the programs are others.
const ALIKE: f64 = 10.0;

/// What the search for smallest heaps leaves open, and a little more: heaps that differ by less are
/// the same.
const SAME: f64 = 0.02;

/// All of them; `gains` are the table's under a collector in the same run.
pub(super) fn all(found: &[Found], gains: Option<&Gains>) -> Vec<Claim> {
    let heaps = 0..HEAPS.len();
    let mut claims = vec![prints_the_same(found)];
    claims.extend(heaps.clone().map(|at| twice_as_fast(found, at)));
    claims.extend(heaps.clone().map(|at| gains_less(found, at, gains)));
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
    let programs = found.iter().map(|one| OnProgram {
        name: one.program.to_owned(),
        test: (one.runs > 0).then_some(one.same == one.runs),
        ratio: None,
        shown: format!("{} of {} runs", one.same, one.runs),
    });
    Claim::that("every program prints the same on every space as on the platform's malloc")
        .ours_alone()
        .papers("none: ours")
        .over(
            programs.collect(),
            "what is printed is compared byte by byte",
        )
}

/// The ratio of two spaces' times in a heap of one program.
fn ratio(found: &Found, at: usize, above: Space, time: fn(&InHeap) -> Vec<f64>) -> Option<Ratio> {
    mean_ratio(std::slice::from_ref(found), at, above, BASE, time).0
}

/// What stands where a program ends on one of two spaces only, or on none.
const NOT_BOTH: &str = "does not end on both";

/// A program's ratio, tested.
fn on(found: &Found, ratio: Option<Ratio>, test: impl Fn(Ratio) -> Option<bool>) -> OnProgram {
    OnProgram {
        name: found.program.to_owned(),
        test: ratio.and_then(test),
        ratio,
        shown: ratio.map_or_else(|| NOT_BOTH.to_owned(), |ratio| ratio.to_string()),
    }
}

/// Merged at once, with the heads walked.
const SCAN: Space = Space::new(BASE.strategy, LOOKUPS[0]);

fn twice_as_fast(found: &[Found], at: usize) -> Claim {
    let programs = found.iter().map(|one| {
        let ratio = ratio(one, at, SCAN, InHeap::management_ns);
        on(one, ratio, |ratio| {
            Verdict::reaches(ratio, UNDER_A_COLLECTOR)
        })
    });
    Claim::that(format!(
        "{}x: the table makes heap management twice as fast as the walk, merged \
         at once",
        HEAPS[at]
    ))
    .of("headline")
    .papers("\"by 100 %\": 2 under a collector that sweeps in one pass")
    .ours("walk ÷ table")
    .over(
        programs.collect(),
        "calls and collections, Lua's own marking included; twice in every round holds; where \
         rounds disagree, the clock decides nothing",
    )
}

/// How many times a collector gains as much from the table as a program that frees.
fn less(collector: Ratio, program: Ratio) -> Ratio {
    Ratio {
        median: collector.median / program.median,
        min: collector.min / program.max,
        max: collector.max / program.min,
    }
}

fn gains_less(found: &[Found], at: usize, gains: Option<&Gains>) -> Claim {
    let immediate = |gains: &Gains| {
        let mut all = gains.gains.iter();
        all.find(|(merges, _)| *merges == When::Immediate)
            .map(|(_, gain)| *gain)
    };
    let collector = gains.and_then(immediate);
    let programs = found.iter().map(|one| {
        let gain = ratio(one, at, SCAN, |in_heap| in_heap.call_ns.clone());
        let both = collector.zip(gain);
        let less = both.map(|(collector, gain)| less(collector, gain));
        let on = on(one, less, Verdict::is_greater);
        let shown = gain.map_or_else(|| NOT_BOTH.to_owned(), |gain| format!("gains {gain}"));
        OnProgram { shown, ..on }
    });
    let ours = collector.zip(gains).map(|(gain, gains)| {
        format!(
            "walk ÷ table; under a collector {gain} ({}, {} times the smallest heap)",
            gains.program, gains.heap
        )
    });
    Claim::that(format!(
        "{}x: with explicit frees the table gains less than under a collector",
        HEAPS[at]
    ))
    .of("explicit free")
    .papers("predicted in the outlook")
    .ours(ours.unwrap_or_else(|| "no collector to compare with".to_owned()))
    .over(
        programs.collect(),
        "time in calls outside of Lua's collections, merged at once: the gain of the thesis's \
         lists under a collector in the same run is over 3 % greater in the median, and greater in every \
         round; where rounds disagree, the clock decides nothing. The mean is of the collector's \
         gain ÷ the program's",
    )
}

fn turns_around(found: &[Found], at: usize) -> Claim {
    let programs = found.iter().map(|one| {
        let ratios = [STRATEGIES[0], STRATEGIES[1]].map(|strategy| {
            (
                strategy,
                ratio(
                    one,
                    at,
                    Space::new(strategy, BASE.lookup),
                    InHeap::management_ns,
                ),
            )
        });
        let tests =
            ratios.map(|(_, ratio)| ratio.and_then(|ratio| Verdict::is_greater(ratio.inverse())));
        let test = Verdict::any_of(tests).map(|is_faster| !is_faster);
        let shown =
            ratios.map(|(strategy, ratio)| format!("{strategy} {}", or_not_measured(ratio)));
        OnProgram {
            name: one.program.to_owned(),
            test,
            ratio: None,
            shown: shown.join(", "),
        }
    });
    Claim::that(format!(
        "{}x: with the table, immediate coalescing takes the least time, or as little as deferred \
         and never",
        HEAPS[at]
    ))
    .of("figure 4-13")
    .papers("best or equal at all heap sizes")
    .ours("time ÷ immediate's")
    .over(
        programs.collect(),
        "calls and collections: neither of the others takes over 3 % less in any round; not \
         comparable where a program does not end on all three, or rounds disagree",
    )
}

/// Visits per allocation with the walk in the larger heap, strategy by strategy; `None` unless the
/// program ends on all three.
fn visits(found: &Found) -> Option<[f64; 3]> {
    let of = |strategy| {
        let row = found.row(Space::new(strategy, LOOKUPS[0]))?;
        Some(row.heaps[1].as_ref()?.visits())
    };
    let [never, deferred, immediate] = STRATEGIES.map(of);
    Some([never?, deferred?, immediate?])
}

fn visits_more(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let visits = visits(one);
        let shown = visits.map(|visits| visits.map(|visits| format!("{visits:.1}")).join(", "));
        let others = |visits: [f64; 3]| visits[0].max(visits[1]);
        OnProgram {
            test: visits.map(|visits| visits[2] > others(visits)),
            shown: shown.unwrap_or_else(|| "does not end on all three".to_owned()),
            ..OnProgram::timed(
                one.program,
                None,
                visits.map(|visits| visits[2] / others(visits)).as_slice(),
            )
        }
    });
    Claim::that(
        "with the walk, immediate coalescing visits more nodes per allocation than deferred and never",
    )
    .of("table 2-2")
    .papers("never 15-40, deferred 17-40, immediate 50")
    .ours("never, deferred, immediate")
    .over(
        programs.collect(),
        format!(
            "counted in {}x: heads and chunks looked at. The mean is of immediate's ÷ the greater \
             of the others'",
            HEAPS[1]
        ),
    )
}

fn rarely_updated(found: &[Found]) -> Claim {
    let space = Space::new("deferred", BASE.lookup);
    let least = PAPERS_ALLOCATIONS_PER_UPDATE / ALIKE;
    let programs = found.iter().map(|one| {
        let in_heap = one.row(space).and_then(|row| row.heaps[1].as_ref());
        let between = in_heap
            .filter(|in_heap| in_heap.counts.allocations > 0)
            .map(|in_heap| {
                in_heap.counts.allocations as f64 / in_heap.counters.table_updates.max(1) as f64
            });
        OnProgram {
            name: one.program.to_owned(),
            test: between.map(|between| between >= least),
            ratio: None,
            shown: between.map_or_else(
                || "does not end".to_owned(),
                |between| format!("once in {between:.1}"),
            ),
        }
    });
    Claim::that("deferred coalescing updates the table only once in about 1000 allocations")
        .of("table 3-1")
        .papers(format!(
            "once in {PAPERS_ALLOCATIONS_PER_UPDATE:.0}, rebuilt in one pass after a collection"
        ))
        .over(
            programs.collect(),
            format!(
                "counted in {}x; it holds from once in {least:.0} on. Here objects are freed one by \
                 one, so no update is a rebuild's",
                HEAPS[1]
            ),
        )
}

fn immediate_needs_least(found: &[Found]) -> Claim {
    let programs = found.iter().map(|one| {
        let of = |strategy| Some(one.row(Space::new(strategy, BASE.lookup))?.smallest as f64);
        let over = |strategy| Some(of(strategy)? / of(STRATEGIES[2])?);
        let both = over(STRATEGIES[0]).zip(over(STRATEGIES[1]));
        OnProgram {
            name: one.program.to_owned(),
            test: both.map(|(never, deferred)| never.min(deferred) > 1.0 - SAME),
            ratio: None,
            shown: both.map_or_else(
                || "not measured".to_owned(),
                |(never, deferred)| format!("{never:.2}, {deferred:.2}"),
            ),
        }
    });
    Claim::that("no strategy needs a smaller heap than immediate coalescing")
        .of("figure 4-3")
        .papers("only immediate is usable if memory is very constrained")
        .ours("smallest heap ÷ immediate's, of never and of deferred")
        .over(
            programs.collect(),
            format!(
                "found by the table; {:.0} % less counts as the same",
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
    use crate::shared::collector_gain::Gains;
    use surefit_freelist::When;
    use surefit_measure::results::Ratio;

    /// One program whose every space has figures of its own.
    fn found(figures: impl Fn(Space) -> (usize, f64, u64)) -> Found {
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
        Found {
            program: "p",
            rows: rows.collect(),
            runs: 2,
            same: 2,
        }
    }

    fn thesis() -> Found {
        found(|space| match (space.strategy, space.lookup) {
            ("immediate", "scan") => (100, 250.0, 0),
            ("immediate", _) => (100, 100.0, 1),
            (_, "scan") => (150, 200.0, 0),
            _ => (150, 150.0, 1),
        })
    }

    fn contrary() -> Found {
        let mut found = found(|space| match (space.strategy, space.lookup) {
            ("immediate", "scan") => (100, 110.0, 0),
            ("immediate", _) => (100, 100.0, 900),
            (_, "scan") => (90, 200.0, 0),
            _ => (90, 90.0, 900),
        });
        found.same = 1;
        found
    }

    /// A collector to which the table is worth so much.
    fn collector(gain: f64) -> Gains {
        Gains {
            program: "java".to_owned(),
            heap: 2.0,
            collections: 5,
            gains: vec![(When::Immediate, Ratio::of(&[gain]).expect("one"))],
        }
    }

    fn verdicts(found: &[Found], gain: f64) -> Vec<Verdict> {
        let claims = all(found, Some(&collector(gain)));
        claims.iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn every_claim_can_hold_and_can_fail() {
        assert_eq!(verdicts(&[thesis()], 3.0), [Verdict::Holds; 10]);
        assert_eq!(verdicts(&[contrary()], 1.1), [Verdict::DoesNot; 10]);
        let both = [thesis(), contrary()];
        let some = Verdict::HoldsOn { programs: 1, of: 2 };
        assert_eq!(verdicts(&both, 2.0), [some; 10]);
    }

    #[test]
    fn the_collectors_gain_in_the_same_run_decides() {
        // the program gains 2.5
        let less = |gain| verdicts(&[thesis()], gain)[3];
        assert_eq!((less(2.6), less(2.4)), (Verdict::Holds, Verdict::DoesNot));
        let without = all(&[thesis()], None);
        assert_eq!(without[3].verdict, Verdict::NotComparable);
    }

    #[test]
    fn a_program_that_ends_on_no_space_decides_nothing() {
        let mut nothing = thesis();
        for row in &mut nothing.rows {
            row.heaps = [None, None];
        }
        let verdicts = verdicts(&[nothing], 2.0);
        assert_eq!(verdicts[1..9], [Verdict::NotComparable; 8]);
        let none = all(&[], None);
        assert!(
            none.iter()
                .all(|claim| claim.verdict == Verdict::NotComparable)
        );
    }

    #[test]
    fn a_strategy_that_may_be_faster_leaves_the_turn_around_open() {
        let mut found = thesis();
        for row in &mut found.rows {
            if row.space == Space::new("never", "nht") {
                for in_heap in row.heaps.iter_mut().flatten() {
                    in_heap.call_ns = vec![80.0, 90.0, 120.0];
                }
            }
        }
        let verdicts = verdicts(&[found], 3.0);
        assert_eq!(verdicts[5..7], [Verdict::NotComparable; 2]);
    }
}
