//! How a count grows: an exponent with its interval, and a rule of its own for each of the claims
//! O(1), O(log n) and O(n).
//!
//! ```text
//! exponent    the slope of a line through the logarithms of the points, by least squares, and its 95 % interval
//! rise        a count above the one at the least n: the part that does not depend on n is left out; where the first counts
//!             are the same, the rise is above the last of them
//! O(1)        the interval of the exponent of the rise over n contains 0; or there is no rise, or none in the upper half
//!             of the decades
//! O(log n)    not O(1), and the interval of the exponent of the rise over the rise of log n contains 1
//! O(n)        not O(1), and the interval of the exponent of the rise over the rise of n contains 1
//! ```
//! Nothing is decided by fewer than five points or over less than three decades, nor by an interval
//! that contains both 0 and 1. A count at n is at least the one at any smaller n: calls that are
//! dearest there are possible in the larger heap too.
#![deny(unsafe_code)]

use std::fmt;

/// The fewest points that a law is fitted to.
pub(crate) const FEWEST: usize = 5;

/// The least factor between the greatest and the least n: three decades.
const DECADES: f64 = 1000.0;

/// Rounding of sizes to classes, pages and frames bends a line by this much of an exponent at most:
/// a class is up to 1/8 larger than the one before, 0.05 of a decade.
const CLOSE: f64 = 0.05;

/// A rise of so many instructions, or of this part of the count, is one more branch and no growth.
const BRANCH: f64 = 4.0;
const PART: f64 = 0.05;

/// The 97.5 % quantiles of Student's t by degrees of freedom, from 1 on; 1.96 for more.
const QUANTILES: [f64; 12] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
];

/// An exponent, and its interval at 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Exponent {
    /// The exponent that fits best.
    pub(crate) best: f64,
    /// The ends of the interval.
    pub(crate) least: f64,
    pub(crate) most: f64,
}

impl Exponent {
    /// The exponent a of the law c · n^a through points (n, count), however near each other they
    /// are. `None` for fewer than three points, or one that is not positive.
    pub(crate) fn over(points: &[(f64, f64)]) -> Option<Self> {
        slope(points)
    }

    /// Whether the interval contains an exponent, give or take what rounding bends.
    pub(crate) fn contains(self, exponent: f64) -> bool {
        self.least <= exponent + CLOSE && self.most >= exponent - CLOSE
    }

    /// Whether the whole interval is above an exponent, by more than rounding bends.
    pub(crate) fn is_above(self, exponent: f64) -> bool {
        self.least > exponent + CLOSE
    }
}

impl fmt::Display for Exponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `+ 0.0` makes a negative zero positive
        let [best, least, most] =
            [self.best, self.least, self.most].map(|figure| (figure * 100.0).round() / 100.0 + 0.0);
        write!(f, "{best:.2} [{least:.2}, {most:.2}]")
    }
}

/// How a count grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Growth {
    /// Not at all: O(1).
    Constant,
    /// Like a logarithm, or slower: O(log n).
    Logarithmic,
    /// Like n: O(n).
    Linear,
    /// Faster than a logarithm, but not like n.
    Power,
}

impl Growth {
    /// The growth of counts at ascending n; `None` if they do not decide it.
    pub(crate) fn of(points: &[(f64, f64)]) -> Option<Self> {
        if is_constant(points)? {
            return Some(Self::Constant);
        }
        let over_log = rise(points, f64::ln)?;
        Some(match is_linear(points)? {
            true => Self::Linear,
            false if is_logarithmic(points)? || over_log.best < 1.0 => Self::Logarithmic,
            false => Self::Power,
        })
    }

    /// It in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Constant => "none",
            Self::Logarithmic => "log",
            Self::Linear => "linear",
            Self::Power => "power",
        }
    }
}

/// Whether counts at ascending n are O(1).
pub(crate) fn is_constant(points: &[(f64, f64)]) -> Option<bool> {
    if !spans(points) {
        return None;
    }
    if has_ended(points) {
        return Some(true);
    }
    let over = rise(points, |n| n)?;
    let holds = over.least <= 0.0;
    (!holds || over.most < 1.0).then_some(holds)
}

/// Whether they grow like a logarithm of n, and no faster.
pub(crate) fn is_logarithmic(points: &[(f64, f64)]) -> Option<bool> {
    let grows = !is_constant(points)?;
    Some(grows && rise(points, f64::ln)?.contains(1.0))
}

