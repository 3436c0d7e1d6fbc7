//! How a count grows: one law for all of the claims O(1), O(log n) and O(n), fitted to counts.
//!
//! ```text
//! law         count = a + b·nᵖ, and a + b·ln n for p = 0: a is what a call takes beside what grows. By least squares of
//!             the errors relative to the counts, so that a hundred instructions of error in ten thousand weigh as much as
//!             one in a hundred
//! p           the power that fits best, and its 95 % interval: the powers whose fit is not worse by more than chance
//! O(1)        nothing rises, or nothing any more in the upper half of the decades, or over the last three points
//! level       where the first counts are the same, but for a branch, the law is fitted from the last of them on
//! O(log n)    b is above 0, and 0 is in the interval of p, give or take BENT
//! O(n)        b is above 0, and 1 is in the interval of p, give or take BENT
//! exponent    of one figure over another: the slope of a line through the logarithms of the points, by least squares,
//!             and its 95 % interval
//! ```
//! Nothing is decided by fewer than five points or over less than three decades, by fewer than
//! three points above the first, nor by an interval that contains both 0 and 1. A count at n is at
//! least the one at any smaller n: calls that are dearest there are possible in the larger heap
//! too.
#![deny(unsafe_code)]

use std::fmt;

/// The fewest points that a law is fitted to.
pub(crate) const FEWEST: usize = 5;

/// The least factor between the greatest and the least n: three decades.
const DECADES: f64 = 1000.0;

/// Rounding of sizes to classes, pages and frames bends a line by this much of an exponent at most:
/// a class is up to 1/8 larger than the one before, 0.05 of a decade.
const CLOSE: f64 = 0.05;

/// A law may bend by so much of a power: by a factor of two over three decades, which O(.) does not
/// see. Objects that take another path from some size on take another line.
const BENT: f64 = 0.1;

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
        let is_linear = is_linear(points)?;
        let power = power(points)?;
        Some(match is_linear {
            true => Self::Linear,
            false if is_logarithmic(points)? || power.best < 0.0 => Self::Logarithmic,
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
    Fitted::to(points)?.grows.then_some(false)
}

/// Whether they grow like a logarithm of n, and no faster.
pub(crate) fn is_logarithmic(points: &[(f64, f64)]) -> Option<bool> {
    grows_like(points, 0.0)
}

/// Whether they grow like n.
pub(crate) fn is_linear(points: &[(f64, f64)]) -> Option<bool> {
    grows_like(points, 1.0)
}

fn grows_like(points: &[(f64, f64)], wanted: f64) -> Option<bool> {
    if is_constant(points)? {
        return Some(false);
    }
    let power = power(points)?;
    let fits = |wanted: f64| (power.least - BENT..=power.most + BENT).contains(&wanted);
    (!(fits(0.0) && fits(1.0))).then(|| fits(wanted))
}

/// The power p of the law a + b·nᵖ that fits counts at ascending n; `None` if they do not rise, or
/// too few of them.
pub(crate) fn power(points: &[(f64, f64)]) -> Option<Exponent> {
    spans(points)
        .then(|| Fitted::to(points))?
        .map(|fitted| fitted.power)
}

/// Powers that are tried: from MIN to MAX hundredths.
const POWERS: std::ops::RangeInclusive<i32> = -100..=300;

/// Errors are at least this part of a count: a branch more or less.
const LEAST_ERROR: f64 = 0.005;

/// A law fitted to counts.
#[derive(Clone, Copy, Debug)]
struct Fitted {
    /// p.
    power: Exponent,
    /// Whether b is above 0 by more than chance.
    grows: bool,
}

impl Fitted {
    /// Fits the law; `None` if fewer than three counts are above the first by more than a branch.
    fn to(points: &[(f64, f64)]) -> Option<Self> {
        let mut highest = up_to_each(points);
        let (_, least) = *highest.first()?;
        let risen = highest.iter().filter(|(_, count)| *count > least + BRANCH);
        let risen = risen.count();
        highest.drain(..highest.len() - risen - 1);
        let freedom = highest.len().checked_sub(3).filter(|free| *free > 0)?;
        if risen < 3 || least <= 0.0 {
            return None;
        }
        let tried: Vec<_> = POWERS
            .map(|hundredths| f64::from(hundredths) / 100.0)
            .map(|power| (power, Line::of(&highest, power)))
            .collect();
        let (best, line) = *tried
            .iter()
            .min_by(|one, other| one.1.left.total_cmp(&other.1.left))?;
        let quantile = QUANTILES.get(freedom - 1).copied().unwrap_or(1.96);
        let chance = line
            .left
            .max(highest.len() as f64 * LEAST_ERROR * LEAST_ERROR);
        let worst = line.left + chance * quantile * quantile / freedom as f64;
        let fits = tried.iter().filter(|(_, line)| line.left <= worst);
        let within = fits.map(|(power, _)| *power);
        let (least, most) = within.fold((best, best), |(least, most), power| {
            (power.min(least), power.max(most))
        });
        let deviation = (chance / freedom as f64 * line.variance).sqrt();
        Some(Self {
            power: Exponent { best, least, most },
            grows: line.slope > quantile * deviation,
        })
    }
}

/// The line a + b·x through counts, where x is a power of n, or its logarithm.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// b.
    slope: f64,
    /// The sum of the squares of the errors, relative to the counts.
    left: f64,
    /// The variance of b for errors of 1.
    variance: f64,
}

