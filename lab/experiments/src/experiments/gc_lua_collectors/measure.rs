//! One program under every tuning: the memory it takes on malloc, and its times in that memory.
#![deny(unsafe_code)]

use anyhow::Result;
use surefit_clients::lua::{Collecting, Program};
use surefit_measure::progress::Progress;
use surefit_measure::ratio::{Ratio, median};

use super::runs::{Done, Runner, Space};
use super::tunings::{TUNINGS, Tuning};
use crate::kit::Request;

/// Runs from which the memory on malloc is taken: the least, as Lua seeds its hashes by addresses.
const PEAKS: usize = 3;

/// How everything is measured.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Interleaved rounds.
    pub(super) rounds: u32,
    /// The tunings.
    pub(super) tunings: Vec<Tuning>,
    is_quick: bool,
}

impl Plan {
    pub(super) fn new(request: &Request) -> Self {
        let is_wanted = |tuning: &Tuning| !request.quick || tuning.is_as_it_comes();
        Self {
            rounds: request.rounds_or(7),
            tunings: TUNINGS.into_iter().filter(is_wanted).collect(),
            is_quick: request.quick,
        }
    }

    /// Steps of progress a program.
    pub(super) fn steps(&self) -> usize {
        self.tunings.len() * (1 + self.rounds as usize)
    }
}

/// What one program came to under one tuning.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// The program's name.
    pub(super) program: &'static str,
    /// The tuning.
    pub(super) tuning: Tuning,
    /// The most bytes on malloc as Lua counts them: what it requested.
    pub(super) requested_bytes: usize,
    /// The most bytes of malloc's chunks.
    pub(super) chunk_bytes: usize,
    /// Collections of Lua's own collector on malloc.
    pub(super) cycles: u64,
    /// Processor time with Lua's own collector on malloc, round by round.
    pub(super) own_ns: Vec<f64>,
    /// The other ways, in the order of [`WAYS`]; `None` if memory runs out.
    pub(super) ways: [Option<OnOurs>; WAYS.len()],
    /// The least of the multiples of malloc's bytes in which it ends, if it collects when it is
    /// refused; `None` if it ends in none.
    pub(super) enough: Option<f64>,
    /// Processor time inside collections, if it collects when it is refused, in malloc's bytes.
    pub(super) collecting_ns: Option<f64>,
    /// Runs, and how many of them printed the same as the first.
    pub(super) runs: u64,
    /// See `runs`.
    pub(super) same: u64,
}

/// One way to run a program in the memory that Lua's own collector took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Way {
    space: Space,
    memory: Memory,
    /// Whether Lua's own collector runs here too.
    is_own: bool,
}

/// How many bytes a heap has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    /// Those of malloc's chunks.
    Chunks,
    /// Those that Lua counts, without what malloc adds to them.
    Requested,
    /// The least multiple of malloc's in which it ends.
    Enough,
}

/// Those multiples.
const MULTIPLES: [f64; 6] = [1.0, 1.125, 1.25, 1.5, 2.0, 3.0];

/// Runs that must end in a multiple: one that fits by luck is not enough.
const ENDS: usize = 3;

/// Collected when refused, in malloc's bytes: what the goal is about.
pub(super) const REFUSED: usize = 0;
/// The same in the bytes that Lua counts.
pub(super) const TIGHT: usize = 1;
/// Lua's own collector, in malloc's bytes of ours.
pub(super) const OWN: usize = 2;
/// Collected when refused, in malloc's bytes, on TLSF.
pub(super) const TLSF: usize = 3;
/// Collected when refused, in the least multiple of malloc's bytes in which it ends.
pub(super) const ENOUGH: usize = 4;

/// All of them.
const WAYS: [Way; 5] = [
    Way::new(Space::Lists, Memory::Chunks, false),
    Way::new(Space::Lists, Memory::Requested, false),
    Way::new(Space::Lists, Memory::Chunks, true),
    Way::new(Space::Tlsf, Memory::Chunks, false),
    Way::new(Space::Lists, Memory::Enough, false),
];

impl Way {
    const fn new(space: Space, memory: Memory, is_own: bool) -> Self {
        Self {
            space,
            memory,
            is_own,
        }
    }

    fn run(self, runner: &Runner<'_>, row: &Row) -> Result<Option<Done>> {
        let bytes = match self.memory {
            Memory::Chunks => row.chunk_bytes,
            Memory::Requested => row.requested_bytes,
            Memory::Enough => match row.enough {
                Some(times) => bytes(row.chunk_bytes, times),
                None => return Ok(None),
            },
        };
        let collecting = match self.is_own {
            true => row.tuning.collecting,
            false => Collecting::WhenRefused,
        };
        runner.in_bytes(self.space, bytes, collecting)
    }
}

/// What came of a way.
#[derive(Clone, Debug, Default)]
pub(super) struct OnOurs {
    /// Processor time, round by round.
    pub(super) ns: Vec<f64>,
    /// Collections after refusals, in the first round.
    pub(super) collections: u64,
}

