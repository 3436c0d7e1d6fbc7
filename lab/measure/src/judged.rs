//! What a comparison is judged by: bounds, an earlier comparison, and a second run. The same as
//! JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ratio::Ratio;

/// One bound of `--assert` on one trace.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Asserted {
    /// The bound as it was given. One with `and` sets several: each is an element.
    pub assertion: String,
    /// The trace.
    pub trace: String,
    /// What stands on the left.
    pub value: f64,
    /// One of `<=`, `<`, `>=`, `>`, `==`, `!=`.
    pub relation: String,
    /// What stands on the right.
    pub bound: f64,
    /// "bytes" or "ns"; absent for counts and ratios.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Whether it holds.
    pub holds: bool,
}

/// What `--against` found.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Against {
    /// The file of the earlier comparison.
    pub file: String,
    /// Figures that were compared.
    pub compared: u64,
    /// What is worse than before.
    pub worse: Vec<Difference>,
    /// What is better.
    pub better: Vec<Difference>,
    /// What could not be compared, in words.
    pub notes: Vec<String>,
}

/// A figure that differs from the earlier one.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The trace.
    pub trace: String,
    /// The allocator.
    pub allocator: String,
    /// The figure's name, as in bounds: of times the median `time_over_baseline`, and `completed`
    /// is 1 or 0.
    pub figure: String,
    /// What it was.
    pub before: f64,
    /// What it is.
    pub now: f64,
    /// The same in a line of words.
    pub words: String,
}

/// What a second run made of one trace.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SecondRun {
    /// The trace.
    pub trace: String,
    /// The fastest of the first run: one, or all that share the first place.
    pub fastest_first: Vec<String>,
    /// The fastest of the second run.
    pub fastest_second: Vec<String>,
    /// The ratios of both runs; allocators without one are left out.
    pub ratios: Vec<TwoRatios>,
}

/// The ratio of an allocator's times to the baseline's in two runs.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct TwoRatios {
    /// The allocator.
    pub allocator: String,
    /// In the first run.
    pub first: Ratio,
    /// In the second.
    pub second: Ratio,
    /// Whether they are further apart than both spreads explain.
    pub is_beyond_spread: bool,
}
