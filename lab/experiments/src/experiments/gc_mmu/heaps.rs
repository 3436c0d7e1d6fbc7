//! One program on one space: the smallest heap, and runs in larger ones under every schedule.
//!
//! ```text
//! smallest   in which the program completes under stop the world, by halving
//! known      of each heap: what stop the world did there and in the smallest one
//! larger     1.25, 1.5, … times the smallest, until no cycle is forced
//! asked      as much above the smallest as the formula's bytes are above M
//! ```
#![deny(unsafe_code)]

use anyhow::{Result, bail};
use surefit_clients::java::{Ran, Scheduled, Timing};
use surefit_gc::schedule::Schedule;

use super::measure::{Found, HEAPS, InHeap, Larger, Run, Space};
use super::programs::Subject;
use super::schedules::{Kind, Known, quanta};
use crate::shared::thesis::heaps::least;
use surefit_measure::collector::graphs::Region;

/// The larger heaps, in multiples of the smallest.
const LARGER: [f64; 9] = [1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0];

/// What is asked for is not tried in heaps of more than so many times the smallest, nor if it is
/// not found in so many rounds.
const MOST: f64 = 32.0;
const ROUNDS: u32 = 6;

/// A program on a space; `None` if it completes in no heap.
///
/// # Errors
/// The operating system gives no memory.
pub(super) fn counted(subject: &Subject, space: &Space, quick: bool) -> Result<Option<Found>> {
    let stopped = |bytes| in_bytes(space, subject, bytes, Schedule::Whole, false);
    let Some(smallest) = least(|bytes| Ok(stopped(bytes)?.is_some()))? else {
        return Ok(None);
    };
    let Some(in_smallest) = stopped(smallest)? else {
        bail!("{}: no run is like the last", subject.name());
    };
    let mut found = Found {
        program: subject.name().to_owned(),
        space: space.clone(),
        smallest,
        in_smallest,
        heaps: Vec::new(),
        larger: Vec::new(),
        timed: Vec::new(),
    };
    for multiple in if quick { &HEAPS[..1] } else { &HEAPS } {
        found.heaps.extend(in_heap(&found, subject, *multiple)?);
    }
    if !quick {
        found.larger = larger(&found, subject)?;
    }
    Ok(Some(found))
}

/// All schedules in one heap; stop the world tells what is known of it.
fn in_heap(found: &Found, subject: &Subject, multiple: f64) -> Result<Option<InHeap>> {
    let bytes = (multiple * found.smallest as f64) as usize;
    let Some(stopped) = in_bytes(&found.space, subject, bytes, Schedule::Whole, true)? else {
        return Ok(None);
    };
    let mut heap = InHeap {
        multiple,
        bytes,
        known: Known::of(&found.in_smallest, &stopped),
        runs: Vec::new(),
    };
    for &kind in found.space.kinds {
        heap.runs.extend(match kind {
            Kind::Stop => Some(Run {
                kind,
                quanta: None,
                ran: stopped.clone(),
            }),
            _ => run(found, subject, bytes, kind, &heap.known)?,
        });
    }
    Ok(Some(heap))
}

fn run(
    found: &Found,
    subject: &Subject,
    bytes: usize,
    kind: Kind,
    known: &Known,
) -> Result<Option<Run>> {
    under(found, subject, bytes, kind, kind.schedule(known))
}

fn under(
    found: &Found,
    subject: &Subject,
    bytes: usize,
    kind: Kind,
    schedule: Schedule,
) -> Result<Option<Run>> {
    let ran = in_bytes(&found.space, subject, bytes, schedule, true)?;
    Ok(ran.map(|ran| Run {
        kind,
        quanta: quanta(&schedule),
        ran,
    }))
}

/// What larger heaps show of every schedule but stop the world.
fn larger(found: &Found, subject: &Subject) -> Result<Vec<Larger>> {
    let in_steps = found.space.kinds.iter().filter(|kind| **kind != Kind::Stop);
    let mut all: Vec<_> = in_steps
        .map(|&kind| Larger {
            kind,
            unforced: None,
            asked: None,
        })
        .collect();
    for multiple in LARGER {
        if all.iter().all(|one| one.unforced.is_some()) {
            break;
        }
        let bytes = (multiple * found.smallest as f64) as usize;
        let Some(known) = known(found, subject, bytes)? else {
            continue;
        };
        for one in all.iter_mut().filter(|one| one.unforced.is_none()) {
            let run = run(found, subject, bytes, one.kind, &known)?;
            let is_unforced = run.is_some_and(|run| run.forced() == 0);
            one.unforced = is_unforced.then_some(multiple);
        }
    }
    for one in &mut all {
        if let Kind::Time(collector, mutator) = one.kind {
            one.asked = asked(found, subject, collector, mutator)?;
        }
    }
    Ok(all)
}

/// The run in the heap that the formula asks for. The work of a cycle is that of stop the world
/// in this heap, which is found from below.
fn asked(
    found: &Found,
    subject: &Subject,
    collector: u64,
    mutator: u64,
) -> Result<Option<(f64, Run)>> {
    let mut multiple = 1.0;
    for _ in 0..ROUNDS {
        let bytes = (multiple * found.smallest as f64) as usize;
        let Some(known) = known(found, subject, bytes)? else {
            return Ok(None);
        };
        let pace = known.asked(collector, mutator);
        let asks = pace.most().bytes as f64 / known.live.max(1) as f64;
        if asks > MOST {
            return Ok(None);
        }
        if asks <= multiple {
            let kind = Kind::Time(collector, mutator);
            let run = under(found, subject, bytes, kind, Schedule::ByTime(pace))?;
            return Ok(run.map(|run| (multiple, run)));
        }
        multiple = asks * 1.01;
    }
    Ok(None)
}

/// What stop the world shows in a heap.
fn known(found: &Found, subject: &Subject, bytes: usize) -> Result<Option<Known>> {
    let stopped = in_bytes(&found.space, subject, bytes, Schedule::Whole, false)?;
    Ok(stopped.map(|stopped| Known::of(&found.in_smallest, &stopped)))
}

fn in_bytes(
    space: &Space,
    subject: &Subject,
    bytes: usize,
    schedule: Schedule,
    floating: bool,
) -> Result<Option<Ran>> {
    let how = Scheduled {
        schedule,
        timing: Timing::Virtual,
        floating,
    };
    let mut region = Region::new(bytes)?;
    subject.run(space, &mut region.as_mut()[..bytes], &how)
}
