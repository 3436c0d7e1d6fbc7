//! Every call of a replay measured by itself, in nanoseconds and in instructions, and what comes
//! again in every round.
//!
//! ```text
//! per replay of a trace      a reading of the meter on each side of every call, less the meter's own cost
//! average                    per round: the mean without the longest 0.01 %; the median over the rounds
//! p99.99, max                of all calls of all rounds
//! repeatable                 the greatest over the calls of the least over the rounds
//! ```
//! A replay makes the same calls in every round, so a call that the heap makes long is long in
//! every round, and one that an interrupt made long is not: the repeatable maximum is the heap's
//! own (with the caches as the trace leaves them). Instructions are the heap's own in every round.
//!
//! Allocations of zeroed memory are left out: what they write would hide what they cost else.

use std::time::Instant;

use anyhow::{Result, ensure};
use hdrhistogram::Histogram;
use surefit_os::Reservation;
use surefit_os::counter::Instructions;

use surefit_measure::passes::replay::{
    CallKind, Hooks, Stop, Stopped, Table as Objects, drain, replay,
};
use surefit_measure::passes::timing::FirstWord;
use surefit_measure::progress::Progress;
use surefit_measure::ratio::median;
use surefit_measure::registry::Kind;
use surefit_measure::results::Ratio;
use surefit_measure::single::completed;
use surefit_measure::sizes::HeapSize;
use surefit_measure::spec::{Choice, Spec};
use surefit_measure::steps::{Action, Step, Steps};
use surefit_measure::subject::{Pass, Subject};

/// Calls longer than this count as this long: ten seconds, or ten thousand million instructions.
const LONGEST: u64 = 10_000_000_000;

/// One call in so many is left out of an average, the longest ones: a single one that was
/// interrupted would change it.
const ONE_IN: usize = 10_000;

/// Replays in which instructions are counted: the least of two readings of the same call is free of
/// what an interrupt added.
const COUNTED_ROUNDS: u32 = 2;

/// How often an empty call is measured to know the meter's own cost.
const READINGS: usize = 10_001;

/// What is read on each side of a call.
trait Meter {
    fn read(&self) -> u64;
}

impl Meter for Instant {
    #[inline]
    fn read(&self) -> u64 {
        self.elapsed().as_nanos() as u64
    }
}

impl Meter for Instructions {
    /// A counter that was taken away reads zero ever after.
    #[inline]
    fn read(&self) -> u64 {
        Self::read(self).unwrap_or(0)
    }
}

/// What one call takes by a meter, its own cost included. Never inlined, so that nothing of the
/// call is outside the readings.
#[inline(never)]
fn metered<M: Meter, R>(meter: &M, call: impl FnOnce() -> R) -> (R, u64) {
    let before = meter.read();
    let result = call();
    (result, meter.read() - before)
}

/// The meter's own cost: what most empty calls take.
fn own_cost(meter: &impl Meter) -> u64 {
    let mut readings: Vec<_> = (0..READINGS)
        .map(|_| metered(meter, || std::hint::black_box(())).1)
        .collect();
    let (_, median, _) = readings.select_nth_unstable(READINGS / 2);
    *median
}

/// What the calls of one kind took, in the order of the trace: in this round, and the least of all
/// rounds.
#[derive(Clone, Debug)]
struct Calls {
    now: Vec<u32>,
    least: Vec<u32>,
    all: Histogram<u64>,
    means: Vec<f64>,
}

impl Calls {
    fn new() -> Result<Self> {
        Ok(Self {
            now: Vec::new(),
            least: Vec::new(),
            all: Histogram::new_with_max(LONGEST, 3)?,
            means: Vec::new(),
        })
    }

    /// A round is over.
    fn close(&mut self) {
        self.means.extend(average(&self.now));
        self.now
            .iter()
            .for_each(|&took| self.all.saturating_record(u64::from(took)));
        if self.least.is_empty() {
            self.least.clone_from(&self.now);
        }
        self.least
            .iter_mut()
            .zip(&self.now)
            .for_each(|(least, now)| *least = (*least).min(*now));
        self.now.clear();
    }

