//! The spaces under the machine.
#![deny(unsafe_code)]

use anyhow::{Result, bail};

use surefit_measure::registry::Kind;
use surefit_measure::spec::{Choice, Spec};

/// When free neighbours are merged.
pub(super) const STRATEGIES: [&str; 3] = ["never", "deferred", "immediate"];

/// What finds a list that holds a chunk.
pub(super) const LOOKUPS: [&str; 3] = ["scan", "nht", "bitmap"];

/// What all other spaces are compared with.
pub(super) const BASE: Space = Space::new("immediate", "nht");

/// One space, by its strategy and its lookup; TLSF and first fit have names for lookups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Space {
    /// When free neighbours are merged.
    pub(super) strategy: &'static str,
    /// What finds a free chunk.
    pub(super) lookup: &'static str,
}

impl Space {
    /// One of the segregated lists.
    pub(super) const fn new(strategy: &'static str, lookup: &'static str) -> Self {
        Self { strategy, lookup }
    }

    /// All spaces: the nine, then TLSF and first fit.
    pub(super) fn all() -> Vec<Self> {
        let nine = STRATEGIES
            .into_iter()
            .flat_map(|strategy| LOOKUPS.map(|lookup| Self::new(strategy, lookup)));
        let others = ["tlsf", "first-fit"].map(|lookup| Self::new("immediate", lookup));
        nine.chain(others).collect()
    }

    /// The allocator of the registry.
    ///
    /// # Errors
    /// Never: a test asks for all of them.
    pub(super) fn kind(self) -> Result<Kind> {
        let Self { strategy, lookup } = self;
        let spec = if LOOKUPS.contains(&lookup) {
            format!("segregated:index={lookup},coalesce={strategy}")
        } else {
            lookup.to_owned()
        };
        match Spec::parse(&spec)?.choice {
            Choice::InProcess(kind) => Ok(kind),
            Choice::Preload(_) => bail!("{spec}: an allocator of the registry"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Space;

    #[test]
    fn every_space_is_an_allocator_and_differs_from_the_others() {
        let spaces = Space::all();
        assert_eq!(spaces.len(), 11);
        for (at, space) in spaces.iter().enumerate() {
            assert!(space.kind().is_ok(), "{space:?}");
            assert!(!spaces[..at].contains(space), "{space:?}");
        }
    }
}
