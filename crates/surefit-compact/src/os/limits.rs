//! How much memory a heap may hold, and how fast it gives back what it does not need.
#![deny(unsafe_code)]

use core::time::Duration;

/// How much memory of the operating system a heap may hold, and how fast it gives back what it does
/// not need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes above which empty pages are given back at once, and objects are moved together. A
    /// floor above it takes its place.
    pub soft: usize,
    /// Bytes that are never exceeded: what would need more is refused. Each page that must become
    /// resident is counted with a page of the operating system of its own, and one more for their
    /// records: with pages smaller than that, what is refused may have fitted. A
    /// [`Floor`](super::Floor) refuses nothing of what it was made for.
    pub hard: usize,
    /// For how long a page must be empty before it is given back. It takes at most twice as long
    /// if [`OsHeap::tick`](super::OsHeap::tick) is called often enough.
    pub delay: Duration,
    /// System calls of one tick, at most. Each gives back neighbouring pages, at most 4 MiB.
    pub calls_per_tick: u32,
    /// Page-blocks that one tick moves above the soft limit, at most.
    pub moves_per_tick: u64,
}

impl Limits {
    /// These limits in bytes, a delay of half a second, and at most 16 system calls and 256 moves
    /// per tick.
    #[must_use]
    pub const fn new(soft: usize, hard: usize) -> Self {
        Self {
            soft,
            hard,
            delay: Duration::from_millis(500),
            calls_per_tick: 16,
            moves_per_tick: 256,
        }
    }
}
