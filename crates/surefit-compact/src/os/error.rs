//! Why a heap over the operating system's memory could not be made, or not be limited so.

extern crate std;

use core::fmt;

use surefit_core::Refused;
use surefit_os::OsError;

/// Why a heap over the operating system's memory could not be made, or its limits not be changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum OsHeapError {
    /// The operating system gave no address space.
    Os(OsError),
    /// The heap refused the memory: it can name less than the hard limit, or no number is left for
    /// it.
    Refused(Refused),
    /// The soft limit is above the hard one.
    Order,
    /// The hard limit is too low for even one object.
    TooLow {
        /// The lowest hard limit, in bytes.
        needed: usize,
    },
    /// The floor does not fit below the hard limit.
    Floor {
        /// A hard limit that is enough, in bytes: at most a few pages more than the least.
        needed: usize,
    },
    /// The hard limit is above the one with which the heap was made.
    TooHigh {
        /// The highest hard limit, in bytes.
        limit: usize,
    },
}

impl fmt::Display for OsHeapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Os(error) => error.fmt(f),
            Self::Refused(Refused::TooLarge { limit }) => write!(
                f,
                "the hard limit is above {limit} bytes, the most that this configuration can name"
            ),
            Self::Refused(refused) => refused.fmt(f),
            Self::Order => f.write_str("the soft limit is above the hard one"),
            Self::TooLow { needed } => {
                write!(f, "the hard limit must be at least {needed} bytes")
            }
            Self::Floor { needed } => {
                write!(f, "the floor fits below a hard limit of {needed} bytes")
            }
            Self::TooHigh { limit } => write!(
                f,
                "the hard limit is above the {limit} bytes that the heap was made for"
            ),
        }
    }
}

impl core::error::Error for OsHeapError {}

impl From<OsError> for OsHeapError {
    fn from(error: OsError) -> Self {
        Self::Os(error)
    }
}

impl From<Refused> for OsHeapError {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}
