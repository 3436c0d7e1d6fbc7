//! Numbers that are given out once, on every target.

use core::fmt;
use core::num::NonZeroU32;

use crate::once::Counter;

/// Gives out numbers from one upwards, each of them once, to whoever asks in whatever thread.
///
/// Heaps are numbered by such a counter in a `static`, so that the handle of one heap is never taken for another's.
///
/// # Examples
/// ```
/// use surefit_core::Numbers;
/// static NUMBERS: Numbers = Numbers::new();
/// assert_ne!(NUMBERS.next(), NUMBERS.next());
/// ```
pub struct Numbers(Counter);

impl Numbers {
    /// A counter that has given out nothing.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "a counter is a static; a default value has no use"
    )]
    pub const fn new() -> Self {
        Self(Counter::new())
    }

    /// The next number; `None` after 2³² − 1 of them.
    ///
    /// On a target without compare-and-exchange, and without the feature `portable-atomic`, it is also `None` if two callers ask within
    /// the same few instructions (one interrupts the other there, or runs on another core), and from then on. No number
    /// is given out twice in any case.
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
