//! The only user of libc: memory from the operating system, how much of it was touched, and the
//! platform's malloc.
//!
//! - [`Reservation`] is one fresh region of memory. It counts how much of it was ever touched.
//! - [`platform`] is the C library's malloc, or the one that was preloaded.
//! - [`children`] waits for child processes, and says what they took.
//! - [`clock`] reads the processor time of one thread, and of the process.
//! - [`counter`] counts the instructions of one thread, where the machine lets it.
//! - [`faults`] counts the page faults of one thread.
//! - [`resident`] reads how much memory the process holds.
//!
//! Every failure is an [`OsError`] that names the call.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(unix)]
pub mod children;
pub mod clock;
pub mod counter;
mod error;
pub mod faults;
pub mod platform;
mod reservation;
pub mod resident;

pub use error::OsError;
pub use reservation::{Extent, OS_PAGE_BYTES, Reservation, page_bytes};

/// The example of README.md compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
