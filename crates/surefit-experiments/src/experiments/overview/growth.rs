//! How a count grows with a parameter: the rule, and nothing else.
//!
//! The counts are the largest of a call at growing values of one parameter, equal factors apart. A
//! count at a value is also the largest at any value below it. The last third of the intervals is
//! compared with those before it:
//!
//! ```text
//! not at all       it adds at most 4 instructions, or 5 % of the last count, a decade of the parameter
//! logarithmically  as much, interval for interval, as those before it, rather than as much more as a line through the
//!                  values would add; or it multiplies the count by less than 1.5
//! like a power     else
//! ```
//! A logarithm adds the same in every interval, a line 4 or 10 times as much in each as in the one
//! before: their geometric mean parts them. Work that is bounded by a constant may still grow at
//! first, but not at last.
#![deny(unsafe_code)]

/// How a count grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Growth {
    /// Not at all.
    Constant,
    /// Like a logarithm.
    Logarithmic,
    /// Like a power of the parameter.
    Power,
}

/// Instructions that a count may grow by in a decade and yet be called constant.
const SLACK: f64 = 4.0;

/// The part of a count that it may grow by: less than the 7 % that one more level of a tree of
/// blocks makes.
const RELATIVE: f64 = 0.05;

/// A power that is worth the name multiplies a count, over the last third of the intervals, at
/// least by this.
const MULTIPLIES: f64 = 1.5;

impl Growth {
    /// The growth of counts at ascending values; `None` for fewer than three.
    pub(super) fn of(points: &[(u64, u64)]) -> Option<Self> {
        let intervals = points
            .len()
            .checked_sub(1)
            .filter(|intervals| *intervals > 1)?;
        let late = intervals.div_ceil(3);
        let [first, middle, last] = [0, intervals - late, intervals].map(|at| up_to(points, at));
        let decades = (last.0 / middle.0).log10();
        let rise = last.1 - middle.1;
        if rise / decades <= SLACK.max(RELATIVE * last.1) {
            return Some(Self::Constant);
        }
        if last.1 < MULTIPLIES * middle.1 {
            return Some(Self::Logarithmic);
        }
        let early = late as f64 / (intervals - late) as f64;
        let of_line = (last.0 - middle.0) / ((middle.0 - first.0) * early);
        let is_nearer_to_log = rise < of_line.sqrt() * (middle.1 - first.1) * early;
        Some(match is_nearer_to_log {
            true => Self::Logarithmic,
            false => Self::Power,
        })
    }

    /// It in words.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Constant => "none",
            Self::Logarithmic => "log",
            Self::Power => "linear",
        }
    }
}

/// The value of a point, and the largest count up to it.
fn up_to(points: &[(u64, u64)], at: usize) -> (f64, f64) {
    let counts = points[..=at].iter().map(|(_, count)| *count as f64);
    (points[at].0 as f64, counts.fold(0.0, f64::max))
}

#[cfg(test)]
mod tests {
    use super::Growth;

    fn grown(count: impl Fn(f64) -> f64) -> Option<Growth> {
        let values = [100_u64, 1000, 10_000, 100_000, 1_000_000];
        let points = values.map(|n| (n, count(n as f64).round() as u64));
        let all = Growth::of(&points);
        assert_eq!(Growth::of(&points[..3]), all, "a quick run says the same");
        all
    }

    #[test]
    fn each_growth_is_told_from_the_others() {
        assert_eq!(grown(|_| 120.0), Some(Growth::Constant));
        assert_eq!(grown(|n| 120.0 + 3.0 * n.log10()), Some(Growth::Constant));
        assert_eq!(
            grown(|n| 40.0 + 12.0 * n.log10()),
            Some(Growth::Logarithmic)
        );
        assert_eq!(
            grown(|n| 300.0 + 60.0 * n.log2()),
            Some(Growth::Logarithmic)
        );
        assert_eq!(grown(|n| 50.0 + 7.0 * n), Some(Growth::Power));
        assert_eq!(grown(|n| 3000.0 + n), Some(Growth::Power));
        assert_eq!(grown(|n| 30.0 + 2.0 * n.powf(0.7)), Some(Growth::Power));
    }

    #[test]
    fn what_ends_growing_is_constant_and_what_begins_is_not() {
        let of = |counts: [u64; 5]| {
            let values = [100, 1000, 10_000, 100_000, 1_000_000];
            Growth::of(&std::array::from_fn::<_, 5, _>(|at| {
                (values[at], counts[at])
            }))
        };
        assert_eq!(of([100, 300, 480, 481, 480]), Some(Growth::Constant));
        assert_eq!(of([100, 300, 300, 300, 300]), Some(Growth::Constant));
        assert_eq!(of([100, 100, 100, 100, 300]), Some(Growth::Power));
        assert_eq!(of([300, 300, 300, 200, 100]), Some(Growth::Constant));
        assert_eq!(of([300, 200, 300, 200, 300]), Some(Growth::Constant));
    }

    #[test]
    fn a_level_every_few_intervals_is_logarithmic() {
        let values = [128, 512, 2048, 8192, 32_768, 131_072, 524_288];
        let levels = [1, 2, 2, 3, 4, 4, 5];
        let points: Vec<_> = values
            .into_iter()
            .zip(levels.map(|level| 60 + 30 * level))
            .collect();
        assert_eq!(Growth::of(&points), Some(Growth::Logarithmic));
        assert_eq!(Growth::of(&points[..4]), Some(Growth::Logarithmic));
    }

    #[test]
    fn a_few_instructions_more_at_last_are_no_power() {
        let of = |counts: [u64; 3]| {
            Growth::of(
                &[100, 1000, 10_000]
                    .map(|n| n)
                    .into_iter()
                    .zip(counts)
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(of([114, 114, 122]), Some(Growth::Logarithmic));
        assert_eq!(of([114, 114, 180]), Some(Growth::Power));
    }

    #[test]
    fn two_points_say_nothing() {
        assert_eq!(Growth::of(&[(1, 1), (10, 100)]), None);
    }
}
