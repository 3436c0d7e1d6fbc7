//! The incremental automaton: what one round of a free does when a move takes several critical
//! sections.
//!
//! A move copies at most ι bytes in a section, and the class's lock is released between sections.
//! So other frees, allocations and pins may meet a class with a move in flight; there is at most
//! one. The functions below decide what each of them does. Like those of [`super`], they are pure
//! and O(1), and do not know lists.
//!
//! ```text
//! reserved   t, the target of the move in flight, is used in its page, but not live.
//!            v is the block that the object leaves.
//!
//! free, first section    full page, n ≥ κ, no move is in   begin a move into the freed block,
//!                        flight (`keeps_full`)             take its first step: the page stays
//!                                                          full; if there is no victim: F1
//!                        else                              F1, F4 or F5
//!   … of the object in   (X1)                              the move is over; free v (F4, F5), then
//!   motion                                                 t as in the two lines above
//! free, every round      its own move is in flight         Step
//! (`next`)               the class keeps its bound         Leave
//!                        out of steps                      Leave: the class owes a move
//!                        another's move is in flight       Step: help
//!                        else                              Move: begin a move of a victim into a
//!                                                          hole of the head page, take its first
//!                                                          step; if there is no victim, leave: a
//!                                                          move is owed
//! last step              nobody pins the object            commit: t is live, free v (F4, F5)
//!                        it is pinned                      abort: free t (F1, F4, F5)
//! write access arrives   its object is in motion           cancel: as abort
//! malloc                 takes the last free block of the  cancel: as abort (`malloc_cancels`)
//!                        page of v
//! ```
//!
//! # Compared with the papers' pages
//! In the papers, the block that a move leaves is neither used nor free. So a page from which
//! blocks move is a *source page*, or an *emptying* page if nothing else is left in it. Both are
//! outside the not-full pages. A class has one source page at most, and one emptying page for each
//! free in progress. Here **a move changes nothing until its commit**: v is used, its page is
//! not-full and keeps its place in the list, and allocations take the page's free blocks. There are
//! no source pages, no emptying pages, and no further step "involving a source page". A move in
//! flight adds its target, one page-block, to the fragmentation. A free in progress adds what it
//! has not paid yet: one not-full page, or one hole and the amount by which it lowered ⌊εh⌋
//! ([`bound_in_flight`], [`pages_bound_in_flight`]). In the papers, a class has one not-full or
//! source page above κ at most, and every free in progress adds one emptying page: π page-blocks.
//! tests/it/incremental/papers.rs walks their states.
//!
//! # Effort
//! The free that takes a step pays for it, whoever began the move. A free pays at most
//! [`MAX_MOVES`]·⌈β/ι⌉ steps; steps that a pin's abort wasted are refunded ([`Effort`]). A free
//! also ends the move that it began. So no move is in flight when no free is in progress, and other
//! threads cannot hold up a free: it takes at most 3⌈β/ι⌉ − 1 steps, and at most 2⌈β/ι⌉ − 1 more
//! for each abort by a pin that it meets. Nothing else that others do gives it more work. (If a
//! free gave up after some number of aborts, pins at every commit would raise n without limit,
//! however few are held at once.)
//!
//! # Bounds
//! Every function is O(1).
//!
//! # Source
//! Craciunas et al., concurrent and incremental Compact-fit (2009), with the departures above.
//! tests/it/incremental.rs walks every reachable state of small classes; [section 7 of the
//! bounds](https://docs.rs/surefit-compact/latest/surefit_compact/bounds/index.html#7-threads) has
//! the argument.

use core::num::NonZeroUsize;

use super::{ClassCounts, MAX_MOVES, PageCounts, pages_bound, settle};
use crate::bound::{Bound, Fraction};

/// The configuration of one class's decisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The compaction bound.
    pub bound: Bound,
    /// Steps in one move, ⌈β/ι⌉: [`steps_per_move`].
    pub steps_per_move: u32,
}

/// The steps that a free has paid, and the aborts of its class that it knows of.
///
/// A class counts the moves that a pin ended, in 32 bits that may wrap. A free that meets such an
/// abort gets the steps of one move back, but never more than it took, because some of its own
/// steps may be lost. Then it has a whole move to pay, because the abort may have made a page
/// not-full that the others left to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Effort {
    steps: u32,
    aborts: u32,
}

impl Effort {
    /// No steps yet, when the class has counted `aborts`.
    #[inline]
    #[must_use]
    pub const fn new(aborts: u32) -> Self {
        Self { steps: 0, aborts }
    }

    /// The effort after one more step of any move of the class.
    #[inline]
    #[must_use]
    pub const fn step(self) -> Self {
        Self {
            steps: self.steps.saturating_add(1),
            aborts: self.aborts,
        }
    }