    fn cost(&self) -> Option<Cost> {
        Some(Cost {
            mean: median(&self.means)?,
            means: self.means.clone(),
            p9999: self.all.value_at_quantile(0.9999),
            most: self.all.max(),
            repeatable: self.least.iter().copied().max().map(u64::from)?,
        })
    }

    fn counted(&self) -> Option<Counted> {
        Some(Counted {
            mean: Some(average(&self.least)?),
            most: self.least.iter().copied().max().map(u64::from)?,
        })
    }
}

/// The mean of what calls took, without the longest of them.
fn average(took: &[u32]) -> Option<f64> {
    let mut sorted = took.to_vec();
    let kept = sorted.len() - sorted.len() / ONE_IN;
    if kept < sorted.len() {
        sorted.select_nth_unstable(kept);
    }
    let sum: u64 = sorted[..kept].iter().map(|&took| u64::from(took)).sum();
    (kept > 0).then(|| sum as f64 / kept as f64)
}

/// What calls of one kind cost, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    /// The mean of each round, without the longest 0.01 %.
    pub(super) means: Vec<f64>,
    /// The median over the rounds of the mean.
    pub(super) mean: f64,
    /// Of all calls.
    pub(super) p9999: u64,
    /// Of all calls.
    pub(super) most: u64,
    /// Of the least that each call took in any round.
    pub(super) repeatable: u64,
}

impl Cost {
    /// This mean ÷ another one's, round by round.
    pub(super) fn ratio_to(&self, base: &Self) -> Option<Ratio> {
        Ratio::round_by_round(&self.means, &base.means)
    }
}

/// What calls of one kind cost, in instructions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    /// The mean, without the longest 0.01 %; `None` if some calls only were counted.
    pub(super) mean: Option<f64>,
    /// Of the call with most.
    pub(super) most: u64,
}

/// Calls of one kind of one allocator.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// In nanoseconds; absent if the trace has no such call.
    pub(super) time: Option<Cost>,
    /// The least time of each call over the rounds, in the order of the trace, in nanoseconds.
    pub(super) least_ns: Vec<u32>,
    /// In instructions; absent if nobody counts them.
    pub(super) instructions: Option<Counted>,
}

/// One allocator: mallocs, frees.
pub(super) type Costs = [Measured; 2];

/// One replay whose calls are measured one by one.
struct Metered<'a, M> {
    steps: &'a Steps,
    meter: &'a M,
    /// The meter's own cost.
    own: u64,
    calls: &'a mut [Calls; 2],
}

impl<M: Meter> Pass for Metered<'_, M> {
    type Output = Result<(), Stopped>;

    fn run<S: Subject>(mut self, mut subject: S) -> Self::Output {
        let steps = self.steps;
        let mut objects = Objects::new(steps.slots());
        let [mallocs, frees] = &mut *self.calls;
        mallocs.now.reserve(steps.calls.mallocs as usize);
        frees.now.reserve(steps.calls.frees as usize);
        replay(&mut subject, &mut objects, steps, &mut self)?;
        drain(&mut subject, objects, steps);
        Ok(())
    }
}

impl<S: Subject, M: Meter> Hooks<S> for Metered<'_, M> {
    #[inline]
    fn call<R>(&mut self, kind: CallKind, call: impl FnOnce() -> R) -> R {
        let (result, took) = metered(self.meter, call);
        let took = u32::try_from(took.saturating_sub(self.own)).unwrap_or(u32::MAX);
        match kind {
            CallKind::Malloc => self.calls[0].now.push(took),
            CallKind::Free => self.calls[1].now.push(took),
            CallKind::Realloc => {}
        }
        result
    }

    #[inline]
    fn allocated(
        &mut self,
        subject: &mut S,
        object: &mut S::Object,
        step: Step,
    ) -> Result<(), Stop> {
        if step.action == Action::AllocateZeroed {
            self.calls[0].now.pop();
        }
        FirstWord.allocated(subject, object, step)
    }

    #[inline]
    fn resized(&mut self, subject: &mut S, object: &mut S::Object, step: Step) -> Result<(), Stop> {
        FirstWord.resized(subject, object, step)
    }
}

