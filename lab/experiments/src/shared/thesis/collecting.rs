//! A heap in which a program collects: where the thesis's counts are taken.
//!
//! ```text
//! least        the smallest heap in which the program completes with deferred coalescing, in one heap
//! collecting   the first of 2, 1.5, 1.25, 1.1 and 1 x least in which deferred collects
//! ```
//! In heaps much larger than what lives, a program may end before its first collection. Then
//! nothing is freed, and there is nothing to count.

use anyhow::Result;
use surefit_clients::java::Finds;
use surefit_freelist::When;
use surefit_vm::Watching;

use super::heaps::{outcome, smallest};
use super::java::Java;
use super::systems::System;

/// The multiples that are tried.
pub(crate) const TRIED: [f64; 5] = [2.0, 1.5, 1.25, 1.1, 1.0];

/// A heap of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Collecting {
    /// The smallest heap in which the program completes with deferred coalescing, in bytes.
    pub(crate) least: usize,
    /// The heap, in multiples of it.
    pub(crate) multiple: f64,
    /// Collections of deferred there.
    pub(crate) collections: u64,
}

impl Collecting {
    /// The heap, in bytes.
    pub(crate) const fn bytes(&self) -> usize {
        self.times(self.multiple)
    }

    /// So many times the smallest, in bytes.
    pub(crate) const fn times(&self, multiple: f64) -> usize {
        (self.least as f64 * multiple) as usize
    }

    /// The heap in words, for titles.
    pub(crate) fn words(&self) -> String {
        let mebibytes = self.bytes() as f64 / f64::from(1 << 20);
        format!(
            "{mebibytes:.2} MiB, {} x deferred's smallest, {} collections",
            self.multiple, self.collections
        )
    }
}

/// How the heap is chosen, for the setting of a report.
pub(crate) fn setting() -> String {
    format!(
        "The heap of a program is the first of {TRIED:?} times the smallest in which it completes with deferred coalescing, \
         in which it collects; the same for all strategies."
    )
}

/// The heap of a program.
///
/// # Errors
/// As [`smallest`].
pub(crate) fn collecting(java: &Java) -> Result<Collecting> {
    let system = System::thesis(When::Deferred, Finds::NextHitTable);
    let mut found = Collecting {
        least: smallest(java, system)?,
        multiple: TRIED[0],
        collections: 0,
    };
    for multiple in TRIED {
        found.multiple = multiple;
        let outcome = outcome(java, system, found.bytes(), Watching::default())?;
        found.collections = outcome.map_or(0, |outcome| outcome.totals.collections);
        if found.collections > 0 {
            break;
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::Collecting;

    #[test]
    fn heaps_are_multiples_of_the_smallest() {
        let heap = Collecting {
            least: 2 << 20,
            multiple: 1.25,
            collections: 7,
        };
        assert_eq!((heap.bytes(), heap.times(4.0)), (5 << 19, 8 << 20));
        assert_eq!(
            heap.words(),
            "2.50 MiB, 1.25 x deferred's smallest, 7 collections"
        );
    }
}
