//! Concurrent, incremental Compact-fit: heaps that several threads share.
//!
//! - [`SharedHeap`], 1-CF(κ,ι), is one Compact-fit instance for all threads. It needs the least
//!   memory.
//! - [`ShardedHeap`], n-CF(κ,ι), is several instances over one region, so that threads rarely meet.
//!   An instance can have a quota, and be destroyed as a whole.
//!
//! A thread registers once, and allocates and frees with its [`Local`]. It pins an object while it
//! uses it. [`SharedConfig`] sets the compaction bound, the increment ι, and how many threads and
//! pins there may be at once.
//!
//! # How this module is built
//! Each file imports only files below it:
//! ```text
//! per_thread        a Local for every thread of an operating system, in either heap
//!   one_instance/     SharedHeap
//!   many_instances/   ShardedHeap
//!     local             a registered thread: what it allocates and frees with, in either heap
//!       machinery/        what both heaps are made of: objects, moves, entries, pages
//!         config, lock      what a heap is configured with; how much a lock covers
//! critical          a lock for bare metal
//! ```
//!
//! # Source
//! Craciunas, Kirsch, Payer, Röck, Sokolova: "Concurrency and Scalability versus Fragmentation and
//! Compaction with Compact-fit" (2009).

mod config;
#[cfg(feature = "critical-section")]
mod critical;
#[cfg(test)]
mod in_motion;
mod local;
mod lock;
mod machinery;
mod many_instances;
mod one_instance;
#[cfg(feature = "std")]
mod per_thread;
mod shape;

pub use config::{Increment, SharedConfig, SharedConfigError};
#[cfg(feature = "critical-section")]
pub use critical::CriticalSection;
pub use local::Local;
pub use lock::{Granularity, PerClass, PerHeap, PerPage, Stepwise};
pub use lock_api::RawMutex;
pub(crate) use machinery::build::{ALIGN, Fixed};
pub(crate) use machinery::engine::DRAINED;
pub(crate) use machinery::entry::GROUPS;
pub use machinery::guard::{Pinned, PinnedMut};
pub(crate) use machinery::slack::{BOUNDLESS, table_bytes as slack_table_bytes};
pub use machinery::stats::{ClassUsage, SharedStats};
pub(crate) use machinery::table::ENTRY_BYTES;
pub use many_instances::guard::{ShardedPinned, ShardedPinnedMut};
pub use many_instances::heap::{InstanceStats, ShardedHeap};
pub use one_instance::heap::SharedHeap;
#[cfg(feature = "std")]
pub use per_thread::PerThread;
pub use zerocopy::Immutable;

#[cfg(test)]
mod tests {
    mod flips;
}
