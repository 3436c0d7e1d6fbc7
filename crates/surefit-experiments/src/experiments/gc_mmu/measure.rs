//! One program on one space: smallest heaps, replays under every schedule, all counted.
#![deny(unsafe_code)]

use std::fmt;
use std::mem::MaybeUninit;

use anyhow::{Result, bail};
use surefit_clients::bisect::Boundary;
use surefit_clients::java::{self, MinHeap, Program, Ran, Scheduled, Stepped, Timing, least_heap};
use surefit_gc::schedule::{Quanta, Schedule, least_mutator_ticks};

use super::round::{Timed, lengths};
use super::schedules::{Kind, Known, quanta};
use crate::shared::thesis::recorded::Recorded;
use surefit_measure::collector::graphs::Region;
use surefit_measure::collector::spaces::SpaceSpec;

/// The heaps, in multiples of the smallest.
pub(super) const HEAPS: [f64; 2] = [1.5, 2.0];

/// Windows, in ticks.
pub(super) const WINDOWS: [u64; 8] = [
    1 << 10,
    1 << 12,
    1 << 14,
    1 << 16,
    1 << 18,
    1 << 20,
    1 << 22,
    1 << 24,
];

/// The largest heap in which it is tried whether no cycle is forced, in multiples of the smallest.
pub(super) const MOST: usize = 8;

/// The search for it ends at this part of a heap.
const OPEN: usize = 32;

/// A space.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub(super) name: &'static str,
    pub(super) stepped: Stepped,
}

impl Space {
    /// Both.
    ///
    /// # Errors
    /// Never: a test asks for them.
    pub(super) fn all() -> Result<[Self; 2]> {
        let java::Space::CompactFit(config) = SpaceSpec::parse("compact-fit:page=4K")?.space else {
            bail!("compact-fit is Compact-fit");
        };
        Ok([
            Self {
                name: "lists",
                stepped: Stepped::FreeLists,
            },
            Self {
                name: "CF 4K",
                stepped: Stepped::CompactFit(config),
            },
        ])
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A program on a space.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) program: String,
    pub(super) space: Space,
    /// Bytes of the smallest heap, and what the program did there under stop the world.
    pub(super) smallest: usize,
    pub(super) in_smallest: Ran,
    /// In each of [`HEAPS`].
    pub(super) heaps: Vec<InHeap>,
    /// For every kind but stop the world, bytes of the smallest heap in which no cycle is forced;
    /// absent if there is none, or it was not searched.
    pub(super) unforced: Vec<(Kind, Option<usize>)>,
    pub(super) timed: Vec<Timed>,
}

/// A program in one heap.
#[derive(Clone, Debug)]
pub(super) struct InHeap {
    pub(super) multiple: f64,
    pub(super) bytes: usize,
    pub(super) known: Known,
    /// One for every kind that completes.
    pub(super) runs: Vec<Run>,
}

/// A replay under a schedule.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) kind: Kind,
    pub(super) quanta: Option<Quanta>,
    pub(super) ran: Ran,
}

impl Found {
    /// How tables and claims name it.
    pub(super) fn name(&self) -> String {
        format!("{}, {}", self.program, self.space)
    }
}

impl InHeap {
    /// The replay of a kind.
    pub(super) fn run(&self, kind: Kind) -> Option<&Run> {
        self.runs.iter().find(|run| run.kind == kind)
    }
}

impl Run {
    /// The least share of any window of this length that the program had.
    pub(super) fn utilisation(&self, window: u64) -> Option<f64> {
        let run = 0..self.ran.ticks;
        let least = least_mutator_ticks(&self.ran.pauses, run, window)?;
        Some(least as f64 / window as f64)
    }

    /// u(Δ): the share that the formula of its quanta promises.
    pub(super) fn formula(&self, window: u64) -> Option<f64> {
        let least = self.quanta?.least_mutator_ticks(window);
        Some(least as f64 / window as f64)
    }

    /// A window of those tried in which the program had less than the formula says. Tried are some
    /// 16 lengths in each doubling, and all multiples of a quantum and a period up to 64.
    pub(super) fn short_window(&self) -> Option<u64> {
        let quanta = self.quanta?;
        let period = quanta.collector() + quanta.mutator();
        let logarithmic = (0..).map(|nth| (f64::from(nth) / 16.0).exp2() as u64);
        let multiples = (1..=64).flat_map(|times| [times * quanta.collector(), times * period]);
        let all = logarithmic.take_while(|window| *window <= self.ran.ticks);
        all.chain(multiples)
            .filter(|window| *window > 0)
            .find(|&window| {
                let run = 0..self.ran.ticks;
                let least = least_mutator_ticks(&self.ran.pauses, run, window);
                least.is_some_and(|least| least < quanta.least_mutator_ticks(window))
            })
    }

    /// Ticks of the longest pause.
    pub(super) fn longest(&self) -> u64 {
        lengths(&self.ran).max().unwrap_or(0)
    }

    /// Requests that found no room.
    pub(super) const fn forced(&self) -> u64 {
        self.ran.steps.forced + self.ran.steps.whole
    }
}

