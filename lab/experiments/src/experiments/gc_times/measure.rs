//! The three times of one program: all systems in heaps of all sizes, in interleaved rounds.
//!
//! ```text
//! heap sizes   multiples of the common minimum: the smallest of the thesis's one heap
//! rounds       for every heap size, all systems once, one after the other
//! allocation   each request: the clock before and after it, less collections and the clock's own cost
//! ```
//! Every system runs in the same region, all of which was touched before.

use anyhow::Result;
use surefit_clients::java::{Finds, Lists};
use surefit_freelist::When;
use surefit_os::Reservation;
use surefit_vm::{Collecting, Watched, Watching};

use crate::kit::Request;
use crate::shared::merges::MERGES;
use crate::shared::thesis::heaps::Minima;
use crate::shared::thesis::java::Java;
use crate::shared::thesis::systems::{System, THESIS};
use surefit_measure::progress::Progress;
use surefit_measure::ratio::median;

/// Heap sizes as multiples of the common minimum.
const TIMES: [f64; 6] = [1.0, 1.25, 1.5, 2.0, 3.0, 6.0];

/// Those of a quick run.
const QUICK_TIMES: [f64; 3] = [1.0, 1.5, 3.0];

/// Rounds unless the user chose their number.
const ROUNDS: u32 = 2;

/// Which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Allocation,
    Collection,
    Management,
}

impl What {
    pub(super) const ALL: [Self; 3] = [Self::Allocation, Self::Collection, Self::Management];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Allocation => "object allocation time",
            Self::Collection => "garbage collection time",
            Self::Management => "heap management time",
        }
    }

    fn of(self, times: &Watched) -> f64 {
        (match self {
            Self::Allocation => times.allocation_ns,
            Self::Collection => times.collection_ns,
            Self::Management => times.management_ns(),
        }) as f64
    }
}

/// Immediate coalescing in one heap, found by a bitmap: not the thesis's, and not ours.
pub(super) const BITMAP: System = System {
    lists: Lists {
        finds: Finds::Bitmap,
        ..System::thesis(When::Immediate, Finds::Scan).lists
    },
    has_two_ends: false,
};

/// Ours, with immediate coalescing.
pub(super) const OURS: System = System::ours(When::Immediate);

/// The thesis's six systems, and two that stand beside them.
pub(super) fn systems() -> impl Iterator<Item = System> {
    let thesis = MERGES
        .into_iter()
        .flat_map(|merges| THESIS.map(|finds| System::thesis(merges, finds)));
    thesis.chain([BITMAP, OURS])
}

/// A system in a heap of one size.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub(super) system: System,
    /// The heap's size as a multiple.
    pub(super) multiple: f64,
    /// Of every round; none if the program did not complete. Only their times differ.
    pub(super) rounds: Vec<Watched>,
}

impl Timed {
    /// Nanoseconds, round by round.
    pub(super) fn ns(&self, what: What) -> Vec<f64> {
        self.rounds.iter().map(|times| what.of(times)).collect()
    }

    /// Milliseconds: the median of the rounds.
    pub(super) fn ms(&self, what: What) -> Option<f64> {
        Some(median(&self.ns(what))? / 1e6)
    }

    /// Collections; `None` if the program did not complete.
    pub(super) fn collections(&self) -> Option<u64> {
        Some(self.rounds.first()?.totals.collections)
    }
}

/// A program: all systems in heaps of all sizes.
#[derive(Debug)]
pub(super) struct Measured {
    /// The program's name.
    pub(super) name: String,
    pub(super) minima: Minima,
    pub(super) timed: Vec<Timed>,
}

impl Measured {
    /// A system in a heap of this multiple of the common minimum.
    pub(super) fn at(&self, system: System, multiple: f64) -> Option<&Timed> {
        self.timed
            .iter()
            .find(|one| one.system == system && one.multiple == multiple)
    }

    /// The multiples there are, in ascending order.
    pub(super) fn multiples(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.timed.iter().map(|one| one.multiple).collect();
        all.dedup();
        all
    }

    /// The multiples at which all these systems completed and collected: only there do their times
    /// say anything about collectors.
    pub(super) fn collected(&self, systems: &[System]) -> Vec<f64> {
        let collects = |system: &System, multiple| {
            let one = self.at(*system, multiple);
            one.and_then(Timed::collections)
                .is_some_and(|count| count > 0)
        };
        let mut multiples = self.multiples();
        multiples.retain(|multiple| systems.iter().all(|system| collects(system, *multiple)));
        multiples
    }

    /// One system's time over another's in one heap, round by round; empty if either did not
    /// complete there, or took no time.
    pub(super) fn ratio(&self, [own, base]: [System; 2], what: What, multiple: f64) -> Vec<f64> {
        let ns = |system| {
            self.at(system, multiple)
                .map_or_else(Vec::new, |one| one.ns(what))
        };
        let (own, base) = (ns(own), ns(base));
        let took_time = own.iter().chain(&base).all(|ns| *ns > 0.0);
        let rounds = own.iter().zip(&base).filter(|_| took_time);
        rounds.map(|(own, base)| own / base).collect()
    }

    /// The same as the geometric mean over the heaps of these multiples in which both collected,
    /// round by round; empty if there is no such heap.
    pub(super) fn over(
        &self,
        pair: [System; 2],
        what: What,
        is_wanted: impl Fn(f64) -> bool,
    ) -> Vec<f64> {
        let heaps = self
            .collected(&pair)
            .into_iter()
            .filter(|one| is_wanted(*one));
        let ratios = heaps.map(|multiple| self.ratio(pair, what, multiple));
        let ratios: Vec<_> = ratios.filter(|rounds| !rounds.is_empty()).collect();
        geometric_mean(&ratios)
    }
}

