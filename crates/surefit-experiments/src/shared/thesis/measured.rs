//! Replays for all experiments: smallest heaps, counts, and times.
//!
//! ```text
//! minimum(strategy)    by bisection, with the bitmap and a tree, which search fastest
//! common minimum       the least of the three: what heap sizes are multiples of
//! times                rounds: for every heap size, all systems once, one after the other
//! ```
//! Every system is replayed in the same region, all of which was touched before.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Result, bail};
use surefit_clients::java::{
    Clocking, Finds, Lists, Options, Outcome, Space, Times, completed, min_heap,
};
use surefit_freelist::When;
use surefit_os::Reservation;

use super::recorded::Recorded;
use super::systems::{all, lists, name, space, with_tree};
use crate::kit::Request;
use crate::shared::merges::{MERGES, merges_name};
use crate::shared::threads::figures;
use surefit_measure::collector::graphs::Region;
use surefit_measure::progress::Progress;
use surefit_measure::results::Ratio;

/// Heap sizes as multiples of the common minimum.
const TIMES: [f64; 10] = [1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0];

/// Those of a quick run.
const QUICK_TIMES: [f64; 3] = [1.25, 2.0, 4.0];

/// From this multiple on the thesis's curves are flat: the plateau.
pub(crate) const PLATEAU: f64 = 3.0;

/// Rounds unless the user chose their number.
const ROUNDS: u32 = 3;

/// The smallest heap of a strategy in which a program completes, in bytes: with the bitmap and a
/// tree, since many replays have to find it.
///
/// # Errors
/// None is small enough to be tried.
pub(crate) fn minimum_of(client: &Recorded, merges: When) -> Result<usize> {
    let space = space(with_tree(lists(merges, Finds::Bitmap)));
    let memory = |bytes| Region::new(bytes).ok();
    match min_heap(&space, &client.program, &Options::default(), memory) {
        Some(found) => Ok(found.bytes),
        None => bail!(
            "{}: completes in no heap up to 64 times what lives",
            client.name
        ),
    }
}

#[allow(dead_code, reason = "until gc-times is split")]
/// What a replay counts in a heap of the given number of bytes; `None` if the program does not
/// complete.
///
/// # Errors
/// The system gives no memory.
pub(crate) fn counts(
    client: &Recorded,
    space: &Space,
    bytes: usize,
    options: Options,
) -> Result<Option<Outcome>> {
    let mut region = Reservation::new(bytes)?;
    let replay = space.replay(&client.program, region.memory(), &options);
    Ok(completed(replay))
}

/// Which time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Allocation,
    Collection,
    Management,
}

impl What {
    pub(crate) const ALL: [Self; 3] = [Self::Allocation, Self::Collection, Self::Management];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Allocation => "object allocation time",
            Self::Collection => "garbage collection time",
            Self::Management => "heap management time",
        }
    }

    fn of(self, times: &Times) -> f64 {
        (match self {
            Self::Allocation => times.allocation_ns,
            Self::Collection => times.collection_ns(),
            Self::Management => times.management_ns(),
        }) as f64
    }
}

/// A system in a heap of one size.
#[derive(Clone, Debug)]
pub(crate) struct Timed {
    pub(crate) lists: Lists,
    /// The heap's size as a multiple.
    pub(crate) multiple: f64,
    /// Of the first round; `None` if the program did not complete.
    pub(crate) outcome: Option<Outcome>,
    /// Of every round.
    pub(crate) rounds: Vec<Times>,
}

impl Timed {
    /// Nanoseconds, round by round.
    pub(crate) fn ns(&self, what: What) -> Vec<f64> {
        self.rounds.iter().map(|times| what.of(times)).collect()
    }

    /// Milliseconds: the median of the rounds.
    pub(crate) fn ms(&self, what: What) -> Option<f64> {
        let ns = self.ns(what);
        (!ns.is_empty()).then(|| figures::spread(&ns).median / 1e6)
    }
}

/// All systems in heaps of all sizes.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The smallest heaps of never, deferred, immediate, in bytes.
    pub(crate) minima: [usize; 3],
    pub(crate) timed: Vec<Timed>,
}

impl Measured {
    /// The least of the minima.
    pub(crate) fn common(&self) -> usize {
        self.minima.into_iter().min().unwrap_or_default()
    }

    /// A system in a heap of this multiple of the common minimum.
    pub(crate) fn at(&self, lists: Lists, multiple: f64) -> Option<&Timed> {
        self.timed
            .iter()
            .find(|one| one.lists == lists && one.multiple == multiple)
    }

    /// The multiples there are.
    pub(crate) fn multiples(&self) -> Vec<f64> {
        let mut all: Vec<f64> = self.timed.iter().map(|one| one.multiple).collect();
        all.dedup();
        all
    }

    /// One system's time over another's, round by round, as the geometric mean over the heaps of
    /// these multiples in which both completed and took time: without a collection there is none;
    /// empty if there is no such heap.
    pub(crate) fn over(
        &self,
        ours: Lists,
        theirs: Lists,
        what: What,
        at: impl Fn(f64) -> bool,
    ) -> Vec<f64> {
        let heaps = self
            .multiples()
            .into_iter()
            .filter(|multiple| at(*multiple));
        let both = heaps.filter_map(|multiple| {
            let ours = self.at(ours, multiple)?.ns(what);
            let theirs = self.at(theirs, multiple)?.ns(what);
            let rounds = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs);
            let took_time = |ns: &[f64]| !ns.is_empty() && ns.iter().all(|ns| *ns > 0.0);
            (took_time(&ours) && took_time(&theirs)).then(|| rounds.collect::<Vec<_>>())
        });
        geometric_mean(&both.collect::<Vec<_>>())
    }
}

