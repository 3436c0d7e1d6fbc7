//! Concurrent, incremental Compact-fit: one heap for many threads.
//!
//! ```text
//! heap                    SharedHeap (1-CF): handles, pins
//! key, counted            keys, which know when their object is gone; handles that are counted
//!   objects, guard          values in page-blocks; a guard keeps its object in place
//!     register, relief        which instance a thread gets; what an allocation does before it is refused
//!     foreign, destroy        frees by name in a heap of several instances; all objects of one at once
//!     engine, moves, fast     allocate, free; rounds of moves; what page locks serve alone
//!       group, instance         a size-class and its lock; an instance and its quota
//!       pool, table, entry      free pages; entries; the word in which readers, movers and freers of an object meet
//! config, lock, build       what a heap is configured with; how much a lock covers; how the region is divided
//! ```
//!
//! # Source
//! Craciunas, Kirsch, Payer, Röck, Sokolova: concurrent and incremental Compact-fit (2009).

mod build;
mod bytes;
mod check;
mod config;
mod counted;
#[cfg(feature = "critical-section")]
mod critical;
mod destroy;
pub(crate) mod engine;
pub(crate) mod entry;
mod fast;
mod foreign;
mod group;
pub(crate) mod guard;
pub(crate) mod heap;
#[cfg(test)]
mod in_motion;
mod instance;
mod key;
mod key_guard;
pub(crate) mod lock;
mod moves;
pub(crate) mod objects;
#[cfg(feature = "std")]
mod per_thread;
pub(crate) mod pool;
mod register;
mod relief;
mod shape;
pub(crate) mod stats;
mod sure;
mod sync;
mod table;

pub(crate) use build::{ALIGN, Fixed};
pub use config::{Increment, SharedConfig, SharedConfigError};
pub use counted::{Counted, CountedMut};
#[cfg(feature = "critical-section")]
pub use critical::CriticalSection;
pub(crate) use engine::DRAINED;
pub(crate) use entry::GROUPS;
pub use guard::{Pinned, PinnedMut};
pub use heap::{Local, SharedHeap};
pub use key::{KeyLocal, SharedKeyHeap};
pub use key_guard::{KeyPinned, KeyPinnedMut};
pub use lock::{Granularity, PerClass, PerHeap, PerPage, Stepwise};
pub use lock_api::RawMutex;
#[cfg(feature = "std")]
pub use per_thread::PerThread;
pub use stats::{ClassUsage, SharedStats};
pub(crate) use table::entry_bytes;
pub use zerocopy::Immutable;
