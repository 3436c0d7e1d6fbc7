//! The most that one call can cost: moves, bytes copied, pages touched.
//!
//! ```text
//! moves of one free    Unbounded 0   Pages(κ) 1   Holes(δ, 0) and slack 1   Holes(δ, ε > 0) 2
//!                      (π = 1: 0;  π = 2: at most 1)
//! a free touches       data pages   that of the block; per move a source (Pages), or per move a
//!                                   target, and one common source
//!                      table        the freed entry, and one per move
//!                      fixed area   the class, and the records of these pages and of their list
//!                                   neighbours; with slack another class and the table of what
//!                                   is lent
//! an allocation        its page, its entry or those that are made, a few records
//! both                 what is parked goes back: a free's own class, an allocation's all classes
//! ```
//! # Source
//! [The bounds, section 5](crate::bounds#5-what-one-call-costs).
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::{Bound, Fraction};

use super::demand::Demand;
use super::limits::{least, most};
use crate::config::Config;
use crate::parked::MOST_PARKED;
use crate::pieces::Pieces;
use crate::slack::table_bytes;

/// Records and class state that one free reads or writes besides those of parked page-blocks: the
/// block's page and its two neighbours in the list, the reservoir and the page before it, two
/// targets and the page after them, the class.
const FREE_RECORDS: u64 = 9;

/// Those of an allocation: the page and its two neighbours in the list, the class.
const ALLOCATION_RECORDS: u64 = 4;

/// Records for each parked page-block that goes back: its page and two neighbours in the list.
const PARKED_RECORDS: u64 = 3;

/// Records of the pages that were first before parked page-blocks went back: in the list of the
/// class, in that of free pages.
const FIRST_RECORDS: u64 = 2;

/// What a free in a heap with slack touches besides: the table of what is lent, the state of
/// another class and the record of its reservoir.
const LENDING_RECORDS: u64 = 3;

/// Pages of the table that new entries can lie in.
const NEW_ENTRIES_PAGES: u64 = 2;

/// What a heap lends to its classes.
#[derive(Clone, Copy)]
pub(super) struct Lending {
    /// The bound of every class.
    pub(super) bound: Bound,
    /// Bytes of the table of what is lent; 0 where nothing is lent.
    pub(super) table_bytes: usize,
}

impl Lending {
    /// Nothing: every class has its own bound.
    pub(super) const fn nothing(bound: Bound) -> Self {
        Self {
            bound,
            table_bytes: 0,
        }
    }

    /// Holes, any number of them.
    pub(super) const fn of(config: &Config) -> Self {
        Self {
            bound: Bound::Holes {
                base: u32::MAX,
                fraction: Fraction::ZERO,
            },
            table_bytes: table_bytes(config.geometry().class_count()),
        }
    }
}

/// The areas of a region, in bytes, and the number of its data pages.
pub(super) struct Areas {
    pub(super) page_bytes: u64,
    pub(super) data_pages: u64,
    pub(super) table_bytes: u64,
    pub(super) entry_bytes: u64,
    /// Class states, page records, and what is lent.
    pub(super) fixed_bytes: u64,
}

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

/// The most page-blocks of a class that are parked at once, with `blocks` per page.
const fn parked_max(bound: Bound, blocks: u16) -> u64 {
    match bound {
        // There are as many pages as live page-blocks.
        _ if blocks == 1 => 0,
        Bound::Pages(_) => 0,
        Bound::Holes { base, fraction } if fraction.numerator() == 0 => {
            least(base as u64, MOST_PARKED as u64)
        }
        Bound::Holes { .. } | Bound::Unbounded => MOST_PARKED as u64,
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

/// What the classes that a demand uses can cost, each at its worst.
struct Classes {
    used: u64,
    moves: u32,
    /// The most parked page-blocks of one class, the fewest, and those of all classes.
    parked: u64,
    parked_least: u64,
    parked_of_all: u64,
}

impl Classes {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "sums over at most 128 classes of numbers up to 31"
    )]
    const fn of(config: &Config, demand: &Demand<'_>, bound: Bound) -> Self {
        let mut found = Self {
            used: 0,
            moves: 0,
            parked: 0,
            parked_least: MOST_PARKED as u64,
            parked_of_all: 0,
        };
        let mut classes = config.geometry().each_class();
        while let Some(class) = classes.next_class() {
            let layout = config.geometry().layout(class);
            if !demand.uses(class, layout.block_bytes) {
                continue;
            }
            let (moves, parked) = (
                moves_max(bound, layout.blocks),
                parked_max(bound, layout.blocks),
            );
            if moves > found.moves {
                found.moves = moves;
            }
            found.used += 1;
            found.parked = most(found.parked, parked);
            found.parked_least = least(found.parked_least, parked);
            found.parked_of_all += parked;
        }
        found
    }
}

/// Data pages, words of the table, and records and states of the fixed area that a call touches.
struct Touched {
    data: u64,
    entries: u64,
    records: u64,
}

impl Touched {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a few times 31 and the moves of a free"
    )]
    const fn by_free(classes: &Classes, lending: Lending) -> Self {
        let lent = if lending.table_bytes > 0 {
            LENDING_RECORDS
        } else {
            0
        };
        let parked = classes.parked;
        Self {
            data: data_pages(lending.bound, classes.moves) + parked,
            entries: 1 + classes.moves as u64 + parked,
            records: FREE_RECORDS + FIRST_RECORDS + PARKED_RECORDS * parked + lent,
        }
    }

    /// What all other classes have parked goes back before the table grows by a page. Its own class
    /// has nothing parked, or the allocation takes that.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "at most 128 classes, with 31 parked page-blocks each"
    )]
    const fn by_allocation(classes: &Classes, bound: Bound, states: u64) -> Self {
        let parked = classes.parked_of_all.saturating_sub(classes.parked_least);
        let looked_at = match bound {
            Bound::Pages(_) => 0,
            Bound::Holes { .. } | Bound::Unbounded => FIRST_RECORDS * classes.used + states,
        };
        Self {
            data: 1 + parked,
            entries: NEW_ENTRIES_PAGES + parked,
            records: ALLOCATION_RECORDS + PARKED_RECORDS * parked + looked_at,
        }
    }

    /// The pages in which these can lie: a record, and an entry whose size is no divisor of a
    /// page's, may lie in two.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a few thousand; an entry has bytes"
    )]
    const fn pages(&self, areas: &Areas) -> u64 {
        let Areas { page_bytes, .. } = *areas;
        let per_entry = if page_bytes % areas.entry_bytes == 0 {
            1
        } else {
            2
        };
        let table = spanned(areas.table_bytes, page_bytes);
        let fixed = spanned(areas.fixed_bytes, page_bytes);
        least(self.data, areas.data_pages)
            + least(per_entry * self.entries, table)
            + least(2 * self.records, fixed)
    }
}

/// The most pages of the region that one allocation or free of a page-block touches.
pub(super) const fn pages_touched(
    config: &Config,
    demand: &Demand<'_>,
    lending: Lending,
    areas: &Areas,
) -> u64 {
    let classes = Classes::of(config, demand, lending.bound);
    let states = config.geometry().class_count() as u64;
    let free = Touched::by_free(&classes, lending);
    let allocation = Touched::by_allocation(&classes, lending.bound, states);
    most(free.pages(areas), allocation.pages(areas))
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
