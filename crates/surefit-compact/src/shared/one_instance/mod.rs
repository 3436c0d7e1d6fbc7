//! 1-CF(κ,ι): one Compact-fit instance for many threads.
//!
//! ```text
//! key            SharedKeyHeap: keys, which detect that their object is gone
//!   key_guard      pins of keyed objects; the last one of a freed object drops its value
//!   heap           SharedHeap: handles, pins
//! ```

pub(super) mod heap;
pub(super) mod key;
pub(super) mod key_guard;
