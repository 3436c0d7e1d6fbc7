//! Strategies of coalescing, lookups, last lists, and their combinations.

use surefit_clients::java::{Finds, Lists, Space};
use surefit_freelist::When;

use crate::shared::merges::{MERGES, merges_name};

/// The three lookups: the thesis's two, and ours.
pub(crate) const FINDS: [Finds; 3] = Finds::ALL;

/// The thesis's lists: 256, and a last one that is searched from end to end.
pub(crate) const fn lists(merges: When, finds: Finds) -> Lists {
    Lists {
        finds,
        merges,
        is_tree: false,
        count: 256,
    }
}

/// The same lists with a last one that is a tree, so that a search of it is bounded.
pub(crate) const fn with_tree(lists: Lists) -> Lists {
    Lists {
        is_tree: true,
        ..lists
    }
}

/// The thesis's systems and ours: nine with a last list that is searched, and those of them that
/// merge with a tree.
pub(crate) fn all() -> impl Iterator<Item = Lists> {
    let searched = || {
        MERGES
            .into_iter()
            .flat_map(|merges| FINDS.map(|finds| lists(merges, finds)))
    };
    let merging = searched().filter(|lists| lists.merges != When::Never);
    searched().chain(merging.map(with_tree))
}

/// The lookup in a word.
pub(crate) const fn finds_name(finds: Finds) -> &'static str {
    finds.name()
}

/// Both.
pub(crate) fn name(lists: Lists) -> String {
    format!("{} {}", merges_name(lists.merges), finds_name(lists.finds))
}

/// As a space.
pub(crate) const fn space(lists: Lists) -> Space {
    Space::Segregated(lists)
}