/// Whether they grow like n.
pub(crate) fn is_linear(points: &[(f64, f64)]) -> Option<bool> {
    let grows = !is_constant(points)?;
    Some(grows && rise(points, |n| n)?.contains(1.0))
}

/// The exponent of the rise above the first count, over the rise of a law; `None` if fewer than
/// three points rise.
pub(crate) fn rise(points: &[(f64, f64)], law: fn(f64) -> f64) -> Option<Exponent> {
    if !spans(points) {
        return None;
    }
    let highest = up_to_each(points);
    let (_, least) = *highest.first()?;
    let (level, risen): (Vec<_>, Vec<_>) = highest.iter().partition(|(_, count)| *count <= least);
    let (first, _) = *level.last()?;
    let risen = risen
        .iter()
        .map(|(n, count)| (law(*n) - law(first), count - least));
    slope(&risen.collect::<Vec<_>>())
}

/// Whether nothing rises, or nothing any more in the upper half of the decades, where at least
/// three points are.
fn has_ended(points: &[(f64, f64)]) -> bool {
    let highest = up_to_each(points);
    let Some(((first, least), (last, most))) = highest.first().zip(highest.last()) else {
        return false;
    };
    let middle = (first * last).sqrt();
    let upper: Vec<_> = highest
        .iter()
        .filter(|(n, _)| *n >= 0.99 * middle)
        .collect();
    let is_none = |from: f64| most - from <= BRANCH.max(PART * most);
    is_none(*least) || upper.len() >= 3 && upper.first().is_some_and(|(_, count)| is_none(*count))
}

/// Every point with the highest count so far.
fn up_to_each(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let so_far = points.iter().scan(0.0_f64, |most, (n, count)| {
        *most = most.max(*count);
        Some((*n, *most))
    });
    so_far.collect()
}

/// Whether points are enough, and far enough apart.
pub(crate) fn spans(points: &[(f64, f64)]) -> bool {
    let least = points.iter().map(|(n, _)| *n).fold(f64::INFINITY, f64::min);
    let most = points.iter().map(|(n, _)| *n).fold(0.0, f64::max);
    points.len() >= FEWEST && most >= DECADES * least
}

/// The slope of the line through the logarithms of points, with its interval; `None` with fewer
/// than three points, or one that is not positive.
fn slope(points: &[(f64, f64)]) -> Option<Exponent> {
    if points.iter().any(|(x, y)| *x <= 0.0 || *y <= 0.0) {
        return None;
    }
    let logarithms: Vec<_> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logarithms.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logarithms.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        let of_points = logarithms.iter();
        of_points
            .map(|(x, y)| of(x - mean_x, y - mean_y))
            .sum::<f64>()
    };
    let spread = sum(&|x, _| x * x);
    let freedom = logarithms.len().checked_sub(2).filter(|free| *free > 0)?;
    if spread <= 0.0 {
        return None;
    }
    let best = sum(&|x, y| x * y) / spread;
    let left = sum(&|x, y| (y - best * x) * (y - best * x));
    let quantile = QUANTILES.get(freedom - 1).copied().unwrap_or(1.96);
    let width = quantile * (left / freedom as f64 / spread).sqrt();
    Some(Exponent {
        best,
        least: best - width,
        most: best + width,
    })
}

#[cfg(test)]
mod tests {
    use super::{Exponent, Growth, is_constant, is_linear, is_logarithmic};

    const TENS: [f64; 5] = [100.0, 1e3, 1e4, 1e5, 1e6];
    const QUICK: [f64; 5] = [10.0, 56.0, 316.0, 1778.0, 10_000.0];

    fn counted(values: &[f64], count: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
        values.iter().map(|&n| (n, count(n).round())).collect()
    }

    /// O(1), O(log n), O(n).
    fn laws(points: &[(f64, f64)]) -> [Option<bool>; 3] {
        [is_constant, is_logarithmic, is_linear].map(|law| law(points))
    }

    const ONE: [Option<bool>; 3] = [Some(true), Some(false), Some(false)];
    const LOG: [Option<bool>; 3] = [Some(false), Some(true), Some(false)];
    const LINE: [Option<bool>; 3] = [Some(false), Some(false), Some(true)];

