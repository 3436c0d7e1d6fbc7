//! What heaps and their indexes count.
#![deny(unsafe_code)]

/// What a heap has done since it was made. Where words have 32 bits, `splits` and `merges` are
/// counted modulo 2³².
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Free chunks and heads of lists that searches examined. Reading a table or a bitmap is no
    /// visit. Two-level fit and Half-fit search only for requests that their first lookup did not
    /// serve; each further lookup counts as one visit.
    pub visits: u64,
    /// The number of chunks that were cut in two.
    pub splits: u64,
    /// The number of chunks that were merged with a free neighbour.
    pub merges: u64,
    /// Updates of a Next Hit Table because a list lost its last chunk or got its first.
    pub table_updates: u64,
    /// Updates because a list got its first chunk; `table_updates` includes them.
    pub table_fills: u64,
    /// Entries of a Next Hit Table that these updates wrote.
    pub table_stores: u64,
    /// Rebuilds of a Next Hit Table, each in one pass after a sweep or after all free neighbours
    /// were merged. `table_updates` includes none of them.
    pub table_rebuilds: u64,
    /// Lists that a rebuild found filled and that were empty before: the number of updates for
    /// first chunks if a sweep updated the table list by list. `table_fills` does not include them.
    pub table_rebuilt_fills: u64,
    /// Lists that a rebuild found empty and that were filled before.
    pub table_rebuilt_drains: u64,
}

/// What a heap counts itself, in words of the processor what every call counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) visits: u64,
    splits: usize,
    merges: usize,
}

impl Tally {
    /// Counts a chunk that was cut in two.
    #[inline]
    pub(crate) const fn split(&mut self) {
        self.splits = self.splits.wrapping_add(1);
    }

    /// Counts chunks that were merged with a free neighbour.
    #[inline]
    pub(crate) const fn merged(&mut self, chunks: usize) {
        self.merges = self.merges.wrapping_add(chunks);
    }

    /// As counters, without those of an index.
    pub(crate) fn counters(&self) -> Counters {
        Counters {
            visits: self.visits,
            splits: self.splits as u64,
            merges: self.merges as u64,
            ..Counters::default()
        }
    }
}
