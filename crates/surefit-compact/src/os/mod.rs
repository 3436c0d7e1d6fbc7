//! Heaps over the operating system's memory, which grow and shrink with what lives.
//!
//! ```text
//! OsHeap::new(config, limits)   reserves address space, once; nothing is resident but the tables' ends
//! insert, alloc                 make pages resident, up to the hard limit; then Refused::Limit
//! free, remove                  empty pages by moves, and keep them
//! tick(now)                     gives back what was empty for the whole delay, a few system calls
//!                               per call; above the soft limit at once, and compacts
//! OsHeap::with_floor            also locks memory for so many bytes and objects: resident before the
//!                               first call, and never given back
//! ```
//! Compaction alone saves nothing that an operator can see: pages that it empties stay resident
//! until the system gets them back. This is what [`OsHeap`] adds to [`Heap`](crate::Heap).
//!
//! # Examples
//! ```
//! use std::time::Duration;
//! use surefit_compact::os::{Limits, OsHeap};
//! use surefit_compact::Config;
//!
//! static CONFIG: Config = Config::DEFAULT;
//! // A cache that should stay below 64 MiB, and must stay below 80 MiB.
//! let mut heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(64 << 20, 80 << 20))?;
//! let entry = heap.insert([1_u8; 1000])?;
//! assert_eq!(heap.get(&entry)[999], 1);
//! assert!(heap.stats().resident_bytes < 100 << 10);
//! heap.free(entry);
//! // The program's loop: the time is what the program says it is.
//! heap.tick(Duration::from_secs(1))?;
//! heap.tick(Duration::from_secs(2))?;
//! assert_eq!(heap.stats().empty_bytes, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod floor;
mod heap;
mod limits;

pub use error::OsHeapError;
pub use floor::Floor;
pub use heap::{GivenBack, OsHeap, OsStats};
pub use limits::Limits;
pub use surefit_os::{OsError, Reservation};

#[cfg(test)]
mod tests;
