//! Choices from a seed.

use surefit_testkit::Random;

/// Choices from a seed.
pub(crate) struct Chooser(pub(crate) Random);

impl Chooser {
    /// Neighbouring seeds lead to unrelated choices.
    pub(crate) fn new(seed: u64) -> Self {
        let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = Random(mixed ^ mixed >> 29);
        for _ in 0..4 {
            random.below(2);
        }
        Self(random)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    pub(crate) fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    pub(crate) fn number<T: TryFrom<usize>>(&mut self, least: usize, most: usize) -> T {
        let number = least + self.below(most + 1 - least);
        T::try_from(number).ok().expect("small")
    }
}
