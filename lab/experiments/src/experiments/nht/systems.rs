//! The systems that the experiment compares: segregated lists by what finds a list, what merges,
//! and how many there are.

use surefit_clients::lists::{Finds, Lists, MERGES};
use surefit_freelist::When;

/// The lists of the main comparison, as many as the thesis ends at.
pub(super) const LISTS: u32 = Lists::USUAL_COUNT;

/// The numbers of lists of the sweep.
pub(super) const SWEEP: [u32; 5] = [16, 64, LISTS, 1024, 4096];

/// The thesis's lists: the last one is searched from end to end.
pub(super) const fn thesis(finds: Finds, merges: When) -> Lists {
    Lists {
        is_tree: false,
        ..Lists::usual(finds, merges)
    }
}

/// The same lists, except that the walk over the heads finds one.
pub(super) const fn scanned(lists: Lists) -> Lists {
    Lists {
        finds: Finds::Scan,
        ..lists
    }
}

/// Every system once: first those with 256 lists, policy by policy, then the others of the sweep.
pub(super) fn all() -> Vec<Lists> {
    let each = |merges: When| Finds::ALL.map(|finds| thesis(finds, merges));
    let tree = |lists: Lists| Lists {
        is_tree: true,
        ..lists
    };
    let of_lists = |count: u32| each(When::Immediate).map(|lists| Lists { count, ..lists });
    let others = SWEEP.into_iter().filter(|lists| *lists != LISTS);
    MERGES
        .into_iter()
        .flat_map(each)
        .chain(each(When::Immediate).map(tree))
        .chain(others.flat_map(of_lists))
        .collect()
}

#[cfg(test)]
mod tests {
    use surefit_measure::spec::Spec;

    use super::all;

    #[test]
    fn every_system_is_an_allocator_and_differs_from_the_others() {
        let systems = all();
        assert_eq!(systems.len(), 24);
        for (at, system) in systems.iter().enumerate() {
            assert!(Spec::parse(&system.to_string()).is_ok(), "{system:?}");
            assert!(!systems[..at].contains(system), "{system:?}");
        }
    }
}
