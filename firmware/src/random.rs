//! Seeded numbers, the same in every run and on every board.

/// A linear congruential generator; its state is the seed.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// The next number below `bound`.
    ///
    /// # Panics
    /// If the bound is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    /// A length from 1 to `largest`; half of them are below an eighth of it.
    pub fn length(&mut self, largest: usize) -> usize {
        let bound = if self.below(2) == 0 {
            largest / 8
        } else {
            largest
        };
        1 + self.below(bound.max(1))
    }

    /// An alignment: 8 bytes, or in one of eight cases a power of two up to 64.
    pub fn align(&mut self) -> usize {
        if self.below(8) == 0 {
            1 << self.below(7)
        } else {
            8
        }
    }
}
