//! Why a test failed.

use core::fmt;

use surefit::{Corruption, Refused};

/// What a heap did wrong.
#[derive(Clone, Copy, Debug)]
pub enum Failure {
    /// `check()` found an invariant that does not hold.
    Check(Corruption),
    /// A byte of an object is not what was written.
    Contents {
        /// The object's slot.
        slot: usize,
        /// The byte's position.
        at: usize,
        /// What was written.
        written: u8,
        /// What was read.
        read: u8,
    },
    /// A request was refused that had to be served.
    Refused(Refused),
    /// Something else, in words.
    Other(&'static str),
}

impl From<Corruption> for Failure {
    fn from(found: Corruption) -> Self {
        Self::Check(found)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Check(found) => found.fmt(f),
            Self::Contents {
                slot,
                at,
                written,
                read,
            } => write!(f, "object {slot}: byte {at} is {read}, not {written}"),
            Self::Refused(refused) => write!(f, "refused: {refused}"),
            Self::Other(what) => f.write_str(what),
        }
    }
}

/// Fails with `what` unless `holds`.
///
/// # Errors
/// [`Failure::Other`] if `holds` is false.
pub const fn require(holds: bool, what: &'static str) -> Result<(), Failure> {
    if holds {
        Ok(())
    } else {
        Err(Failure::Other(what))
    }
}
