//! What an experiment finds: tables, series for plots, and a verdict on each claim of the papers.
//!
//! Every figure is computed or measured in the run that made the report, and so is every verdict:
//! an experiment states the figures that decide a claim and lets
//! [`Verdict::of`](super::verdict::Verdict::of) or its own comparison decide. The papers' figures
//! stand beside ours in columns and series of their own
//! ([`Whose::Papers`](super::whose::Whose::Papers)).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use surefit_measure::results::SCHEMA;

use super::claim::Claim;
use super::grid::Grid;
use super::plot::Plot;
use super::table::Table;

/// What one experiment found.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    /// The version of this format.
    pub(crate) schema: u32,
    /// The experiment's name on the command line.
    pub(crate) name: String,
    /// What it shows.
    pub(crate) title: String,
    /// Which figure or table of which paper it repeats.
    pub(crate) source: String,
    /// Whether it ran on smaller programs than it should.
    pub(crate) quick: bool,
    /// How it was measured: programs, heaps, rounds.
    pub(crate) setting: Vec<String>,
    /// Where each thing belongs, where that is the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) grid: Option<Grid>,
    /// The figures.
    pub(crate) tables: Vec<Table>,
    /// The figures that are better seen than read.
    pub(crate) plots: Vec<Plot>,
    /// The papers' claims.
    pub(crate) claims: Vec<Claim>,
    /// What must be known to read the figures.
    pub(crate) notes: Vec<String>,
    /// A picture that the experiment draws itself, as one `svg` element, instead of its grid and
    /// plots.
    #[serde(skip)]
    pub(crate) drawing: Option<String>,
}

impl Report {
    /// A report with nothing found yet.
    pub(crate) fn new(name: &str, title: &str, source: &str, quick: bool) -> Self {
        Self {
            schema: SCHEMA,
            name: name.to_owned(),
            title: title.to_owned(),
            source: source.to_owned(),
            quick,
            setting: Vec::new(),
            grid: None,
            tables: Vec::new(),
            plots: Vec::new(),
            claims: Vec::new(),
            notes: Vec::new(),
            drawing: None,
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::Report>("experiment.json");
    }
}
