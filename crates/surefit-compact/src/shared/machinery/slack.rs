//! Pooled slack of a shared heap: bytes of holes that all groups share (`borrow`).
//!
//! ```text
//! slack S = spare + Σ lent · share      share: ⌈P/π⌉, the bytes of a page for one page-block
//!
//! the end of a region:  | the heap's own | spare | asked next | lent, by group |
//! ```
//! # Invariants
//! - K6 spare + Σ lent · share ≤ S, and = S while no group borrows. Bytes leave `spare` before
//!   `lent` grows, and return to it after `lent` has shrunk.
//! - K7 Only the holder of a group's lock changes what is lent to the group. Nothing is taken back
//!   that the group's holes need.
//!
//! # Source
//! Ours ([the bounds, 7.9](crate::bounds#79-pooled-slack)).

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::{AcqRel, Relaxed};

use super::sync::AtomicU32;
use crate::memory::Memory;
use crate::slack::{LEAST_AHEAD, MOST_AHEAD, PARTS};

/// Slack without limit.
pub(crate) const BOUNDLESS: usize = usize::MAX >> 1;

/// What a heap may lend.
#[derive(Debug)]
pub(crate) struct Slack<'m> {
    /// S, in bytes.
    pub(crate) bytes: u32,
    /// Bytes that no group has; the group that is asked next; the holes that each group has. Empty
    /// if no group has any, or each as many as it makes.
    pub(crate) words: &'m [AtomicU32],
}

/// The places of words.
pub(crate) const SPARE: usize = 0;
pub(crate) const NEXT: usize = 1;
const LENT: usize = 2;

/// Bytes of a region that the slack of so many groups takes, and what is skipped to align it.
pub(crate) const fn table_bytes(groups: usize) -> usize {
    let words = groups.saturating_add(LENT);
    words
        .saturating_mul(size_of::<AtomicU32>())
        .saturating_add(align_of::<AtomicU32>() - 1)
}

impl<'m> Slack<'m> {
    /// What a heap may lend, and the rest of its region. This is all of it where nothing is
    /// counted: slack without limit, none, and in a region that is too short for the table.
    #[cfg_attr(
        not(feature = "slack"),
        expect(dead_code, reason = "no heap has any then")
    )]
    pub(crate) fn split(
        region: &'m mut [MaybeUninit<u8>],
        groups: usize,
        bytes: usize,
    ) -> (Self, &'m mut [MaybeUninit<u8>]) {
        let boundless = bytes >= BOUNDLESS;
        let rest = region.len().checked_sub(table_bytes(groups));
        let Some(rest) = rest.filter(|_| bytes > 0 && !boundless) else {
            let (bytes, words) = (if boundless { u32::MAX } else { 0 }, &[][..]);
            return (Self { bytes, words }, region);
        };
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let (rest, table) = region.split_at_mut(rest);
        let (memory, _) = Memory::aligned(table, align_of::<AtomicU32>());
        // SAFETY: `table_bytes` counts these words, and what was skipped to align them. Nobody else
        // has these bytes: `rest` ends before them.
        let words = unsafe { memory.table(0, LENT + groups, || AtomicU32::new(0)) };
        words[SPARE].store(bytes, Relaxed);
        (Self { bytes, words }, rest)
    }

    /// The words that decide what is lent next.
    pub(crate) fn shape(&self, groups: u32) -> impl Iterator<Item = u32> {
        let next = move |(place, word)| if place == NEXT { word % groups } else { word };
        let words = self.words.iter().map(|word| word.load(Relaxed));
        words.enumerate().map(next)
    }

    /// The holes that a group has, if they are counted.
    pub(crate) fn lent(&self, group: u32) -> Option<&'m AtomicU32> {
        self.words.get(LENT + group as usize)
    }

    /// Lends a group, whose lock is held, the holes that it needs and some more. Nothing if too few
    /// are spare.
    pub(crate) fn lend(&self, lent: &AtomicU32, need: u32, share: u32) {
        let mut spare = self.words[SPARE].load(Relaxed);
        loop {
            let most = spare / share;
            if need > most || most == 0 {
                return;
            }
            let ahead = (most / PARTS).clamp(LEAST_AHEAD, MOST_AHEAD);
            let more = need.saturating_add(ahead).min(most);
            let left = spare - more * share;
            // Acquire: how groups got rid of the holes that these bytes were lent for.
            match self.words[SPARE].compare_exchange(spare, left, AcqRel, Relaxed) {
                Ok(_) => return lent.store(lent.load(Relaxed) + more, Relaxed),
                Err(now) => spare = now,
            }
        }
    }

    /// Takes all but `kept` holes back from a group, whose lock is held.
    pub(crate) fn take_back(&self, lent: &AtomicU32, kept: u32, share: u32) {
        let unused = lent.load(Relaxed) - kept;
        lent.store(kept, Relaxed);
        // Release: how the group got rid of those holes.
        self.words[SPARE].fetch_add(unused * share, AcqRel);
    }
}
