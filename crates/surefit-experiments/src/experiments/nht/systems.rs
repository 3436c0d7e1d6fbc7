//! The systems that the experiment compares: segregated lists by what finds a list, what merges,
//! and how many there are.

use surefit_freelist::When;

use crate::shared::merges::{MERGES, merges_name};
use surefit_measure::spec::Spec;

/// The lists of the main comparison, as many as the thesis ends at.
pub(super) const LISTS: u32 = 256;

/// The numbers of lists of the sweep.
pub(super) const SWEEP: [u32; 5] = [16, 64, LISTS, 1024, 4096];

/// What finds the first list that holds a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finds {
    /// The walk over the heads.
    Scan,
    /// The Next Hit Table.
    Table,
    /// A bitmap of two levels.
    Bitmap,
}

impl Finds {
    pub(super) const ALL: [Self; 3] = [Self::Scan, Self::Table, Self::Bitmap];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::Table => "table",
            Self::Bitmap => "bitmap",
        }
    }

    const fn key(self) -> &'static str {
        match self {
            Self::Scan => "scan",
            Self::Table => "nht",
            Self::Bitmap => "bitmap",
        }
    }
}

/// Segregated lists, chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct System {
    pub(super) finds: Finds,
    pub(super) merges: When,
    pub(super) lists: u32,
    /// Whether the last list is a tree; else it is walked.
    pub(super) is_tree: bool,
}

impl System {
    /// With 256 lists, and a tree for the last one.
    pub(super) const fn usual(finds: Finds, merges: When) -> Self {
        Self {
            finds,
            merges,
            lists: LISTS,
            is_tree: true,
        }
    }

    /// The same, except that it walks over the heads.
    pub(super) const fn scanned(self) -> Self {
        Self {
            finds: Finds::Scan,
            ..self
        }
    }

    /// How the last list is searched.
    pub(super) const fn last(self) -> &'static str {
        if self.is_tree { "tree" } else { "linear" }
    }

    /// The system as an allocator.
    ///
    /// # Errors
    /// Never: a test parses them.
    pub(super) fn spec(self) -> anyhow::Result<Spec> {
        let Self { finds, lists, .. } = self;
        let (merges, last) = (merges_name(self.merges), self.last());
        let finds = finds.key();
        Spec::parse(&format!(
            "segregated:index={finds},coalesce={merges},lists={lists},last={last}"
        ))
    }
}

/// Every system once: first those with 256 lists, policy by policy, then the others of the sweep.
pub(super) fn all() -> Vec<System> {
    let each = |merges: When| Finds::ALL.map(|finds| System::usual(finds, merges));
    let linear = |system: System| System {
        is_tree: false,
        ..system
    };
    let of_lists = |lists: u32| each(When::Immediate).map(|system| System { lists, ..system });
    let others = SWEEP.into_iter().filter(|lists| *lists != LISTS);
    MERGES
        .into_iter()
        .flat_map(each)
        .chain(each(When::Immediate).map(linear))
        .chain(others.flat_map(of_lists))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::all;

    #[test]
    fn every_system_is_an_allocator_and_differs_from_the_others() {
        let systems = all();
        assert_eq!(systems.len(), 24);
        for (at, system) in systems.iter().enumerate() {
            assert!(system.spec().is_ok(), "{system:?}");
            assert!(!systems[..at].contains(system), "{system:?}");
        }
    }
}
