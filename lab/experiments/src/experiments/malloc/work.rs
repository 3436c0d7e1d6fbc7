//! How much of a shape is played.
#![deny(unsafe_code)]

/// How much of a shape is played, and by how many threads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// One part of so many is played.
    pub(super) part: u64,
    /// Threads that run at once, where a shape has several: 2 at least.
    pub(super) threads: usize,
}

impl Work {
    /// This part of an amount, and 1 at least.
    pub(super) const fn of(self, amount: u64) -> u64 {
        let some = amount / self.part;
        if some == 0 { 1 } else { some }
    }
}
