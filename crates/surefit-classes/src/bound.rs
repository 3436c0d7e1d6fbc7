//! The compaction bound of a size-class, and the order of its not-full pages.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use core::fmt;

/// A fraction ε of what is live, `numerator / denominator`, at most one half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: u32,
    denominator: u32,
    /// The logarithm of the denominator if the fraction is 1 over a power of two, else
    /// [`NO_SHIFT`].
    shift: u8,
}

/// The fraction is not 1 over a power of two.
const NO_SHIFT: u8 = u8::MAX;

impl Fraction {
    /// The fraction 0.
    pub const ZERO: Self = Self {
        numerator: 0,
        denominator: 1,
        shift: NO_SHIFT,
    };

    /// The fraction `numerator / denominator`.
    ///
    /// # Errors
    /// [`FractionError`] if the denominator is zero or the fraction is above one half: above that,
    /// a free would have no move to spare for the bound (section 2.3 of the bounds).
    pub const fn new(numerator: u32, denominator: u32) -> Result<Self, FractionError> {
        if denominator == 0 || numerator > denominator / 2 {
            return Err(FractionError);
        }
        let shift = if numerator == 1 && denominator.is_power_of_two() {
            denominator.trailing_zeros().to_le_bytes()[0]
        } else {
            NO_SHIFT
        };
        Ok(Self {
            numerator,
            denominator,
            shift,
        })
    }

    /// `⌊ε · n⌋`.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a product of 32 bits in 64 bits, by a denominator above zero"
    )]
    #[inline]
    #[must_use]
    pub const fn of(self, n: u32) -> u32 {
        if self.shift != NO_SHIFT {
            return n >> (self.shift & 31);
        }
        let product = self.numerator as u64 * n as u64 / self.denominator as u64;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the fraction is at most one half, so the product fits"
        )]
        {
            product as u32
        }
    }

    /// `⌊n ÷ (numerator + denominator)⌋`.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the sum is above zero and below 2^33; the product is below 2^64"
    )]
    #[inline]
    pub(crate) const fn quotient(self, n: u64) -> u64 {
        let shift = self.shift as u32;
        // With b = 2^shift: n ÷ (b + 1) = n · (b − 1) ÷ (b² − 1), and for small n this is nearly
        // n · (b − 1) ÷ b².
        if shift < 16 && n + 1 < 1 << (2 * shift) {
            return ((n + 1) * ((1 << shift) - 1)) >> (2 * shift);
        }
        n / (self.numerator as u64 + self.denominator as u64)
    }

    /// The numerator.
    #[inline]
    #[must_use]
    pub const fn numerator(self) -> u32 {
        self.numerator
    }

    /// The denominator.
    #[inline]
    #[must_use]
    pub const fn denominator(self) -> u32 {
        self.denominator
    }
}

/// A fraction that is above one half, or whose denominator is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FractionError;

impl fmt::Display for FractionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the fraction of holes must be at most 1/2 with a denominator above zero")
    }
}

impl core::error::Error for FractionError {}

/// The partial compaction bound of every size-class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// At most κ not-full pages (the papers' bound). κ = 1 is full compaction.
    ///
    /// Under this bound heaps park no freed page-block: a free that gives parked ones back would
    /// make the longest call longer.
    Pages(u32),
    /// At most `base + ⌊fraction · h⌋` free page-blocks outside one not-full page, where h
    /// page-blocks are live.
    Holes {
        /// δ, in page-blocks.
        base: u32,
        /// ε, at most one half.
        fraction: Fraction,
    },
    /// Never compact: κ = ∞.
    Unbounded,
}

impl Bound {
    /// δ = 4, ε = 1/16: a class needs no more pages than a perfect packing of 17/16 of the live
    /// page-blocks plus four page-blocks.
    pub const DEFAULT: Self = Self::Holes {
        base: 4,
        fraction: Fraction {
            numerator: 1,
            denominator: 16,
            shift: 4,
        },
    };
}

impl Default for Bound {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pages(k) => write!(f, "at most {k} not-full pages a class"),
            Self::Holes { base, fraction } => write!(
                f,
                "at most {base} + {}/{} of live page-blocks as holes a class",
                fraction.numerator, fraction.denominator
            ),
            Self::Unbounded => f.write_str("never compacts"),
        }
    }
}

/// Which not-full page serves an allocation, and which one gives up its page-blocks. An option of
/// [`Bound::Pages`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageOrder {
    /// Allocates from the newest not-full page, drains the oldest: an order of magnitude fewer
    /// moves at κ = 8.
    #[default]
    Newest,
    /// Allocates from the oldest not-full page, drains the newest, as the original Compact-fit
    /// does.
    Original,
}

#[cfg(test)]
mod tests {
    use super::Fraction;

    #[test]
    fn a_quotient_is_that_of_a_division() {
        let powers = (1..20).map(|shift| (1, 1 << shift));
        for (numerator, denominator) in powers.chain([(1, 3), (3, 8), (5, 100)]) {
            let fraction = Fraction::new(numerator, denominator).expect("at most one half");
            let sum = u64::from(numerator + denominator);
            let near = (1..20).map(|power| 1_u64 << (2 * power));
            let near = near.flat_map(|square| square.saturating_sub(40)..square + 40);
            for n in (0..200_000).chain(near).chain([u64::MAX - (1 << 33)]) {
                assert_eq!(fraction.quotient(n), n / sum, "{n} by {sum}");
            }
        }
    }
}
