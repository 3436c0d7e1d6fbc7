//! What the thesis says of the three times, each with one verdict over all programs.
//!
//! | file | holds | figures |
//! | --- | --- | --- |
//! | `strategies` | never, deferred and immediate without a table | 4-1 to 4-3 |
//! | `table` | each of them with the table and without | 4-4 to 4-10 |
//! | `best` | the three with the table | 4-11 to 4-13 |
//! | `ours` | ours beside the thesis's; no paper claims it | |
//!
//! Times are compared round by round, in heaps in which both systems collect. A program on which
//! rounds disagree decides nothing, and neither does one that collects in no such heap.

mod best;
mod ours;
mod strategies;
mod table;

use surefit_clients::java::Finds;
use surefit_freelist::When;

use super::measure::Measured;
use crate::kit::{Claim, OnProgram, Verdict};
use crate::shared::thesis::systems::System;
use surefit_measure::results::Ratio;

/// The thesis says "large heaps" of those in which its curves are flat: from about this multiple of
/// the minimum on (figure 4-1).
const LARGE: f64 = 2.0;

/// Factors that the thesis reads off its curves are given to a half. One that is a tenth smaller
/// still rounds to them.
const SLACK: f64 = 0.9;

/// Curves that a reader calls the same: they differ by less than a tenth, a line's breadth in the
/// thesis's pictures.
const SAME: f64 = 1.1;

/// All claims.
pub(super) fn all(found: &[Measured]) -> Vec<Claim> {
    [
        strategies::all(found),
        table::all(found),
        best::all(found),
        ours::all(found),
    ]
    .concat()
}

/// The thesis's list heads, walked.
const fn scan(merges: When) -> System {
    System::thesis(merges, Finds::Scan)
}

/// The thesis's table.
const fn with_table(merges: When) -> System {
    System::thesis(merges, Finds::NextHitTable)
}

/// What each program says: ratios round by round, and the test of them.
fn on_each(
    found: &[Measured],
    rounds: impl Fn(&Measured) -> Vec<f64>,
    test: impl Fn(Ratio) -> Option<bool>,
) -> Vec<OnProgram> {
    let on = |measured: &Measured| {
        let rounds = rounds(measured);
        let test = Ratio::of(&rounds).and_then(&test);
        OnProgram::timed(measured.name.as_str(), test, &rounds)
    };
    found.iter().map(on).collect()
}

/// Whether a ratio is at most so much, in every round; `None` if rounds disagree.
fn is_at_most(ratio: Ratio, most: f64) -> Option<bool> {
    Verdict::reaches(ratio.inverse(), 1.0 / most)
}

/// Whether a ratio is 1 up to [`SAME`], in every round; `None` if rounds disagree.
fn is_same(ratio: Ratio) -> Option<bool> {
    match (is_at_most(ratio, SAME), is_at_most(ratio.inverse(), SAME)) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

/// One list of ratios over another, round by round.
fn over(own: &[f64], base: &[f64]) -> Vec<f64> {
    own.iter().zip(base).map(|(own, base)| own / base).collect()
}

/// Large heaps.
fn is_large(multiple: f64) -> bool {
    multiple >= LARGE
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::made_up;
    use super::{Ratio, all, is_same};
    use crate::kit::Verdict;

    /// The one verdict on a claim whose words contain these.
    pub(super) fn verdict(claims: &[crate::kit::Claim], words: &str) -> Verdict {
        let named: Vec<_> = claims
            .iter()
            .filter(|claim| claim.claim.contains(words))
            .collect();
        assert_eq!(named.len(), 1, "{words}");
        named[0].verdict
    }

    #[test]
    fn what_is_the_same_differs_by_less_than_a_tenth() {
        let same = |min, max| {
            is_same(Ratio {
                median: min,
                min,
                max,
            })
        };
        assert_eq!(same(0.95, 1.05), Some(true));
        assert_eq!(same(1.2, 1.3), Some(false));
        assert_eq!(same(0.7, 0.8), Some(false));
        assert_eq!(same(1.05, 1.2), None);
    }

    #[test]
    fn nothing_is_decided_where_nothing_is_collected() {
        let mut measured = made_up(|_, _| Some((100, 100)));
        for one in &mut measured.timed {
            if let Some(outcome) = &mut one.outcome {
                outcome.totals.collections = 0;
            }
        }
        for claim in all(&[measured]) {
            let is_counted = claim.because.contains("found by bisection");
            let is_open = claim.verdict == Verdict::NotComparable;
            assert!(is_counted || is_open, "{}: {}", claim.claim, claim.verdict);
        }
    }
}
