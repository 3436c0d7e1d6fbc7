//! How much more than some runs of a program showed is certified, so that a further run is covered
//! too.
//!
//! # The rule
//! n runs need figures of which the greatest is M and the least m. The bound is M + c·(M − m),
//! where c depends on n only:
//!
//! ```text
//! P(a further run is above) = 1/(n + 1) · Π i/(i + c) over i = 2 … n   ≤ 1 %
//! n      2      3      4      5      6      8     12     50     99
//! c   64.7   9.76   4.87   3.28   2.50   1.73   1.10   0.20      0
//! ```
//! That is exact if the figures have an exponential tail of any rate above any least figure. Of
//! n + 1 such runs the last is the greatest with probability 1/(n + 1). Then it is above the others
//! by the first of n independent gaps, the i-th of which has i times the rate, and M − m is the sum
//! of the others. For lighter tails (normal, uniform) more than 99 % are covered; a test draws from
//! them.
//! The margin is that of whichever figure needs the greatest one, and at least 10 %: memory that
//! grows in steps shows no spread until a run takes the next step.
//!
//! # Drawbacks
//! No rule sees what no run showed: a rare input that needs twice as much is not covered.

use std::str::FromStr;

use anyhow::{Result, bail};

/// A further run may be above the bound in one of so many tries.
const TRIES: f64 = 100.0;

/// The least margin that is proposed, in thousandths of a percent.
const LEAST: u64 = 10_000;

/// No margin is greater, in thousandths of a percent: ten times the figures.
const MOST: u64 = 900_000;

/// 100 %, in thousandths of a percent.
const WHOLE: u64 = 100_000;

/// A margin, in thousandths of a percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Margin(u64);

/// The margin that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// The one that is proposed for the runs.
    Auto,
    /// So much.
    Given(Margin),
}

impl FromStr for Choice {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => text.parse().map(Self::Given),
        }
    }
}

impl FromStr for Margin {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let number = text.strip_suffix('%').unwrap_or(text).trim_end();
        let percent: Option<f64> = number.parse().ok();
        let most = MOST as f64 / 1e3;
        match percent.filter(|percent| (0.0..=most).contains(percent)) {
            Some(percent) => Ok(Self((percent * 1e3).round() as u64)),
            None => bail!(
                "`{text}` is not a margin: write a percentage from 0 to {most}, such as 8 or 7.5, or auto"
            ),
        }
    }
}

impl Margin {
    /// In percent.
    pub(super) fn percent(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// A figure with the margin on it, rounded up.
    pub(super) fn on(self, figure: u64) -> u64 {
        let more = u128::from(figure) * u128::from(WHOLE + self.0);
        u64::try_from(more.div_ceil(u128::from(WHOLE))).unwrap_or(u64::MAX)
    }

    /// The margin that covers a further run, from the figures of some runs: each slice has one
    /// figure of every run. `None` if there is only one run, or the runs are so far apart that no
    /// margin is sensible.
    pub(super) fn proposed(figures: &[Vec<u64>]) -> Option<Self> {
        let runs = figures.first()?.len();
        if runs < 2 {
            return None;
        }
        let widest = figures
            .iter()
            .filter_map(|of| apart(of))
            .fold(1.0, f64::max);
        // (M − m) / M
        let spread = 1.0 - 1.0 / widest;
        let tenths = (spread * factor(runs) * 1e3).ceil();
        let margin = (tenths * 100.0).max(LEAST as f64);
        (margin <= MOST as f64).then_some(Self(margin as u64))
    }
}

/// The greatest of some figures over the least.
pub(super) fn apart(figures: &[u64]) -> Option<f64> {
    let (least, most) = (figures.iter().min()?, figures.iter().max()?);
    Some(*most as f64 / (*least).max(1) as f64)
}

/// c: see the module. Found by bisection.
fn factor(runs: usize) -> f64 {
    let misses = |c: f64| {
        let gaps = (2..=runs).map(|i| i as f64 / (i as f64 + c));
        gaps.product::<f64>() / (runs as f64 + 1.0)
    };
    let (mut low, mut high) = (0.0, TRIES);
    if misses(low) <= 1.0 / TRIES {
        return low;
    }
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if misses(middle) > 1.0 / TRIES {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::{Choice, Margin, factor};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn a_margin_is_a_percentage_with_three_decimals_at_most() {
        let on = |text: &str| text.parse::<Margin>().expect("a margin").on(1000);
        assert_eq!(
            [on("0"), on("8"), on("7.5%"), on("0.001")],
            [1000, 1080, 1075, 1001]
        );
        assert_eq!(on("900"), 10_000);
        assert_eq!(
            "900".parse::<Margin>().expect("a margin").on(u64::MAX),
            u64::MAX
        );
        for text in ["", "-1", "901", "x", "nan", "1e9", "8 percent", "%"] {
            assert!(text.parse::<Margin>().is_err(), "{text}");
        }
        assert_eq!("auto".parse::<Choice>().expect("a word"), Choice::Auto);
    }

    #[test]
    fn the_factors_are_those_of_the_table() {
        for (runs, c) in [
            (2, 64.67),
            (3, 9.76),
            (4, 4.87),
            (5, 3.28),
            (6, 2.5),
            (8, 1.73),
            (12, 1.1),
            (50, 0.2),
        ] {
            assert!((factor(runs) - c).abs() < 0.02, "{runs}: {}", factor(runs));
        }
        assert!(factor(99) < 1e-9);
    }

    #[test]
    fn more_runs_need_less_and_one_run_says_nothing() {
        let of = |runs: &[u64]| Margin::proposed(&[runs.to_vec()]);
        assert_eq!(of(&[100]), None);
        assert_eq!(Margin::proposed(&[]), None);
        assert!(of(&[100, 102]) > of(&[100, 102, 101]));
        assert!(of(&[100, 110, 101, 101, 101]) > of(&[100, 105, 101, 101, 101]));
        assert_eq!(of(&[100; 5]).map(Margin::percent), Some(10.0), "the least");
        assert_eq!(of(&[1, 1000]), None, "no sensible margin");
        assert_eq!(of(&[0, 0, 0]).map(Margin::percent), Some(10.0));
    }

    /// A figure of a run, drawn in one of these ways.
    type Draw = fn(&mut ChaCha8Rng) -> f64;

    fn normal(random: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    }

    fn exponential(random: &mut ChaCha8Rng) -> f64 {
        -(1.0 - random.random::<f64>()).ln()
    }

    const DRAWS: [(&str, Draw); 5] = [
        ("exponential", |random| 1.0 + exponential(random)),
        ("exponential from little", |random| {
            0.1 + exponential(random)
        }),
        ("normal", |random| 2.0 + 0.3 * normal(random)),
        ("log-normal", |random| (0.3 * normal(random)).exp()),
        ("uniform", |random| 1.0 + random.random::<f64>()),
    ];

    #[test]
    fn a_sixth_run_is_covered_in_99_of_100_tries() {
        for (name, draw) in DRAWS {
            let mut random = ChaCha8Rng::seed_from_u64(6);
            let tries = 20_000;
            let covered = (0..tries).filter(|_| {
                let runs: [u64; 6] = std::array::from_fn(|_| (draw(&mut random) * 1e9) as u64);
                let most = runs[..5].iter().max().copied().unwrap_or(0);
                // What no margin covers would count as missed.
                let bound = Margin::proposed(&[runs[..5].to_vec()]).map(|margin| margin.on(most));
                bound.is_some_and(|bound| runs[5] <= bound)
            });
            let share = covered.count() as f64 / f64::from(tries);
            assert!(share >= 0.989, "{name}: {share}");
        }
    }
}
