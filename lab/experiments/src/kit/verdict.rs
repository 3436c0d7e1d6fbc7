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

    /// Whether a ratio of times, or of throughputs, is greater than 1: in the median by more than
    /// the noise of 3 %, and in every round. `None` if the median says so and some round says
    /// otherwise: then the clock decides nothing.
    pub(crate) fn is_greater(ratio: Ratio) -> Option<bool> {
        let is_above = ratio.median > 1.0 + NOISE;
        (!is_above || ratio.min > 1.0).then_some(is_above)
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
        match (Self::is_greater(ratio), Self::is_greater(ratio.inverse())) {
            (Some(true), _) | (_, Some(true)) => Some(false),
            (Some(false), Some(false)) => Some(true),
            _ => None,
        }
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
        assert_eq!(decided(0.9, 1.02, 1.2), Some(false));
        assert_eq!(decided(0.9, 1.1, 1.2), None);
        let reached = |min, median, max| Verdict::reaches(Ratio { median, min, max }, 2.0);
        assert_eq!(reached(2.0, 2.5, 3.0), Some(true));
        assert_eq!(reached(1.0, 1.5, 1.9), Some(false));
        assert_eq!(reached(1.9, 1.9, 2.1), None);
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
