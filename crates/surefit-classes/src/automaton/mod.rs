//! The size-class automaton: which transition an allocation or a free causes in one size-class.
//!
//! A heap never decides a transition itself. It passes a few numbers of one class and of the pages
//! involved to [`malloc`], [`free`] and [`settle`], and changes its lists and bitmaps as they say.
//! The functions are pure and O(1), so that a model checker can compose them over vectors of pages
//! (tests/it/automaton.rs), and the heaps over lists.
//!
//! ```text
//! malloc          no not-full page                      M1  open a page
//!                 the page has another free block left  M2  take a block
//!                 it was the page's last free block     M3  take it; the page is full
//! free, Pages(κ)  full page, n < κ                      F1  the page becomes not-full
//!                 full page, n = κ                      F2  move a block of the source page into
//!                                                           the freed one
//!                   … and it was the source's last      F3  the source page is released
//!                 not-full page                         F4  free the block
//!                   … and it was the page's last        F5  the page is released
//! free, Holes     as F1, F4 and F5; then, if holes > δ + ⌊εh⌋:
//!                   if the page holds fewer blocks than the reservoir, they swap roles
//!                   at most twice, while holes > δ + ⌊εh⌋: move a block of the reservoir into a
//!                   hole of the head page
//! ```
//! Pages hold π page-blocks. For π = 1, a page is full or free: M3 follows M1 at once, and every
//! free is F5.
//!
//! A heap that several threads share moves in steps; [`incremental`] adds the decisions for this.
//!
//! The *reservoir* (hole bound) is the one not-full page whose free blocks do not count as holes:
//! the tail of the list.
//!
//! # Bounds
//! Every function is O(1) in time and space. A free causes at most [`MAX_MOVES`] moves.
//!
//! # Source
//! Craciunas et al., "A Compacting Real-Time Memory Management System" (2008), size-class
//! automaton. The hole bound is ours ([the bounds,
//! 2.3](https://docs.rs/surefit-compact/latest/surefit_compact/bounds/index.html#23-bound-in-holes)).
#![deny(unsafe_code)]

pub mod incremental;

use crate::bound::Bound;

/// The most moves that one free causes.
pub const MAX_MOVES: u32 = 2;

/// The numbers of one size-class that decide a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ClassCounts {
    /// Live page-blocks h, before the event; for [`settle`], after it.
    pub live: u32,
    /// Not-full pages n.
    pub not_full: u32,
    /// Free page-blocks of all not-full pages except the reservoir (hole bound only, else 0).
    pub holes: u32,
}

impl ClassCounts {
    /// The counts of a class without pages.
    pub const ZERO: Self = Self {
        live: 0,
        not_full: 0,
        holes: 0,
    };
}

/// The numbers of one page that decide a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PageCounts {
    /// Used page-blocks u, before the event.
    pub used: u32,
    /// Page-blocks in the page, π.
    pub blocks: u32,
}

/// What an allocation does. The first not-full page in allocation order serves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malloc {
    /// M1: opens a page and takes its first block; the page is then full only if π = 1.
    Open,
    /// M2: takes a block; the page stays not-full.
    Take,
    /// M3: takes the last free block; the page leaves the not-full pages.
    Fill,
}

/// Decides an allocation. `page` is the not-full page that is next in allocation order, if there is
/// one.
#[inline]
#[must_use]
pub const fn malloc(page: Option<PageCounts>) -> Malloc {
    match page {
        None => Malloc::Open,
        // No page has enough page-blocks for this to wrap.
        Some(page) if page.used.wrapping_add(1) == page.blocks => Malloc::Fill,
        Some(_) => Malloc::Take,
    }
}

/// What a free does before the heap calls [`settle`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Free {
    /// F5: frees the block and releases the page, which is then empty.
    Release,
    /// F4: frees the block; the page stays not-full and in its place.
    Clear,
    /// F1: frees the block; the full page becomes the newest not-full page.
    Loosen,
    /// F2 and F3: keeps the page full by moving a block of the source page into the freed one; then
    /// releases the source page if that was its last block.
    Refill {
        /// F3: the source page gives up its last block and is released.
        empties_source: bool,
    },
}

