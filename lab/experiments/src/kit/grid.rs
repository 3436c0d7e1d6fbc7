//! Names in a grid of cells: where each thing belongs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verdict::Verdict;
use super::whose::Whose;

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
    /// What the papers draw across the side, in no cell; empty if nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) aside: String,
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
