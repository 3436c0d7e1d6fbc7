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
    /// The cheapest in which every object is contiguous, if one serves the demand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) contiguous: Option<Proposal>,
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

/// What the keys of the table mean.
const MEANINGS: &str = "\
What the choices are:
  page     bytes of a page. Every size-class in use may have one that is nearly
           empty, so small heaps want small pages.
  width    bits of the heap's words: 16 (Narrow) for up to 1 MiB, 24 (Medium)
           for up to 128 MiB, 32 (Wide). Fewer bits, fewer bytes an object.
  spacing  size-classes in each power of two: 1/4 means four. classes: a list.
  k        pages of a size-class that may be partly empty: beyond, a free moves
           objects. holes, frac: how many free page-blocks there may be instead.
  pieces   longer byte objects lie in pieces of this size: not contiguous, read
           piece by piece. off: none is longer than a page. large: the size of
           the first ones, if they are longer.
Config::MICRO has pages of 1K, words of 16 bits, the classes above and k=1;
Config::TINY the same with spacing=1/4.
";

impl Proposals {
    /// What to take if the configuration that was asked for cannot serve the demand.
    pub(super) fn instead(&self) -> String {
        let Proposal {
            allocator,
            heap_bytes,
            ..
        } = &self.cheapest;
        format!(
            "--allocator {} serves it in {} B",
            quoted(allocator),
            grouped(*heap_bytes)
        )
    }

    /// The cheapest with contiguous objects, if that is another one.
    fn write_contiguous(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let other = self.contiguous.as_ref();
        let Some(other) = other.filter(|it| it.heap_bytes > self.cheapest.heap_bytes) else {
            return Ok(());
        };
        writeln!(
            f,
            "With every object contiguous: {} B\n  --allocator {}",
            grouped(other.heap_bytes),
            quoted(&other.allocator)
        )
    }
}

/// An allocator as a shell takes it.
fn quoted(allocator: &str) -> String {
    if allocator.contains(['[', ' ', '*', '?', '\'']) {
        return format!("'{}'", allocator.replace('\'', "'\\''"));
    }
    allocator.to_owned()
}

impl fmt::Display for Proposals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let least = &self.cheapest;
        let allocator = quoted(&least.allocator);
        writeln!(
            f,
            "\nFewest bytes of {} configurations: {} B\n  --allocator {allocator}",
            grouped(self.configurations),
            grouped(least.heap_bytes)
        )?;
        self.write_contiguous(f)?;
        writeln!(
            f,
            "\nEach choice, the others chosen best:        bytes   ÷ fewest   one free copies"
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
        write!(f, "{MEANINGS}")?;
        writeln!(
            f,
            "Then, with the options of this run and --emit rust or --emit c instead of\n\
             --propose, the heap as source text:\n  \
             surefit certify … --allocator {allocator} --emit rust"
        )?;
        writeln!(
            f,
            "These are bytes only. What the choices cost in time:\n  \
             surefit compare --allocators {}",
            quoted(&format!("cf,{}", least.allocator))
        )
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_takes_what_is_proposed() {
        assert_eq!(quoted("cf:page=1K,k=1"), "cf:page=1K,k=1");
        assert_eq!(quoted("cf:classes=[32 64]"), "'cf:classes=[32 64]'");
        assert_eq!(quoted("cf:classes=it's"), r"'cf:classes=it'\''s'");
    }
}