impl Line {
    fn of(points: &[(f64, f64)], power: f64) -> Self {
        let at = |n: f64| {
            if power == 0.0 {
                n.ln()
            } else {
                (n.powf(power) - 1.0) / power
            }
        };
        let sum = |of: &dyn Fn(f64, f64) -> f64| {
            let terms = points
                .iter()
                .map(|&(n, count)| of(at(n), count) / (count * count));
            terms.sum::<f64>()
        };
        let (one, x, y) = (sum(&|_, _| 1.0), sum(&|x, _| x), sum(&|_, y| y));
        let (xx, xy) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
        let spread = one * xx - x * x;
        let slope = (one * xy - x * y) / spread;
        let base = (y - slope * x) / one;
        Self {
            slope,
            left: sum(&|x, y| (y - base - slope * x) * (y - base - slope * x)),
            variance: one / spread,
        }
    }
}

/// Whether nothing rises, or nothing any more: in the upper half of the decades, where at least
/// three points are, or over the last three points, if they are a decade apart.
fn has_ended(points: &[(f64, f64)]) -> bool {
    let highest = up_to_each(points);
    let Some(((first, least), (last, most))) = highest.first().zip(highest.last()) else {
        return false;
    };
    let is_none = |from: f64| most - from <= BRANCH.max(PART * most);
    let middle = (first * last).sqrt();
    let upper = highest.iter().filter(|(n, _)| *n >= 0.99 * middle).count();
    let ends = |points: usize| {
        let of_them = highest.len().checked_sub(points).map(|at| highest[at]);
        of_them.filter(|_| points >= 3)
    };
    let over_three = ends(3).filter(|(n, _)| last / n >= 9.9);
    let ended = [ends(upper), over_three].into_iter().flatten();
    is_none(*least) || ended.into_iter().any(|(_, count)| is_none(count))
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
    use super::{Exponent, Growth, is_constant, is_linear, is_logarithmic, power};

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

    /// As printed before: a free of full compaction has 259 instructions for 8 B and 1,063 for 8
    /// KiB, and was O(log n): by logarithms alone, one instruction more for 32 B weighs as much as
    /// a thousand more for 32 KiB.
    #[test]
    fn a_line_above_what_every_call_takes_is_a_line() {
        let sizes = [8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0];
        let free = [259.0, 280.0, 300.0, 340.0, 490.0, 1063.0];
        let points: Vec<_> = sizes.into_iter().zip(free).collect();
        assert_eq!(laws(&points), LINE, "{:?}", power(&points));
        let further: Vec<_> = points.into_iter().chain([(32_768.0, 3600.0)]).collect();
        assert_eq!(laws(&further), LINE, "{:?}", power(&further));
        // a third of a line is none
        let log = sizes
            .into_iter()
            .zip([259.0, 290.0, 321.0, 352.0, 383.0, 414.0]);
        assert_eq!(laws(&log.collect::<Vec<_>>()), LOG);
    }

    #[test]
    fn what_ends_growing_is_constant() {
        let of = |counts: [f64; 5]| laws(&TENS.into_iter().zip(counts).collect::<Vec<_>>());
        assert_eq!(of([100.0, 300.0, 480.0, 481.0, 480.0]), ONE);
        assert_eq!(of([100.0, 9e5, 9e5, 9e5, 9e5]), ONE);
        assert_eq!(of([300.0, 300.0, 300.0, 200.0, 100.0]), ONE);
        assert_eq!(of([300.0, 200.0, 300.0, 200.0, 300.0]), ONE);
        assert_eq!(of([114.0, 114.0, 114.0, 114.0, 300.0]), [None; 3]);
        // a search of holes that is shorter than what every call does, up to 56 of them
        let search = QUICK
            .into_iter()
            .zip([330.0, 330.0, 7460.0, 52_782.0, 307_664.0]);
        assert_eq!(laws(&search.collect::<Vec<_>>()), LINE);
        let sizes = [
            8.0, 32.0, 128.0, 512.0, 2048.0, 8192.0, 32_768.0, 131_072.0, 524_288.0,
        ];
        let frames = [
            317.0,
            317.0,
            402.0,
            751.0,
            2204.0,
            7847.0,
            73_638.0,
            293_709.0,
            1_173_993.0,
        ];
        assert_eq!(
            laws(&sizes.into_iter().zip(frames).collect::<Vec<_>>()),
            LINE
        );
        let late = [323.0, 326.0, 326.0, 326.0, 326.0, 326.0, 590.0];
        assert_eq!(
            laws(&sizes.into_iter().zip(late).collect::<Vec<_>>()),
            [None; 3]
        );
        // one more table for large objects
        let access = [56.0, 56.0, 56.0, 56.0, 56.0, 56.0, 102.0, 102.0, 102.0];
        assert_eq!(
            laws(&sizes.into_iter().zip(access).collect::<Vec<_>>()),
            ONE
        );
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
