//! Ratios over interleaved rounds: taken round by round, quoted with their spread.

use std::fmt::{self, Display};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What stands where a figure was not measured.
pub const NOT_MEASURED: &str = "not measured";

/// A ratio over the rounds.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The median of the rounds.
    pub median: f64,
    /// The least of the rounds.
    pub min: f64,
    /// The greatest of the rounds.
    pub max: f64,
}

impl Ratio {
    /// The median and the ends of some ratios; `None` if there are none, or one is not finite.
    #[must_use]
    pub fn of(ratios: &[f64]) -> Option<Self> {
        let finite = ratios.iter().all(|ratio| ratio.is_finite());
        Self::spread(ratios).filter(|_| finite)
    }

    /// The median and the ends of any figures; `None` if there are none.
    #[must_use]
    pub fn spread(figures: &[f64]) -> Option<Self> {
        Some(Self {
            median: median(figures)?,
            min: figures.iter().copied().fold(f64::INFINITY, f64::min),
            max: figures.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }

    /// 1 divided by it: of the inverse of each round's ratio.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self {
            median: 1.0 / self.median,
            min: 1.0 / self.max,
            max: 1.0 / self.min,
        }
    }

    /// `own` over `base`, the figures of one round by those of the same round.
    #[must_use]
    pub fn round_by_round(own: &[f64], base: &[f64]) -> Option<Self> {
        let ratios: Vec<_> = own.iter().zip(base).map(|(own, base)| own / base).collect();
        Self::of(&ratios)
    }
}

impl Display for Ratio {
    /// The median and, in brackets, the least and the greatest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { median, min, max } = self;
        f.pad(&format!("{median:.2} [{min:.2}-{max:.2}]"))
    }
}

/// A figure in words, or that it was not measured.
#[must_use]
pub fn or_not_measured(figure: Option<impl Display>) -> String {
    figure.map_or_else(|| NOT_MEASURED.to_owned(), |figure| figure.to_string())
}

/// The median; of an even number of figures, the mean of the two in the middle.
#[must_use]
pub fn median(figures: &[f64]) -> Option<f64> {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = sorted[(sorted.len() - 1) / 2];
    Some(f64::midpoint(lower, upper))
}

#[cfg(test)]
mod tests {
    use super::{Ratio, median, or_not_measured};

    #[test]
    fn a_median_needs_no_order() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }

    #[test]
    fn a_ratio_to_nothing_is_absent() {
        assert!(Ratio::of(&[]).is_none());
        assert!(Ratio::of(&[1.0 / 0.0]).is_none());
        assert!(Ratio::round_by_round(&[1.0, 1.0], &[1.0, 0.0]).is_none());
        let ratio = Ratio::of(&[2.0, 1.0, 3.0]).expect("three rounds");
        assert_eq!((ratio.min, ratio.median, ratio.max), (1.0, 2.0, 3.0));
    }

    #[test]
    fn ratios_are_taken_in_the_same_round() {
        let ratio = Ratio::round_by_round(&[2.0, 9.0], &[1.0, 3.0]);
        assert_eq!(or_not_measured(ratio), "2.50 [2.00-3.00]");
        assert_eq!(or_not_measured(None::<Ratio>), "not measured");
    }
}
