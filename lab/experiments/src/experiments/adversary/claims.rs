//! Verdicts: what the theory says of every system, and whether the counts agree.
#![deny(unsafe_code)]

use super::escape::{Escaped, SIMULATED};
use super::ground::Attempt;
use super::measured::{All, Measured, UNITS};
use super::program::{BestFit, Robson};
use super::search::Found;
use super::systems::{Known, LOOKUPS, NEVER_MOVE};
use crate::kit::{Claim, OnProgram};

/// All claims.
pub(super) fn claims(all: &All) -> Vec<Claim> {
    let systems: Vec<_> = NEVER_MOVE
        .iter()
        .enumerate()
        .map(|(place, system)| {
            let found = all.robson.iter().map(|one| (one.program, one.found[place]));
            UnderRobson {
                system: system.name,
                known: system.known,
                found: found.collect(),
            }
        })
        .collect();
    let needed = |name| of(&all.best_fit, name).map(|(_, found)| found.needed());
    let spans = |name| of(&all.pattern, name).map(|(program, found)| (program, span(&found)));
    let ratios = |part: &str| {
        let escaped = all.escaped_robson.iter();
        let with = escaped.filter(|one| one.system.name.contains(part));
        with.map(|one| one.ratio(one.least_bytes))
            .collect::<Vec<_>>()
    };
    vec![
        theorem(&systems),
        predicted(&systems),
        within_log_n(&systems),
        same_placement(LOOKUPS.map(|name| places(all, name))),
        best_fit_fails(&of(&all.best_fit, "best-fit").collect::<Vec<_>>()),
        pattern_spans(&spans("best-fit").collect::<Vec<_>>()),
        tlsf_as_best_fit(
            &needed("tlsf").collect::<Vec<_>>(),
            &needed("best-fit").collect::<Vec<_>>(),
        ),
        first_fit_withstands(
            &spans("first-fit").collect::<Vec<_>>(),
            &spans("best-fit").collect::<Vec<_>>(),
        ),
        certificates_suffice(
            &all.escaped()
                .flatten()
                .map(Certified::of)
                .collect::<Vec<_>>(),
        ),
        beats_robson(&ratios("κ=1,"), &ratios("κ=16,"), SIMULATED),
    ]
}

fn listed(words: impl Iterator<Item = Option<u64>>) -> String {
    let words = words.map(|words| words.map_or_else(|| "-".to_owned(), |words| words.to_string()));
    words.collect::<Vec<_>>().join(", ")
}

/// A system that never moves, and what it needs for P_R.
pub(super) struct UnderRobson {
    pub(super) system: &'static str,
    /// What it is known to need; `None` if nothing is but Robson's bound.
    pub(super) known: Option<Known>,
    pub(super) found: Vec<(Robson, Found)>,
}

impl UnderRobson {
    /// What it says about a claim: a test of each program, and words over M of the largest.
    fn on(&self, shown: String, test: impl Fn(&(Robson, Found)) -> bool) -> OnProgram {
        OnProgram {
            name: self.system.to_owned(),
            test: (!self.found.is_empty()).then(|| self.found.iter().all(test)),
            ratio: None,
            shown,
        }
    }

    fn needed(&self) -> String {
        listed(self.found.iter().map(|(_, found)| found.needed()))
    }
}

/// Robson's bound for each program.
fn bounds(systems: &[UnderRobson]) -> String {
    let found = systems.first().map_or(&[][..], |one| &one.found);
    listed(found.iter().map(|(robson, _)| Some(robson.bound())))
}

/// A non-moving system needs Robson's bound at least: one that ends in less moves, or counts
/// wrongly.
pub(super) fn theorem(systems: &[UnderRobson]) -> Claim {
    let on = |one: &UnderRobson| {
        let below = one
            .found
            .iter()
            .filter(|(_, found)| found.below.run.completed);
        let ends = below.count();
        let shown = match ends {
            0 => one.needed(),
            ends => format!("{}, ends below {ends} times", one.needed()),
        };
        one.on(shown, |(_, found)| !found.is_below_bound())
    };
    Claim::that("P_R cannot end below Robson's bound in a heap that never moves")
        .of("Robson")
        .papers(bounds(systems))
        .ours("words needed")
        .over(
            systems.iter().map(on).collect(),
            "it holds on a system that runs out in the largest heap of fewer words, for every M and n",
        )
}

