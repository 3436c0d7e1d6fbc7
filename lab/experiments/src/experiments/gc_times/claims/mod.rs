//! What the thesis says of the three times, each with one verdict over all programs.
//!
//! | file | holds | figures |
//! | --- | --- | --- |
//! | `strategies` | never, deferred and immediate without a table | 4-1 to 4-3 |
//! | `table` | each of them with the table and without | 4-4 to 4-10 |
//! | `best` | the three with the table | 4-11 to 4-13 |
//! | `rules` | what they have in common: systems, ratios, tests of them | |
//! | `ours` | ours beside the thesis's; no paper claims it | |
//!
//! Times are compared round by round, in heaps in which both systems collect. A program on which
//! rounds disagree decides nothing, and neither does one that collects in no such heap.

mod best;
mod ours;
mod rules;
mod strategies;
mod table;

use super::measure::Measured;
use crate::kit::Claim;

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

#[cfg(test)]
mod tests {
    use super::super::measure::tests::made_up;
    use super::all;
    use super::rules::is_same;
    use crate::kit::Verdict;
    use surefit_measure::results::Ratio;

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
            for round in &mut one.rounds {
                round.totals.collections = 0;
            }
        }
        for claim in all(&[measured]) {
            let is_counted = claim.because.contains("found by bisection");
            let is_open = claim.verdict == Verdict::NotComparable;
            assert!(is_counted || is_open, "{}: {}", claim.claim, claim.verdict);
        }
    }
}
