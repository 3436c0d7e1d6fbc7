//! What is proposed, as output.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use surefit_measure::output::grouped;

/// The cheapest configuration, and what each choice costs.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proposals {
    /// The configuration that needs the fewest bytes.
    pub(crate) cheapest: Proposal,
    /// For each value of each choice, the cheapest configuration with it.
    pub(crate) choices: Vec<Chosen>,
    /// How many configurations were certified.
    pub(crate) configurations: u64,
}

/// One configuration.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Proposal {
    /// The allocator.
    pub(crate) allocator: String,
    /// The heap size that suffices, in bytes.
    pub(crate) heap_bytes: u64,
    /// The most moves when one page-block is freed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) moves_max_per_op: Option<u32>,
    /// The most bytes that these moves copy.
    pub(crate) moved_bytes_max_per_op: u64,
}

/// One value of one choice.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chosen {
    /// The value, as a key of the allocator.
    pub(crate) choice: String,
    /// The cheapest configuration with it.
    pub(crate) proposal: Proposal,
}

impl Proposals {
    /// What to take if the configuration that was asked for cannot serve the demand.
    pub(super) fn instead(&self) -> String {
        let Proposal {
            allocator,
            heap_bytes,
            ..
        } = &self.cheapest;
        format!(
            "--allocator {allocator} serves it in {} B",
            grouped(*heap_bytes)
        )
    }
}

impl fmt::Display for Proposals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = &self.cheapest;
        writeln!(
            f,
            "\nFewest bytes of {} configurations: --allocator {}",
            grouped(self.configurations),
            least.allocator
        )?;
        writeln!(
            f,
            "Each choice, the others chosen best:        bytes   ÷ fewest   one free copies"
        )?;
        for Chosen { choice, proposal } in &self.choices {
            writeln!(
                f,
                "  {choice:<30} {:>16}   {:>8.3}   {:>13} B",
                grouped(proposal.heap_bytes),
                proposal.heap_bytes as f64 / least.heap_bytes as f64,
                grouped(proposal.moved_bytes_max_per_op)
            )?;
        }
        writeln!(
            f,
            "These are bytes only. What the choices cost in time: surefit compare --allocators cf,{}",
            least.allocator
        )
    }
}
