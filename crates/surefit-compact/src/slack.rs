//! Pooled slack: bytes of holes that all size-classes share, beside those that a demand needs.
//!
//! A heap that has more bytes than its demand needs without holes need not fill a hole when it is
//! made. The rest of its bytes, the *slack*, is lent to the classes as holes (`borrow.rs`).
//!
//! ```text
//! slack S = spare + Σ lent · share        share: ⌈P/π⌉, the bytes of a page for one page-block
//!
//! the end of a region:  | the heap's own | spare, the class asked next | lent, by class |
//! ```
//! # Invariants
//! - K1 spare + Σ lent · share = S. So the holes of all classes have at most S bytes of pages.
//!
//! # Source
//! Ours ([the bounds, 3.1](crate::bounds#31-pooled-slack)).

use core::cell::Cell;
use core::mem::MaybeUninit;

use surefit_classes::{Bound, ClassLayout, Fraction};

use crate::layout::padded;
use crate::memory::Memory;

/// A borrowing class gets this part of the spare at most, beside what it needs.
pub(crate) const PARTS: u32 = 64;

/// The fewest holes that a class gets at once beside those that it needs, if there are as many, so
/// that not every free must ask.
pub(crate) const LEAST_AHEAD: u32 = 8;

/// The most holes that a class gets at once, beside those that it needs.
pub(crate) const MOST_AHEAD: u32 = 1024;

/// The bound of a class to which nothing is lent.
pub(crate) const NO_HOLES: Bound = Bound::Holes {
    base: 0,
    fraction: Fraction::ZERO,
};

/// What a heap may lend. It lies at the end of the heap's region.
#[derive(Debug)]
pub(crate) struct Slack<'m> {
    /// S, in bytes.
    pub(crate) bytes: u64,
    /// Bytes that no class has.
    pub(crate) spare: Cell<u64>,
    /// The class that is asked next.
    pub(crate) next: Cell<u32>,
    /// The holes that each class has.
    pub(crate) lent: &'m [Cell<u32>],
}

/// Bytes of a region that the slack of so many classes takes, and what is skipped to align it.
pub(crate) const fn table_bytes(classes: usize) -> usize {
    let lent = classes.saturating_mul(size_of::<u32>());
    padded(lent, 8)
        .saturating_add(size_of::<Slack<'_>>())
        .saturating_add(7)
}

impl<'m> Slack<'m> {
    /// What a heap may lend, and the rest of its region. `None`, and the whole region, for no slack
    /// and where the region is too short for its table.
    #[cfg_attr(
        not(feature = "slack"),
        expect(dead_code, reason = "no heap is made with slack")
    )]
    pub(crate) fn split(
        region: &'m mut [MaybeUninit<u8>],
        classes: usize,
        bytes: u64,
    ) -> (Option<&'m Self>, &'m mut [MaybeUninit<u8>]) {
        let rest = region.len().checked_sub(table_bytes(classes));
        let Some(rest) = rest.filter(|_| bytes > 0) else {
            return (None, region);
        };
        let (rest, table) = region.split_at_mut(rest);
        let (memory, _) = Memory::aligned(table, 8);
        let zero = || Cell::new(0);
        // SAFETY: `table_bytes` counts both tables, one after the other, and the at most 7 bytes
        // that were skipped. The memory begins at a multiple of 8, and the size of a `Slack` is a
        // multiple of 4, its least alignment: so both are aligned. Nobody else has these bytes:
        // `rest` ends before them.
        let lent = unsafe { memory.table(size_of::<Self>(), classes, zero) };
        let slack = || Self {
            bytes,
            spare: Cell::new(bytes),
            next: Cell::new(0),
            lent,
        };
        // SAFETY: as above; these bytes end where `lent` begins.
        let slack = unsafe { memory.table(0, 1, slack) };
        (slack.first(), rest)
    }

    /// Everything is spare.
    pub(crate) fn take_all(&self) {
        self.lent.iter().for_each(|lent| lent.set(0));
        self.spare.set(self.bytes);
    }
}

/// The bytes of a page that one page-block stands for: ⌈P/π⌉.
pub(crate) fn share(page_bytes: usize, layout: &ClassLayout) -> u64 {
    let blocks = u32::from(layout.blocks);
    // In 32 bits: a page has at most 64 KiB, and small processors divide no more.
    u64::from((page_bytes as u32).div_ceil(blocks))
}