/// What a system is predicted to need is what it needs.
fn predicted(systems: &[UnderRobson]) -> Claim {
    let on = |one: &UnderRobson| {
        let known = one.known?;
        let words = |robson: &Robson| known.words(robson.bound(), 1 << robson.log2_largest);
        let is_known = |(robson, found): &(Robson, Found)| {
            let words = words(robson);
            found.needed().is_some_and(|needed| {
                needed == words || known.is_at_most() && needed < words && needed >= found.bound
            })
        };
        let predicted = listed(one.found.iter().map(|(robson, _)| Some(words(robson))));
        let most = if known.is_at_most() { "at most " } else { "" };
        let shown = if predicted == one.needed() {
            predicted
        } else {
            format!("{}, {most}{predicted} predicted", one.needed())
        };
        Some(one.on(shown, is_known))
    };
    Claim::that(
        "P_R needs exactly Robson's bound; unmerged lists also what is left free before the end; \
         buddy at most whole blocks of n words",
    )
    .of("Robson")
    .papers(bounds(systems))
    .ours("words needed, as predicted unless said")
    .over(
        systems.iter().filter_map(on).collect(),
        "it holds on a system if they agree; every capacity from the bound on was tried until it \
         ended",
    )
}

/// The worst case is within a factor of log n of what is live.
fn within_log_n(systems: &[UnderRobson]) -> Claim {
    // of log n times M, what is needed
    let share =
        |(robson, found): &(Robson, Found)| Some(found.ratio()? / f64::from(robson.log2_largest));
    let on = |one: &UnderRobson| {
        let shares: Option<Vec<_>> = one.found.iter().map(share).collect();
        let most = shares.map(|shares| shares.into_iter().fold(0.0, f64::max));
        let shown = most.map_or_else(|| "-".to_owned(), |most| format!("{most:.2}"));
        one.on(shown, |one| share(one).is_some_and(|share| share <= 1.0))
    };
    Claim::that("the worst case of a heap that never moves is within a factor of log n of M: P_R")
        .of("Bendersky-Petrank")
        .of("Robson")
        .papers("within a factor of log n of what the program requires, says the abstract")
        .ours("words needed ÷ (M log2 n), at most")
        .over(
            systems.iter().map(on).collect(),
            "it holds on a system that needs at most log2 n times M words",
        )
}

/// All addresses that a system handed out, program by program, as hashes.
fn places(all: &All, name: &str) -> Option<Vec<u64>> {
    let place = NEVER_MOVE.iter().position(|system| system.name == name)?;
    let robson = all.robson.iter().map(|one| one.found[place]);
    let found = robson.chain(all.best_fit.iter().map(|one| one.found[place]));
    Some(found.map(|found| found.ample.run.account.places).collect())
}

/// The lookups of segregated lists find the same lists, so every object lies at the same place.
fn same_placement(places: [Option<Vec<u64>>; 3]) -> Claim {
    let [first, others @ ..] = places;
    let runs = first.as_ref().map_or(0, Vec::len);
    let is_same = first.map(|first| others.iter().all(|other| other.as_ref() == Some(&first)));
    Claim::that(
        "segregated lists: scan, next-hit table and bitmap place every object \
         alike",
    )
    .ours_alone()
    .ours(format!("{runs} programs compared by all their addresses"))
    .decide(
        is_same,
        "a hash over all addresses in the order in which they were handed out is \
         equal",
    )
}

/// What one system found for every m.
fn of<'a, F: Copy>(
    measured: &'a [Measured<BestFit, F>],
    name: &str,
) -> impl Iterator<Item = (BestFit, F)> + 'a {
    let place = NEVER_MOVE.iter().position(|system| system.name == name);
    measured
        .iter()
        .filter_map(move |one| Some((one.program, one.found[place?])))
}

fn span(found: &Attempt) -> u64 {
    found.run.account.span()
}

