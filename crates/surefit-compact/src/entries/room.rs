//! Makes room for a request by moves. A collector calls it before it collects, so that
//! fragmentation never triggers a collection.
//!
//! ```text
//! make_room(demand):   if no moves can help: an error, and nothing moves
//!                      while the demand cannot be served:
//!                          the address table needs a page, but all were opened:
//!                              empty the last page into a free one, and give it to the table
//!                          else, among the classes with a page's worth of free page-blocks, take
//!                              the one whose draining page holds the fewest; empty that page
//!                              into others
//! ```
//! A class with h live page-blocks needs ⌈h/π⌉ pages wherever they lie, and moves can reach that
//! number. So moves help iff all these pages, with the demand's page-blocks included, and those of
//! the address table are no more than the region has.
//!
//! # Bounds
//! For every page that is emptied: one look at every class, and at most π − 1 moves.
//!
//! # Source
//! Ours; the moves are those of the size-class automaton.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::SizeClass;
use surefit_core::Refused;

use super::heap::EntryHeap;
use crate::demand::BlockDemand;
use crate::engine::Engine;
use crate::page::Page;
use crate::width::Width;

impl<W: Width<Generation = ()>> EntryHeap<'_, W> {
    /// Moves page-blocks until byte objects of all these lengths, aligned to eight, can be
    /// allocated.
    ///
    /// # Errors
    /// What is exhausted, if no moves can help; then nothing has moved.
    pub fn make_room(&mut self, lens: &[usize]) -> Result<(), Refused> {
        let demand = self.demand_of(lens)?;
        self.engine.make_room_for(&demand)
    }
}

impl<'m, W: Width> Engine<'m, W> {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "sums of at most 128 numbers of 33 bits, in 64 bits; free pages were opened"
    )]
    pub(crate) fn would_fit(&self, demand: &BlockDemand) -> bool {
        let geometry = self.pages.geometry;
        let packed = geometry.classes().map(|class| {
            let live = u64::from(self.class_state(class).live());
            let blocks = u64::from(geometry.layout(class).blocks);
            (live + u64::from(demand.blocks_of(class))).div_ceil(blocks)
        });
        let table_pages = self.table_pages_for(demand.entries());
        let packed = packed.sum::<u64>() + u64::from(self.windows.parts());
        let data = packed.max(self.windows.end().into());
        let in_use = u64::from(self.frontier.get() - self.free_page_count.get());
        let is_granted = |table_pages| {
            let more = packed.saturating_sub(in_use);
            self.stock()
                .is_none_or(|stock| stock.serves(table_pages, more).is_ok())
        };
        table_pages
            .is_ok_and(|table_pages| self.has_place(data, table_pages) && is_granted(table_pages))
    }

    fn make_room_for(&self, demand: &BlockDemand) -> Result<(), Refused> {
        self.unpark_all();
        let helps = self.would_fit(demand);
        while let Err(refused) = self.can_serve(demand) {
            let for_table = refused == Refused::NoHandle;
            if !helps || !(for_table && self.close_last_page() || self.empty_a_page()) {
                debug_assert!(!helps, "a class has a page's worth of free page-blocks");
                return Err(refused);
            }
        }
        Ok(())
    }

    /// Empties the page that costs the fewest moves, among those whose page-blocks have room
    /// elsewhere in their class; returns whether there was one.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "page-blocks of one region; no more are live than there are"
    )]
    fn empty_a_page(&self) -> bool {
        let geometry = self.pages.geometry;
        let has_room = geometry.classes().filter(|&class| {
            let (state, blocks) = (self.class_state(class), geometry.layout(class).blocks);
            state.pages() * u32::from(blocks) - state.live() >= u32::from(blocks)
        });
        let cheapest = has_room.min_by_key(|&class| self.draining_page(class).map(|p| p.used()));
        let Some(state) = cheapest.map(|class| self.class_state(class)) else {
            return false;
        };
        let pages = state.pages();
        while state.pages() == pages {
            self.fill_hole(state, self.source_end(state), self.allocation_end(state));
        }
        true
    }

    fn draining_page(&self, class: SizeClass) -> Option<Page<'m, W>> {
        self.pages.linked(self.source_end(self.class_state(class)))
    }
}
