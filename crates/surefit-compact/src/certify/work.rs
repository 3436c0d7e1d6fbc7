//! The most that one call can cost: moves, bytes copied, pages touched.
//!
//! ```text
//! moves of one free    Unbounded 0   Pages(κ) 1   Holes(δ, 0) 1   Holes(δ, ε > 0) 2
//!                      (π = 1: 0;  π = 2: at most 1)
//! data pages           that of the block; per move a source (Pages), or per move a target, and
//!                      one common source
//! address table        the freed entry and one per move
//! fixed area           the class, and the records of these pages and of their list neighbours
//! ```
//! # Source
//! [The bounds, section 5](crate::bounds#5-what-one-call-costs).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::Bound;

use super::limits::least;
use crate::config::Config;
use crate::pieces::Pieces;

/// Records and class state that one free reads or writes: the block's page and its two neighbours
/// in the list, the reservoir and the page before it, two targets and the page after them, the
/// class. Each may span two pages.
const MOST_FIXED_PAGES: u64 = 2 * 9;

/// The most moves that the free of one page-block causes, with `blocks` per page.
#[must_use]
pub const fn moves_max(bound: Bound, blocks: u16) -> u32 {
    match bound {
        _ if blocks == 1 => 0,
        Bound::Unbounded => 0,
        Bound::Pages(_) => 1,
        Bound::Holes { fraction, .. } if fraction.numerator() == 0 || blocks == 2 => 1,
        Bound::Holes { .. } => 2,
    }
}

/// The most data pages that the free of one page-block touches if it moves `moves` others.
const fn data_pages(bound: Bound, moves: u32) -> u64 {
    let targets = (moves as u64).saturating_add(1);
    match bound {
        Bound::Holes { .. } if moves > 0 => targets.saturating_add(1),
        _ => targets,
    }
}

/// The most pages that `bytes` consecutive bytes can span, wherever they begin.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "two bytes or more, in pages that have bytes"
)]
pub(super) const fn spanned(bytes: u64, page_bytes: u64) -> u64 {
    match bytes {
        0 => 0,
        1 => 1,
        _ => (bytes - 2) / page_bytes + 2,
    }
}

/// The most pages of the region that one allocation or free of a page-block touches.
pub(super) const fn pages_touched(
    bound: Bound,
    moves: u32,
    page_bytes: u64,
    table_bytes: u64,
    fixed_bytes: u64,
) -> u64 {
    let entries = (moves as u64).saturating_add(1);
    let table = least(entries, spanned(table_bytes, page_bytes));
    let fixed = least(MOST_FIXED_PAGES, spanned(fixed_bytes, page_bytes));
    let data = data_pages(bound, moves);
    data.saturating_add(table).saturating_add(fixed)
}

/// What freeing a whole byte object can cost. Its page-blocks are freed one by one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallWork {
    /// Page-blocks of the object: pieces, remainder, spines.
    pub blocks: u64,
    /// The most moves.
    pub moves: u64,
    /// The most bytes that these moves copy.
    pub moved_bytes: u64,
}

impl CallWork {
    /// The most that freeing a byte object of `len` bytes costs. `None` if no heap can hold it,
    /// because a page-block would be larger than a page, or the moved bytes exceed 64 bits.
    ///
    /// # Complexity
    /// O(levels of spines).
    #[must_use]
    pub const fn of_free(
        config: &Config,
        word_bytes: usize,
        len: usize,
        align: usize,
    ) -> Option<Self> {
        let mut work = Self {
            blocks: 0,
            moves: 0,
            moved_bytes: 0,
        };
        let mut pieces = Pieces::new(len, align, config.division(), word_bytes);
        while let Some(run) = pieces.next_run() {
            let Some(class) = config.geometry().class_for(run.bytes, run.align) else {
                return None;
            };
            let layout = config.geometry().layout(class);
            let moves = moves_max(config.bound(), layout.blocks);
            work = match work.and(run.count as u64, moves as u64, layout.block_bytes as u64) {
                Some(work) => work,
                None => return None,
            };
        }
        Some(work)
    }

    /// The sum with the frees of `blocks` more page-blocks, each with `moves` moves of
    /// `block_bytes` bytes.
    const fn and(self, blocks: u64, moves: u64, block_bytes: u64) -> Option<Self> {
        let Some(moves) = moves.checked_mul(blocks) else {
            return None;
        };
        let Some(moved_bytes) = moves.checked_mul(block_bytes) else {
            return None;
        };
        match (
            self.blocks.checked_add(blocks),
            self.moves.checked_add(moves),
            self.moved_bytes.checked_add(moved_bytes),
        ) {
            (Some(blocks), Some(moves), Some(moved_bytes)) => Some(Self {
                blocks,
                moves,
                moved_bytes,
            }),
            _ => None,
        }
    }
}
