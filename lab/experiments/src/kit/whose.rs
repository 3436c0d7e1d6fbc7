//! Whose a figure is: ours or the papers'.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
