//! The replays in processor time.
//!
//! ```text
//! each round:  stop the world, by work, by time: one after the other, in the same region
//! declared     for quanta: half the rate of work, twice the rate of allocation, as stop the world had them
//! ```
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_clients::java::{Program, Ran, Scheduled, Timing};
use surefit_gc::schedule::{Pauses, Schedule, least_mutator_ticks};
use surefit_os::Reservation;

use super::measure::{Found, InHeap, Space, lengths};
use super::schedules::{Kind, Known};
use crate::shared::thesis::recorded::Recorded;
use surefit_measure::ratio::median;

/// Nanoseconds of the collector's quantum.
pub(super) const QUANTUM_NS: u64 = 250_000;

/// Windows, in nanoseconds: 0.1 to 100 ms.
pub(super) const WINDOWS_NS: [u64; 7] = [
    100_000,
    300_000,
    1_000_000,
    3_000_000,
    10_000_000,
    30_000_000,
    100_000_000,
];

/// A kind of schedule, round by round.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) kind: Kind,
    pub(super) rounds: Vec<Round>,
}

/// One replay.
#[derive(Clone, Debug)]
pub(super) struct Round {
    /// Nanoseconds of all of it.
    pub(super) total_ns: u64,
    pub(super) pauses: Pauses,
    /// For each of [`WINDOWS_NS`], the least share of such a window that the program had.
    pub(super) utilisation: [Option<f64>; WINDOWS_NS.len()],
    /// Requests that found no room.
    pub(super) forced: u64,
    /// Quanta that took too long.
    pub(super) overruns: u64,
}

impl Round {
    fn of(ran: &Ran) -> Self {
        let mut pauses = Pauses::new();
        lengths(ran).for_each(|ns| pauses.add(ns));
        Self {
            total_ns: ran.ticks,
            pauses,
            utilisation: WINDOWS_NS.map(|window| {
                let least = least_mutator_ticks(&ran.pauses, 0..ran.ticks, window)?;
                Some(least as f64 / window as f64)
            }),
            forced: ran.steps.forced + ran.steps.whole,
            overruns: ran.paced.quanta_overrun,
        }
    }
}

impl Timed {
    /// The median over the rounds of a figure.
    pub(super) fn median(&self, of: impl Fn(&Round) -> f64) -> Option<f64> {
        median(&self.rounds.iter().map(of).collect::<Vec<_>>())
    }

    /// Microseconds of the longest pause.
    pub(super) fn longest_us(&self) -> Option<f64> {
        self.median(|round| round.pauses.longest() as f64 / 1e3)
    }
}

/// All schedules in the smaller heap, in interleaved rounds.
///
/// # Errors
/// The operating system gives no memory.
pub(super) fn rounds(recorded: &Recorded, found: &Found, rounds: u32) -> Result<Vec<Timed>> {
    let Some(heap) = found.heaps.first() else {
        return Ok(Vec::new());
    };
    let mut region = Reservation::new(heap.bytes)?;
    region.fault_in();
    let (space, program) = (&found.space, &recorded.program);
    let mut replay = |schedule: Schedule| ran(space, program, &mut region, schedule);
    let Some(known) = replay(Schedule::Whole).map(|ran| declared(heap, program, &ran)) else {
        return Ok(Vec::new());
    };
    let mut timed = Kind::ALL.map(|kind| Timed {
        kind,
        rounds: Vec::new(),
    });
    for _ in 0..rounds {
        for one in &mut timed {
            if let Some(schedule) = schedule(one.kind, heap, &known) {
                let ran = replay(schedule);
                one.rounds.extend(ran.as_ref().map(Round::of));
            }
        }
    }
    Ok(timed.to_vec())
}

fn ran(
    space: &Space,
    program: &Program,
    region: &mut Reservation,
    schedule: Schedule,
) -> Option<Ran> {
    let timing = Timing::Processor;
    let how = Scheduled { schedule, timing };
    space.stepped.replay(program, region.memory(), &how)
}

/// What is declared in nanoseconds.
fn declared(heap: &InHeap, program: &Program, stopped: &Ran) -> Known {
    let paused = lengths(stopped).sum::<u64>();
    let running = stopped.ticks.saturating_sub(paused).max(1);
    Known {
        quantum: QUANTUM_NS,
        units: stopped.steps.work * QUANTUM_NS / paused.max(1) / 2,
        millibytes_per_tick: 2000 * program.bytes() / running,
        ..heap.known
    }
}

/// The schedule, unless a quantum is too short for two pieces of work on this machine.
fn schedule(kind: Kind, heap: &InHeap, known: &Known) -> Option<Schedule> {
    if kind.is_by_time() {
        (known.units >= 2 * known.grain).then(|| kind.schedule(known))
    } else {
        Some(kind.schedule(&heap.known))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use surefit_gc::schedule::Pauses;

    use super::{Kind, Round, Timed, WINDOWS_NS};

    /// Three rounds with one pause of so many microseconds.
    pub(crate) fn timed(kind: Kind, us: u64) -> Timed {
        let mut pauses = Pauses::new();
        pauses.add(us * 1000);
        let round = Round {
            total_ns: 1_000_000,
            pauses,
            utilisation: [Some(0.5); WINDOWS_NS.len()],
            forced: 0,
            overruns: 0,
        };
        Timed {
            kind,
            rounds: vec![round; 3],
        }
    }

    #[test]
    fn figures_are_medians_over_rounds() {
        let mut timed = timed(Kind::Stop, 10);
        timed.rounds[0].total_ns = 7;
        assert_eq!(timed.median(|round| round.total_ns as f64), Some(1e6));
        assert_eq!(timed.longest_us(), Some(10.0));
    }
}