/// A program on a space; `None` if it completes in no heap.
///
/// # Errors
/// The operating system gives no memory.
pub(super) fn counted(recorded: &Recorded, space: &Space, quick: bool) -> Result<Option<Found>> {
    let program = &recorded.program;
    let least = program.most_live().bytes as usize;
    let completes =
        |region: &mut [MaybeUninit<u8>]| replay(space, program, region, Schedule::Whole).is_some();
    let memory = |bytes: usize| Region::new(bytes).ok();
    let Some(found) = least_heap(least, MinHeap::open_bytes, memory, completes) else {
        return Ok(None);
    };
    let smallest = found.bytes;
    let Some(in_smallest) = in_bytes(space, program, smallest, Schedule::Whole)? else {
        bail!("{}: no replay is like the last", recorded.name);
    };
    let mut found = Found {
        program: recorded.name.clone(),
        space: space.clone(),
        smallest,
        in_smallest,
        heaps: Vec::new(),
        unforced: Vec::new(),
        timed: Vec::new(),
    };
    for multiple in if quick { &HEAPS[..1] } else { &HEAPS } {
        found.heaps.extend(in_heap(&found, program, *multiple)?);
    }
    if !quick {
        for kind in &Kind::ALL[1..] {
            let unforced = unforced(&found, program, *kind)?;
            found.unforced.push((*kind, unforced));
        }
    }
    Ok(Some(found))
}

/// All schedules in one heap; stop the world tells what is known of it.
fn in_heap(found: &Found, program: &Program, multiple: f64) -> Result<Option<InHeap>> {
    let bytes = (multiple * found.smallest as f64) as usize;
    let Some(stopped) = in_bytes(&found.space, program, bytes, Schedule::Whole)? else {
        return Ok(None);
    };
    let known = Known::of(&found.in_smallest, &stopped);
    let mut heap = InHeap {
        multiple,
        bytes,
        known,
        runs: Vec::new(),
    };
    for kind in Kind::ALL {
        let schedule = kind.schedule(&known);
        let ran = in_bytes(&found.space, program, bytes, schedule)?;
        heap.runs.extend(ran.map(|ran| Run {
            kind,
            quanta: quanta(&schedule),
            ran,
        }));
    }
    Ok(Some(heap))
}

/// The smallest heap in which no cycle is forced.
fn unforced(found: &Found, program: &Program, kind: Kind) -> Result<Option<usize>> {
    let suffices = |bytes: usize| -> Result<bool> {
        let Some(stopped) = in_bytes(&found.space, program, bytes, Schedule::Whole)? else {
            return Ok(false);
        };
        let schedule = kind.schedule(&Known::of(&found.in_smallest, &stopped));
        let ran = in_bytes(&found.space, program, bytes, schedule)?;
        Ok(ran.is_some_and(|ran| ran.steps.forced + ran.steps.whole == 0))
    };
    let all = Boundary {
        below: found.smallest - 1,
        above: MOST * found.smallest,
    };
    if !suffices(all.above)? {
        return Ok(None);
    }
    let boundary = all.narrowed(1, |bytes| bytes / OPEN, suffices)?;
    Ok(Some(boundary.above))
}

fn in_bytes(
    space: &Space,
    program: &Program,
    bytes: usize,
    schedule: Schedule,
) -> Result<Option<Ran>> {
    let mut region = Region::new(bytes)?;
    let region = &mut region.as_mut()[..bytes];
    Ok(replay(space, program, region, schedule))
}

fn replay(
    space: &Space,
    program: &Program,
    region: &mut [MaybeUninit<u8>],
    schedule: Schedule,
) -> Option<Ran> {
    let timing = Timing::Virtual;
    space
        .stepped
        .replay(program, region, &Scheduled { schedule, timing })
}

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "a list of one pause, not of its ticks"
)]
pub(super) mod tests {
    use surefit_clients::java::Ran;
    use surefit_gc::schedule::{Pause, Quanta};

    use super::super::schedules::{Kind, Known};
    use super::{Found, InHeap, Run, Space};

    /// A replay of 100,000 ticks with these pauses, in which nothing is forced.
    pub(crate) fn ran(pauses: &[Pause]) -> Ran {
        Ran {
            ticks: 100_000,
            pauses: pauses.to_vec(),
            steps: Default::default(),
            paced: Default::default(),
            most_excess: 66,
            largest_cycle: 1000,
            most_roots: 100,
            room: None,
            largest: Default::default(),
        }
    }

    /// A replay of a kind; quanta of 1000 ticks of the collector.
    pub(crate) fn run(kind: Kind, pauses: &[Pause]) -> Run {
        let quanta = match kind {
            Kind::Time(share) => Quanta::new(1000, 1000 / share),
            _ => None,
        };
        Run {
            kind,
            quanta,
            ran: ran(pauses),
        }
    }

    /// A program on lists with these replays in a heap of 1.5 times the smallest.
    pub(crate) fn found(runs: Vec<Run>) -> Found {
        let [lists, _] = Space::all().expect("spaces");
        let known = Known::of(&ran(&[]), &ran(&[]));
        Found {
            program: "p".to_owned(),
            space: lists,
            smallest: 1000,
            in_smallest: ran(&[]),
            heaps: vec![InHeap {
                multiple: 1.5,
                bytes: 1500,
                known,
                runs,
            }],
            unforced: vec![(Kind::Work, Some(1200))],
            timed: Vec::new(),
        }
    }

    #[test]
    fn a_pause_too_long_or_too_early_is_a_short_window() {
        let short = |pauses: &[Pause]| run(Kind::Time(1), pauses).short_window().is_some();
        assert!(!short(&[0..1000, 2000..3000, 4000..5000]));
        assert!(short(&[0..1000, 2000..3001]));
        assert!(short(&[0..1000, 1900..2900]));
        assert_eq!(run(Kind::Stop, &[0..9000]).short_window(), None);
    }

    #[test]
    fn utilisation_is_the_least_of_all_windows() {
        let run = run(Kind::Time(1), &[100..200, 300..400]);
        assert_eq!(run.utilisation(100), Some(0.0));
        assert_eq!(run.utilisation(300), Some(1.0 / 3.0));
        assert_eq!(run.utilisation(100_001), None);
        assert_eq!(run.formula(2000), Some(0.5));
        assert_eq!(run.longest(), 100);
    }
}
