//! Random numbers and sizes that are the same on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A seeded source of random choices.
#[derive(Debug)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// A uniform number below `bound`, by the high half of a product; its bias is below `bound` /
    /// 2^64.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.0.next_u64()) * u128::from(bound);
        (product >> 64) as u64
    }
}

/// How sizes are distributed. All values are bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Sizes {
    /// One size.
    Exactly(u64),
    /// Logarithms are uniform, from `from` up to `from` times two to the power of `octaves`.
    LogUniform { from: u64, octaves: u32 },
}

impl Sizes {
    pub(crate) fn draw(self, random: &mut Random) -> u64 {
        match self {
            Self::Exactly(size) => size,
            Self::LogUniform { from, octaves } => {
                let exponent = random.below(u64::from(octaves) << FRACTION_BITS);
                let octave = exponent >> FRACTION_BITS;
                let within = power_of_two_below_one(exponent & ((1 << FRACTION_BITS) - 1));
                ((from << octave) as f64 * within) as u64
            }
        }
    }

    /// The largest size that can be drawn, or more.
    pub(crate) const fn most(self) -> u64 {
        match self {
            Self::Exactly(size) => size,
            Self::LogUniform { from, octaves } => from << octaves,
        }
    }
}

/// Sizes and their shares of all objects.
pub(crate) type Shares = [(u64, Sizes)];

/// Draws a size; `of` is the sum of the shares.
pub(crate) fn draw(shares: &Shares, of: u64, random: &mut Random) -> u64 {
    let mut left = random.below(of);
    for (share, sizes) in shares {
        if left < *share {
            return sizes.draw(random);
        }
        left -= share;
    }
    0
}

/// The sum of the shares.
pub(crate) const fn sum(shares: &Shares) -> u64 {
    match shares {
        [] => 0,
        [(share, _), rest @ ..] => *share + sum(rest),
    }
}

/// The precision of exponents: sizes below 2^20 come out right.
const FRACTION_BITS: u32 = 24;

/// Two to the power of `fraction` / 2^24, as a product of square roots of square roots: each step
/// is exactly defined, unlike the platform's `exp2`.
fn power_of_two_below_one(fraction: u64) -> f64 {
    let mut root = 2.0_f64;
    let mut product = 1.0;
    for bit in (0..FRACTION_BITS).rev() {
        root = root.sqrt();
        if fraction >> bit & 1 == 1 {
            product *= root;
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::{FRACTION_BITS, Random, Sizes, power_of_two_below_one};

    #[test]
    fn powers_are_those_of_the_platform() {
        for fraction in (0..1 << FRACTION_BITS).step_by(10_007) {
            let exponent = fraction as f64 / f64::from(1 << FRACTION_BITS);
            let difference = power_of_two_below_one(fraction) - exponent.exp2();
            assert!(difference.abs() < 1e-13, "2^{exponent}: {difference}");
        }
    }

    #[test]
    fn log_uniform_sizes_stay_in_their_range_and_fill_each_octave_alike() {
        let sizes = Sizes::LogUniform {
            from: 16,
            octaves: 10,
        };
        let mut random = Random::new(7);
        let mut octaves = [0; 10];
        for _ in 0..100_000 {
            let size = sizes.draw(&mut random);
            assert!((16..16384).contains(&size));
            octaves[size.ilog2() as usize - 4] += 1;
        }
        assert!(
            octaves.iter().all(|n| (9_500..10_500).contains(n)),
            "{octaves:?}"
        );
    }
}
