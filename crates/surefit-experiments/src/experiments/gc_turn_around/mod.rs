//! `surefit experiment gc-turn-around`: which strategy of coalescing is best without a table, and
//! which with it.

use anyhow::Result;
use surefit_clients::java::Finds;
use surefit_freelist::When;

use crate::kit::{Claim, Entry, Report, Request, Table, Verdict};
use crate::shared::merges::merges_name;
use crate::shared::thesis::measured::{Measured, What, geometric_mean, spread};
use crate::shared::thesis::systems::{FINDS, finds_name, lists, with_tree};
use crate::shared::thesis::times;

/// This experiment.
pub(crate) const ENTRY: Entry = Entry {
    name: "gc-turn-around",
    about: "Which coalescing is fastest: without a table, with it, with a bitmap",
    takes_traces: true,
    takes_rounds: true,
    run,
};

const SOURCE: &str = "the thesis on free-list organisation, figures 4-11 to 4-13";

/// Where strategies are compared: the heap as a multiple of the common minimum, from and to.
const PLACES: [(&str, f64, f64); 3] = [
    ("< 1.5 x", 0.0, 1.5),
    ("< 2.5 x", 1.5, 2.5),
    ("≥ 2.5 x", 2.5, f64::INFINITY),
];

fn run(request: &Request) -> Result<Report> {
    let found = times::all(request)?;
    let mut report = Report::new(ENTRY.name, ENTRY.about, SOURCE, request.quick);
    report.setting = times::setting();
    let figures: Vec<(&str, &Measured)> = found
        .iter()
        .map(|(client, measured)| (client.name.as_str(), &**measured))
        .collect();
    let tables = [false, true].map(|is_tree| FINDS.map(|finds| table(&figures, finds, is_tree)));
    report.tables = tables.concat();
    for (name, measured) in &figures {
        report.claims.extend(claims(name, &[measured]));
    }
    if figures.len() > 1 {
        let all: Vec<_> = figures.iter().map(|(_, measured)| *measured).collect();
        report.claims.extend(claims("geometric mean", &all));
    }
    report.notes.push("A ratio is taken over the heaps in which both strategies complete; where there is none, the other one fails.".to_owned());
    Ok(report)
}

const fn last_name(is_tree: bool) -> &'static str {
    if is_tree { ", last list a tree" } else { "" }
}

/// Immediate's heap management time over another strategy's with the same lookup, round by round.
fn over(
    all: &[&Measured],
    (finds, is_tree): (Finds, bool),
    other: When,
    (from, to): (f64, f64),
) -> Vec<f64> {
    let [ours, theirs] = [When::Immediate, other].map(|merges| match is_tree {
        true => with_tree(lists(merges, finds)),
        false => lists(merges, finds),
    });
    let of = |measured: &&Measured| {
        let rounds = measured.over(ours, theirs, What::Management, |multiple| {
            multiple >= from && multiple < to
        });
        (!rounds.is_empty()).then_some(rounds)
    };
    geometric_mean(&all.iter().filter_map(of).collect::<Vec<_>>())
}

fn table(figures: &[(&str, &Measured)], finds: Finds, is_tree: bool) -> Table {
    let title = format!(
        "{}{}: immediate's heap management time ÷ that of (d) deferred and (n) never, medians",
        finds_name(finds),
        last_name(is_tree)
    );
    let mut table = Table::of(title, figures).text("program", |(name, _)| *name);
    for (place, from, to) in PLACES {
        for other in [When::Deferred, When::Never] {
            let header = format!("{} {place}", &merges_name(other)[..1]);
            table = table.figure(header, 2, |(_, measured)| {
                let ratio = spread(&over(&[measured], (finds, is_tree), other, (from, to)));
                ratio.map(|ratio| ratio.median)
            });
        }
    }
    table.table()
}

fn claims(name: &str, all: &[&Measured]) -> Vec<Claim> {
    vec![
        worse_without(name, all),
        best_with(name, all, Finds::NextHitTable, false),
        best_with(name, all, Finds::NextHitTable, true),
        best_with(name, all, Finds::Bitmap, false),
        best_with(name, all, Finds::Bitmap, true),
    ]
}