    /// The effort at the beginning of a round, when the class has counted `aborts`.
    #[inline]
    #[must_use]
    pub const fn met(self, aborts: u32, rules: Rules) -> Self {
        let lost = aborts
            .wrapping_sub(self.aborts)
            .saturating_mul(rules.steps_per_move);
        let paid = self.steps.saturating_sub(lost);
        let steps = if lost > 0 && paid > rules.steps_per_move {
            rules.steps_per_move
        } else {
            paid
        };
        Self { steps, aborts }
    }

    /// The steps that count.
    #[inline]
    #[must_use]
    pub const fn steps(self) -> u32 {
        self.steps
    }
}

/// The move in flight, as one free sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InFlight {
    /// There is no move.
    Nothing,
    /// A move that this free began.
    Own,
    /// A move that another free began.
    Other,
}

/// What a free does in its next round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Takes the next step of the move in flight.
    Step,
    /// Begins a move into a hole of the head page, and takes its first step; leaves if there is no
    /// victim.
    Move,
    /// Does nothing: the free is over.
    Leave,
}

/// Decides the next round of a free. `class` holds the present counts, after the free took its
/// object out of `live`.
///
/// `holes` of `class` counts reserved blocks as holes: π·pages − h, less the free blocks of the
/// reservoir.
#[inline]
#[must_use]
pub const fn next(rules: Rules, class: ClassCounts, in_flight: InFlight, effort: Effort) -> Next {
    match in_flight {
        InFlight::Own => Next::Step,
        _ if !over(rules.bound, class) => Next::Leave,
        _ if effort.steps >= most_steps(rules) => Next::Leave,
        InFlight::Other => Next::Step,
        InFlight::Nothing => Next::Move,
    }
}

/// Decides the next round of a compaction, which drains a class down to one not-full page. It ends
/// when nothing is left to move, or when it may begin no more moves and none of its own is in
/// flight.
///
/// A move that a pin ended must not count against the moves that a compaction may begin: the abort
/// may have made a page not-full, which another move must fill again. A compaction is one of the
/// calls in [`bound_in_flight`].
#[inline]
#[must_use]
pub const fn compaction(class: ClassCounts, in_flight: InFlight, may_begin: bool) -> Next {
    match in_flight {
        InFlight::Own => Next::Step,
        InFlight::Other if may_begin && class.not_full > 1 => Next::Step,
        InFlight::Nothing if may_begin && class.not_full > 1 => Next::Move,
        InFlight::Other | InFlight::Nothing => Next::Leave,
    }
}

/// The steps that a free pays before it leaves any excess over the bound to others: those of
/// [`MAX_MOVES`] moves.
#[inline]
#[must_use]
pub const fn most_steps(rules: Rules) -> u32 {
    rules.steps_per_move.saturating_mul(MAX_MOVES)
}

/// Whether a class is over its bound: n > κ, or holes > δ + ⌊εh⌋.
#[inline]
#[must_use]
pub const fn over(bound: Bound, class: ClassCounts) -> bool {
    match bound {
        Bound::Pages(most) => class.not_full > most,
        Bound::Holes { .. } => settle(bound, class),
        Bound::Unbounded => false,
    }
}

/// Whether a block freed in `page` (its counts before the free) stays used, as the target of a move
/// that begins in the same section, so that the page stays full: F2 and F3 in steps. If there is no
/// victim, F1 applies.
///
/// This is false while another move is in flight: then the page becomes not-full (F1), and the
/// moves that the class owes for n > κ fill it again.
#[inline]
#[must_use]
pub const fn keeps_full(
    bound: Bound,
    class: ClassCounts,
    page: PageCounts,
    in_flight: bool,
) -> bool {
    match bound {
        Bound::Pages(most) => {
            !in_flight && page.blocks > 1 && page.used == page.blocks && class.not_full >= most
        }
        Bound::Holes { .. } | Bound::Unbounded => false,
    }
}

/// Whether the page of a freed block may become the reservoir ([`super::swaps_roles`] says whether
/// it should): no move is in flight, and the class exceeds its bound by no more than one free can
/// cause.
///
/// A move in flight leaves the reservoir, which must stay the tail until the commit, so that the
/// commit fills a hole. Also, a class that owes moves because blocks of its reservoir were pinned
/// must first drain the pages at the end of its list: with more swaps, pages of one pinned block
/// each would be left behind without limit.
#[inline]
#[must_use]
pub const fn may_swap_roles(bound: Bound, class: ClassCounts, in_flight: bool) -> bool {
    match bound {
        Bound::Holes { base, fraction } => {
            let limit = base.saturating_add(fraction.of(class.live));
            !in_flight && class.holes > limit && class.holes - limit <= MAX_MOVES
        }
        Bound::Pages(_) | Bound::Unbounded => false,
    }
}

/// Whether an allocation from `page` (its counts before the allocation) ends the move in flight
/// without a commit, because it takes the last free block of the page of v. A commit would have to
/// make a full page not-full.
#[inline]
#[must_use]
pub const fn malloc_cancels(page: PageCounts, holds_block_in_motion: bool) -> bool {
    holds_block_in_motion && page.used.wrapping_add(1) == page.blocks
}