/// The geometric mean, round by round.
fn geometric_mean(all: &[Vec<f64>]) -> Vec<f64> {
    let rounds = all.iter().map(Vec::len).min().unwrap_or_default();
    let mean = |round: usize| {
        let logarithms = all.iter().map(|rounds| rounds[round].ln()).sum::<f64>();
        (logarithms / all.len() as f64).exp()
    };
    (0..rounds).map(mean).collect()
}

/// Measures a program on all systems in heaps of all sizes.
///
/// # Errors
/// The system gives no memory; no heap is large enough.
pub(super) fn measure(java: &Java, request: &Request) -> Result<Measured> {
    let rounds = request.rounds_or(ROUNDS);
    let multiples: &[f64] = if request.quick { &QUICK_TIMES } else { &TIMES };
    let runs = multiples.len() * rounds as usize * systems().count();
    let progress = Progress::new((MERGES.len() + 1 + runs) as u64);
    let minima = Minima::find(java, |system| {
        progress.step(java.name, "smallest heap", &system);
    })?;
    let mut measured = Measured {
        name: java.name.to_owned(),
        minima,
        timed: Vec::new(),
    };
    for &multiple in multiples {
        let bytes = minima.times(multiple);
        let timed = time(java, bytes, rounds, &progress)?.into_iter();
        let timed = timed.map(|one| Timed { multiple, ..one });
        measured.timed.extend(timed);
    }
    progress.finish();
    Ok(measured)
}

/// Times all systems in a heap of the given number of bytes, in interleaved rounds.
fn time(java: &Java, bytes: usize, rounds: u32, progress: &Progress) -> Result<Vec<Timed>> {
    let mut region = Reservation::new(bytes)?;
    region.fault_in();
    let watching = Watching {
        clocked: true,
        ..Watching::default()
    };
    let start = |system: System| Timed {
        system,
        multiple: 1.0,
        rounds: Vec::new(),
    };
    let mut timed: Vec<Timed> = systems().map(start).collect();
    for round in 0..rounds {
        for one in &mut timed {
            progress.step(java.name, "times", &one.system.name());
            if round > 0 && one.rounds.is_empty() {
                continue;
            }
            let (space, watching) = (one.system.space(), one.system.watching(watching));
            let found = java.watched(&space, Collecting::AtOnce, watching, region.memory())?;
            one.rounds.extend(found);
        }
    }
    Ok(timed)
}

#[cfg(test)]
pub(super) mod tests {
    use surefit_vm::Watched;

    use super::{Measured, System, Timed, What, geometric_mean, systems};
    use crate::shared::thesis::heaps::Minima;

    /// What a system does in a heap: nanoseconds of allocation and of collection, collections, and
    /// headers that sweeps read.
    #[derive(Clone, Copy, Debug, Default)]
    pub(crate) struct Made {
        pub(crate) allocation: u64,
        pub(crate) collection: u64,
        pub(crate) collections: u64,
        pub(crate) visited: u64,
    }

    /// Three rounds of made-up times, by system and multiple, all with collections.
    pub(crate) fn made_up(of: impl Fn(System, f64) -> Option<(u64, u64)>) -> Measured {
        made(|system, multiple| {
            of(system, multiple).map(|(allocation, collection)| Made {
                allocation,
                collection,
                collections: 3,
                visited: 0,
            })
        })
    }

    /// As [`made_up`], with everything that is counted.
    pub(crate) fn made(of: impl Fn(System, f64) -> Option<Made>) -> Measured {
        let multiples = [1.0, 1.25, 2.0, 3.0, 4.0];
        let timed = multiples.into_iter().flat_map(|multiple| {
            let of = &of;
            systems().map(move |system| one(system, multiple, of(system, multiple)))
        });
        Measured {
            name: "t".to_owned(),
            minima: Minima {
                one_heap: [3_000_000, 2_000_000, 1_000_000],
                ours: 900_000,
            },
            timed: timed.collect(),
        }
    }

    fn one(system: System, multiple: f64, made: Option<Made>) -> Timed {
        let round = made.map(|made| {
            let mut round = Watched {
                allocation_ns: made.allocation,
                collection_ns: made.collection,
                ..Watched::default()
            };
            round.totals.collections = made.collections;
            round.totals.visited = made.visited;
            round
        });
        Timed {
            system,
            multiple,
            rounds: round.map_or_else(Vec::new, |round| vec![round; 3]),
        }
    }

    #[test]
    fn ratios_are_taken_only_where_both_collected() {
        let all: Vec<System> = systems().collect();
        let measured = made(|system, multiple| {
            let is_first = system == all[0];
            (!is_first || multiple > 1.0).then_some(Made {
                allocation: if is_first { 200 } else { 100 },
                collections: u64::from(multiple < 4.0),
                ..Made::default()
            })
        });
        let pair = [all[0], all[1]];
        assert_eq!(measured.collected(&pair), [1.25, 2.0, 3.0]);
        let over = |at: f64| measured.over(pair, What::Allocation, |multiple| multiple == at);
        assert_eq!((over(1.0), over(4.0)), (vec![], vec![]));
        assert!(over(2.0).iter().all(|ratio| (ratio - 2.0).abs() < 1e-9));
        let collection = measured.over(pair, What::Collection, |_| true);
        assert_eq!(collection, Vec::<f64>::new(), "no collection took time");
    }

    #[test]
    fn the_mean_of_heaps_is_geometric() {
        let mean = geometric_mean(&[vec![1.0, 4.0], vec![4.0, 9.0]]);
        assert_eq!(mean, [2.0, 6.0]);
        assert_eq!(geometric_mean(&[]), Vec::<f64>::new());
    }
}
