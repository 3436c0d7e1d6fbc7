//! Visits over time: from samples of the counters.

use surefit_vm::Sample;

/// Samples between two collections from which on the interval is judged: its first and its last
/// third.
const LONG: usize = 6;

const START: Sample = Sample {
    allocations: 0,
    collections: 0,
    visits: 0,
};

/// Visits per allocation from one sample to another; `None` if there are no allocations between.
pub(super) fn between(from: Sample, to: Sample) -> Option<f64> {
    let allocations = to.allocations.checked_sub(from.allocations)?;
    let visits = to.visits.checked_sub(from.visits)?;
    (allocations > 0).then(|| visits as f64 / allocations as f64)
}

/// The last sample before the first collection.
pub(super) fn before_the_first(samples: &[Sample]) -> Option<Sample> {
    samples
        .iter()
        .take_while(|sample| sample.collections == 0)
        .last()
        .copied()
}

/// Visits per allocation before the first collection, and after it.
pub(super) fn around_the_first(samples: &[Sample]) -> (Option<f64>, Option<f64>) {
    let first = before_the_first(samples).unwrap_or(START);
    let last = samples.last().copied().unwrap_or(START);
    (between(START, first), between(first, last))
}

/// Visits per allocation in the first and in the last third of each interval between two
/// collections that is long enough.
pub(super) fn thirds(samples: &[Sample]) -> Vec<(f64, f64)> {
    let intervals = samples.chunk_by(|one, other| one.collections == other.collections);
    let after = intervals.filter(|interval| interval.len() >= LONG && interval[0].collections > 0);
    let thirds = after.filter_map(|interval| {
        let third = interval.len() / 3;
        let last = interval.len() - 1;
        let first = between(interval[0], interval[third])?;
        Some((first, between(interval[last - third], interval[last])?))
    });
    thirds.collect()
}

/// At most so many points: allocations in thousands, and visits per allocation since the last
/// point.
pub(super) fn points(samples: &[Sample], most: usize) -> Vec<(f64, f64)> {
    let step = samples.len().div_ceil(most).max(1);
    let mut before = START;
    let mut points = Vec::new();
    for &sample in samples.iter().skip(step - 1).step_by(step) {
        let visits = between(before, sample);
        points.extend(visits.map(|visits| (sample.allocations as f64 / 1e3, visits)));
        before = sample;
    }
    points
}

#[cfg(test)]
pub(super) mod tests {
    use surefit_vm::Sample;

    use super::{around_the_first, points, thirds};

    /// Samples of intervals of ten, in which visits are as given.
    pub(in super::super) fn samples(visits: impl Fn(u64, u64) -> u64) -> Vec<Sample> {
        let mut sum = 0;
        let sample = |index: u64| {
            sum += visits(index / 10, index % 10) * 100;
            Sample {
                allocations: (index + 1) * 100,
                collections: index / 10,
                visits: sum,
            }
        };
        (0..60).map(sample).collect()
    }

    #[test]
    fn visits_are_those_of_each_part() {
        let rising = samples(|interval, place| if interval == 0 { 100 } else { 1 + place });
        let (before, after) = around_the_first(&rising);
        assert_eq!(before, Some(100.0));
        assert!(after.is_some_and(|after| after < 10.0));
        let thirds = thirds(&rising);
        assert_eq!(thirds.len(), 5);
        assert!(thirds.iter().all(|(first, last)| first < last));
        assert_eq!(points(&rising, 6).len(), 6);
        assert_eq!(around_the_first(&[]), (None, None));
    }

    #[test]
    fn short_intervals_are_left_out() {
        let sample = |index: u64| Sample {
            allocations: index,
            collections: index / 3,
            visits: index,
        };
        let short: Vec<_> = (0..30).map(sample).collect();
        assert!(thirds(&short).is_empty());
    }
}