/// One step of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes to copy in this section, at most ι; `done` grows by this number.
    pub bytes: usize,
    /// Whether everything is copied after this step, so that the move commits in the same section.
    pub commits: bool,
}

/// Decides a step of a move that has copied `done` of `block_bytes`. `increment` is ι, or `None`
/// for ι = ∞.
#[inline]
#[must_use]
pub const fn step(block_bytes: usize, done: usize, increment: Option<NonZeroUsize>) -> Step {
    let left = block_bytes.saturating_sub(done);
    match increment {
        Some(increment) if increment.get() < left => Step {
            bytes: increment.get(),
            commits: false,
        },
        _ => Step {
            bytes: left,
            commits: true,
        },
    }
}

/// Steps in one move, ⌈β/ι⌉, at least one; `u32::MAX` if there are more.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "numbers that do not fit are answered before"
)]
pub const fn steps_per_move(block_bytes: usize, increment: Option<NonZeroUsize>) -> u32 {
    let steps = match increment {
        Some(increment) => block_bytes.div_ceil(increment.get()) as u64,
        None => 1,
    };
    match steps {
        0 => 1,
        1..=0xffff_ffff => steps as u32,
        _ => u32::MAX,
    }
}

/// The most not-full pages (bound in pages) or holes (hole bound) of a class with at most `calls`
/// of its frees and compactions in progress and at most `pins` of its objects pinned. `None` for
/// [`Bound::Unbounded`].
///
/// ```text
/// pages   n ≤ max(κ, Π + 1) + T         with Π = 0: κ + T
/// holes   holes ≤ δ + ⌊εh⌋ + Π(π − 1) + T + ⌈εT⌉
/// ```
/// The part of Π remains when the pins are gone, until later frees or a compaction pay it.
///
/// # Source
/// [The bounds,
/// 7.3](https://docs.rs/surefit-compact/latest/surefit_compact/bounds/index.html#73-pins);
/// tests/it/incremental.rs walks every reachable state of small classes.
#[must_use]
pub const fn bound_in_flight(
    bound: Bound,
    blocks: u32,
    live: u32,
    calls: u32,
    pins: u32,
) -> Option<u32> {
    match bound {
        Bound::Pages(most) => {
            let stuck = if pins > 0 { pins.saturating_add(1) } else { 0 };
            let pages = if most < stuck { stuck } else { most };
            Some(pages.saturating_add(calls))
        }
        Bound::Holes { base, fraction } => {
            let limit = base.saturating_add(fraction.of(live));
            let stuck = pins.saturating_mul(blocks.saturating_sub(1));
            let lowered = fraction.of(calls);
            let rounds_up = !exact(fraction, calls, lowered);
            let raised = calls
                .saturating_add(lowered)
                .saturating_add(rounds_up as u32);
            Some(limit.saturating_add(stuck).saturating_add(raised))
        }
        Bound::Unbounded => None,
    }
}

/// Whether `part` is exactly the fraction of `n`, without rounding.
const fn exact(fraction: Fraction, n: u32, part: u32) -> bool {
    n as u64 * fraction.numerator() as u64 == part as u64 * fraction.denominator() as u64
}

/// The most pages that a class needs for `live` page-blocks, `blocks` per page, with at most
/// `calls` of its frees and compactions in progress and at most `pins` of its objects pinned, when
/// at most `peak` were ever live.
///
/// # Panics
/// If `blocks` is zero: a page has page-blocks.
///
/// # Source
/// [The bounds,
/// 7.4](https://docs.rs/surefit-compact/latest/surefit_compact/bounds/index.html#74-pages-of-a-group).
/// With no calls in progress and no pins, it is [`super::pages_bound`].
#[must_use]
pub const fn pages_bound_in_flight(
    bound: Bound,
    blocks: u32,
    live: u32,
    peak: u32,
    calls: u32,
    pins: u32,
) -> u32 {
    let Some(most) = bound_in_flight(bound, blocks, live, calls, pins) else {
        return pages_bound(bound, blocks, live, peak);
    };
    let reserved = (calls > 0 && blocks > 1) as u64;
    let (blocks, most, used) = (blocks as u64, most as u64, live as u64 + reserved);
    let not_used = match bound {
        Bound::Pages(_) => lesser(most, used) * (blocks - 1),
        Bound::Holes { .. } | Bound::Unbounded => most + blocks - 1,
    };
    let compacted = match bound {
        Bound::Pages(_) => (used + not_used) / blocks,
        Bound::Holes { .. } | Bound::Unbounded => (live as u64 + not_used) / blocks,
    };
    let high_water = (peak as u64 + reserved).div_ceil(blocks);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "at most one page for each used page-block, whose number has 32 bits"
    )]
    {
        lesser(lesser(compacted, high_water), lesser(used, u32::MAX as u64)) as u32
    }
}

const fn lesser(a: u64, b: u64) -> u64 {
    if a < b { a } else { b }
}
