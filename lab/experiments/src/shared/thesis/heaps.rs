//! One run, and the smallest heaps: what heap sizes are multiples of.
//!
//! ```text
//! smallest heap of a system    by bisection, to a sixty-fourth
//! common minimum               the least of never, deferred and immediate in one heap
//! ```
//! A strategy's smallest heap is found with the table, which takes the most room of all lookups: so
//! the others complete there too.

use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use surefit_clients::bisect::Boundary;
use surefit_clients::java::Finds;
use surefit_freelist::When;
use surefit_os::Reservation;
use surefit_vm::{Collecting, Space, Watched, Watching};

use super::java::Java;
use super::systems::System;
use crate::shared::merges::{MERGES, merges_name};

/// The least heap that is tried, and the largest.
const TRIED: [usize; 2] = [32 << 10, 256 << 20];

/// A smallest heap is found to this part of it.
const OPEN: usize = 64;

/// What a program does over a space in a heap of the given number of bytes, tables included,
/// collected at once; `None` if it does not complete.
///
/// # Errors
/// No memory.
pub(crate) fn over(
    java: &Java,
    space: &Space,
    bytes: usize,
    watching: Watching,
) -> Result<Option<Watched>> {
    let mut region = Reservation::new(bytes)?;
    region.fault_in();
    java.watched(space, Collecting::AtOnce, watching, region.memory())
}

/// The same over a system.
///
/// # Errors
/// As [`over`].
pub(crate) fn outcome(
    java: &Java,
    system: System,
    bytes: usize,
    watching: Watching,
) -> Result<Option<Watched>> {
    over(java, &system.space(), bytes, system.watching(watching))
}

/// What was found before in this process: several experiments ask.
static BEFORE: Mutex<Vec<((Java, System), usize)>> = Mutex::new(Vec::new());

/// The smallest heap of a system in which a program completes, in bytes, to a sixty-fourth: one
/// boundary between heaps that suffice and heaps that do not.
///
/// # Errors
/// None up to 256 MiB suffices.
pub(crate) fn smallest(java: &Java, system: System) -> Result<usize> {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    let is_known = |((other, its), _): &&((Java, System), usize)| other == java && *its == system;
    if let Some((_, found)) = before.iter().find(is_known) {
        return Ok(*found);
    }
    let completes =
        |bytes| anyhow::Ok(outcome(java, system, bytes, Watching::default())?.is_some());
    let found = least(completes)?;
    let found = found.with_context(|| {
        format!(
            "{}: {}: completes in no heap up to 256 MiB",
            java.name,
            system.name()
        )
    })?;
    before.push(((java.clone(), system), found));
    Ok(found)
}

/// The least heap that suffices, to a sixty-fourth; `None` if none does.
pub(crate) fn least(mut suffices: impl FnMut(usize) -> Result<bool>) -> Result<Option<usize>> {
    let [mut above, most] = TRIED;
    let mut below = 0;
    while !suffices(above)? {
        if above == most {
            return Ok(None);
        }
        (below, above) = (above, 2 * above);
    }
    let found = Boundary { below, above }.narrowed(8, |above| above / OPEN, suffices)?;
    Ok(Some(found.above))
}

/// The smallest heaps of a program, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Minima {
    /// In one heap, as in the thesis, in the order of [`MERGES`].
    pub(crate) one_heap: [usize; 3],
    /// In ours, with immediate coalescing.
    pub(crate) ours: usize,
}

impl Minima {
    /// Finds all four; `step` is called with the name of each system whose heap was found.
    ///
    /// # Errors
    /// As [`smallest`].
    pub(crate) fn find(java: &Java, mut step: impl FnMut(&str)) -> Result<Self> {
        let mut find = |system: System| {
            let bytes = smallest(java, system)?;
            step(&system.name());
            anyhow::Ok(bytes)
        };
        let mut one_heap = [0; 3];
        for (minimum, merges) in one_heap.iter_mut().zip(MERGES) {
            *minimum = find(System::thesis(merges, Finds::NextHitTable))?;
        }
        Ok(Self {
            one_heap,
            ours: find(System::ours(When::Immediate))?,
        })
    }

    /// Bytes by which a smallest heap may be smaller than the one that was found.
    pub(crate) const fn open_bytes(bytes: usize) -> usize {
        bytes / OPEN
    }

    /// The least in one heap: what heap sizes are multiples of.
    pub(crate) fn common(&self) -> usize {
        self.one_heap.into_iter().min().unwrap_or_default()
    }

    /// The strategy with the least.
    pub(crate) fn common_of(&self) -> &'static str {
        let least = MERGES
            .iter()
            .zip(self.one_heap)
            .min_by_key(|(_, bytes)| *bytes);
        least.map_or("", |(merges, _)| merges_name(*merges))
    }

    /// So many times the common minimum, in bytes.
    pub(crate) fn times(&self, multiple: f64) -> usize {
        (self.common() as f64 * multiple) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{Minima, least};

    #[test]
    fn the_common_minimum_is_the_least_in_one_heap() {
        let minima = Minima {
            one_heap: [4000, 3000, 2000],
            ours: 1000,
        };
        assert_eq!((minima.common(), minima.times(1.5)), (2000, 3000));
        assert_eq!(minima.common_of(), "immediate");
    }

    #[test]
    fn the_least_that_suffices_is_found_to_a_sixty_fourth() {
        for boundary in [10_000, 1_000_000, 50_000_000] {
            let found = least(|bytes| Ok(bytes >= boundary)).expect("no error");
            let found = found.expect("some heap does");
            assert!(
                found >= boundary && found - boundary <= found / 64,
                "{found}"
            );
        }
        assert!(matches!(least(|_| Ok(false)), Ok(None)));
    }
}