impl Row {
    /// A way's time over that of Lua's own collector on malloc, round by round.
    pub(super) fn ratios(&self, way: usize) -> Option<Vec<f64>> {
        let ours = self.ways[way].as_ref()?;
        let both = ours.ns.iter().zip(&self.own_ns);
        Some(both.map(|(ours, own)| ours / own).collect())
    }

    /// The same as a ratio.
    pub(super) fn ratio(&self, way: usize) -> Option<Ratio> {
        Ratio::of(&self.ratios(way)?)
    }

    /// What part of its time it collects, if it collects when it is refused, in malloc's bytes.
    pub(super) fn collecting_share(&self) -> Option<f64> {
        let whole = median(&self.ways[REFUSED].as_ref()?.ns)?;
        Some(self.collecting_ns? / whole)
    }

    /// Collections after refusals of a way.
    pub(super) fn collections(&self, way: usize) -> Option<u64> {
        Some(self.ways[way].as_ref()?.collections)
    }
}

/// The geometric mean over the rows whose programs end, round by round; `None` if there are none.
pub(super) fn mean<'r>(rows: impl Iterator<Item = &'r Row> + 'r, way: usize) -> Option<Ratio> {
    let all: Vec<_> = rows.filter_map(|row| row.ratios(way)).collect();
    let rounds = all.iter().map(Vec::len).min().unwrap_or(0);
    let means: Vec<_> = (0..rounds)
        .map(|round| {
            let logarithms = all.iter().map(|ratios| ratios[round].ln());
            (logarithms.sum::<f64>() / all.len() as f64).exp()
        })
        .collect();
    Ratio::of(&means)
}

/// Measures one program under all tunings of a plan.
///
/// # Errors
/// No memory; a program that fails otherwise than by memory.
pub(super) fn program(
    program: &'static Program,
    plan: &Plan,
    progress: &Progress,
) -> Result<Vec<Row>> {
    let number = if plan.is_quick {
        program.small
    } else {
        program.usual
    };
    let arguments = [number.as_bytes()];
    let runner = Runner::new(program, &arguments);
    let mut rows = Vec::new();
    for &tuning in &plan.tunings {
        rows.push(started(program, &runner, tuning, plan)?);
        progress.step(program.name, "memory on malloc", &tuning.name());
    }
    let mut expected = None;
    for round in 0..plan.rounds {
        for row in &mut rows {
            one_round(row, &runner, round, &mut expected)?;
            progress.step(program.name, "times", &row.tuning.name());
        }
    }
    Ok(rows)
}

/// A multiple of a number of bytes.
fn bytes(of: usize, times: f64) -> usize {
    (of as f64 * times) as usize
}

/// The least multiple of these bytes in which the program ends, if it collects when it is refused.
fn enough(runner: &Runner<'_>, chunk_bytes: usize) -> Result<Option<f64>> {
    'multiples: for times in MULTIPLES {
        let bytes = bytes(chunk_bytes, times);
        for _ in 0..ENDS {
            let done = runner.in_bytes(Space::Lists, bytes, Collecting::WhenRefused)?;
            if done.is_none() {
                continue 'multiples;
            }
        }
        return Ok(Some(times));
    }
    Ok(None)
}

/// A row with all that is not timed.
fn started(
    program: &'static Program,
    runner: &Runner<'_>,
    tuning: Tuning,
    plan: &Plan,
) -> Result<Row> {
    let collecting = tuning.collecting;
    let (mut requested_bytes, mut chunk_bytes) = runner.peaks(collecting)?;
    for _ in 1..if plan.is_quick { 1 } else { PEAKS } {
        let (requested, chunks) = runner.peaks(collecting)?;
        requested_bytes = requested_bytes.min(requested);
        chunk_bytes = chunk_bytes.min(chunks);
    }
    Ok(Row {
        program: program.name,
        tuning,
        requested_bytes,
        chunk_bytes,
        cycles: runner.cycles(collecting)?,
        own_ns: Vec::new(),
        ways: core::array::from_fn(|_| Some(OnOurs::default())),
        enough: enough(runner, chunk_bytes)?,
        collecting_ns: runner.collecting_ns(Space::Lists, chunk_bytes)?,
        runs: 0,
        same: 0,
    })
}

/// Runs every way once. `expected` becomes what the first run of a program printed.
fn one_round(
    row: &mut Row,
    runner: &Runner<'_>,
    round: u32,
    expected: &mut Option<Vec<u8>>,
) -> Result<()> {
    let own = runner.on_malloc(row.tuning.collecting)?;
    row.own_ns.push(own.ns);
    judge(row, &own, expected);
    for (at, way) in WAYS.into_iter().enumerate() {
        if row.ways[at].is_none() {
            continue;
        }
        let done = way.run(runner, row)?;
        if let Some(done) = &done {
            judge(row, done, expected);
        }
        let Some((found, done)) = row.ways[at].as_mut().zip(done) else {
            row.ways[at] = None;
            continue;
        };
        found.ns.push(done.ns);
        if round == 0 {
            found.collections = done.counts.collections;
        }
    }
    Ok(())
}

fn judge(row: &mut Row, done: &Done, expected: &mut Option<Vec<u8>>) {
    row.runs += 1;
    row.same += u64::from(*expected.get_or_insert_with(|| done.output.clone()) == done.output);
}
