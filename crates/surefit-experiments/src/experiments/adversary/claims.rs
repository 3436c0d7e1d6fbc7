//! Verdicts: what the theory says of every system, and whether the counts agree.
#![deny(unsafe_code)]

use super::escape::{Escaped, SIMULATED};
use super::ground::Attempt;
use super::measured::{All, Measured, UNITS};
use super::program::{BestFit, Robson};
use super::search::Found;
use super::systems::{Known, LOOKUPS, NEVER_MOVE};
use crate::kit::Claim;

/// All claims.
pub(super) fn claims(all: &All) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (place, system) in NEVER_MOVE.iter().enumerate() {
        let of_it: Vec<_> = all
            .robson
            .iter()
            .map(|one| (one.program, one.found[place]))
            .collect();
        claims.push(theorem(system.name, &of_it));
        let known = system.known;
        claims.extend(known.map(|known| predicted(system.name, known, &of_it)));
    }
    claims.push(same_placement(all));
    claims.push(best_fit_fails(&all.best_fit));
    claims.push(pattern_spans(&all.pattern));
    claims.push(tlsf_as_best_fit(&all.best_fit));
    claims.push(first_fit_withstands(&all.pattern));
    for escaped in all.escaped().flatten() {
        claims.push(certificate_suffices(escaped));
    }
    claims.push(beats_robson(&all.escaped_robson));
    claims
}

fn listed(words: impl Iterator<Item = Option<u64>>) -> String {
    let words = words.map(|words| words.map_or_else(|| "-".to_owned(), |words| words.to_string()));
    words.collect::<Vec<_>>().join(", ")
}

/// A non-moving system needs Robson's bound at least: one that ends in less moves, or counts
/// wrongly.
pub(super) fn theorem(system: &str, found: &[(Robson, Found)]) -> Claim {
    let tried = found.iter().map(|(_, found)| Some(found.below.capacity));
    let ends = found
        .iter()
        .filter(|(_, found)| found.below.run.completed)
        .count();
    Claim::that(format!("{system}: P_R cannot end below Robson's bound"))
        .papers(listed(found.iter().map(|(robson, _)| Some(robson.bound()))))
        .ours(format!(
            "ends in {} words, and in {ends} of the largest heaps below the bound \
             ({})",
            listed(found.iter().map(|(_, found)| found.needed())),
            listed(tried),
        ))
        .decide(
            (!found.is_empty()).then(|| !found.iter().any(|(_, found)| found.is_below_bound())),
            "it holds if it runs out in the largest heap of fewer words",
        )
}

/// What a system is predicted to need is what it needs.
fn predicted(system: &str, known: Known, found: &[(Robson, Found)]) -> Claim {
    let words = |robson: &Robson| known.words(robson.bound(), 1 << robson.log2_largest);
    let is_known = |(robson, found): &(Robson, Found)| {
        let words = words(robson);
        found.needed().is_some_and(|needed| {
            needed == words || known.is_at_most() && needed < words && needed >= found.bound
        })
    };
    Claim::that(format!("{system}: P_R needs {}", known.what()))
        .papers(listed(found.iter().map(|(robson, _)| Some(robson.bound()))))
        .ours(format!(
            "{}{} words predicted, {} needed",
            if known.is_at_most() { "at most " } else { "" },
            listed(found.iter().map(|(robson, _)| Some(words(robson)))),
            listed(found.iter().map(|(_, found)| found.needed()))
        ))
        .decide(
            (!found.is_empty()).then(|| found.iter().all(is_known)),
            "it holds if they agree; every capacity from the bound on was tried \
             until it ended",
        )
}

