//! Whether a claim holds.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use surefit_measure::results::Ratio;

/// Ratios of times that differ by less than this from 1 are 1: the clock of a quiet machine varies
/// so much between rounds.
const NOISE: f64 = 0.03;

/// Whether a claim holds in what was measured.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// It does.
    Holds,
    /// It does not.
    DoesNot,
    /// What was measured here cannot decide it.
    NotComparable,
    /// It holds on some programs, and on others it does not.
    HoldsOn {
        /// Programs on which it holds.
        programs: u32,
        /// Programs that decide it.
        of: u32,
    },
}

impl Verdict {
    /// The verdict of a test; not comparable if there was nothing to test.
    pub(crate) fn of(test: impl Into<Option<bool>>) -> Self {
        match test.into() {
            Some(true) => Self::Holds,
            Some(false) => Self::DoesNot,
            None => Self::NotComparable,
        }
    }

    /// Whether a ratio of times, or of throughputs, is greater than 1. It is if its median is by
    /// more than the noise of 3 %, and every round is greater; it is not if no round is greater by
    /// more than the noise. `None` if it is neither: then the clock decides nothing.
    pub(crate) fn is_greater(ratio: Ratio) -> Option<bool> {
        let is_above = ratio.median > 1.0 + NOISE && ratio.min > 1.0;
        (is_above || ratio.max <= 1.0 + NOISE).then_some(is_above)
    }

    /// Whether a ratio is at least so much, in every round; `None` if rounds disagree: then the
    /// clock decides nothing.
    pub(crate) fn reaches(ratio: Ratio, least: f64) -> Option<bool> {
        let is_above = ratio.min >= least;
        (is_above || ratio.max < least).then_some(is_above)
    }

    /// Whether a ratio is 1: neither it nor its inverse is greater than 1. `None` if rounds
    /// disagree about that.
    pub(crate) fn is_level(ratio: Ratio) -> Option<bool> {
        let each_way = [ratio, ratio.inverse()].map(Self::is_greater);
        Self::any_of(each_way).map(|is_greater| !is_greater)
    }

    /// Whether any of these tests holds: one that holds is enough, and without one, one that is
    /// undecided leaves it open. `None` of no tests.
    pub(crate) fn any_of(tests: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
        let tests: Vec<_> = tests.into_iter().collect();
        let holds = tests.contains(&Some(true));
        (holds || !tests.is_empty() && !tests.contains(&None)).then_some(holds)
    }

    /// Whether all of these tests hold: one that does not is enough, and without one, one that is
    /// undecided leaves it open. `None` of no tests.
    pub(crate) fn all_of(tests: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
        let fails = tests.into_iter().map(|test| test.map(|holds| !holds));
        Self::any_of(fails).map(|fails| !fails)
    }

    /// The kind of verdict in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNot => "does not",
            Self::NotComparable => "not comparable",
            Self::HoldsOn { .. } => "holds on some",
        }
    }
}

impl fmt::Display for Verdict {
    /// The verdict in words, with the number of programs on which it holds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HoldsOn { programs, of } => f.pad(&format!("holds on {programs} of {of}")),
            other => f.pad(other.words()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ratio, Verdict};

    #[test]
    fn rounds_that_disagree_decide_nothing() {
        let decided = |min, median, max| Verdict::is_greater(Ratio { median, min, max });
        assert_eq!(decided(1.05, 1.1, 1.2), Some(true));
        assert_eq!(decided(0.9, 1.01, 1.02), Some(false));
        assert_eq!(decided(0.9, 1.1, 1.2), None);
        // As the record of 28 November printed it, with "does not" beside it.
        assert_eq!(decided(0.9, 0.96, 1.22), None);
        let reached = |min, median, max| Verdict::reaches(Ratio { median, min, max }, 2.0);
        assert_eq!(reached(2.0, 2.5, 3.0), Some(true));
        assert_eq!(reached(1.0, 1.5, 1.9), Some(false));
        assert_eq!(reached(1.9, 1.9, 2.1), None);
    }

    #[test]
    fn one_test_decides_and_an_open_one_leaves_it_open() {
        let (yes, no, open) = (Some(true), Some(false), None);
        assert_eq!(Verdict::any_of([no, open, yes]), yes);
        assert_eq!(Verdict::any_of([no, open]), open);
        assert_eq!(Verdict::any_of([no, no]), no);
        assert_eq!(Verdict::all_of([yes, open, no]), no);
        assert_eq!(Verdict::all_of([yes, open]), open);
        assert_eq!(Verdict::all_of([yes, yes]), yes);
        assert_eq!([Verdict::any_of([]), Verdict::all_of([])], [open, open]);
    }

    #[test]
    fn what_was_not_tested_is_not_comparable() {
        let words = [Some(true), Some(false), None].map(|test| Verdict::of(test).words());
        assert_eq!(words, ["holds", "does not", "not comparable"]);
    }

    #[test]
    fn a_verdict_over_programs_counts_them() {
        let verdict = Verdict::HoldsOn { programs: 7, of: 9 };
        assert_eq!(verdict.to_string(), "holds on 7 of 9");
        let json = serde_json::to_string(&[Verdict::DoesNot, verdict]).expect("JSON");
        assert_eq!(json, r#"["does_not",{"holds_on":{"programs":7,"of":9}}]"#);
    }
}
