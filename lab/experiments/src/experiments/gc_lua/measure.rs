//! One program on every space: the smallest heaps, and what is counted and timed in two others.
#![deny(unsafe_code)]

use std::mem::MaybeUninit;

use anyhow::{Context, Result, ensure};
use surefit_clients::lua::{Counts, Failure, Options, Output, Program};
use surefit_freelist::Counters;
use surefit_gc::{Clock, NoClock};
use surefit_os::Reservation;
use surefit_os::clock::thread_cpu_ns;

use super::spaces::{LOOKUPS, STRATEGIES, Space};
use crate::kit::Request;
use surefit_measure::collector::machine::{self, Done, Wall};
use surefit_measure::passes::percentiles;
use surefit_measure::progress::Progress;
use surefit_measure::registry::Kind;
use surefit_measure::rounds::in_parallel;
use surefit_measure::spec::{Choice, Spec};

/// The heaps, in multiples of the least smallest one.
pub(super) const HEAPS: [f64; 2] = [1.25, 2.0];

/// The largest heap that is tried, in bytes.
const LARGEST: usize = 1 << 30;

/// Where regions start in the search for the smallest heap, in bytes: Lua seeds its hashes by
/// addresses, and its tables grow a little earlier or later with other seeds.
const STARTS: [usize; 3] = [0, 8, 40];

/// How everything is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Interleaved rounds of the times.
    pub(super) rounds: u32,
    /// What a reading of the clock costs, in nanoseconds.
    pub(super) clock_ns: u64,
    /// What the search for the smallest heap leaves open, as a part of it.
    pub(super) open: f64,
    is_quick: bool,
}

impl Plan {
    pub(super) fn new(request: &Request) -> Self {
        Self {
            rounds: request.rounds_or(5),
            clock_ns: percentiles::clock_ns(),
            open: if request.quick { 0.1 } else { 0.01 },
            is_quick: request.quick,
        }
    }

    /// Steps of progress a program: the smallest heaps, and every round on every space in every
    /// heap.
    pub(super) fn steps(&self) -> usize {
        1 + self.rounds as usize * HEAPS.len() * Space::all().len()
    }
}

/// What one program came to.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The program's name.
    pub(super) program: &'static str,
    /// Every space.
    pub(super) rows: Vec<Row>,
    /// Runs that ended, and how many of them printed what the program prints on the platform's
    /// malloc.
    pub(super) runs: u64,
    /// See `runs`.
    pub(super) same: u64,
}

/// One space.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The space.
    pub(super) space: Space,
    /// The smallest heap in which the program ends, in bytes.
    pub(super) smallest: usize,
    /// What was found in each of the heaps; `None` if the program does not end in it.
    pub(super) heaps: [Option<InHeap>; 2],
}

/// One space in one heap.
#[derive(Clone, Debug, Default)]
pub(super) struct InHeap {
    /// What Lua asked for, in the first round.
    pub(super) counts: Counts,
    /// What the lists did, in the first round.
    pub(super) counters: Counters,
    /// Nanoseconds in calls outside of collections, round by round.
    pub(super) call_ns: Vec<f64>,
    /// Nanoseconds in collections, round by round.
    pub(super) collection_ns: Vec<f64>,
    /// Processor time of a whole run that reads no clock inside, round by round.
    pub(super) run_ns: Vec<f64>,
}

impl InHeap {
    /// Heap management time, round by round: calls and collections.
    pub(super) fn management_ns(&self) -> Vec<f64> {
        let both = self.call_ns.iter().zip(&self.collection_ns);
        both.map(|(calls, collections)| calls + collections)
            .collect()
    }

    /// So many of them an allocation.
    pub(super) fn per_allocation(&self, count: u64) -> f64 {
        count as f64 / self.counts.allocations.max(1) as f64
    }

    /// Visits an allocation.
    pub(super) fn visits(&self) -> f64 {
        self.per_allocation(self.counters.visits)
    }

    /// Table updates per allocation.
    pub(super) fn updates(&self) -> f64 {
        self.per_allocation(self.counters.table_updates)
    }
}

impl Found {
    /// The row of a space.
    pub(super) fn row(&self, space: Space) -> Option<&Row> {
        self.rows.iter().find(|row| row.space == space)
    }

    /// The smallest heap that suffices for all lookups of a strategy, in bytes: they put objects in
    /// the same places.
    pub(super) fn smallest(&self, strategy: &str) -> Option<usize> {
        let rows = self.rows.iter();
        let own = rows
            .filter(|row| row.space.strategy == strategy && LOOKUPS.contains(&row.space.lookup));
        own.map(|row| row.smallest).max()
    }

    /// The least of what suffices for a strategy, in bytes: what heaps are multiples of.
    pub(super) fn least(&self) -> usize {
        let strategies = STRATEGIES.into_iter();
        let smallest = strategies.filter_map(|strategy| self.smallest(strategy));
        smallest.min().unwrap_or(0)
    }
}

/// A program, and how to run it.
struct Runner<'a> {
    program: &'static str,
    script: surefit_clients::lua::Script<'a>,
}

