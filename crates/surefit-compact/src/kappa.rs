//! Frees under a bound of κ not-full pages.
//!
//! ```text
//! free in the page that serves the next    park the pair, if the page keeps a live block
//! allocation, and is not full
//! any other free                           F1 to F5, as the automaton says
//! ```
//! An allocation would take the freed block next. So it may stay bound to its entry until then.
//!
//! # Invariants
//! - T4 Under a bound in pages, the parked pairs of a class lie in the page that serves its next
//!   allocation, at most [`MOST_PARKED_IN_PAGES`]. The page is not full, has a live block, and has
//!   more than [`SMALL_BLOCKS`](crate::page::SMALL_BLOCKS) blocks.
//!
//! So the class is in the state in which it would be if nothing were parked, with the parked blocks
//! first in that page's list of free blocks: the same pages are full and not full, and the same
//! objects move. [The bounds, 2.5](crate::bounds#25-parked-pairs) proves it.
//!
//! # Bounds
//! O(1): a free gives at most [`MOST_PARKED_IN_PAGES`] pairs back, and moves at most one block.
//!
//! # Source
//! Craciunas et al. (2008). The parked pairs are ours.

use surefit_classes::automaton::{self, Free};
use surefit_classes::{Bound, PageOrder};

use crate::class::{ClassState, PARKS};
use crate::engine::Engine;
use crate::page::{Block, Page, PageId};
use crate::width::{Width, Word};

/// The most pairs that a class with a bound in pages parks: few, because one free may give all of
/// them back.
pub(crate) const MOST_PARKED_IN_PAGES: u32 = 2;

impl<'m, W: Width> Engine<'m, W> {
    /// Whether the bound is in pages. It is the only one without the feature `holes`: the compiler
    /// then leaves out what the others need.
    #[inline]
    pub(crate) fn is_bound_in_pages(&self) -> bool {
        !cfg!(feature = "holes") || matches!(self.bound, Bound::Pages(_))
    }

    /// Parks a pair, or frees its block and its entry.
    #[inline(never)]
    pub(crate) fn park_keeping_pages(&self, page: PageId, number: u32, entry: u32) {
        let known = self.pages.known(page);
        let state = self.class_state(known.record.class.get());
        if self.serves_next(state, known) {
            if self.park_in_page(state, known, entry) {
                return;
            }
            self.unpark_if_any(state);
        }
        self.addresses.give(&self.pages.memory, entry);
        self.free_keeping_pages(state, page, number);
    }

    /// Frees a block under a bound in pages: a full page may have to stay full. Where pairs are
    /// parked, it is in the code of its one caller.
    #[cfg_attr(feature = "holes", inline(always))]
    #[cfg_attr(not(feature = "holes"), inline(never))]
    pub(crate) fn free_keeping_pages(&self, state: &ClassState<W>, page: PageId, number: u32) {
        let page = self.pages.known(page);
        let source = self.pages.linked(self.source_end(state));
        let decision = automaton::free(
            self.bound,
            self.counts(state, page.layout),
            page.counts(),
            source.map(|source| source.counts()),
        );
        state.remove_live();
        let freed = Block { page, number };
        if let (Free::Refill { .. }, Some(source)) = (decision, source) {
            return self.refill(state, source, freed);
        }
        self.pages.clear(freed);
        match decision {
            Free::Release => self.release(state, page.id),
            Free::Loosen => {
                self.unpark_if_any(state);
                self.pages.push_front(state, page);
            }
            Free::Clear | Free::Refill { .. } => {}
        }
    }

    /// Whether the next allocation of a class takes a block of this page.
    #[inline]
    fn serves_next(&self, state: &ClassState<W>, page: Page<'m, W>) -> bool {
        page.id.word::<W::Count>() == self.allocation_end(state)
    }

    /// Parks a pair in the page that serves the next allocation, which is not full; returns whether
    /// it did. Pages of few blocks have no list of free ones that could keep their order.
    #[inline]
    fn park_in_page(&self, state: &ClassState<W>, page: Page<'m, W>, entry: u32) -> bool {
        let is_last = page.used() == state.parked() + 1;
        if !PARKS || is_last || self.pages.is_small(page) {
            return false;
        }
        if state.parked() == MOST_PARKED_IN_PAGES {
            self.unpark_if_any(state);
        }
        let renewed = self.addresses.renew(&self.pages.memory, entry);
        if renewed {
            self.push_parked(state, entry);
        }
        renewed
    }

    /// Gives back what a class with a bound in pages has parked, if it has.
    #[inline]
    fn unpark_if_any(&self, state: &ClassState<W>) {
        if PARKS && state.top.get() != W::Count::NIL {
            self.unpark_in_order(state);
        }
    }

    /// Gives back what a class has parked, the oldest first: the page's list of free blocks has the
    /// order of the frees.
    #[inline(never)]
    pub(crate) fn unpark_in_order(&self, state: &ClassState<W>) {
        let (mut from, mut to) = (state.top.get(), W::Count::NIL);
        while from != W::Count::NIL {
            let link = self.link(from.get());
            let next = link.get();
            link.set(to);
            (from, to) = (next, from);
        }
        state.top.set(to);
        while self.unpark(state) {}
    }

    #[inline]
    pub(crate) fn source_end(&self, state: &ClassState<W>) -> W::Count {
        match self.order {
            PageOrder::Newest => state.tail.get(),
            PageOrder::Original => state.head.get(),
        }
    }

    /// F2 and F3: a block of the source page fills the freed one.
    #[inline]
    fn refill(&self, state: &ClassState<W>, source: Page<'m, W>, freed: Block<'m, W>) {
        if self.serves_next(state, source) {
            self.unpark_if_any(state);
        }
        let from = self.pages.last_used(source);
        let entry = self.pages.back_reference(from);
        self.pages.set_back_reference(freed, entry);
        let bytes = self.move_block(state, from, freed, entry);
        self.count_operation(bytes);
    }
}
