//! The thesis's lists under a collector, in the same run: what the table gains where a sweep frees.
//!
//! ```text
//! program      the ray tracer on the Java machine
//! system       the thesis's: one heap, and a last list that is searched from end to end
//! heap         twice the smallest in which it completes with deferred coalescing
//! gain         time of heap management with the walk ÷ with the table, interleaved rounds
//! ```
//! A policy that does not complete in that heap, or never collects there, has no gain.

use anyhow::{Context, Result};
use surefit_clients::java::Finds;
use surefit_freelist::When;
use surefit_vm::{Watched, Watching};

use super::merges::MERGES;
use super::thesis::heaps::{outcome, smallest};
use super::thesis::java;
use super::thesis::systems::{System, THESIS};
use crate::kit::Request;
use surefit_measure::results::Ratio;

/// The program.
const PROGRAM: &str = "Raytrace";

/// The heap, in multiples of the smallest.
const HEAP: f64 = 2.0;

/// More rounds say no more: a run is longer than a trace's.
const MOST_ROUNDS: u32 = 5;

/// The table's gain under a collector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gains {
    /// The program.
    pub(crate) program: String,
    /// The heap, in multiples of the smallest.
    pub(crate) heap: f64,
    /// The fewest collections of a system that collects.
    pub(crate) collections: u64,
    /// Time of the walk ÷ time of the table, policy by policy.
    pub(crate) gains: Vec<(When, Ratio)>,
}

/// Runs the program on the lists of each policy with the walk and with the table; `None` if nothing
/// is collected.
///
/// # Errors
/// No memory.
pub(crate) fn gains(request: &Request, rounds: u32) -> Result<Option<Gains>> {
    let programs = java::all(request).into_iter();
    let java = programs.into_iter().find(|java| java.name == PROGRAM);
    let java = java.context(PROGRAM)?;
    let least = smallest(&java, System::thesis(When::Deferred, Finds::NextHitTable))?;
    let bytes = (HEAP * least as f64) as usize;
    let clocked = Watching {
        clocked: true,
        ..Watching::default()
    };
    let mut all = MERGES.map(|merges| (merges, Vec::new()));
    let mut collections = None;
    for _ in 0..rounds.clamp(1, MOST_ROUNDS) {
        for (merges, ratios) in &mut all {
            let run = |finds| outcome(&java, System::thesis(*merges, finds), bytes, clocked);
            let [walk, table] = [run(THESIS[0])?, run(THESIS[1])?];
            let Some((walk, table)) = walk.zip(table) else {
                continue;
            };
            let collected = |one: &Watched| one.totals.collections;
            let fewest = collected(&walk).min(collected(&table));
            if fewest > 0 {
                collections = collections.min(Some(fewest)).or(Some(fewest));
                ratios.push(walk.management_ns() as f64 / table.management_ns() as f64);
            }
        }
    }
    let gains = all.into_iter();
    let gains = gains.filter_map(|(merges, ratios)| Some((merges, Ratio::of(&ratios)?)));
    Ok(collections.map(|collections| Gains {
        program: java.name.to_owned(),
        heap: HEAP,
        collections,
        gains: gains.collect(),
    }))
}

#[cfg(test)]
mod tests {
    use super::gains;
    use crate::kit::Request;

    #[test]
    fn a_collector_collects_and_shows_a_gain_of_each_policy() {
        let request = Request {
            quick: true,
            ..Request::default()
        };
        let gains = gains(&request, 1).expect("it runs");
        let gains = gains.expect("something is collected");
        assert!((2..=3).contains(&gains.gains.len()), "{gains:?}");
        assert!(gains.collections > 0, "{gains:?}");
    }
}
