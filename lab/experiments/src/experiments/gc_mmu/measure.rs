//! What is found of one program on one space: runs under every schedule, all counted.
#![deny(unsafe_code)]

use std::fmt;

use anyhow::{Result, bail};
use surefit_clients::java::{self, Finds, Lists, Ran, Stepped};
use surefit_freelist::When;
use surefit_gc::schedule::{Quanta, least_mutator_ticks};

use super::round::{Timed, lengths};
use super::schedules::{Kind, Known};
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

/// A space, and what runs on it.
#[derive(Clone, Debug)]
pub(super) struct Space {
    pub(super) name: &'static str,
    pub(super) stepped: Stepped,
    pub(super) kinds: &'static [Kind],
}

impl Space {
    /// Free lists and Compact-fit; unless quick, Metronome's.
    ///
    /// # Errors
    /// Never: a test asks for them.
    pub(super) fn all(quick: bool) -> Result<Vec<Self>> {
        let mut all = vec![
            Self {
                name: "lists",
                stepped: Stepped::FreeLists,
                kinds: Kind::OURS,
            },
            Self {
                name: "CF 4K",
                stepped: compact_fit("compact-fit:page=4K")?,
                kinds: Kind::OURS,
            },
        ];
        if !quick {
            all.push(Self {
                name: METRONOME,
                stepped: compact_fit("compact-fit:page=16K,pieces=2K")?,
                kinds: Kind::METRONOMES,
            });
        }
        Ok(all)
    }

    /// The same on the Java machine.
    pub(super) fn of_machine(&self) -> java::Space {
        match &self.stepped {
            Stepped::FreeLists => {
                java::Space::Segregated(Lists::usual(Finds::Bitmap, When::Immediate))
            }
            Stepped::CompactFit(config) => java::Space::CompactFit(config.clone()),
        }
    }

    /// Whether it is Metronome's, as near as our parts come.
    pub(super) fn is_metronome(&self) -> bool {
        self.name == METRONOME
    }
}

/// Metronome's: pages of 16 KiB, size-classes that differ by an eighth, pieces of 2 KiB.
const METRONOME: &str = "CF 16K";

fn compact_fit(spec: &str) -> Result<Stepped> {
    match SpaceSpec::parse(spec)?.space {
        java::Space::CompactFit(config) => Ok(Stepped::CompactFit(config)),
        _ => bail!("{spec} is Compact-fit"),
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
    /// For every kind but stop the world, what larger heaps showed; empty if none were tried.
    pub(super) larger: Vec<Larger>,
    pub(super) timed: Vec<Timed>,
}

/// A kind of schedule in heaps from small to large.
#[derive(Clone, Debug)]
pub(super) struct Larger {
    pub(super) kind: Kind,
    /// The smallest of them in which no cycle is forced, in multiples of the smallest in which the
    /// program completes.
    pub(super) unforced: Option<f64>,
    /// By time: one that is as large as the formula asks for, and the run there.
    pub(super) asked: Option<(f64, Run)>,
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

/// A run under a schedule.
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

    /// What larger heaps showed of a kind.
    pub(super) fn larger(&self, kind: Kind) -> Option<&Larger> {
        self.larger.iter().find(|larger| larger.kind == kind)
    }
}

impl InHeap {
    /// The run of a kind.
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

#[cfg(test)]
#[expect(
    clippy::single_range_in_vec_init,
    reason = "a list of one pause, not of its ticks"
)]
pub(super) mod tests {
    use surefit_clients::java::Ran;
    use surefit_gc::schedule::{Pause, Quanta};

    use super::super::schedules::{Kind, Known};
    use super::{Found, InHeap, Larger, Run, Space};

    /// A run of 100,000 ticks with these pauses, in which nothing is forced.
    pub(crate) fn ran(pauses: &[Pause]) -> Ran {
        Ran {
            ticks: 100_000,
            pauses: pauses.to_vec(),
            steps: Default::default(),
            paced: Default::default(),
            most_excess: 66,
            largest_cycle: 1000,
            room: None,
            largest: Default::default(),
            most_kept: 900,
            requested_bytes: 400_000,
            floating: Default::default(),
        }
    }

    /// A run of a kind; quanta of 1000 ticks of the collector.
    pub(crate) fn run(kind: Kind, pauses: &[Pause]) -> Run {
        let quanta = match kind {
            Kind::Time(collector, mutator) => Quanta::new(1000, 1000 * mutator / collector),
            _ => None,
        };
        Run {
            kind,
            quanta,
            ran: ran(pauses),
        }
    }

    /// A program on lists with these runs in a heap of 1.5 times the smallest.
    pub(crate) fn found(runs: Vec<Run>) -> Found {
        let lists = Space::all(true).expect("spaces").remove(0);
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
            larger: Vec::new(),
            timed: Vec::new(),
        }
    }

    /// As `found`, with this run in the heap that its schedule asks for.
    pub(crate) fn asked(run: Run) -> Found {
        let larger = Larger {
            kind: run.kind,
            unforced: Some(2.0),
            asked: Some((2.5, run)),
        };
        Found {
            larger: vec![larger],
            ..found(Vec::new())
        }
    }

    /// A program on Metronome's heap.
    pub(crate) fn on_metronome() -> Found {
        let mut all = Space::all(false).expect("spaces");
        Found {
            space: all.pop().expect("the last is Metronome's"),
            ..found(Vec::new())
        }
    }

    #[test]
    fn the_spaces_of_a_quick_run_are_the_first_ones() {
        let [quick, all] = [true, false].map(|quick| Space::all(quick).expect("spaces"));
        assert!(
            quick
                .iter()
                .zip(&all)
                .all(|(one, other)| one.name == other.name)
        );
        let metronome = |space: &&Space| space.is_metronome();
        assert_eq!(quick.iter().filter(metronome).count(), 0);
        assert_eq!(all.iter().filter(metronome).count(), 1);
    }

    #[test]
    fn a_pause_too_long_or_too_early_is_a_short_window() {
        let short = |pauses: &[Pause]| run(Kind::Time(1, 1), pauses).short_window().is_some();
        assert!(!short(&[0..1000, 2000..3000, 4000..5000]));
        assert!(short(&[0..1000, 2000..3001]));
        assert!(short(&[0..1000, 1900..2900]));
        assert_eq!(run(Kind::Stop, &[0..9000]).short_window(), None);
    }

    #[test]
    fn utilisation_is_the_least_of_all_windows() {
        let run = run(Kind::Time(1, 1), &[100..200, 300..400]);
        assert_eq!(run.utilisation(100), Some(0.0));
        assert_eq!(run.utilisation(300), Some(1.0 / 3.0));
        assert_eq!(run.utilisation(100_001), None);
        assert_eq!(run.formula(2000), Some(0.5));
        assert_eq!(run.longest(), 100);
    }
}
