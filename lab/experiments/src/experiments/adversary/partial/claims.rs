//! Verdicts on partial compaction.
#![deny(unsafe_code)]

use super::bounds;
use super::model::Modelled;
use super::points::{Point, Points, Trace};
use super::tables::{PRACTICAL, is_pages};
use crate::kit::Claim;

/// Each c at which the derived bound must say something: a tenth of what is allocated may move, or
/// less.
const SEVERAL: [f64; 4] = [10.0, 20.0, 50.0, 100.0];

/// Page sizes of Compact-fit under P_R, as its systems' names end.
const PAGES: [&str; 2] = ["4 KiB", "16 KiB"];

/// All claims.
pub(super) fn claims(points: &Points) -> Vec<Claim> {
    let practical = SEVERAL.map(|c| {
        let needed = bounds::needed(PRACTICAL, c);
        (
            c,
            needed.map_or(1.0, |(_, words)| words / PRACTICAL.live as f64),
        )
    });
    vec![
        is_meaningful(&practical),
        nobody_below(&points.thinning),
        sliding_is_enough(points.program.live(), &points.model),
        moving_saves(&points.robson),
        moving_saves_on_traces(&points.traces),
    ]
}

/// Whether partial compaction leaves more than M: c, and what is needed over M.
fn is_meaningful(needed: &[(f64, f64)]) -> Claim {
    let shown = needed
        .iter()
        .map(|(c, times)| format!("{times:.2} M at c = {c}"));
    Claim::that("bounds on partial compaction are meaningful for modern systems: above M")
        .of("Cohen-Petrank")
        .papers("the abstract says so; its formula and its figures could not be sourced")
        .ours(format!(
            "derived here, M = 2^28 and n = 2^20 words: {}",
            shown.collect::<Vec<_>>().join(", ")
        ))
        .decide(
            (!needed.is_empty()).then(|| needed.iter().all(|(_, times)| *times > 1.0)),
            "it holds if the bound derived here is above M at each of these c",
        )
}

/// Whether every heap spans what the theorem says of one that moves as much.
fn nobody_below(points: &[Point]) -> Claim {
    let known = || {
        points
            .iter()
            .filter_map(|point| Some((point, point.bound?)))
    };
    let below: Vec<_> = known()
        .filter(|(point, bound)| point.spans < *bound)
        .collect();
    let closest = known().min_by(|one, other| {
        let over = |(point, bound): &(&Point, f64)| point.spans / bound;
        over(one).total_cmp(&over(other))
    });
    Claim::that("under the thinning program, no heap spans fewer words than its moves allow")
        .ours_alone()
        .measured(closest.map(|(point, bound)| {
            format!(
                "{} of {} heaps below; the closest, {}, spans {:.3} M and needs {bound:.3} M",
                below.len(),
                known().count(),
                point.system,
                point.spans
            )
        }))
        .decide(
            closest.is_some().then_some(below.is_empty()),
            "the bound derived here, by the words that each heap moved in this run",
        )
}

/// Whether the model of the upper bound ends in (c + 1)M words and moves no more than it may.
fn sliding_is_enough(live: u64, model: &[Modelled]) -> Claim {
    let shown = model.iter().map(|one| {
        let times = one.words as f64 / live as f64;
        format!("{times:.2} M at c = {}", one.per_move)
    });
    let keeps = |one: &Modelled| {
        let most = (one.per_move + 1) * live;
        one.ends && one.words <= most && one.moved * one.per_move as f64 <= 1.0
    };
    Claim::that("(c + 1)M words are enough for a heap that moves 1/c of what is allocated")
        .ours_alone()
        .ours(format!(
            "P_R on the model: {}",
            shown.collect::<Vec<_>>().join(", ")
        ))
        .decide(
            (!model.is_empty()).then(|| model.iter().all(keeps)),
            "derived here; it holds if P_R ends in so many words at each c, and the model moves at most 1/c",
        )
}

/// Settings whose moved words, as a share of what is allocated, differ by no more move as much.
const AS_MUCH: f64 = 0.02;

/// Whether, in one page size, a setting that moves more spans no more, and the one that moves most
/// spans less than the one that moves least.
fn moving_saves(points: &[Point]) -> Claim {
    let of_page = |page| {
        let mut of: Vec<_> = points
            .iter()
            .filter(|point| is_pages(point, page))
            .collect();
        of.sort_by(|one, other| one.moved.total_cmp(&other.moved));
        of
    };
    let lines: Vec<_> = PAGES.into_iter().map(of_page).collect();
    let is_decided = lines.iter().all(|line| line.len() > 1);
    let saves = |line: &Vec<&Point>| {
        let pairs = line
            .iter()
            .flat_map(|least| line.iter().map(move |most| (least, most)));
        let mut apart = pairs.filter(|(least, most)| most.moved - least.moved > AS_MUCH);
        let falls = apart.all(|(least, most)| least.spans >= most.spans);
        falls
            && line
                .first()
                .zip(line.last())
                .is_some_and(|(least, most)| least.spans > most.spans)
    };
    let shown = lines.iter().zip(PAGES).map(|(line, page)| {
        let points = line
            .iter()
            .map(|point| format!("{:.2} at {:.3}", point.spans, point.moved));
        format!("{page}: {}", points.collect::<Vec<_>>().join(", "))
    });
    Claim::that("partial compaction reduces some of the fragmentation: P_R on Compact-fit")
        .of("Bendersky-Petrank")
        .papers("the abstract says so, without figures")
        .ours(format!(
            "span ÷ M at words moved ÷ allocated: {}",
            shown.collect::<Vec<_>>().join("; ")
        ))
        .decide(
            is_decided.then(|| lines.iter().all(saves)),
            "in each page size, a setting that moves more, by over .02, spans no more, and the first spans more \
            than the last",
        )
}