impl Runner<'_> {
    /// Runs the program in a fresh heap over the first `bytes` of a region; `None` if memory runs
    /// out.
    fn run<K: Clock>(
        &self,
        kind: &Kind,
        region: &mut Reservation,
        bytes: usize,
        clock: K,
    ) -> Result<Option<Done>> {
        self.run_in(kind, &mut region.memory()[..bytes], clock)
    }

    fn run_in<K: Clock>(
        &self,
        kind: &Kind,
        memory: &mut [MaybeUninit<u8>],
        clock: K,
    ) -> Result<Option<Done>> {
        let options = Options {
            output: Output::Kept,
            ..Options::default()
        };
        let Ok(done) = machine::run(kind, memory, clock, &self.script, options) else {
            return Ok(None);
        };
        let done = done.with_context(|| format!("{kind:?} hands out no raw pointers"))?;
        match &done.ran.result {
            Ok(()) => Ok(Some(done)),
            Err(Failure::OutOfMemory(_)) => Ok(None),
            Err(Failure::Error(message)) => {
                anyhow::bail!("{} on {kind:?}: {message}", self.program)
            }
        }
    }

    /// Whether the program ends in a heap of the given number of bytes, wherever that starts.
    fn ends(&self, kind: &Kind, bytes: usize) -> Result<bool> {
        for start in STARTS {
            let mut region = Reservation::new(start + bytes)?;
            let memory = &mut region.memory()[start..start + bytes];
            if self.run_in(kind, memory, NoClock)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The smallest heap in which the program ends, in bytes, or a little more.
    fn smallest(&self, kind: &Kind, open: f64) -> Result<usize> {
        let (mut below, mut enough) = (0, 64 << 10);
        while !self.ends(kind, enough)? {
            ensure!(
                enough < LARGEST,
                "{} does not end in {enough} bytes",
                self.program
            );
            (below, enough) = (enough, 2 * enough);
        }
        while ((enough - below) as f64) > open * enough as f64 {
            let middle = (below + enough) / 2 / 8 * 8;
            if self.ends(kind, middle)? {
                enough = middle;
            } else {
                below = middle;
            }
        }
        Ok(enough)
    }
}

/// Measures one program on every space.
///
/// # Errors
/// No memory; a program that fails otherwise than by memory.
pub(super) fn program(program: &Program, plan: &Plan, progress: &Progress) -> Result<Found> {
    let number = if plan.is_quick {
        program.small
    } else {
        program.usual
    };
    let arguments = [number.as_bytes()];
    let runner = Runner {
        program: program.name,
        script: program.script(&arguments),
    };
    let spaces: Result<Vec<_>> = Space::all()
        .into_iter()
        .map(|space| Ok((space, space.kind()?)))
        .collect();
    let spaces = spaces?;
    let smallest = in_parallel(&spaces, |(_, kind)| runner.smallest(kind, plan.open))?;
    progress.step(program.name, "smallest heaps", &"all spaces");
    let rows = spaces
        .iter()
        .zip(smallest)
        .map(|(&(space, _), smallest)| Row {
            space,
            smallest,
            heaps: [None, None],
        });
    let mut found = Found {
        program: program.name,
        rows: rows.collect(),
        runs: 0,
        same: 0,
    };
    let expected = expected(&runner)?;
    for round in 0..plan.rounds {
        for (at, times) in HEAPS.into_iter().enumerate() {
            let bytes = (found.least() as f64 * times) as usize / 8 * 8;
            let mut region = Reservation::new(bytes)?;
            for (_, kind) in &spaces {
                // A run whose times are not taken touches the pages.
                if runner.run(kind, &mut region, bytes, NoClock)?.is_some() {
                    break;
                }
            }
            for (row, (_, kind)) in spaces.iter().enumerate() {
                let one = time(&runner, kind, &mut region, bytes, plan)?;
                progress.step(program.name, "times", &found.rows[row].space.lookup);
                let Some((done, times)) = one else {
                    continue;
                };
                found.runs += 1;
                found.same += u64::from(done.ran.output == expected);
                add(&mut found.rows[row].heaps[at], round, &done, times);
            }
        }
    }
    Ok(found)
}

/// What the program prints on the platform's malloc.
fn expected(runner: &Runner<'_>) -> Result<Vec<u8>> {
    let Choice::InProcess(system) = Spec::parse("system")?.choice else {
        anyhow::bail!("system: an allocator of the registry");
    };
    let mut nothing = Reservation::new(4096)?;
    let done = runner.run(&system, &mut nothing, 4096, NoClock)?;
    Ok(done.context("the platform has memory")?.ran.output)
}

/// Calls, collections and the whole run, in nanoseconds.
type Times = [f64; 3];

/// One run with the clock and one without.
fn time(
    runner: &Runner<'_>,
    kind: &Kind,
    region: &mut Reservation,
    bytes: usize,
    plan: &Plan,
) -> Result<Option<(Done, Times)>> {
    let Some(done) = runner.run(kind, region, bytes, Wall::new())? else {
        return Ok(None);
    };
    let began = thread_cpu_ns();
    let whole = runner.run(kind, region, bytes, NoClock)?;
    let run_ns = (thread_cpu_ns() - began) as f64;
    let counts = &done.ran.counts;
    let net = |ns: u64, readings: u64| ns.saturating_sub(readings * plan.clock_ns) as f64;
    let times = [
        net(counts.call_ticks, counts.timed_calls),
        net(counts.collection_ticks, counts.collections),
        run_ns,
    ];
    Ok(whole.map(|_| (done, times)))
}

/// Adds a round. What did not end in the first round, or in one in between, is left out.
fn add(in_heap: &mut Option<InHeap>, round: u32, done: &Done, times: Times) {
    if round == 0 {
        *in_heap = Some(InHeap {
            counts: done.ran.counts,
            counters: done.counters.unwrap_or_default(),
            ..InHeap::default()
        });
    }
    let Some(found) = in_heap
        .as_mut()
        .filter(|found| found.run_ns.len() == round as usize)
    else {
        *in_heap = None;
        return;
    };
    let [calls, collections, run] = times;
    found.call_ns.push(calls);
    found.collection_ns.push(collections);
    found.run_ns.push(run);
}
