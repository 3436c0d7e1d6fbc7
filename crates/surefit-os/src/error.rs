//! What can go wrong in a call to the operating system.

use std::io;

use thiserror::Error;

/// A call to the operating system that failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OsError {
    /// There is no address space, or no permission, for a reservation.
    #[error("the operating system refused {bytes} bytes of memory: {source}")]
    Reserve {
        /// The bytes that were requested.
        bytes: usize,
        /// The system's error.
        source: io::Error,
    },
    /// Memory could not be given back to the system.
    #[error("the operating system did not take back {bytes} bytes of memory: {source}")]
    GiveBack {
        /// The bytes that should be given back.
        bytes: usize,
        /// The system's error.
        source: io::Error,
    },
    /// Memory could not be locked.
    #[error(
        "the operating system does not lock {bytes} bytes of memory: {source}; raise the limit RLIMIT_MEMLOCK of the process (`ulimit -l`, in KiB; `LimitMEMLOCK=` of a service), or lock less"
    )]
    Lock {
        /// The bytes that should be locked.
        bytes: usize,
        /// The system's error.
        source: io::Error,
    },
    /// The resident pages could not be read.
    #[error("cannot read which pages are resident: {source}")]
    Residency {
        /// The system's error.
        source: io::Error,
    },
    /// The processor's counter of instructions could not be opened.
    #[error("cannot count instructions: {source}")]
    Counter {
        /// The system's error.
        source: io::Error,
    },
    /// A reservation of zero bytes, or of more than half the address space; or a range that is not
    /// of whole pages of its reservation.
    #[error("a reservation of {bytes} bytes is impossible, or a range of that length in one")]
    Size {
        /// The bytes that were requested.
        bytes: usize,
    },
}