fn best_fit_fails(found: &[(BestFit, Found)]) -> Claim {
    let runs_out = |(program, found): &(BestFit, Found)| {
        !found.below.run.completed
            && found.below.capacity + 1 == program.bound()
            && found
                .needed()
                .is_some_and(|needed| needed >= program.bound())
    };
    Claim::that("best-fit: runs out in one word less than (M - 5m + 15)(m - 2)")
        .of("Robson 1977")
        .papers(format!(
            "{} words at least: (M - 4m + 11)(m - 2), with Robson's endgame",
            listed(
                found
                    .iter()
                    .map(|(program, _)| Some(program.robsons_bound()))
            )
        ))
        .ours(format!(
            "needs {} words for {}",
            listed(found.iter().map(|(_, found)| found.needed())),
            listed(found.iter().map(|(program, _)| Some(program.bound()))),
        ))
        .decide(
            (!found.is_empty()).then(|| found.iter().all(runs_out)),
            "it holds if it runs out in that heap; shorter heaps, in which the \
             pattern breaks, may be enough",
        )
}

fn pattern_spans(spans: &[(BestFit, u64)]) -> Claim {
    Claim::that(
        "best-fit: in an ample heap, the pattern alone spans (M - 4m + 11)(m - \
         2) words or more",
    )
    .of("Robson 1977")
    .papers(listed(
        spans
            .iter()
            .map(|(program, _)| Some(program.robsons_bound())),
    ))
    .ours(listed(spans.iter().map(|(_, span)| Some(*span))))
    .decide(
        (!spans.is_empty()).then(|| {
            spans
                .iter()
                .all(|(program, span)| *span >= program.robsons_bound())
        }),
        "counted from the first word in use to the last",
    )
}

fn tlsf_as_best_fit(tlsf: &[Option<u64>], best: &[Option<u64>]) -> Claim {
    Claim::that("tlsf: its worst case is that of best fit")
        .of("worst cases")
        .papers("like best fit's")
        .ours(format!(
            "tlsf {}; best-fit {}",
            listed(tlsf.iter().copied()),
            listed(best.iter().copied())
        ))
        .decide(
            (!best.is_empty()).then(|| tlsf == best && best.iter().all(Option::is_some)),
            "it holds if the same program takes as many words on both",
        )
}

fn first_fit_withstands(first: &[(BestFit, u64)], best: &[(BestFit, u64)]) -> Claim {
    let ratios = |spans: &[(BestFit, u64)]| -> Vec<f64> {
        let spans = spans.iter();
        spans
            .map(|(program, span)| *span as f64 / program.live() as f64)
            .collect()
    };
    let (first_fit, best_fit) = (ratios(first), ratios(best));
    let words = |ratios: &[f64]| {
        let ratios = ratios.iter().map(|ratio| format!("{ratio:.2}"));
        ratios.collect::<Vec<_>>().join(", ")
    };
    let is_long = !first.is_empty() && first.iter().all(|(program, _)| program.units >= UNITS);
    let mut both = first_fit.iter().zip(&best_fit);
    Claim::that(
        "in an ample heap, the program against best fit harms first fit less than best fit",
    )
    .of("worst cases")
    .papers("first fit about M(1 + log n) at most, best fit M(n - 2): o1heap's README")
    .ours(format!(
        "first-fit {} times M, best-fit {} times M",
        words(&first_fit),
        words(&best_fit)
    ))
    .decide(
        is_long.then(|| both.all(|(first, best)| first < best)),
        format!(
            "it holds if the pattern spans fewer words on first fit for each m; not comparable for \
             k below {UNITS}, a pattern too short to span much"
        ),
    )
}

/// A heap under its certificate.
struct Certified {
    name: String,
    certified: u64,
    least: u64,
    ends: bool,
}

impl Certified {
    fn of(escaped: &Escaped) -> Self {
        Self {
            name: format!(
                "{}, {}, M = {}",
                escaped.system.name,
                escaped.program.name(),
                escaped.program.live()
            ),
            certified: escaped.certified_bytes,
            least: escaped.least_bytes,
            ends: escaped.completed,
        }
    }
}

