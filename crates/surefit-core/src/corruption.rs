//! What `check()` reports when a numbered invariant of a heap does not hold.

use core::fmt;

/// A violated invariant that a heap's `check()` found.
///
/// # Examples
/// ```
/// use surefit_core::{Corruption, ensure};
/// fn check_count(listed: usize, counted: usize) -> Result<(), Corruption> {
///     ensure(listed == counted, "L2", "the list is longer than its count", listed)
/// }
/// assert_eq!(check_count(3, 3), Ok(()));
/// let found = check_count(4, 3).expect_err("L2 does not hold");
/// assert_eq!(found.to_string(), "invariant L2 violated at 4: the list is longer than its count");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// The invariant's number in the documentation of the heap's module, such as `"I3"`.
    pub invariant: &'static str,
    /// What does not hold, in one phrase.
    pub what: &'static str,
    /// Where: a page number, an entry number or an offset in bytes. `what` says which.
    pub at: usize,
}

impl Corruption {
    /// Invariant `invariant` does not hold at `at`, because of `what`.
    #[must_use]
    pub const fn new(invariant: &'static str, what: &'static str, at: usize) -> Self {
        Self {
            invariant,
            what,
            at,
        }
    }
}

/// Reports invariant `invariant` as violated at `at` unless `holds`; `what` is what goes wrong
/// then.
///
/// # Errors
/// The [`Corruption`] if `holds` is false.
pub const fn ensure(
    holds: bool,
    invariant: &'static str,
    what: &'static str,
    at: usize,
) -> Result<(), Corruption> {
    if holds {
        Ok(())
    } else {
        Err(Corruption::new(invariant, what, at))
    }
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "invariant {} violated at {}: {}",
            self.invariant, self.at, self.what
        )
    }
}

impl core::error::Error for Corruption {}
