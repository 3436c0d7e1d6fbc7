//! What an experiment finds: tables, series for plots, and a verdict on each claim of the papers.
//!
//! Every figure is computed or measured in the run that made the report, and so is every verdict: an experiment states
//! the figures that decide a claim and lets [`Verdict::of`] or its own comparison decide. The papers' figures stand beside
//! ours in columns and series of their own ([`Whose::Papers`]).
//!
//! # Invariants
//! - X1 Every row of a table is as long as its columns ([`Table::row`] panics else: a mistake in an experiment).
//! - X2 What was not measured is [`Cell::Absent`], never zero.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use surefit_measure::results::{Ratio, SCHEMA};

/// Ratios of times that differ by less than this from 1 are 1.
const NOISE: f64 = 0.03;

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
        }
    }
}

/// Whose a figure is.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Whose {
    /// Computed or measured in this run.
    #[default]
    Ours,
    /// Printed in the papers.
    Papers,
}

// ---- a grid --------------------------------------------------------------------------------------------------------------

/// Names in cells, each where it was found or where the papers have it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    /// What the cells mean.
    pub(crate) title: String,
    /// The columns' names.
    pub(crate) columns: Vec<String>,
    /// The rows, from above.
    pub(crate) rows: Vec<GridRow>,
}

/// One row of a grid.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GridRow {
    /// Its name.
    pub(crate) name: String,
    /// What is in each column.
    pub(crate) cells: Vec<Vec<Placed>>,
}

/// A name in a cell.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Placed {
    /// The name.
    pub(crate) name: String,
    /// Who puts it there.
    pub(crate) whose: Whose,
    /// Whether it belongs there, if the papers say so and it was tested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) verdict: Option<Verdict>,
}

// ---- tables --------------------------------------------------------------------------------------------------------------

/// Figures in rows.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// What the rows show.
    pub(crate) title: String,
    /// The columns.
    pub(crate) columns: Vec<Column>,
    /// The rows, each as long as `columns`.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(title: impl Into<String>, columns: impl Into<Vec<Column>>) -> Self {
        Self {
            title: title.into(),
            columns: columns.into(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it is not as long as the columns (X1).
    pub(crate) fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        let cells = cells.into();
        assert_eq!(cells.len(), self.columns.len(), "X1: {}", self.title);
        self.rows.push(cells);
    }
}

/// A column of a table.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Column {
    /// What it holds, with its unit.
    pub(crate) name: String,
    /// Whether it holds words, which are aligned left.
    pub(crate) is_text: bool,
    /// Digits after the point that people are shown; programs get all there are.
    pub(crate) digits: u32,
    /// Whose figures they are.
    pub(crate) whose: Whose,
}

impl Column {
    /// Words.
    pub(crate) fn text(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_text: true,
            digits: 0,
            whose: Whose::Ours,
        }
    }

    /// Figures of ours, of which people see so many digits after the point.
    pub(crate) fn figure(name: impl Into<String>, digits: u32) -> Self {
        Self {
            name: name.into(),
            is_text: false,
            digits,
            whose: Whose::Ours,
        }
    }

    /// Figures of the papers.
    pub(crate) fn papers(name: impl Into<String>, digits: u32) -> Self {
        Self {
            whose: Whose::Papers,
            ..Self::figure(name, digits)
        }
    }
}

/// One figure or word of a table.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Cell {
    /// A count.
    Count(u64),
    /// A figure.
    Figure(f64),
    /// Words.
    Text(String),
    /// Not measured, or without meaning here.
    Absent,
}

