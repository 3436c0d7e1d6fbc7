//! The replays in processor time.
//!
//! ```text
//! each round:  stop the world, by work, by time: one after the other, in the same region; where no quanta need the
//!              clock, all of it once more without reading the clock
//! declared     for quanta: an eighth of the rate of work, twice the rate of allocation, as stop the world had them
//! ```
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_clients::java::{Program, Ran, Scheduled, Timing};
use surefit_gc::schedule::Schedule;
use surefit_os::Reservation;
use surefit_os::clock::thread_cpu_ns;

use super::measure::{Found, InHeap};
use super::round::{Round, Timed, lengths};
use super::schedules::{Kind, Known};
use crate::shared::thesis::recorded::Recorded;

/// Nanoseconds of the collector's quantum.
pub(super) const QUANTUM_NS: u64 = 250_000;

/// The rate that is declared is so many times less than the one that was seen: phases differ.
const SAFETY: u64 = 8;

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
    let mut replay = |schedule: Schedule, timing| {
        let how = Scheduled { schedule, timing };
        space.stepped.replay(program, region.memory(), &how)
    };
    let stopped = replay(Schedule::Whole, Timing::Processor);
    let Some(known) = stopped.map(|ran| declared(heap, program, &ran)) else {
        return Ok(Vec::new());
    };
    let mut timed = Kind::ALL.map(|kind| Timed {
        kind,
        rounds: Vec::new(),
    });
    for _ in 0..rounds {
        for one in &mut timed {
            if let Some(schedule) = schedule(one.kind, heap, &known) {
                let round = replay(schedule, Timing::Processor);
                let mut round = round.as_ref().map(Round::of);
                if let (Some(round), false) = (&mut round, one.kind.is_by_time()) {
                    let began = thread_cpu_ns();
                    replay(schedule, Timing::Off);
                    round.total_ns = thread_cpu_ns() - began;
                }
                one.rounds.extend(round);
            }
        }
    }
    Ok(timed.to_vec())
}

/// What is declared in nanoseconds.
fn declared(heap: &InHeap, program: &Program, stopped: &Ran) -> Known {
    let paused = lengths(stopped).sum::<u64>();
    let running = stopped.ticks.saturating_sub(paused).max(1);
    Known {
        quantum: QUANTUM_NS,
        units: stopped.steps.work * QUANTUM_NS / paused.max(1) / SAFETY,
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
