//! The percentile pass: it reads the clock before and after every call, and subtracts the cost of
//! the clock.

use std::time::Instant;

use hdrhistogram::Histogram;

use super::replay::{CallKind, Hooks, Stop, Stopped, Table, drain, replay};
use super::timing::FirstWord;
use crate::steps::{Step, Steps};
use crate::subject::{Pass, Subject};

/// The longest call that statistics distinguish: ten seconds. Longer calls count as this long.
const LONGEST_NS: u64 = 10_000_000_000;

/// How often the clock is read to measure its own cost.
const CLOCK_READINGS: usize = 20_001;

/// How long each call took, by kind, in nanoseconds.
#[derive(Debug)]
pub struct CallTimes {
    /// Allocations.
    pub malloc: Histogram<u64>,
    /// Frees.
    pub free: Histogram<u64>,
    /// Reallocations.
    pub realloc: Histogram<u64>,
    clock_ns: u64,
}

/// One replay with a clock around each call.
#[derive(Clone, Copy, Debug)]
pub struct Percentiles<'a> {
    /// The trace.
    pub steps: &'a Steps,
    /// What to subtract from each reading, in nanoseconds.
    pub clock_ns: u64,
}

impl Pass for Percentiles<'_> {
    type Output = Result<CallTimes, Stopped>;

    fn run<S: Subject>(self, mut subject: S) -> Self::Output {
        let mut table = Table::new(self.steps.slots());
        let mut times = CallTimes::new(self.clock_ns);
        replay(&mut subject, &mut table, self.steps, &mut times)?;
        drain(&mut subject, table, self.steps);
        Ok(times)
    }
}

impl CallTimes {
    fn new(clock_ns: u64) -> Self {
        let empty = || Histogram::new_with_max(LONGEST_NS, 3).expect("three digits are valid");
        Self {
            malloc: empty(),
            free: empty(),
            realloc: empty(),
            clock_ns,
        }
    }
}

impl<S: Subject> Hooks<S> for CallTimes {
    #[inline]
    fn call<R>(&mut self, kind: CallKind, call: impl FnOnce() -> R) -> R {
        let before = Instant::now();
        let result = call();
        let took = before.elapsed().as_nanos() as u64;
        let histogram = match kind {
            CallKind::Malloc => &mut self.malloc,
            CallKind::Free => &mut self.free,
            CallKind::Realloc => &mut self.realloc,
        };
        histogram.saturating_record(took.saturating_sub(self.clock_ns));
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

/// The time between two successive clock readings, in nanoseconds: the median of many pairs.
#[must_use]
pub fn clock_ns() -> u64 {
    let mut readings: Vec<_> = (0..CLOCK_READINGS)
        .map(|_| Instant::now().elapsed().as_nanos() as u64)
        .collect();
    let (_, median, _) = readings.select_nth_unstable(CLOCK_READINGS / 2);
    *median
}
