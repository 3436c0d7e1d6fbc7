//! A claim of the papers, and the verdict on it.

use std::fmt::Display;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use surefit_measure::ratio::or_not_measured;
use surefit_measure::results::Ratio;

/// Ratios of times that differ by less than this from 1 are 1.
const NOISE: f64 = 0.03;

/// A claim of the papers beside what was found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// What is claimed.
    pub(crate) claim: String,
    /// The papers' figure.
    pub(crate) papers_figure: String,
    /// Ours.
    pub(crate) ours: String,
    /// Whether it holds here.
    pub(crate) verdict: Verdict,
    /// Why the verdict is what it is: the rule that decided it.
    pub(crate) because: String,
}

impl Claim {
    /// A claim: what the papers say. The builder's other calls add both figures, and the last one the verdict.
    pub(crate) fn that(claim: impl Into<String>) -> Claiming {
        Claiming {
            claim: claim.into(),
            papers_figure: String::new(),
            ours: String::new(),
        }
    }
}

/// A claim without a verdict.
#[derive(Clone, Debug)]
#[must_use = "a claim needs a verdict"]
pub(crate) struct Claiming {
    claim: String,
    papers_figure: String,
    ours: String,
}

impl Claiming {
    /// The papers' figure.
    pub(crate) fn papers(self, figure: impl Into<String>) -> Self {
        let papers_figure = figure.into();
        Self {
            papers_figure,
            ..self
        }
    }

    /// Our figure.
    pub(crate) fn ours(self, figure: impl Into<String>) -> Self {
        let ours = figure.into();
        Self { ours, ..self }
    }

    /// Our figure, or that it was not measured.
    pub(crate) fn measured(self, figure: Option<impl Display>) -> Self {
        self.ours(or_not_measured(figure))
    }

    /// The claim with the verdict of a test; not comparable if there was nothing to test. `because` is the test in words.
    pub(crate) fn decide(self, test: impl Into<Option<bool>>, because: impl Into<String>) -> Claim {
        self.judged(Verdict::of(test), because)
    }

    /// The claim, which nothing measured here can decide; `because` says why.
    pub(crate) fn undecided(self, because: impl Into<String>) -> Claim {
        self.judged(Verdict::NotComparable, because)
    }

    /// The claim with a verdict that was computed elsewhere, by the rule `because`.
    pub(crate) fn judged(self, verdict: Verdict, because: impl Into<String>) -> Claim {
        Claim {
            claim: self.claim,
            papers_figure: self.papers_figure,
            ours: self.ours,
            verdict,
            because: because.into(),
        }
    }
}

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

    /// Whether a ratio of times, or of throughputs, is greater than 1: in the median by more than the noise of 3 %, and in
    /// every round. `None` if the median says so and some round says otherwise: then the clock decides nothing.
    pub(crate) fn is_greater(ratio: Ratio) -> Option<bool> {
        let is_above = ratio.median > 1.0 + NOISE;
        (!is_above || ratio.min > 1.0).then_some(is_above)
    }

    /// Whether a ratio is at least so much, in every round; `None` if rounds disagree: then the clock decides nothing.
    pub(crate) fn reaches(ratio: Ratio, least: f64) -> Option<bool> {
        let is_above = ratio.min >= least;
        (is_above || ratio.max < least).then_some(is_above)
    }

    /// Whether a ratio is 1: neither it nor its inverse is greater than 1. `None` if rounds disagree about that.
    pub(crate) fn is_level(ratio: Ratio) -> Option<bool> {
        match (Self::is_greater(ratio), Self::is_greater(ratio.inverse())) {
            (Some(true), _) | (_, Some(true)) => Some(false),
            (Some(false), Some(false)) => Some(true),
            _ => None,
        }
    }

    /// The verdict in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNot => "does not",
            Self::NotComparable => "not comparable",
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
}
