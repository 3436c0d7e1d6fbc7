//! The thesis's lists under a collector, in the same run: what the table gains where a sweep frees.
//!
//! ```text
//! program      a recorded Java program, whole, quick or not: a part of it is another program
//! system       the thesis's: one heap, and a last list that is searched from end to end
//! heap         the first of a few multiples of what lives most in which deferred and immediate complete
//! gain         time of heap management with the walk ÷ with the table, interleaved rounds
//! ```
//! A policy that does not complete in that heap, or never collects there, has no gain. In larger
//! heaps less is collected: so no other heap is tried.

use std::path::Path;

use anyhow::{Context, Result};
use surefit_clients::java::{Clocking, Options, Outcome, Program, completed};
use surefit_freelist::When;
use surefit_os::Reservation;

use crate::shared::merges::MERGES;
use crate::shared::thesis::systems::{System, THESIS};
use surefit_measure::collector::graphs;
use surefit_measure::results::Ratio;

/// The program.
const PROGRAM: &str = "bundled:raytrace";

/// The heaps that are tried, in multiples of the bytes that live most.
const HEAPS: [f64; 5] = [1.5, 2.0, 3.0, 4.0, 6.0];

/// More rounds say no more: a replay is longer than a trace's.
const MOST_ROUNDS: u32 = 5;

/// The table's gain under a collector.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gains {
    /// The program.
    pub(crate) program: String,
    /// The heap, in multiples of the bytes that live most.
    pub(crate) heap: f64,
    /// The fewest collections of a system that collects.
    pub(crate) collections: usize,
    /// Time of the walk ÷ time of the table, policy by policy.
    pub(crate) gains: Vec<(When, Ratio)>,
}

/// Replays the program on the lists of each policy with the walk and with the table; `None` if no
/// heap serves deferred and immediate, or nothing is collected.
///
/// # Errors
/// No memory; the recording cannot be read.
pub(crate) fn gains(rounds: u32) -> Result<Option<Gains>> {
    let program = Program::read(|| graphs::open(Path::new(PROGRAM)));
    let program = program.context(PROGRAM)?;
    for heap in HEAPS {
        let bytes = (program.most_live().bytes as f64 * heap) as usize;
        let mut region = Reservation::new(bytes)?;
        region.fault_in();
        let mut replay = |system| replayed(&program, &mut region, system);
        // the first round, not timed against the others, says which policies the heap serves
        let mut served = Vec::new();
        for merges in MERGES {
            let both = THESIS.map(|finds| replay(System::thesis(merges, finds)));
            if let [Some(walk), Some(table)] = both {
                let collections = walk.collections.len().min(table.collections.len());
                served.push((merges, collections));
            }
        }
        let is_served = |merges| served.iter().any(|(other, _)| *other == merges);
        if !(is_served(When::Deferred) && is_served(When::Immediate)) {
            continue;
        }
        served.retain(|(_, collections)| *collections > 0);
        let fewest = served.iter().map(|(_, collections)| *collections).min();
        let Some(collections) = fewest else {
            return Ok(None);
        };
        let policies = served.into_iter().map(|(merges, _)| (merges, Vec::new()));
        let mut gains: Vec<_> = policies.collect();
        for _ in 0..rounds.clamp(1, MOST_ROUNDS) {
            for (merges, rounds) in &mut gains {
                let [walk, table] = THESIS.map(|finds| {
                    let outcome = replay(System::thesis(*merges, finds));
                    outcome.as_ref().and_then(management_ns)
                });
                rounds.extend(walk.zip(table).map(|(walk, table)| walk / table));
            }
        }
        let gains = gains.into_iter();
        return Ok(Some(Gains {
            program: PROGRAM.rsplit(':').next().unwrap_or_default().to_owned(),
            heap,
            collections,
            gains: gains
                .filter_map(|(merges, rounds)| Some((merges, Ratio::of(&rounds)?)))
                .collect(),
        }));
    }
    Ok(None)
}

/// One replay; `None` if it does not complete.
fn replayed(program: &Program, region: &mut Reservation, system: System) -> Option<Outcome> {
    let options = system.options(Options {
        clocking: Clocking::Batch,
        ..Options::default()
    });
    completed(system.space().replay(program, region.memory(), &options))
}

/// The time of allocations and collections.
fn management_ns(outcome: &Outcome) -> Option<f64> {
    let times = outcome.times.as_ref()?;
    Some(times.management_ns() as f64)
}

#[cfg(test)]
mod tests {
    use super::gains;

    #[test]
    fn a_collector_collects_and_shows_a_gain_of_each_policy() {
        let gains = gains(1).expect("a recording");
        let gains = gains.expect("a heap in which something is collected");
        assert!((2..=3).contains(&gains.gains.len()), "{gains:?}");
        assert!(gains.collections > 0 && gains.heap >= 1.5, "{gains:?}");
    }
}
