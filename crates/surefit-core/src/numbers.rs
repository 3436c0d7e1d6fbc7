//! Unique numbers on every target.

use core::fmt;
use core::num::NonZeroU32;

use crate::once::Counter;

/// Gives out numbers from one upwards, each of them once, to callers in any thread.
///
/// Heaps take their numbers from such a counter in a `static`, so that a handle of one heap is
/// never mistaken for another heap's.
///
/// # Examples
/// ```
/// use surefit_core::Numbers;
/// static NUMBERS: Numbers = Numbers::new();
/// assert_ne!(NUMBERS.next(), NUMBERS.next());
/// ```
pub struct Numbers(Counter);

impl Numbers {
    /// A counter that has given out no number.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a counter is a static; a default value has no use"
    )]
    pub const fn new() -> Self {
        Self(Counter::new())
    }

    /// The next number, or `None` after 2³² − 1 numbers.
    ///
    /// On a target without compare-and-exchange, and without the feature `portable-atomic`, it also
    /// returns `None` if two callers ask within the same few instructions (one interrupts the
    /// other, or runs on another core), and from then on. In no case is a number given out twice.
    ///
    /// # Complexity
    /// O(1) for one caller.
    pub fn next(&self) -> Option<NonZeroU32> {
        self.0.next().and_then(NonZeroU32::new)
    }
}

impl fmt::Debug for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Numbers")
    }
}
