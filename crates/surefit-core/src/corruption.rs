//! What `check()` reports when a heap's numbered invariants do not hold.

use core::fmt;

/// A violated invariant, as a heap's `check()` found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corruption {
    /// The number under which the heap's module documents the invariant, such as `"I3"`.
    pub invariant: &'static str,
    /// What does not hold, in one phrase.
    pub what: &'static str,
    /// Where: a page number, an entry number or an offset in bytes, as the phrase says.
    pub at: usize,
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
