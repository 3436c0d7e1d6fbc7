//! Selections without a branch.

/// A condition as a mask: all ones or zero.
#[derive(Clone, Copy)]
pub(super) struct Chosen(u32);

impl Chosen {
    #[inline]
    pub(super) const fn when(condition: bool) -> Self {
        Self((condition as u32).wrapping_neg())
    }

    /// `if self { b } else { a }`, without a branch.
    #[inline]
    pub(super) const fn of(self, a: u32, b: u32) -> u32 {
        a ^ (a ^ b) & self.0
    }
}
