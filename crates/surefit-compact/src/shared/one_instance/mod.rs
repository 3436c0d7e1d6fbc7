//! 1-CF(κ,ι): one Compact-fit instance for many threads.
//!
//! ```text
//! key, counted   SharedKeyHeap: keys, which detect that their object is gone;
//!                SharedCounted: counted handles
//!   key_guard      pins of keyed objects; the last one of a freed object drops its value
//!   heap           SharedHeap: handles, pins
//! ```

pub(super) mod counted;
pub(super) mod heap;
pub(super) mod key;
pub(super) mod key_guard;
