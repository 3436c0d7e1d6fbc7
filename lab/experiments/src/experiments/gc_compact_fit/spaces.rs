//! The spaces that the experiment compares.
#![deny(unsafe_code)]

use std::fmt;

use anyhow::Result;

use surefit_measure::collector::spaces::SpaceSpec;

/// One space: what tables call it, and what the command line does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) name: &'static str,
    spec: &'static str,
}

const fn choice(name: &'static str, spec: &'static str) -> Choice {
    Choice { name, spec }
}

/// All of them: lists by policy and lookup, the others whose objects stay, then Compact-fit by page
/// size and bound.
pub(super) const ALL: [Choice; 16] = [
    choice("never, scan", "segregated:index=scan,coalesce=never"),
    choice("never, table", "segregated:index=nht,coalesce=never"),
    choice("never, bitmap", "segregated:index=bitmap,coalesce=never"),
    choice("deferred, scan", "segregated:index=scan,coalesce=deferred"),
    choice("deferred, table", "segregated:index=nht,coalesce=deferred"),
    choice(
        "deferred, bitmap",
        "segregated:index=bitmap,coalesce=deferred",
    ),
    choice(
        "immediate, scan",
        "segregated:index=scan,coalesce=immediate",
    ),
    choice(
        "immediate, table",
        "segregated:index=nht,coalesce=immediate",
    ),
    choice(
        "immediate, bitmap",
        "segregated:index=bitmap,coalesce=immediate",
    ),
    choice("first fit", "first-fit"),
    choice("TLSF", "tlsf"),
    choice("CF 2K, holes", "compact-fit:page=2K"),
    choice("CF 2K, k=inf", "compact-fit:page=2K,k=inf"),
    choice("CF 4K, holes", "compact-fit:page=4K"),
    choice("CF 4K, k=inf", "compact-fit:page=4K,k=inf"),
    choice("CF 16K, holes", "compact-fit:page=16K"),
];

/// Those that are drawn: one lookup for every policy, and all others but first fit, whose walks
/// would press the rest flat.
pub(super) const DRAWN: [&str; 8] = [
    "never, bitmap",
    "deferred, bitmap",
    "immediate, bitmap",
    "TLSF",
    "CF 2K, holes",
    "CF 2K, k=inf",
    "CF 4K, holes",
    "CF 16K, holes",
];

impl Choice {
    /// Whether objects move.
    pub(super) fn is_compact_fit(self) -> bool {
        self.spec.starts_with("compact-fit")
    }

    /// The space of the collector.
    ///
    /// # Errors
    /// Never: a test asks for all of them.
    pub(super) fn spec(self) -> Result<SpaceSpec> {
        SpaceSpec::parse(self.spec)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

#[cfg(test)]
mod tests {
    use surefit_clients::java::Space;

    use super::{ALL, DRAWN};

    #[test]
    fn every_space_is_one_of_the_collector_and_differs_from_the_others() {
        for (at, choice) in ALL.iter().enumerate() {
            let space = choice.spec().expect("a space").space;
            assert_eq!(
                matches!(space, Space::CompactFit(_)),
                choice.is_compact_fit()
            );
            let others = &ALL[..at];
            assert!(
                others
                    .iter()
                    .all(|other| other.name != choice.name && other.spec != choice.spec)
            );
        }
    }

    #[test]
    fn what_is_drawn_is_measured() {
        for name in DRAWN {
            assert!(ALL.iter().any(|choice| choice.name == name), "{name}");
        }
    }
}
