//! 1-CF(κ,ι): one Compact-fit instance for many threads. [`heap`] is `SharedHeap`: handles, pins.

pub(super) mod heap;