/// Without a table, in large heaps, deferred and never are faster.
fn worse_without(name: &str, all: &[&Measured]) -> Claim {
    let ratios = [When::Deferred, When::Never].map(|other| {
        (
            other,
            spread(&over(
                all,
                (Finds::Scan, false),
                other,
                (2.5, f64::INFINITY),
            )),
        )
    });
    let deferred = ratios[0].1;
    Claim::that(format!(
        "{name}: without the table, in large heaps, immediate is slower than \
         deferred"
    ))
    .papers("figure 4-3: deferred and never are 2 x better if the heap is large")
    .ours(in_words(&ratios))
    .decide(
        deferred.and_then(Verdict::is_greater),
        "from 2.5 x the minimum on, over 3 % in the median; if a round \
         disagrees, the clock decides nothing",
    )
}

/// With the table, at all heap sizes, immediate is the best or equal.
fn best_with(name: &str, all: &[&Measured], finds: Finds, is_tree: bool) -> Claim {
    let compared = PLACES.iter().flat_map(|&(place, from, to)| {
        [When::Deferred, When::Never].map(|other| {
            (
                place,
                other,
                spread(&over(all, (finds, is_tree), other, (from, to))),
            )
        })
    });
    let known: Vec<_> = compared
        .filter_map(|(place, other, ratio)| Some((place, other, ratio?)))
        .collect();
    let slower: Vec<_> = known
        .iter()
        .map(|(.., ratio)| Verdict::is_greater(*ratio))
        .collect();
    let is_best = if slower.contains(&Some(true)) {
        Some(false)
    } else {
        (!slower.is_empty() && !slower.contains(&None)).then_some(true)
    };
    let shown = known
        .iter()
        .map(|(place, other, ratio)| format!("÷ {} {place}: {}", merges_name(*other), ratio));
    Claim::that(format!(
        "{name}: with the {}{}, immediate is the best or equal at all heap sizes",
        finds_name(finds),
        if is_tree {
            " and a tree as the last list"
        } else {
            ""
        }
    ))
    .papers(match (finds, is_tree) {
        (Finds::NextHitTable, false) => "figures 4-11 to 4-13: the turn-around".to_owned(),
        _ => "not the thesis's".to_owned(),
    })
    .ours(shown.collect::<Vec<_>>().join(", "))
    .decide(
        is_best,
        "not over 3 % slower than deferred or never in any range of heap sizes; \
         if rounds disagree, the clock decides nothing",
    )
}

fn in_words(ratios: &[(When, Option<surefit_measure::results::Ratio>)]) -> String {
    let words = ratios.iter().map(|(other, ratio)| match ratio {
        Some(ratio) => format!("immediate ÷ {} {}", merges_name(*other), ratio),
        None => format!("{} completes in none of them", merges_name(*other)),
    });
    words.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use surefit_clients::java::Finds;
    use surefit_freelist::When;

    use super::claims;
    use crate::kit::Verdict;
    use crate::shared::thesis::measured::Measured;
    use crate::shared::thesis::measured::tests::made_up;

    fn verdicts(measured: &Measured) -> Vec<Verdict> {
        claims("t", &[measured])
            .iter()
            .map(|claim| claim.verdict)
            .collect()
    }

    #[test]
    fn the_turn_around_is_seen_and_so_is_the_contrary() {
        // Immediate's allocation time with the scan, and with a lookup; that of the others is 1000.
        let measured = |scan, lookup| {
            made_up(move |lists, _| {
                let allocation = match (lists.merges, lists.finds) {
                    (When::Immediate, Finds::Scan) => scan,
                    (When::Immediate, _) => lookup,
                    _ => 1000,
                };
                Some((allocation, 100))
            })
        };
        assert_eq!(verdicts(&measured(3000, 500)), [Verdict::Holds; 5]);
        assert_eq!(verdicts(&measured(500, 3000)), [Verdict::DoesNot; 5]);
        let alone = made_up(|lists, _| (lists.merges == When::Immediate).then_some((1, 1)));
        assert_eq!(verdicts(&alone), [Verdict::NotComparable; 5]);
    }
}