/// The lookups of segregated lists find the same lists, so every object lies at the same place.
fn same_placement(all: &All) -> Claim {
    let places = |name: &str| -> Option<Vec<u64>> {
        let place = NEVER_MOVE.iter().position(|system| system.name == name)?;
        let robson = all.robson.iter().map(|one| one.found[place]);
        let found = robson.chain(all.best_fit.iter().map(|one| one.found[place]));
        Some(found.map(|found| found.ample.run.account.places).collect())
    };
    let [first, others @ ..] = LOOKUPS.map(places);
    let runs = first.as_ref().map_or(0, Vec::len);
    let is_same = first.map(|first| others.iter().all(|other| other.as_ref() == Some(&first)));
    Claim::that(
        "segregated lists: scan, next-hit table and bitmap place every object \
         alike",
    )
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

fn best_fit_fails(measured: &[Measured<BestFit>]) -> Claim {
    let found: Vec<_> = of(measured, "best-fit").collect();
    let runs_out = |(program, found): &(BestFit, Found)| {
        !found.below.run.completed
            && found.below.capacity + 1 == program.bound()
            && found
                .needed()
                .is_some_and(|needed| needed >= program.bound())
    };
    Claim::that("best-fit: runs out in one word less than (M - 5m + 15)(m - 2)")
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

fn pattern_spans(measured: &[Measured<BestFit, Attempt>]) -> Claim {
    let found: Vec<_> = of(measured, "best-fit").collect();
    let span = |found: &Attempt| found.run.account.span();
    Claim::that(
        "best-fit: in an ample heap, the pattern alone spans (M - 4m + 11)(m - \
         2) words or more",
    )
    .papers(listed(
        found
            .iter()
            .map(|(program, _)| Some(program.robsons_bound())),
    ))
    .ours(listed(found.iter().map(|(_, found)| Some(span(found)))))
    .decide(
        (!found.is_empty()).then(|| {
            found
                .iter()
                .all(|(program, found)| span(found) >= program.robsons_bound())
        }),
        "counted from the first word in use to the last",
    )
}

fn tlsf_as_best_fit(measured: &[Measured<BestFit>]) -> Claim {
    let needed = |name| {
        of(measured, name)
            .map(|(_, found)| found.needed())
            .collect::<Vec<_>>()
    };
    let (tlsf, best) = (needed("tlsf"), needed("best-fit"));
    Claim::that("tlsf: its worst case is that of best fit")
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

/// What the pattern may span on first fit, in multiples of M: a quarter of it lost.
const FIRST_FIT_MOST: f64 = 1.25;

fn first_fit_withstands(measured: &[Measured<BestFit, Attempt>]) -> Claim {
    let ratios: Vec<_> = of(measured, "first-fit")
        .map(|(program, found)| found.run.account.span() as f64 / program.live() as f64)
        .collect();
    let words = ratios.iter().map(|ratio| format!("{ratio:.2}"));
    let is_long = measured.iter().all(|one| one.program.units >= UNITS);
    Claim::that(
        "first-fit: in an ample heap, the program against best fit hardly harms \
         it",
    )
    .papers("1.05-1.12 times M, simulated in addresses' order")
    .ours(format!("{} times M", words.collect::<Vec<_>>().join(", ")))
    .decide(
        (is_long && !ratios.is_empty())
            .then(|| ratios.iter().all(|ratio| *ratio <= FIRST_FIT_MOST)),
        format!(
            "it holds if the pattern spans at most {FIRST_FIT_MOST} times M words; \
             decided for k = {UNITS} and more, as simulated"
        ),
    )
}

fn certificate_suffices(escaped: &Escaped) -> Claim {
    Claim::that(format!(
        "{}: {}, M = {}, ends in exactly the bytes that suffice by its count",
        escaped.system.name,
        escaped.program.name(),
        escaped.program.live()
    ))
    .ours(format!(
        "{} B certified, {} B needed",
        escaped.certified_bytes, escaped.least_bytes
    ))
    .decide(escaped.completed, "one run in a region of just that size")
}

fn beats_robson(escaped: &[Escaped]) -> Claim {
    let bound = SIMULATED.bound();
    let most = bound as f64 / SIMULATED.live as f64;
    let is_below = |escaped: &&Escaped| escaped.ratio(escaped.least_bytes) < most;
    let with = |part: &str| {
        escaped
            .iter()
            .filter(|one| one.system.name.contains(part))
            .collect::<Vec<_>>()
    };
    let (small, large) = (with("κ=1,"), with("κ=16,"));
    let (below, above) = (small.iter().all(is_below), !large.iter().all(is_below));
    let held = |of: &[&Escaped]| {
        let ratios = of.iter().map(|one| one.ratio(one.least_bytes));
        let ratios: Vec<_> = ratios.map(|ratio| format!("{ratio:.2}")).collect();
        ratios.join(", ")
    };
    Claim::that(
        "Compact-fit with a small κ beats Robson's bound, with a large κ on a \
         small heap it does not",
    )
    .papers(format!("{bound} words, {most:.2} times M"))
    .ours(format!(
        "least bytes ÷ live bytes, κ=1: {}; κ=16: {}",
        held(&small),
        held(&large)
    ))
    .decide(
        (!small.is_empty() && !large.is_empty()).then_some(below && above),
        "it holds if the least heap, tables included, is smaller than that with \
         κ=1, and no smaller with κ=16 in one page size",
    )
}
