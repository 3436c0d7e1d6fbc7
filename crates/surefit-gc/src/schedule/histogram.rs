//! How long pauses were: a histogram of fixed size.
//!
//! ```text
//! ticks    0  1  2  3  4  5  6  7  8–9  10–11  12–13  14–15  16–19  20–23  …
//! ```
//! Every power of two is divided into four buckets, so a bucket is at most a quarter as wide as its
//! least value. Durations below eight have buckets of their own.
#![deny(unsafe_code)]

/// Buckets per power of two, as a power of two.
const SUB: u32 = 2;

/// The buckets that all durations need: four below four, and four for each power of two from four
/// on.
const BUCKETS: usize = ((u64::BITS - SUB + 1) << SUB) as usize;

/// The durations of pauses. Counts, sum and maximum are exact; a quantile is at most a quarter too
/// large.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pauses {
    buckets: [u32; BUCKETS],
    count: u64,
    sum: u64,
    longest: u64,
}

impl Default for Pauses {
    fn default() -> Self {
        Self::new()
    }
}

impl Pauses {
    /// No pauses.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            buckets: [0; BUCKETS],
            count: 0,
            sum: 0,
            longest: 0,
        }
    }

    /// Adds a pause of this many ticks. What has no room in a count or in the sum is not added to
    /// it: the caller's clock may return anything.
    pub fn add(&mut self, ticks: u64) {
        let bucket = &mut self.buckets[bucket_of(ticks)];
        *bucket = bucket.saturating_add(1);
        self.count = self.count.saturating_add(1);
        self.sum = self.sum.saturating_add(ticks);
        self.longest = self.longest.max(ticks);
    }

    /// How many pauses there were.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// All their ticks.
    #[must_use]
    pub const fn sum(&self) -> u64 {
        self.sum
    }

    /// The ticks of the longest one; 0 if there was none.
    #[must_use]
    pub const fn longest(&self) -> u64 {
        self.longest
    }

    /// A duration that `parts` of `of` pauses do not exceed, at most a quarter above the least such
    /// duration: `at_most(999, 1000)` for 99.9 %. 0 if there was none.
    ///
    /// # Panics
    /// If `parts` is more than `of`, or `of` is 0.
    #[must_use]
    pub fn at_most(&self, parts: u64, of: u64) -> u64 {
        assert!(parts <= of && of > 0, "{parts} of {of} pauses");
        let wanted = (u128::from(self.count) * u128::from(parts)).div_ceil(u128::from(of));
        let mut seen = 0;
        for (from, count) in self.buckets() {
            seen += u128::from(count);
            if seen >= wanted {
                return last_of(bucket_of(from)).min(self.longest);
            }
        }
        self.longest
    }

    /// The buckets in use: the least duration that each holds, and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u32)> + '_ {
        let used = self.buckets.iter().enumerate();
        used.filter(|&(_, &count)| count > 0)
            .map(|(bucket, &count)| (first_of(bucket), count))
    }
}

/// The bucket of a duration.
const fn bucket_of(ticks: u64) -> usize {
    let Some(log) = ticks.checked_ilog2() else {
        return 0;
    };
    if log < SUB {
        return ticks as usize;
    }
    // The bits behind the leading one choose the bucket within the power of two.
    let within = (ticks >> (log - SUB)) as usize - (1 << SUB);
    (((log - SUB + 1) as usize) << SUB) + within
}

/// The least duration of a bucket.
const fn first_of(bucket: usize) -> u64 {
    let (power, within) = (bucket >> SUB, (bucket & ((1 << SUB) - 1)) as u64);
    match power {
        0 => within,
        _ => ((1 << SUB) + within) << (power - 1),
    }
}

/// The greatest duration of a bucket.
const fn last_of(bucket: usize) -> u64 {
    if bucket + 1 < BUCKETS {
        first_of(bucket + 1) - 1
    } else {
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bucket_holds_the_durations_from_its_first_to_its_last() {
        assert_eq!((first_of(0), last_of(BUCKETS - 1)), (0, u64::MAX));
        for bucket in 0..BUCKETS {
            let (first, last) = (first_of(bucket), last_of(bucket));
            assert_eq!((bucket_of(first), bucket_of(last)), (bucket, bucket));
            assert!(last - first <= first / 4, "{first} to {last}");
        }
    }

    #[test]
    fn quantiles_are_at_most_a_quarter_above_the_exact_ones() {
        let mut pauses = Pauses::new();
        assert_eq!(pauses.at_most(1, 1), 0);
        let mut durations = [0; 500];
        for (n, duration) in durations.iter_mut().enumerate() {
            *duration = (n as u64 * 2_654_435_761) % 100_003;
            pauses.add(*duration);
        }
        durations.sort_unstable();
        for parts in 1..=100 {
            let exact = durations[durations.len() * parts / 100 - 1];
            let told = pauses.at_most(parts as u64, 100);
            assert!(
                (exact..=exact + exact / 4).contains(&told),
                "{exact} {told}"
            );
        }
        assert_eq!(pauses.longest(), durations[499]);
        assert_eq!(pauses.sum(), durations.iter().sum::<u64>());
        assert_eq!(pauses.count(), 500);
        assert_eq!(
            pauses
                .buckets()
                .map(|(_, count)| u64::from(count))
                .sum::<u64>(),
            500
        );
    }

    #[test]
    fn a_clock_that_tells_anything_overflows_nothing() {
        let mut pauses = Pauses::new();
        (0..3).for_each(|_| pauses.add(u64::MAX));
        assert_eq!((pauses.count(), pauses.sum()), (3, u64::MAX));
        assert_eq!(pauses.at_most(1, 2), u64::MAX);
    }
}
