//! What can go wrong when the operating system is asked for something.

use std::io;

use thiserror::Error;

/// A call to the operating system that failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OsError {
    /// No address space, or no permission, for a reservation.
    #[error("the operating system gives no {bytes} bytes of memory: {source}")]
    Reserve {
        /// The bytes asked for.
        bytes: usize,
        /// What the system said.
        source: io::Error,
    },
    /// Residency could not be read.
    #[error("cannot read which pages are resident: {source}")]
    Residency {
        /// What the system said.
        source: io::Error,
    },
    /// A reservation of zero bytes, or of more than half the address space.
    #[error("a reservation of {bytes} bytes cannot be")]
    Size {
        /// The bytes asked for.
        bytes: usize,
    },
}