/// The replays that [`measure`] makes of each allocator.
pub(super) fn replays(rounds: u32) -> u32 {
    rounds + COUNTED_ROUNDS
}

/// Replays the trace through every allocator in interleaved rounds by the clock, and then by the
/// counter of instructions, if this machine has one.
///
/// # Errors
/// An allocator without a region, or one that refuses in four times the peak; no memory.
pub(super) fn measure(
    steps: &Steps,
    specs: &[Spec],
    rounds: u32,
    progress: &Progress,
) -> Result<Vec<Costs>> {
    let mut region = Reservation::new(HeapSize::DEFAULT.bytes(steps.peak_live_bytes))?;
    region.fault_in();
    let mut in_rounds = |rounds, meter: &dyn Fn(Replay<'_>) -> Result<()>| {
        let fresh = || Ok([Calls::new()?, Calls::new()?]);
        let mut all = specs.iter().map(|_| fresh()).collect::<Result<Vec<_>>>()?;
        for _ in 0..rounds {
            for (spec, calls) in specs.iter().zip(&mut all) {
                meter(Replay {
                    steps,
                    spec,
                    region: &mut region,
                    calls,
                })?;
                calls.iter_mut().for_each(Calls::close);
                progress.step(&steps.name, "measuring each call", spec);
            }
        }
        Ok::<_, anyhow::Error>(all)
    };
    let clock = Instant::now();
    let own = own_cost(&clock);
    let timed = in_rounds(rounds, &|replay| replay.run(&clock, own))?;
    let counted = match Instructions::open() {
        Err(_) => None,
        Ok(counter) => {
            let own = own_cost(&counter);
            let all = in_rounds(COUNTED_ROUNDS, &|replay| replay.run(&counter, own))?;
            counter.read().map(|_| all)
        }
    };
    Ok(timed
        .into_iter()
        .enumerate()
        .map(|(at, mut calls)| {
            let counted = counted.as_ref().map(|all| &all[at]);
            [0, 1].map(|kind| Measured {
                time: calls[kind].cost(),
                least_ns: std::mem::take(&mut calls[kind].least),
                instructions: counted.and_then(|calls| calls[kind].counted()),
            })
        })
        .collect())
}

/// One replay through one allocator.
struct Replay<'a> {
    steps: &'a Steps,
    spec: &'a Spec,
    region: &'a mut Reservation,
    calls: &'a mut [Calls; 2],
}

impl Replay<'_> {
    fn run(self, meter: &impl Meter, own: u64) -> Result<()> {
        let spec = self.spec;
        ensure!(spec.in_region(), "{spec} lives in no region");
        let Choice::InProcess(kind) = &spec.choice else {
            unreachable!("what lives in a region is in this process");
        };
        let kind: &Kind = kind;
        let pass = Metered {
            steps: self.steps,
            meter,
            own,
            calls: self.calls,
        };
        completed(spec.as_str(), kind.run(self.region.memory(), pass))
    }
}

#[cfg(test)]
mod tests {
    use super::{Calls, average};

    #[test]
    fn the_repeatable_maximum_forgets_what_happened_once() {
        let mut calls = Calls::new().expect("valid");
        for round in [[10, 5000, 30], [12, 11, 40], [9, 12, 35]] {
            calls.now.extend(round);
            calls.close();
        }
        let cost = calls.cost().expect("three rounds");
        assert_eq!((cost.repeatable, cost.p9999 >= 5000), (30, true));
        assert!((cost.mean - 21.0).abs() < 1e-9, "{}", cost.mean);
        let counted = calls.counted().expect("three rounds");
        assert_eq!(
            (counted.most, counted.mean.map(f64::round)),
            (30, Some(17.0))
        );
    }

    #[test]
    fn one_call_in_ten_thousand_does_not_change_an_average() {
        let mut took = vec![7; 20_000];
        took[5] = u32::MAX;
        assert_eq!(average(&took), Some(7.0));
        assert_eq!(average(&[1, 3]), Some(2.0));
        assert_eq!(average(&[]), None);
    }
}
