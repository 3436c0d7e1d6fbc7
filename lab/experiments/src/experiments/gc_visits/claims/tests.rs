//! Every claim holds in figures as the thesis's, and fails in others.

use surefit_clients::java::Sample;
use surefit_freelist::When;

use super::super::before::Before;
use super::super::measured::{Counted, Found, InHeap, Kind, Row};
use super::super::samples::tests::samples;
use super::all;
use crate::kit::{Claim, Verdict};
use crate::shared::merges::MERGES;
use crate::shared::thesis::collecting::Collecting;

/// Visits per allocation, percent unused, and samples of a system; `None` if it does not complete.
type Figures = Option<(f64, f64, Vec<Sample>)>;

fn found(of: impl Fn(Kind) -> Figures, before: (f64, f64)) -> Found {
    let tables = [When::Deferred].map(Kind::table);
    let kinds = MERGES
        .map(Kind::scan)
        .into_iter()
        .chain(tables)
        .chain([Kind::Single]);
    let rows = kinds.map(|kind| Row {
        kind,
        counted: of(kind).map(|(visits, percent_unused, samples)| Counted {
            collections: samples.last().map_or(0, |last| last.collections),
            visits,
            samples,
            sizes: Vec::new(),
            percent_unused: Some(percent_unused),
        }),
    });
    let in_heap = InHeap {
        bytes: 6 << 20,
        rows: rows.collect(),
    };
    let (visits, heads) = before;
    Found {
        name: "p".to_owned(),
        thesis: Some(in_heap.clone()),
        own: in_heap,
        heap: Collecting {
            least: 3 << 20,
            multiple: 2.0,
            collections: 3,
        },
        before: Some(Before { visits, heads }),
    }
}

/// Very high at first, low after each collection, and rising towards the next.
fn as_in_figure_3_1() -> Vec<Sample> {
    samples(|interval, place| if interval == 0 { 250 } else { 10 + 5 * place })
}

fn verdicts(found: &[Found]) -> Vec<Verdict> {
    all(found)
        .iter()
        .map(|claim: &Claim| claim.verdict)
        .collect()
}

fn thesis(kind: Kind) -> Figures {
    let visits = match kind {
        Kind::Single => (300.0, 5.0),
        one if one == Kind::scan(When::Immediate) => (50.0, 8.0),
        one if one == Kind::table(When::Deferred) => return Some((1.0, 30.0, samples(|_, _| 1))),
        _ => (30.0, 30.0),
    };
    Some((visits.0, visits.1, as_in_figure_3_1()))
}

/// Low at first, high after each collection, and falling.
fn contrary(kind: Kind) -> Figures {
    let visits = match kind {
        Kind::Single => (60.0, 50.0),
        one if one == Kind::scan(When::Immediate) => (5.0, 45.0),
        _ => (100.0, 40.0),
    };
    let falling = samples(|interval, place| if interval == 0 { 50 } else { 100 - 5 * place });
    Some((visits.0, visits.1, falling))
}

#[test]
fn the_thesis_holds_in_figures_as_its_own() {
    let verdicts = verdicts(&[found(thesis, (252.0, 252.1))]);
    assert_eq!(verdicts, vec![Verdict::Holds; 18]);
}

#[test]
fn contrary_figures_refute_it() {
    let high_start = |kind| match kind {
        one if one == Kind::table(When::Deferred) => Some((1.0, 40.0, samples(|_, _| 400))),
        other => contrary(other),
    };
    let verdicts = verdicts(&[found(high_start, (100.0, 252.1))]);
    assert_eq!(verdicts, vec![Verdict::DoesNot; 18]);
}

#[test]
fn what_does_not_collect_decides_nothing() {
    let mut one = found(|_| None, (0.0, 0.0));
    one.before = None;
    assert_eq!(verdicts(&[one]), vec![Verdict::NotComparable; 18]);
    let never = |kind| thesis(kind).map(|(visits, unused, _)| (visits, unused, Vec::new()));
    let mut one = found(never, (0.0, 0.0));
    one.before = None;
    assert_eq!(verdicts(&[one]), vec![Verdict::NotComparable; 18]);
}

#[test]
fn a_program_outside_of_6_mib_decides_by_its_own_heap() {
    let mut one = found(thesis, (252.0, 252.0));
    one.thesis = None;
    let verdicts = verdicts(&[one]);
    assert_eq!(verdicts[..3], [Verdict::NotComparable; 3]);
    assert_eq!(verdicts[3..], vec![Verdict::Holds; 15]);
}
