//! One replay, and the smallest heaps: what heap sizes are multiples of.
//!
//! ```text
//! smallest heap of a system    by bisection, to 1 KiB or a thousandth
//! common minimum               the least of never, deferred and immediate in one heap
//! ```
//! A strategy's smallest heap is found with the table, which takes the most room of all lookups: so
//! the others complete there too. Big arrays may fail in heaps several times what lives, since live
//! objects lie everywhere in one heap: then the smallest heap says so, and in heaps above it hardly
//! anything is collected.

use anyhow::{Result, bail};
use surefit_clients::java::{Finds, Options, Outcome, Space, Stopped, min_heap};
use surefit_freelist::When;
use surefit_os::Reservation;

use super::recorded::Recorded;
use super::systems::System;
use crate::shared::merges::{MERGES, merges_name};
use surefit_measure::collector::graphs::Region;
use surefit_measure::error::Broken;

/// Replays a program in a heap of the given number of bytes, tables included. The options are those
/// of a [`System`], or of [`one_heap`](super::systems::one_heap).
///
/// # Errors
/// No memory; a heap that broke an invariant; a reference to a freed object. A program that does
/// not complete is a result.
pub(crate) fn replay(
    recorded: &Recorded,
    space: &Space,
    bytes: usize,
    options: &Options,
) -> Result<Result<Outcome, Stopped>> {
    let mut region = Reservation::new(bytes)?;
    region.fault_in();
    let found = space.replay(&recorded.program, region.memory(), options);
    let name = &recorded.name;
    match &found {
        Err(stopped @ Stopped::Corrupt { .. }) => {
            bail!(Broken(format!("{name}: {space:?}: {stopped}")))
        }
        Ok(outcome) if outcome.references_to_freed > 0 => bail!(Broken(format!(
            "{name}: {space:?}: {} references to freed objects",
            outcome.references_to_freed
        ))),
        _ => Ok(found),
    }
}

/// What a system does with a program in a heap of the given number of bytes; `None` if the program
/// does not complete.
///
/// # Errors
/// As [`replay`].
pub(crate) fn outcome(
    recorded: &Recorded,
    system: System,
    bytes: usize,
    options: Options,
) -> Result<Option<Outcome>> {
    let found = replay(recorded, &system.space(), bytes, &system.options(options))?;
    Ok(found.ok())
}

/// The smallest heap of a system in which a program completes, in bytes.
///
/// # Errors
/// None up to 64 times what lives most.
pub(crate) fn smallest(recorded: &Recorded, system: System) -> Result<usize> {
    let memory = |bytes| Region::new(bytes).ok();
    let options = system.options(Options::default());
    match min_heap(&system.space(), &recorded.program, &options, memory) {
        Some(found) => Ok(found.bytes),
        None => bail!(
            "{}: {}: completes in no heap up to 64 times what lives",
            recorded.name,
            system.name()
        ),
    }
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
    pub(crate) fn find(recorded: &Recorded, mut step: impl FnMut(&str)) -> Result<Self> {
        let mut find = |system: System| {
            let bytes = smallest(recorded, system)?;
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
    use super::Minima;

    #[test]
    fn the_common_minimum_is_the_least_in_one_heap() {
        let minima = Minima {
            one_heap: [4000, 3000, 2000],
            ours: 1000,
        };
        assert_eq!((minima.common(), minima.times(1.5)), (2000, 3000));
        assert_eq!(minima.common_of(), "immediate");
    }
}
