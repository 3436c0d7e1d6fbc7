//! A claim of the papers, and the verdict on it.
//!
//! Every claim says whose it is: [`Claiming::of`] names a figure, table or section of the papers by
//! its id in [`papers`], and [`Claiming::ours_alone`] marks a claim that no paper
//! makes. Under `cargo test` every verdict is noted with the place of its `Claim::that`
//! (`kit/noted.rs`): `ci/claims.sh` fails if a place never held, or never failed to hold.

use std::fmt::Display;
use std::panic::Location;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use surefit_measure::ratio::or_not_measured;

use super::over::{self, OnProgram};
use super::papers::{self, OURS};
use super::verdict::Verdict;

/// A claim of the papers beside what was found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    /// What is claimed.
    pub(crate) claim: String,
    /// The figures, tables and sections of the papers that claim it; `ours` if none does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) of: Vec<String>,
    /// The papers' figure.
    pub(crate) papers_figure: String,
    /// Ours.
    pub(crate) ours: String,
    /// Whether it holds here.
    pub(crate) verdict: Verdict,
    /// Why the verdict is what it is: the rule that decided it.
    pub(crate) because: String,
    /// What each program says, where the verdict is over several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) programs: Vec<OnProgram>,
}

impl Claim {
    /// A claim: what the papers say. The builder's other calls add whose it is and both figures,
    /// and the last one the verdict.
    #[track_caller]
    pub(crate) fn that(claim: impl Into<String>) -> Claiming {
        Claiming {
            claim: claim.into(),
            of: Vec::new(),
            papers_figure: String::new(),
            ours: String::new(),
            place: Location::caller(),
        }
    }
}

/// A claim without a verdict.
#[derive(Clone, Debug)]
#[must_use = "a claim needs a verdict"]
pub(crate) struct Claiming {
    claim: String,
    of: Vec<String>,
    papers_figure: String,
    ours: String,
    /// Where it stands in the source.
    #[cfg_attr(not(test), expect(dead_code, reason = "noted by tests only"))]
    place: &'static Location<'static>,
}

impl Claiming {
    /// The figure, table or section of the papers that claims it, by its id in
    /// [`papers`]. A claim of several takes several calls.
    ///
    /// # Panics
    /// If no item has this id: a mistake in an experiment.
    pub(crate) fn of(mut self, id: &str) -> Self {
        assert!(papers::find(id).is_some(), "{id}: not in kit/papers.rs");
        self.of.push(id.to_owned());
        self
    }

    /// A claim that no paper makes: ours.
    pub(crate) fn ours_alone(mut self) -> Self {
        self.of.push(OURS.to_owned());
        self
    }

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

    /// The claim with the verdict of a test; not comparable if there was nothing to test. `because`
    /// is the test in words, with the condition under which there is nothing to test.
    pub(crate) fn decide(self, test: impl Into<Option<bool>>, because: impl Into<String>) -> Claim {
        self.judged(Verdict::of(test), because)
    }

    /// The claim with one verdict over several programs: it holds, or holds on m of the n that
    /// decide it. What each program shows, and the geometric mean of their ratios, is added to our
    /// figure. `because` is the test of one program in words.
    pub(crate) fn over(self, programs: Vec<OnProgram>, because: impl Into<String>) -> Claim {
        let parts = [self.ours.clone(), over::words(&programs)];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let verdict = over::verdict(&programs);
        let claim = self.ours(parts.join("; ")).judged(verdict, because);
        Claim { programs, ..claim }
    }

    /// The claim with a verdict that was computed elsewhere, by the rule `because`.
    pub(crate) fn judged(self, verdict: Verdict, because: impl Into<String>) -> Claim {
        #[cfg(test)]
        super::noted::note(self.place, verdict);
        Claim {
            claim: self.claim,
            of: self.of,
            papers_figure: self.papers_figure,
            ours: self.ours,
            verdict,
            because: because.into(),
            programs: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Claim, OnProgram};
    use crate::kit::Verdict;

    #[test]
    fn a_claim_says_whose_it_is() {
        let claim = Claim::that("a").of("table 3").of("figure 4-1");
        let claim = claim.decide(true, "so");
        assert_eq!(claim.of, ["table 3", "figure 4-1"]);
        let claim = Claim::that("a").ours_alone().decide(false, "so");
        assert_eq!(claim.of, ["ours"]);
    }

    #[test]
    #[should_panic(expected = "table 99")]
    fn an_unknown_figure_is_a_mistake() {
        let _ = Claim::that("a").of("table 99");
    }

    #[test]
    fn a_claim_over_programs_shows_each_of_them() {
        let on = |name: &str, test, ratio: f64| OnProgram::timed(name, test, [ratio].as_slice());
        let programs = vec![on("javac", Some(true), 4.0), on("jess", Some(false), 1.0)];
        let claim = Claim::that("a")
            .of("figure 4-1")
            .ours("at 2 times")
            .over(programs, "1.5");
        assert_eq!(claim.verdict, Verdict::HoldsOn { programs: 1, of: 2 });
        assert_eq!(claim.verdict.to_string(), "holds on 1 of 2");
        for part in ["at 2 times; 1 of 2", "geometric mean 2.00", "javac", "jess"] {
            assert!(claim.ours.contains(part), "{part}: {}", claim.ours);
        }
        assert_eq!(claim.programs.len(), 2);
    }
}