    #[test]
    fn an_exponent_is_that_of_the_power_law_and_its_interval_contains_it() {
        for a in [-1.0, 0.0, 0.5, 2.0] {
            let law = Exponent::over(&TENS.map(|n| (n, 3.0 * n.powf(a)))).expect("positive");
            assert!((law.best - a).abs() < 1e-9 && law.most - law.least < 1e-6);
        }
        // By hand: logarithms 0, 1, 2, 3, 4 and 0, 1, 2, 3, 5; slope 1.2, residuals 0.2, 0, -0.2,
        // -0.4, 0.4, 3.182 · √(0.4 / 3 / 10).
        let bent = [(1.0, 1.0), (10.0, 10.0), (1e2, 1e2), (1e3, 1e3), (1e4, 1e5)];
        let found = Exponent::over(&bent).expect("positive");
        assert!((found.best - 1.2).abs() < 1e-9);
        assert!((found.most - found.best - 3.182 * (0.4_f64 / 30.0).sqrt()).abs() < 1e-6);
        assert_eq!(found.to_string(), "1.20 [0.83, 1.57]");
    }

    #[test]
    fn few_points_and_few_decades_decide_nothing() {
        let line = counted(&TENS, |n| n);
        assert_eq!(laws(&line[..4]), [None; 3]);
        let near = counted(&[1.0, 4.0, 16.0, 64.0, 256.0], |n| n);
        assert_eq!(laws(&near), [None; 3]);
        assert_eq!(Growth::of(&near), None);
        assert_eq!(Exponent::over(&TENS.map(|n| (n, 0.0))), None);
    }

    #[test]
    fn each_claim_holds_on_its_law_and_fails_on_the_others() {
        for values in [&TENS[..], &QUICK] {
            assert_eq!(laws(&counted(values, |_| 120.0)), ONE);
            for (base, step) in [(40.0, 12.0), (300.0, 60.0), (1.0, 3.0)] {
                let points = counted(values, |n| base + step * n.log2());
                assert_eq!(laws(&points), LOG, "{points:?}");
                assert_eq!(Growth::of(&points), Some(Growth::Logarithmic));
            }
            for (base, step) in [(50.0, 7.0), (3000.0, 1.0), (7000.0, 1.0), (0.0, 0.5)] {
                let points = counted(values, |n| base + step * n);
                assert_eq!(laws(&points), LINE, "{points:?}");
                assert_eq!(Growth::of(&points), Some(Growth::Linear));
            }
            for (base, power) in [(30.0, 0.6), (30.0, 1.5), (1.0, 2.0)] {
                let points = counted(values, |n| base + 2.0 * n.powf(power));
                assert_eq!(laws(&points), [Some(false); 3], "{points:?}");
                assert_eq!(Growth::of(&points), Some(Growth::Power));
            }
        }
    }

    /// What another rule called O(log n): a step at the end.
    #[test]
    fn one_step_is_no_logarithm() {
        let sizes = [8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0];
        let of = |counts: [f64; 6]| sizes.into_iter().zip(counts).collect::<Vec<_>>();
        let late = of([175.0, 175.0, 175.0, 175.0, 175.0, 219.0]);
        assert_eq!(laws(&late), [None; 3], "it may begin to grow");
        let early = of([175.0, 175.0, 219.0, 219.0, 219.0, 219.0]);
        assert_eq!(laws(&early), ONE);
        let small = of([175.0, 175.0, 175.0, 175.0, 175.0, 179.0]);
        assert_eq!(laws(&small), ONE);
    }

    #[test]
    fn what_ends_growing_is_constant() {
        let of = |counts: [f64; 5]| laws(&TENS.into_iter().zip(counts).collect::<Vec<_>>());
        assert_eq!(of([100.0, 300.0, 480.0, 481.0, 480.0]), ONE);
        assert_eq!(of([100.0, 9e5, 9e5, 9e5, 9e5]), ONE);
        assert_eq!(of([300.0, 300.0, 300.0, 200.0, 100.0]), ONE);
        assert_eq!(of([300.0, 200.0, 300.0, 200.0, 300.0]), ONE);
        assert_eq!(of([114.0, 114.0, 114.0, 114.0, 300.0]), [None; 3]);
    }

    #[test]
    fn a_level_every_few_points_is_a_logarithm() {
        let sizes = [
            8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0, 32_768.0, 131_072.0, 524_288.0,
        ];
        let levels = [1.0, 1.0, 2.0, 3.0, 3.0, 4.0, 5.0, 5.0, 6.0];
        let counts = sizes
            .into_iter()
            .zip(levels.map(|level| 60.0 + 30.0 * level));
        let points: Vec<_> = counts.collect();
        assert_eq!(Growth::of(&points), Some(Growth::Logarithmic));
    }
}