/// The geometric mean, round by round.
pub(crate) fn geometric_mean(all: &[Vec<f64>]) -> Vec<f64> {
    let rounds = all.iter().map(Vec::len).min().unwrap_or_default();
    let mean = |round: usize| {
        let logarithms = all.iter().map(|rounds| rounds[round].ln()).sum::<f64>();
        (logarithms / all.len() as f64).exp()
    };
    (0..rounds).map(mean).collect()
}

/// Ratios of rounds as one; `None` if there are none.
pub(crate) fn spread(rounds: &[f64]) -> Option<Ratio> {
    Ratio::spread(rounds)
}

/// What was measured before in this process, by name, quickness and rounds: two experiments read
/// the same.
static BEFORE: Mutex<Vec<(Key, Arc<Measured>)>> = Mutex::new(Vec::new());

type Key = (String, bool, u32);

/// Measures a program on all systems in heaps of all sizes.
///
/// # Errors
/// The system gives no memory; no heap is large enough.
pub(crate) fn measure(client: &Recorded, request: &Request) -> Result<Arc<Measured>> {
    let key = (
        client.name.clone(),
        request.quick,
        request.rounds_or(ROUNDS),
    );
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, found)) = before.iter().find(|(known, _)| *known == key) {
        return Ok(Arc::clone(found));
    }
    let found = Arc::new(measure_anew(client, request)?);
    before.push((key, Arc::clone(&found)));
    Ok(found)
}

fn measure_anew(client: &Recorded, request: &Request) -> Result<Measured> {
    let multiples: &[f64] = if request.quick { &QUICK_TIMES } else { &TIMES };
    let rounds = request.rounds_or(ROUNDS);
    let replays = multiples.len() * rounds as usize * all().count();
    let progress = Progress::new((MERGES.len() + replays) as u64);
    let mut minima = [0; 3];
    for (minimum, merges) in minima.iter_mut().zip(MERGES) {
        *minimum = minimum_of(client, merges)?;
        progress.step(&client.name, "smallest heap", &merges_name(merges));
    }
    let mut measured = Measured {
        minima,
        timed: Vec::new(),
    };
    let common = measured.common() as f64;
    for &multiple in multiples {
        let bytes = (common * multiple) as usize;
        let timed = time(client, bytes, rounds, &progress)?.into_iter();
        let timed = timed.map(|one| Timed { multiple, ..one });
        measured.timed.extend(timed);
    }
    progress.finish();
    Ok(measured)
}

/// Times all systems in a heap of the given number of bytes, in interleaved rounds.
fn time(client: &Recorded, bytes: usize, rounds: u32, progress: &Progress) -> Result<Vec<Timed>> {
    let mut region = Reservation::new(bytes)?;
    region.fault_in();
    let options = Options {
        clocking: Clocking::Batch,
        ..Options::default()
    };
    let start = |lists: Lists| Timed {
        lists,
        multiple: 1.0,
        outcome: None,
        rounds: Vec::new(),
    };
    let mut timed: Vec<Timed> = all().map(start).collect();
    for round in 0..rounds {
        for one in &mut timed {
            progress.step(&client.name, "times", &name(one.lists));
            if round > 0 && one.outcome.is_none() {
                continue;
            }
            let space = space(one.lists);
            let outcome = completed(space.replay(&client.program, region.memory(), &options));
            one.rounds
                .extend(outcome.as_ref().and_then(|outcome| outcome.times));
            one.outcome = one.outcome.take().or(outcome);
        }
    }
    Ok(timed)
}

#[cfg(test)]
pub(crate) mod tests {
    use surefit_clients::java::{Lists, Times};

    use super::{Measured, Timed, What, geometric_mean};
    use crate::shared::thesis::systems::all;

    /// Three rounds of made-up times: allocation and collection in nanoseconds, by system and
    /// multiple.
    pub(crate) fn made_up(of: impl Fn(Lists, f64) -> Option<(u64, u64)>) -> Measured {
        let multiples = [1.0, 1.25, 2.0, 3.0, 4.0];
        let timed = multiples.into_iter().flat_map(|multiple| {
            let of = &of;
            all().map(move |lists| {
                let times = of(lists, multiple).map(|(allocation_ns, mark_ns)| Times {
                    allocation_ns,
                    mark_ns,
                    ..Times::default()
                });
                Timed {
                    lists,
                    multiple,
                    outcome: None,
                    rounds: times.map_or_else(Vec::new, |times| vec![times; 3]),
                }
            })
        });
        Measured {
            minima: [3_000_000, 2_000_000, 1_000_000],
            timed: timed.collect(),
        }
    }

    #[test]
    fn ratios_are_taken_only_where_both_completed() {
        let all: Vec<Lists> = all().collect();
        let measured = made_up(|lists, multiple| {
            let nanoseconds = if lists == all[0] { 200 } else { 100 };
            (lists != all[0] || multiple > 1.0).then_some((nanoseconds, 0))
        });
        assert_eq!(measured.common(), 1_000_000);
        let over = |at: fn(f64) -> bool| measured.over(all[0], all[1], What::Allocation, at);
        assert_eq!(over(|multiple| multiple == 1.0), Vec::<f64>::new());
        assert_eq!(
            measured.over(all[0], all[1], What::Collection, |_| true),
            Vec::<f64>::new(),
            "no collection took time"
        );
        let ratios = over(|_| true);
        assert!(ratios.len() == 3 && ratios.iter().all(|ratio| (ratio - 2.0).abs() < 1e-9));
        assert_eq!(
            geometric_mean(&[vec![1.0, 4.0], vec![4.0, 9.0]]),
            [2.0, 6.0]
        );
    }
}
