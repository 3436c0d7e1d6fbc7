//! One replay, and the heap in which most of several spaces complete.

use anyhow::{Result, bail};
use surefit_clients::java::{Finds, Lists, Options, Outcome, Space, Stopped};
use surefit_freelist::When;
use surefit_os::Reservation;

use super::recorded::Recorded;
use surefit_measure::error::Broken;

/// The heaps that are tried for several spaces, in multiples of what lives most.
pub(crate) const TIMES: [f64; 7] = [2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0];

/// Segregated lists, as many as the thesis ends at.
pub(crate) const fn segregated(finds: Finds, merges: When, is_tree: bool) -> Space {
    Space::Segregated(Lists {
        finds,
        merges,
        is_tree,
        count: 256,
    })
}

/// So many times what lives most, in bytes.
pub(crate) fn times_live(recorded: &Recorded, times: f64) -> usize {
    (recorded.program.most_live().bytes as f64 * times) as usize
}

/// Replays a program in a heap of the given number of bytes, tables included.
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

/// Several spaces in the same heap.
#[derive(Debug)]
pub(crate) struct Common {
    /// The heap, in multiples of what lives most.
    pub(crate) times: f64,
    /// What each did, in the order of the spaces; `None` if it does not complete.
    pub(crate) outcomes: Vec<Option<Outcome>>,
}

impl Common {
    fn completed(&self) -> usize {
        self.outcomes.iter().flatten().count()
    }
}

/// The first of [`TIMES`] in which all spaces complete, or else most of them, and what they do
/// there; `None` if none does.
///
/// # Errors
/// As [`replay`].
pub(crate) fn common(
    recorded: &Recorded,
    spaces: &[Space],
    options: &Options,
) -> Result<Option<Common>> {
    let mut best: Option<Common> = None;
    for times in TIMES {
        let bytes = times_live(recorded, times);
        let outcomes = spaces
            .iter()
            .map(|space| Ok(replay(recorded, space, bytes, options)?.ok()));
        let outcomes: Vec<_> = outcomes.collect::<Result<_>>()?;
        let found = Common { times, outcomes };
        let completed = found.completed();
        if completed > best.as_ref().map_or(0, Common::completed) {
            best = Some(found);
        }
        if completed == spaces.len() {
            break;
        }
    }
    Ok(best)
}

/// Says that no heap of [`TIMES`] serves any space.
pub(crate) fn no_common(name: &str) -> String {
    let most = TIMES[TIMES.len() - 1];
    format!("{name}: not measured: up to {most} times what lives most, no space completes.")
}
