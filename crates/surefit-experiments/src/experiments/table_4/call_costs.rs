//! Every call of a replay timed by itself, and what comes again in every round.
//!
//! ```text
//! per replay of a trace      a clock reading on each side of every call, less the clock's own cost
//! mean                       the median over the rounds
//! p99.99, max                of all calls of all rounds
//! repeatable                 the greatest over the calls of the least over the rounds
//! ```
//! A replay makes the same calls in every round, so a call that the heap makes long is long in
//! every round, and one that an interrupt made long is not: the repeatable maximum is the heap's
//! own (with the caches as the trace leaves them).

use std::time::Instant;

use anyhow::{Result, ensure};
use hdrhistogram::Histogram;
use surefit_os::Reservation;

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
use surefit_measure::steps::{Step, Steps};
use surefit_measure::subject::{Pass, Subject};

/// Maxima further above the repeatable ones than this factor say nothing of an allocator.
const REPEATABLE: f64 = 2.0;

/// Calls longer than this count as this long: ten seconds.
const LONGEST_NS: u64 = 10_000_000_000;

/// Nanoseconds of the calls of one kind, in the order of the trace: this round's, and the least of
/// all rounds.
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
            all: Histogram::new_with_max(LONGEST_NS, 3)?,
            means: Vec::new(),
        })
    }

    /// A round is over.
    fn close(&mut self) {
        let sum: u64 = self.now.iter().map(|&ns| u64::from(ns)).sum();
        if !self.now.is_empty() {
            self.means.push(sum as f64 / self.now.len() as f64);
        }
        self.now
            .iter()
            .for_each(|&ns| self.all.saturating_record(u64::from(ns)));
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
}

/// What calls of one kind cost, in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct Cost {
    /// The mean of each round.
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
        let rounds = self.means.iter().zip(&base.means);
        Ratio::of(&rounds.map(|(own, base)| own / base).collect::<Vec<_>>())
    }

    /// Whether the maximum comes again in every round, by and large.
    pub(super) fn is_repeatable(&self) -> bool {
        self.most as f64 <= REPEATABLE * self.repeatable.max(1) as f64
    }
}

/// One allocator: mallocs, frees.
pub(super) type Costs = [Option<Cost>; 2];

/// One replay whose calls are timed one by one.
struct Timed<'a> {
    steps: &'a Steps,
    clock_ns: u64,
    calls: &'a mut [Calls; 2],
}

impl Pass for Timed<'_> {
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

impl<S: Subject> Hooks<S> for Timed<'_> {
    #[inline]
    fn call<R>(&mut self, kind: CallKind, call: impl FnOnce() -> R) -> R {
        let before = Instant::now();
        let result = call();
        let took = (before.elapsed().as_nanos() as u64).saturating_sub(self.clock_ns);
        let took = u32::try_from(took).unwrap_or(u32::MAX);
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
        FirstWord.allocated(subject, object, step)
    }

    #[inline]
    fn resized(&mut self, subject: &mut S, object: &mut S::Object, step: Step) -> Result<(), Stop> {
        FirstWord.resized(subject, object, step)
    }
}

/// Replays the trace through every allocator in interleaved rounds.
///
/// # Errors
/// An allocator without a region, or one that refuses in four times the peak; no memory.
pub(super) fn measure(
    steps: &Steps,
    specs: &[Spec],
    rounds: u32,
    clock_ns: u64,
    progress: &Progress,
) -> Result<Vec<Costs>> {
    let mut region = Reservation::new(HeapSize::DEFAULT.bytes(steps.peak_live_bytes))?;
    region.fault_in();
    let fresh = || Ok([Calls::new()?, Calls::new()?]);
    let mut all = specs.iter().map(|_| fresh()).collect::<Result<Vec<_>>>()?;
    for _ in 0..rounds {
        for (spec, calls) in specs.iter().zip(&mut all) {
            one(steps, spec, &mut region, clock_ns, calls)?;
            progress.step(&steps.name, "timing each call", spec);
        }
    }
    Ok(all
        .iter()
        .map(|[mallocs, frees]| [mallocs.cost(), frees.cost()])
        .collect())
}

fn one(
    steps: &Steps,
    spec: &Spec,
    region: &mut Reservation,
    clock_ns: u64,
    calls: &mut [Calls; 2],
) -> Result<()> {
    ensure!(spec.in_region(), "{spec} lives in no region");
    let Choice::InProcess(kind) = &spec.choice else {
        unreachable!("what lives in a region is in this process");
    };
    let kind: &Kind = kind;
    completed(
        spec.as_str(),
        kind.run(
            region.memory(),
            Timed {
                steps,
                clock_ns,
                calls,
            },
        ),
    )?;
    calls.iter_mut().for_each(Calls::close);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Calls;

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
        assert!(!cost.is_repeatable());
    }
}
