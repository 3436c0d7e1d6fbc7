//! How much a cycle works at most, in the units of a collector in steps.
//!
//! | phase | units, at most |
//! | --- | --- |
//! | roots | 1 + R |
//! | mark | for each object of the snapshot, its words, and 1 per stride of 64: L + w + ⌊w/64⌋; 1 at the end |
//! | weak | V, and 1 per call, which passes one at least: 2·V + 1 |
//! | sweep | a unit per word of live bits; for each chunk or page-block that is freed 1, and the words that the free moves |
//! | merge | 1 |
//!
//! R, V: references that roots report; weak references. L, w: objects of the snapshot, and their
//! words. A free moves at most m page-blocks of the class that it frees: so at most m times the
//! words freed.
//!
//! Let T objects of t words be occupied when a cycle begins. What the snapshot does not reach is
//! freed: T − L objects of t − w words. So marking and freeing take L + w + ⌊w/64⌋ + T − L + m·(t −
//! w) at most. L cancels, and the rest is greatest for w = 0 or for the greatest w.
//!
//! # Conditions
//! The mark stack has room for every live object: an object is on it at most once, so it never
//! overflows. An object reports no more references than it has words, in one scan for each 64 of
//! its words or in one for all: shorter scans are more of them. Words that are overwritten with
//! [`Incremental::store`](crate::Incremental::store) hold references that the program may use,
//! or 0. What a weak reference leads to, and is upgraded, counts as live. Free neighbours are
//! merged at once, if at all.
#![deny(unsafe_code)]

use super::Amount;
use crate::edges::Edges;

/// Bytes of a word of an object.
const WORD: u64 = 4;

/// What a cycle has to do at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// References that the roots report.
    pub(crate) roots: u64,
    /// Weak references.
    pub(crate) weak: u64,
    /// What the snapshot reaches.
    pub(crate) live: Amount,
    /// What is occupied when the cycle begins: at least what is live.
    pub(crate) occupied: Amount,
    /// Words of live bits.
    pub(crate) bit_words: u64,
    /// Page-blocks that a free moves.
    pub(crate) moves: u64,
}

impl Load {
    /// W: the units of work. A sum that is too large stays at the greatest number.
    pub(crate) fn work(&self) -> u64 {
        let stride = u64::from(Edges::STRIDE);
        let words = self.live.bytes / WORD;
        let freed = self.occupied.bytes.div_ceil(WORD).saturating_sub(words);
        let all_live = (words + words / stride).saturating_add(self.moves.saturating_mul(freed));
        let all_dead = self.moves.saturating_mul(freed.saturating_add(words));
        let parts = [
            1,
            self.roots,
            1,
            self.weak.saturating_mul(2),
            1,
            self.bit_words,
            1,
            self.occupied.objects,
            all_live.max(all_dead),
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }
}
