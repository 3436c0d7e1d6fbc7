//! Seeded numbers, the same for every library: SplitMix64, a few instructions each.
//!
//! # Source
//! Steele, Lea, Flood (2014), Fast splittable pseudorandom number generators.
#![deny(unsafe_code)]

/// A sequence of numbers.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The next 64 bits.
    #[inline]
    pub(super) const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from `least` to `most`, both of them possible.
    #[inline]
    pub(super) const fn between(&mut self, least: u32, most: u32) -> u32 {
        let span = (most - least) as u64 + 1;
        least + (((self.bits() >> 32) * span) >> 32) as u32
    }

    /// An index below `length`, which is not zero.
    #[inline]
    pub(super) const fn index(&mut self, length: usize) -> usize {
        self.between(0, length as u32 - 1) as usize
    }

    /// A size from `least` to `most` of which every power of two is as likely as every other.
    pub(super) fn logarithmic(&mut self, least: u32, most: u32) -> u32 {
        let part = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let factor = f64::from(most) / f64::from(least);
        (f64::from(least) * factor.powf(part)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn numbers_keep_their_limits_and_come_again() {
        let (mut one, mut other) = (Random::new(7), Random::new(7));
        for _ in 0..1000 {
            let number = one.between(3, 5);
            assert!((3..=5).contains(&number));
            assert_eq!(number, other.between(3, 5));
            assert!(one.index(1) == 0 && other.index(1) == 0);
            let size = one.logarithmic(1000, 8000);
            assert!((1000..=8000).contains(&size));
            assert_eq!(size, other.logarithmic(1000, 8000));
        }
        assert_ne!(Random::new(1).bits(), Random::new(2).bits());
    }
}