fn certificates_suffice(heaps: &[Certified]) -> Claim {
    let on = |heap: &Certified| OnProgram {
        name: heap.name.clone(),
        test: Some(heap.ends && heap.least <= heap.certified),
        ratio: None,
        shown: format!("{:.2}", heap.certified as f64 / heap.least as f64),
    };
    Claim::that("the certified bytes are enough for the program")
        .ours_alone()
        .ours("certified ÷ least bytes")
        .over(
            heaps.iter().map(on).collect(),
            "it holds on a system if the program ends in a region of exactly the certified bytes, and \
             the least region that bisection finds is no larger",
        )
}

fn beats_robson(small: &[f64], large: &[f64], robson: Robson) -> Claim {
    let bound = robson.bound();
    let most = bound as f64 / robson.live as f64;
    let (below, above) = (
        small.iter().all(|ratio| *ratio < most),
        large.iter().any(|ratio| *ratio >= most),
    );
    let held = |of: &[f64]| {
        let ratios: Vec<_> = of.iter().map(|ratio| format!("{ratio:.2}")).collect();
        ratios.join(", ")
    };
    Claim::that(
        "Compact-fit with a small κ beats Robson's bound, with a large κ on a \
         small heap it does not",
    )
    .of("Robson")
    .papers(format!("{bound} words, {most:.2} times M"))
    .ours(format!(
        "least bytes ÷ live bytes, κ=1: {}; κ=16: {}",
        held(small),
        held(large)
    ))
    .decide(
        (!small.is_empty() && !large.is_empty()).then_some(below && above),
        "it holds if the least heap, tables included, is smaller than that with \
         κ=1, and no smaller with κ=16 in one page size",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::Verdict;

    const ROBSON: Robson = Robson {
        live: 1024,
        log2_largest: 5,
    };

    /// A system that needs so many words, and may end below the bound.
    fn under(needed: u64, ends_below: bool, known: Option<Known>) -> UnderRobson {
        let attempt = |capacity, completed| {
            let mut attempt = Attempt {
                capacity,
                ..Attempt::default()
            };
            attempt.run.completed = completed;
            attempt
        };
        let found = Found {
            bound: ROBSON.bound(),
            live: ROBSON.live,
            below: attempt(ROBSON.bound() - 1, ends_below),
            least: Some(attempt(needed, true)),
            ample: Attempt::default(),
        };
        UnderRobson {
            system: "s",
            known,
            found: vec![(ROBSON, found)],
        }
    }

    #[test]
    fn a_system_below_robsons_bound_refutes_it() {
        let bound = ROBSON.bound();
        let honest = || under(bound, false, None);
        assert_eq!(theorem(&[honest()]).verdict, Verdict::Holds);
        assert_eq!(
            theorem(&[under(bound, true, None)]).verdict,
            Verdict::DoesNot
        );
        let some = Verdict::HoldsOn { programs: 1, of: 2 };
        let claim = theorem(&[honest(), under(bound - 9, false, None)]);
        assert_eq!(claim.verdict, some);
        assert_eq!(theorem(&[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn a_prediction_is_kept_to_the_word() {
        let bound = ROBSON.bound();
        let verdict = |needed, known| predicted(&[under(needed, false, Some(known))]).verdict;
        assert_eq!(verdict(bound, Known::Exact), Verdict::Holds);
        assert_eq!(verdict(bound + 1, Known::Exact), Verdict::DoesNot);
        assert_eq!(
            verdict(bound + 31, Known::Unmerged(u64::MAX)),
            Verdict::Holds
        );
        assert_eq!(verdict(bound, Known::Unmerged(u64::MAX)), Verdict::DoesNot);
        assert_eq!(verdict(bound + 1, Known::Blocks), Verdict::Holds);
        assert_eq!(verdict(bound + 32, Known::Blocks), Verdict::DoesNot);
        let unknown = predicted(&[under(bound, false, None)]);
        assert_eq!(unknown.verdict, Verdict::NotComparable);
    }

    #[test]
    fn more_than_log_n_times_m_is_too_much() {
        let verdict = |needed| within_log_n(&[under(needed, false, None)]).verdict;
        assert_eq!(verdict(ROBSON.bound()), Verdict::Holds);
        assert_eq!(verdict(5 * 1024), Verdict::Holds);
        assert_eq!(verdict(5 * 1024 + 1), Verdict::DoesNot);
    }

    #[test]
    fn one_other_address_is_another_placement() {
        let verdict = |third| same_placement([Some(vec![1, 2]), Some(vec![1, 2]), third]).verdict;
        assert_eq!(verdict(Some(vec![1, 2])), Verdict::Holds);
        assert_eq!(verdict(Some(vec![1, 3])), Verdict::DoesNot);
        assert_eq!(verdict(None), Verdict::DoesNot);
        assert_eq!(
            same_placement([None, None, None]).verdict,
            Verdict::NotComparable
        );
    }

    fn pattern() -> BestFit {
        BestFit {
            tail: 0,
            ..BestFit::in_a_region(8, UNITS)
        }
    }

    #[test]
    fn best_fit_must_run_out_just_below_its_bound() {
        let program = BestFit::in_a_region(8, UNITS);
        let found = |needed: u64, ends| {
            let under = under(needed, ends, None);
            let mut found = under.found[0].1;
            found.below.capacity = program.bound() - 1;
            [(program, found)]
        };
        let verdict = |needed, ends| best_fit_fails(&found(needed, ends)).verdict;
        assert_eq!(verdict(program.bound(), false), Verdict::Holds);
        assert_eq!(verdict(program.bound(), true), Verdict::DoesNot);
        assert_eq!(verdict(program.bound() - 1, false), Verdict::DoesNot);
        assert_eq!(best_fit_fails(&[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn a_short_span_refutes_the_pattern() {
        let (program, bound) = (pattern(), pattern().robsons_bound());
        let verdict = |span| pattern_spans(&[(program, span)]).verdict;
        assert_eq!(verdict(bound), Verdict::Holds);
        assert_eq!(verdict(bound - 1), Verdict::DoesNot);
        assert_eq!(pattern_spans(&[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn tlsf_needs_what_best_fit_needs_or_something_else() {
        let best = [Some(174), Some(290)];
        assert_eq!(tlsf_as_best_fit(&best, &best).verdict, Verdict::Holds);
        let other = [Some(174), Some(291)];
        assert_eq!(tlsf_as_best_fit(&other, &best).verdict, Verdict::DoesNot);
        assert_eq!(tlsf_as_best_fit(&[], &[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn first_fit_is_compared_with_best_fit_in_the_same_run() {
        let (long, short) = (
            pattern(),
            BestFit {
                units: 24,
                ..pattern()
            },
        );
        let verdict =
            |program, first| first_fit_withstands(&[(program, first)], &[(program, 1000)]).verdict;
        assert_eq!(verdict(long, 300), Verdict::Holds);
        assert_eq!(verdict(long, 1000), Verdict::DoesNot);
        assert_eq!(verdict(short, 300), Verdict::NotComparable);
        assert_eq!(
            first_fit_withstands(&[], &[]).verdict,
            Verdict::NotComparable
        );
    }

    #[test]
    fn a_certificate_that_does_not_suffice_is_found_out() {
        let heap = |least, ends| Certified {
            name: "cf".to_owned(),
            certified: 100,
            least,
            ends,
        };
        let verdict = |heaps: &[Certified]| certificates_suffice(heaps).verdict;
        assert_eq!(verdict(&[heap(80, true), heap(100, true)]), Verdict::Holds);
        assert_eq!(verdict(&[heap(100, false)]), Verdict::DoesNot);
        assert_eq!(verdict(&[heap(101, true)]), Verdict::DoesNot);
        assert_eq!(verdict(&[]), Verdict::NotComparable);
    }

    #[test]
    fn a_small_kappa_beats_the_bound_and_a_large_one_does_not() {
        let verdict = |small: &[f64], large: &[f64]| beats_robson(small, large, ROBSON).verdict;
        assert_eq!(verdict(&[1.6, 2.1], &[3.4, 6.4]), Verdict::Holds);
        assert_eq!(verdict(&[1.6, 3.5], &[3.4, 6.4]), Verdict::DoesNot);
        assert_eq!(verdict(&[1.6, 2.1], &[3.4, 3.4]), Verdict::DoesNot);
        assert_eq!(verdict(&[], &[6.4]), Verdict::NotComparable);
    }
}
