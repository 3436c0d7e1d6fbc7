//! The two heaps that the thesis's experiments measure: the thesis's own, and ours.
//!
//! ```text
//!          one heap (the thesis's)                     ours
//! large    as all others: one heap, no second end      from 4 KiB on at the other end, with a reserve
//! last     a list, searched from end to end            a tree
//! lookup   scan or table (figures 4-4 to 4-13)         bitmap
//! ```
//! Every claim of the thesis is judged by *one heap*. *Ours* stands beside it, under its own name.
//!
//! # Source
//! The thesis on free-list organisation, chapters 2 and 3.

use surefit_clients::java::{Finds, Lists, Space};
use surefit_freelist::When;
use surefit_vm::Watching;

use crate::shared::merges::merges_name;

/// The thesis's two lookups.
pub(crate) const THESIS: [Finds; 2] = [Finds::Scan, Finds::NextHitTable];

/// How ours finds a list.
const OURS: Finds = Finds::Bitmap;

/// Segregated lists, and the heap that they manage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct System {
    pub(crate) lists: Lists,
    /// Whether large objects lie at the other end of the heap, which keeps a reserve for them.
    pub(crate) has_two_ends: bool,
}

impl System {
    /// The thesis's: one heap, 256 lists, and a last one that is searched from end to end.
    pub(crate) const fn thesis(merges: When, finds: Finds) -> Self {
        Self {
            lists: Lists {
                finds,
                merges,
                is_tree: false,
                count: Lists::USUAL_COUNT,
            },
            has_two_ends: false,
        }
    }

    /// Ours: two ends with a reserve, a bitmap, and a tree as the last list.
    pub(crate) const fn ours(merges: When) -> Self {
        Self {
            lists: Lists::usual(OURS, merges),
            has_two_ends: true,
        }
    }

    /// The same system with another number of lists.
    pub(crate) const fn with_count(self, count: u32) -> Self {
        let lists = Lists {
            count,
            ..self.lists
        };
        Self { lists, ..self }
    }

    /// As a space of the collector.
    pub(crate) const fn space(self) -> Space {
        Space::Segregated(self.lists)
    }

    /// The same options for this system's heap.
    pub(crate) const fn watching(self, watching: Watching) -> Watching {
        match self.has_two_ends {
            true => watching.with_two_ends(),
            false => watching,
        }
    }

    /// Coalescing and lookup in two words; ours is named so.
    pub(crate) fn name(self) -> String {
        let merges = merges_name(self.lists.merges);
        match self.has_two_ends {
            true => format!("ours, {merges}"),
            false => format!("{merges} {}", self.lists.finds.name()),
        }
    }
}

/// What both heaps are, for the setting of a report.
pub(crate) fn setting() -> String {
    "One heap, as in the thesis: large objects lie among all others, nothing is reserved for them, and the last of \
     256 lists is searched from end to end; scan: heads are walked; table: the Next Hit Table. Claims are judged by it. \
     Ours: objects from 4 KiB on lie at the other end, which keeps a reserve; a bitmap; a tree as the last list."
        .to_owned()
}

#[cfg(test)]
mod tests {
    use surefit_clients::java::Finds;
    use surefit_freelist::When;
    use surefit_vm::Watching;

    use super::System;

    #[test]
    fn only_ours_has_another_place_for_large_objects() {
        let [thesis, ours] = [
            System::thesis(When::Never, Finds::Scan),
            System::ours(When::Never),
        ];
        let watched = |system: System| system.watching(Watching::default()).large_from;
        assert_eq!((watched(thesis), watched(ours)), (usize::MAX, 4096));
        assert!(!thesis.lists.is_tree && ours.lists.is_tree);
        assert_eq!(thesis.name(), "never scan");
        assert_eq!(ours.name(), "ours, never");
        assert_eq!(ours.with_count(16).lists.count, 16);
    }
}