/// The same on real traces: the least heap with full compaction against that with none.
fn moving_saves_on_traces(traces: &[Trace]) -> Claim {
    let ends: Option<Vec<_>> = traces.iter().map(Trace::ends).collect();
    let ends = ends.filter(|ends| !ends.is_empty());
    let shown = ends.as_ref().map(|ends| {
        let both = traces.iter().zip(ends);
        let shown = both.map(|(trace, (with, without))| {
            format!("{} {with:.3} with, {without:.3} without", trace.name)
        });
        format!(
            "least heap ÷ live: {}",
            shown.collect::<Vec<_>>().join("; ")
        )
    });
    Claim::that("full compaction needs a smaller heap than none on every trace")
        .ours_alone()
        .measured(shown)
        .decide(
            ends.map(|ends| ends.iter().all(|(with, without)| with < without)),
            "tables included; κ=1 against κ=∞; not comparable without traces, as in a quick run",
        )
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::super::points::OnTrace;
    use super::*;
    use crate::kit::Verdict;

    fn point(system: &'static str, moved: f64, spans: f64, bound: Option<f64>) -> Point {
        Point {
            system,
            spans,
            moved,
            bound,
        }
    }

    #[test]
    fn a_bound_of_m_means_nothing() {
        assert_eq!(
            is_meaningful(&[(10.0, 1.1), (100.0, 2.0)]).verdict,
            Verdict::Holds
        );
        assert_eq!(
            is_meaningful(&[(10.0, 1.0), (100.0, 2.0)]).verdict,
            Verdict::DoesNot
        );
        assert_eq!(is_meaningful(&[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn a_heap_below_its_bound_is_found_out() {
        let above = point("a", 0.0, 1.7, Some(1.6));
        let below = point("b", 0.0, 1.5, Some(1.6));
        assert_eq!(nobody_below(from_ref(&above)).verdict, Verdict::Holds);
        let claim = nobody_below(&[above, below]);
        assert_eq!(claim.verdict, Verdict::DoesNot);
        assert!(claim.ours.contains("closest, b"), "{claim:?}");
        let unknown = point("c", 0.1, 1.0, None);
        assert_eq!(nobody_below(&[unknown]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn a_model_that_needs_or_moves_more_refutes_the_upper_bound() {
        let model = Modelled {
            per_move: 2,
            words: 250,
            moved: 0.4,
            ends: true,
        };
        let verdict = |model| sliding_is_enough(100, &[model]).verdict;
        assert_eq!(verdict(model), Verdict::Holds);
        for wrong in [
            Modelled {
                words: 301,
                ..model
            },
            Modelled {
                moved: 0.51,
                ..model
            },
            Modelled {
                ends: false,
                ..model
            },
        ] {
            assert_eq!(verdict(wrong), Verdict::DoesNot, "{wrong:?}");
        }
        assert_eq!(sliding_is_enough(100, &[]).verdict, Verdict::NotComparable);
    }

    #[test]
    fn moves_must_save_words_in_each_page_size() {
        let points = |last| {
            [
                point("cf κ=1, 4 KiB", 0.4, 1.1, None),
                point("cf κ=16, 4 KiB", 0.1, 4.5, None),
                point("cf κ=1, 16 KiB", 0.3, last, None),
                point("cf κ=16, 16 KiB", 0.0, 5.0, None),
            ]
        };
        assert_eq!(moving_saves(&points(1.6)).verdict, Verdict::Holds);
        assert_eq!(moving_saves(&points(5.0)).verdict, Verdict::DoesNot);
        assert_eq!(
            moving_saves(&points(1.6)[..3]).verdict,
            Verdict::NotComparable
        );
    }

    #[test]
    fn a_trace_that_needs_more_with_compaction_refutes_it() {
        let trace = |with, without| {
            let on = |setting, moved, needs| OnTrace {
                setting,
                moved,
                needs,
                in_pieces: 0.0,
            };
            Trace {
                name: "t".to_owned(),
                settings: vec![on("κ=1", 0.1, with), on("κ=∞", 0.0, without)],
            }
        };
        let verdict = |traces: &[Trace]| moving_saves_on_traces(traces).verdict;
        let good = trace(Some(1.1), Some(2.6));
        assert_eq!(verdict(from_ref(&good)), Verdict::Holds);
        assert_eq!(
            verdict(&[good, trace(Some(1.2), Some(1.2))]),
            Verdict::DoesNot
        );
        assert_eq!(verdict(&[trace(None, Some(1.2))]), Verdict::NotComparable);
        assert_eq!(verdict(&[]), Verdict::NotComparable);
    }
}
