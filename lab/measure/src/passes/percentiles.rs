//! The percentile pass: it reads the clock before and after every call, and subtracts the cost of
//! the clock.

use std::time::Instant;

use hdrhistogram::Histogram;

use super::replay::{CallKind, Hooks, Stop, Stopped, Table, drain, replay};
use super::timing::FirstWord;
use crate::results::Tail;
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

/// The points of a distribution per factor of ten of the share of calls that took longer.
const POINTS_PER_DECADE: u32 = 6;

/// How many calls took longer than a time, at times that lie evenly on a logarithmic scale of the
/// share: the least time first, the greatest last. The counts are exact; times have three digits.
#[must_use]
pub fn tail(histogram: &Histogram<u64>) -> Vec<Tail> {
    let total = histogram.len();
    let mut points: Vec<Tail> = Vec::new();
    let mut add = |ns: u64| {
        let longer = total - histogram.count_between(0, ns);
        if points.last().is_none_or(|last| last.longer > longer) {
            points.push(Tail { ns, longer });
        }
    };
    add(histogram.min());
    let decades = (total.max(1) as f64).log10().ceil() as u32;
    for point in 0..=decades * POINTS_PER_DECADE {
        let share = 10_f64.powf(-f64::from(point) / f64::from(POINTS_PER_DECADE));
        add(histogram.value_at_quantile(1.0 - share));
    }
    add(histogram.max());
    points
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

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram;

    use super::tail;
    use crate::results::Tail;

    fn histogram(times: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut histogram = Histogram::new_with_max(10_000_000_000, 3).expect("three digits");
        times
            .into_iter()
            .for_each(|ns| histogram.saturating_record(ns));
        histogram
    }

    #[test]
    fn a_tail_counts_exactly_and_ends_at_the_maximum() {
        let points = tail(&histogram((1..=1000).map(|ns| 10 * ns)));
        assert!(points.len() > 15 && points.len() < 25, "{points:?}");
        assert_eq!(
            points[0],
            Tail {
                ns: 10,
                longer: 999
            }
        );
        let last = points.last().expect("points");
        assert!(
            last.longer == 0 && (10_000..10_010).contains(&last.ns),
            "{last:?}"
        );
        for pair in points.windows(2) {
            assert!(pair[0].ns < pair[1].ns && pair[0].longer > pair[1].longer);
        }
        for point in &points[..points.len() - 1] {
            // times above 2048 have three digits, so that a few of the longest share one
            assert!(
                point.longer.abs_diff(1000 - point.ns / 10) <= 1,
                "{point:?}"
            );
        }
    }

    #[test]
    fn few_calls_have_few_points() {
        let zero = Tail { ns: 0, longer: 0 };
        assert_eq!(tail(&histogram([0])), [zero]);
        assert_eq!(tail(&histogram([7, 7, 7])), [Tail { ns: 7, longer: 0 }]);
        let two = [Tail { ns: 7, longer: 1 }, Tail { ns: 9, longer: 0 }];
        assert_eq!(tail(&histogram([9, 7])), two);
    }
}