impl Cell {
    /// The cell as people see it.
    pub(crate) fn shown(&self, digits: u32) -> String {
        match self {
            Self::Count(count) => surefit_measure::output::grouped(*count),
            Self::Figure(figure) if figure.is_finite() => {
                format!("{figure:.*}", digits as usize)
            }
            Self::Text(text) => surefit_measure::error::one_line(text),
            Self::Figure(_) | Self::Absent => "-".to_owned(),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Cell {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

impl From<f64> for Cell {
    fn from(figure: f64) -> Self {
        Self::Figure(figure)
    }
}

impl<T: Into<Self>> From<Option<T>> for Cell {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Absent, Into::into)
    }
}

// ---- plots ---------------------------------------------------------------------------------------------------------------

/// Lines over one pair of axes.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plot {
    /// What it shows.
    pub(crate) title: String,
    /// To the right.
    pub(crate) x: Axis,
    /// Upwards.
    pub(crate) y: Axis,
    /// The lines.
    pub(crate) series: Vec<Series>,
}

/// One axis of a plot.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Axis {
    /// What it measures, with its unit.
    pub(crate) label: String,
    /// Names of the places 0, 1, 2, … where the axis has no numbers of its own (κ up to infinity); empty else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ticks: Vec<String>,
    /// Whether equal distances are equal factors.
    #[serde(default)]
    pub(crate) is_logarithmic: bool,
    /// Whether the axis begins at zero even if no value is near.
    #[serde(default)]
    pub(crate) from_zero: bool,
    /// Whether the named places have no order: then values are bars, and no line joins them.
    #[serde(default)]
    pub(crate) is_unordered: bool,
}

impl Axis {
    /// An axis of numbers, as long as its values need.
    pub(crate) fn new(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            ..Self::default()
        }
    }

    /// An axis of numbers that begins at zero.
    pub(crate) fn from_zero(label: &str) -> Self {
        Self {
            from_zero: true,
            ..Self::new(label)
        }
    }

    /// An axis whose places 0, 1, 2, … have names.
    pub(crate) fn named(label: &str, ticks: impl IntoIterator<Item = String>) -> Self {
        Self {
            ticks: ticks.into_iter().collect(),
            ..Self::new(label)
        }
    }

    /// An axis whose places are things of different kinds, in no order.
    pub(crate) fn kinds(label: &str, ticks: impl IntoIterator<Item = String>) -> Self {
        Self {
            is_unordered: true,
            ..Self::named(label, ticks)
        }
    }

    /// An axis of positive numbers on which equal distances are equal factors.
    pub(crate) fn logarithmic(label: &str) -> Self {
        Self {
            is_logarithmic: true,
            ..Self::new(label)
        }
    }
}

/// One line of a plot.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Series {
    /// Its name.
    pub(crate) name: String,
    /// Its points: x, y.
    pub(crate) points: Vec<(f64, f64)>,
    /// For each point, the least and the greatest of what it stands for; empty if there is no spread.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) spread: Vec<(f64, f64)>,
    /// Whose figures they are.
    pub(crate) whose: Whose,
}

impl Series {
    /// A line of ours without spread.
    pub(crate) fn new(name: impl Into<String>, points: impl Into<Vec<(f64, f64)>>) -> Self {
        Self {
            name: name.into(),
            points: points.into(),
            spread: Vec::new(),
            whose: Whose::Ours,
        }
    }
}

// ---- claims --------------------------------------------------------------------------------------------------------------

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
        let inverse = Ratio {
            median: 1.0 / ratio.median,
            min: 1.0 / ratio.max,
            max: 1.0 / ratio.min,
        };
        match (Self::is_greater(ratio), Self::is_greater(inverse)) {
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
    use super::{Cell, Column, Ratio, Table, Verdict};

    #[test]
    fn cells_keep_all_digits_and_show_some() {
        assert_eq!(Cell::from(1.0 / 3.0).shown(2), "0.33");
        assert_eq!(Cell::from(1_234_567_u64).shown(0), "1,234,567");
        assert_eq!(Cell::from(None::<f64>).shown(1), "-");
        assert_eq!(Cell::from(f64::NAN).shown(1), "-");
        let json = serde_json::to_string(&[Cell::from(2_u32), Cell::from(0.5), Cell::Absent]);
        assert_eq!(json.expect("JSON"), "[2,0.5,null]");
    }

    #[test]
    #[should_panic(expected = "X1")]
    fn a_row_of_another_length_is_a_mistake() {
        Table::new("t", [Column::text("a"), Column::figure("b", 1)]).row([Cell::Absent]);
    }

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
    fn the_committed_schema_is_that_of_the_type() {
        surefit_measure::schema::is_committed::<super::Report>("experiment.json");
    }
}