/// Decides a free in `page`. `source` is the not-full page that drains first ([`Bound::Pages`]
/// only).
///
/// # Panics
/// Never for numbers that a class can have: with n = κ ≥ 1, there is a source page.
#[inline]
#[must_use]
pub const fn free(
    bound: Bound,
    class: ClassCounts,
    page: PageCounts,
    source: Option<PageCounts>,
) -> Free {
    if page.used == 1 {
        return Free::Release;
    }
    if page.used < page.blocks {
        return Free::Clear;
    }
    match (bound, source) {
        (Bound::Pages(most), Some(source)) if class.not_full >= most => Free::Refill {
            empties_source: source.used == 1,
        },
        _ => Free::Loosen,
    }
}

/// Whether a page with `used` blocks replaces a reservoir with `least` blocks, because its blocks
/// are cheaper to move away. Called when the class must [`settle`], for the page whose block was
/// freed.
#[inline]
#[must_use]
pub const fn swaps_roles(used: u32, least: u32) -> bool {
    used < least
}

/// Whether a block of the reservoir must move into a hole of the head page. `class` holds the
/// counts after the free.
///
/// Called at most [`MAX_MOVES`] times per free; a third call would return false ([the bounds,
/// 2.3](https://docs.rs/surefit-compact/latest/surefit_compact/bounds/index.html#23-bound-in-holes)).
#[inline]
#[must_use]
pub const fn settle(bound: Bound, class: ClassCounts) -> bool {
    match bound {
        Bound::Holes { base, fraction } => {
            class.holes > base.saturating_add(fraction.of(class.live))
        }
        Bound::Pages(_) | Bound::Unbounded => false,
    }
}

/// The number of frees, after one that left `class` behind, for which [`settle`] cannot return
/// true, so that it need not be called.
///
/// A free makes at most one hole, and lowers ⌊εh⌋ by at most one; an allocation does neither. F5
/// counts as a free, but never needs the call, even if no such free is left: it removes a hole, or
/// there is none.
#[inline]
#[must_use]
pub const fn credit(bound: Bound, class: ClassCounts) -> u32 {
    match bound {
        Bound::Holes { base, fraction } => {
            base.saturating_add(fraction.of(class.live))
                .saturating_sub(class.holes)
                / 2
        }
        Bound::Pages(_) | Bound::Unbounded => u32::MAX,
    }
}

/// The most frees in a row, after an event that left `class` behind, for which [`settle`] cannot
/// return true, whichever page-blocks they free: the greatest n ≤ h with holes + n ≤ δ + ⌊ε(h −
/// n)⌋. Freed page-blocks that are parked count as holes, and not as live.
///
/// [`credit`] is no greater, and needs no division.
#[inline]
#[must_use]
pub const fn frees_in_a_row(bound: Bound, class: ClassCounts) -> u32 {
    match bound {
        Bound::Holes { base, fraction } => {
            if class.holes >= base.saturating_add(fraction.of(class.live)) {
                return 0;
            }
            let (a, b) = (fraction.numerator() as u64, fraction.denominator() as u64);
            // Below 2^64 − 2^33: ε is at most one half.
            let most = a
                .saturating_mul(class.live as u64)
                .saturating_add(b.saturating_mul(base as u64));
            let spare = most.saturating_sub(b.saturating_mul(class.holes as u64));
            least(fraction.quotient(spare), class.live)
        }
        Bound::Pages(_) | Bound::Unbounded => class.live,
    }
}

/// The most pages that a class needs for `live` page-blocks at once, `blocks` per page, when at
/// most `peak` were ever live.
///
/// # Panics
/// If `blocks` is zero: a page has page-blocks.
///
/// # Source
/// [The bounds, section
/// 2](https://docs.rs/surefit-compact/latest/surefit_compact/bounds/index.html#2-one-size-class):
/// min(h, the compaction bound at h, ⌈H/π⌉).
#[must_use]
pub const fn pages_bound(bound: Bound, blocks: u32, live: u32, peak: u32) -> u32 {
    let high_water = peak.div_ceil(blocks);
    let compacted = match bound {
        Bound::Unbounded => high_water,
        Bound::Pages(most) => {
            let pages = if most < live { most } else { live };
            // In 64 bits: κ may be large, and κ(π − 1) larger.
            let sum = live as u64 + pages as u64 * (blocks as u64 - 1);
            least(sum / blocks as u64, high_water)
        }
        Bound::Holes { base, fraction } => {
            let sum = live as u64 + base as u64 + fraction.of(live) as u64;
            least(sum.div_ceil(blocks as u64), high_water)
        }
    };
    if compacted < live { compacted } else { live }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the lesser of the two fits, for the other one does"
)]
#[inline]
const fn least(a: u64, b: u32) -> u32 {
    if a < b as u64 { a as u32 } else { b }
}
