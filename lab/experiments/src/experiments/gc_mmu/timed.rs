//! The runs in processor time.
//!
//! ```text
//! each round:  stop the world, by work, by time: one after the other, in the same region; where no quanta need the
//!              clock, all of it once more without reading the clock
//! declared     for quanta: a part of the rate of work, twice the rate of allocation, as stop the world had them
//! quanta       of the collector: 125 µs; Metronome's: 10 ms beside 10, and 3 ms beside 7
//! beside       after each run, a loop that only reads the clock of the pauses, for as long as all of them
//! ```
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_clients::java::{Log, Ran, Scheduled, Timing};
use surefit_gc::Clock as _;
use surefit_gc::schedule::Schedule;
use surefit_os::Reservation;
use surefit_os::clock::thread_cpu_ns;

use super::measure::{Found, InHeap, Space};
use super::programs::Subject;
use super::round::{Round, Timed, lengths};
use super::schedules::{Kind, Known};

/// The longest pause that is asked for, in nanoseconds.
pub(super) const MOST_PAUSE_NS: u64 = 250_000;

/// Nanoseconds of the collector's quantum: the rest is for what a quantum takes too long.
const QUANTUM_NS: u64 = MOST_PAUSE_NS / 2;

/// Nanoseconds of Metronome's quantum of the collector: as published, and as OpenJ9 has it.
const METRONOMES_NS: [u64; 2] = [10_000_000, 3_000_000];

/// The rate that is declared is so many times less than the one that was seen, because a unit takes
/// longer in one phase than in another. With 32 the longest pauses were no shorter.
const SAFETY: u64 = 8;

/// It is no less than so many longest pieces of work in a quantum, which none of the phases has.
const PIECES: u64 = 2;

/// All schedules in the smaller heap, in interleaved rounds.
///
/// # Errors
/// The operating system gives no memory.
pub(super) fn rounds(subject: &Subject, found: &Found, rounds: u32) -> Result<Vec<Timed>> {
    let Some(heap) = found.heaps.first() else {
        return Ok(Vec::new());
    };
    let mut region = Reservation::new(heap.bytes)?;
    region.fault_in();
    let space = &found.space;
    let mut run = |schedule: Schedule, timing| {
        let how = Scheduled {
            schedule,
            timing,
            floating: false,
        };
        subject.run(space, region.memory(), &how)
    };
    let stopped = run(Schedule::Whole, Timing::Processor)?;
    let Some(stopped) = stopped else {
        return Ok(Vec::new());
    };
    let kinds = space.kinds.iter().map(|&kind| Timed {
        kind,
        rounds: Vec::new(),
    });
    let mut timed: Vec<_> = kinds.collect();
    for _ in 0..rounds {
        for one in &mut timed {
            let quantum = quantum_ns(space, one.kind);
            let known = declared(heap, &stopped, quantum);
            let schedule = schedule(one.kind, heap, &known);
            let mut began = thread_cpu_ns();
            let round = run(schedule, Timing::Processor)?;
            let mut round = round.as_ref().map(Round::of);
            if let Some(round) = &mut round {
                if !one.kind.is_by_time() {
                    began = thread_cpu_ns();
                    run(schedule, Timing::Off)?;
                }
                round.total_ns = thread_cpu_ns() - began;
                let clock = Log::new(Timing::Processor);
                round.gap_ns = longest_gap(|| clock.now(), round.pauses.sum());
            }
            one.rounds.extend(round);
        }
    }
    Ok(timed)
}

/// The longest time between two readings of a clock in a loop that does nothing else for so long.
fn longest_gap(mut now: impl FnMut() -> u64, for_ns: u64) -> u64 {
    let began = now();
    let (mut last, mut longest) = (began, 0);
    while last.saturating_sub(began) < for_ns {
        let read = now();
        longest = longest.max(read.saturating_sub(last));
        last = read;
    }
    longest
}

fn quantum_ns(space: &Space, kind: Kind) -> u64 {
    match kind {
        Kind::Time(1, 1) if space.is_metronome() => METRONOMES_NS[0],
        Kind::Time(..) if space.is_metronome() => METRONOMES_NS[1],
        _ => QUANTUM_NS,
    }
}

/// What is declared in nanoseconds.
fn declared(heap: &InHeap, stopped: &Ran, quantum_ns: u64) -> Known {
    let paused = lengths(stopped).sum::<u64>();
    let running = stopped.ticks.saturating_sub(paused).max(1);
    Known {
        quantum: quantum_ns,
        units: (stopped.steps.work * quantum_ns / paused.max(1) / SAFETY)
            .max(PIECES * heap.known.grain),
        millibytes_per_tick: 2000 * stopped.requested_bytes / running,
        ..heap.known
    }
}

fn schedule(kind: Kind, heap: &InHeap, known: &Known) -> Schedule {
    if kind.is_by_time() {
        kind.schedule(known)
    } else {
        kind.schedule(&heap.known)
    }
}

#[cfg(test)]
mod tests {
    use super::longest_gap;

    #[test]
    fn the_longest_gap_is_that_between_two_readings_of_a_clock() {
        let mut readings = [10, 12, 13, 29, 31, 90].into_iter();
        let mut clock = || readings.next().expect("the loop ends");
        assert_eq!(longest_gap(&mut clock, 20), 16);
        assert_eq!(clock(), 90);
        assert_eq!(longest_gap(|| 5, 0), 0);
    }
}
