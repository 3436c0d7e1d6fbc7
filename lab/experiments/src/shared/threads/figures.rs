//! Medians, spreads, times and exponents.

use std::time::Duration;

use hdrhistogram::Histogram;

use surefit_measure::results::Ratio;

/// Times longer than this count as this long: ten seconds.
const LONGEST_NS: u64 = 10_000_000_000;

/// How long locks were held and waited for, in nanoseconds.
#[derive(Clone, Debug)]
pub(crate) struct Times {
    /// From an acquisition to its release.
    pub(crate) held: Histogram<u64>,
    /// From the call to the acquisition.
    pub(crate) waited: Histogram<u64>,
}

impl Times {
    /// No times yet.
    pub(crate) fn new() -> Self {
        let empty = || Histogram::new_with_bounds(1, LONGEST_NS, 3).expect("valid bounds");
        Self {
            held: empty(),
            waited: empty(),
        }
    }

    /// Adds those of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        self.held.add(&other.held).expect("equal bounds");
        self.waited.add(&other.waited).expect("equal bounds");
    }
}

/// A duration in nanoseconds, at most 584 years.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Median, least and greatest of figures.
///
/// # Panics
/// If there are none.
pub(crate) fn spread(figures: &[f64]) -> Ratio {
    Ratio::spread(figures).expect("a figure of some round")
}

/// The figures of `ours` over those of `theirs`, round by round.
pub(crate) fn ratio(ours: &[f64], theirs: &[f64]) -> Ratio {
    let ratios = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs);
    spread(&ratios.collect::<Vec<_>>())
}

/// Fewer rounds decide nothing about times: of two, one may be wrong, and nobody knows which.
pub(crate) const LEAST_ROUNDS: usize = 3;

/// [`ratio`], from as many rounds as decide something.
pub(crate) fn timed_ratio(ours: &[f64], theirs: &[f64]) -> Option<Ratio> {
    (ours.len().min(theirs.len()) >= LEAST_ROUNDS).then(|| ratio(ours, theirs))
}

/// When times decide nothing, in words.
pub(crate) fn untimed() -> String {
    format!("not comparable if rounds disagree, or with fewer than {LEAST_ROUNDS} rounds")
}

/// The exponent a of the power law c · x^a that fits points best, as the slope of a line through
/// their logarithms; `None` with fewer than two different x, or a value that is not positive.
pub(crate) fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.iter().any(|(x, y)| *x <= 0.0 || *y <= 0.0) {
        return None;
    }
    let logarithms: Vec<_> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logarithms.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| logarithms.iter().map(of).sum::<f64>() / count;
    let (mean_x, mean_y) = (mean(|point| point.0), mean(|point| point.1));
    let (mut above, mut below) = (0.0, 0.0);
    for (x, y) in &logarithms {
        above += (x - mean_x) * (y - mean_y);
        below += (x - mean_x) * (x - mean_x);
    }
    (below > 0.0).then(|| above / below)
}

/// The processors that the system lets this process use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::{exponent, ratio, spread};

    #[test]
    fn exponents_are_those_of_power_laws() {
        let law = |a: f64| [1.0, 2.0, 8.0, 64.0].map(|x: f64| (x, 3.0 * x.powf(a)));
        for a in [-1.0, 0.0, 0.5, 2.0] {
            assert!((exponent(&law(a)).expect("positive") - a).abs() < 1e-9);
        }
        assert_eq!(exponent(&[(1.0, 0.0), (2.0, 1.0)]), None);
        assert_eq!(exponent(&[(2.0, 1.0), (2.0, 1.0)]), None);
        assert_eq!(exponent(&[]), None);
    }

    #[test]
    fn ratios_are_taken_round_by_round() {
        let ratio = ratio(&[2.0, 9.0, 4.0, 8.0], &[1.0, 3.0, 4.0, 2.0]);
        assert_eq!((ratio.median, ratio.min, ratio.max), (2.5, 1.0, 4.0));
        assert_eq!(spread(&[3.0, 1.0, 2.0]).median, 2.0);
    }
}
