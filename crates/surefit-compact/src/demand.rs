//! Whether a small number of page-blocks can be served, computed before the first of them is taken.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use surefit_classes::SizeClass;
use surefit_classes::geometry::MAX_CLASSES;
use surefit_core::Refused;

use crate::engine::Engine;
use crate::width::{Width, Word};

/// How many page-blocks of which size-classes are needed at once.
#[derive(Debug)]
pub(crate) struct BlockDemand {
    wanted: [u32; MAX_CLASSES],
    /// The set of classes that were added: bit i stands for class i.
    classes: u128,
}

impl BlockDemand {
    pub(crate) const fn new() -> Self {
        Self {
            wanted: [0; MAX_CLASSES],
            classes: 0,
        }
    }

    /// Adds blocks of a class.
    ///
    /// A count that saturates stands for 32 GiB of page-blocks of eight bytes each, and their
    /// entries: no region holds that many.
    pub(crate) fn add(&mut self, class: SizeClass, blocks: u32) {
        let wanted = &mut self.wanted[class.index()];
        *wanted = wanted.saturating_add(blocks);
        self.classes |= 1 << class.index();
    }

    /// Blocks of a class that are needed.
    pub(crate) fn blocks_of(&self, class: SizeClass) -> u32 {
        self.wanted[class.index()]
    }

    /// The classes that were added, by their indices.
    fn classes(&self) -> impl Iterator<Item = usize> {
        let mut left = self.classes;
        core::iter::from_fn(move || {
            let index = left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
            (index < MAX_CLASSES).then_some(index)
        })
    }

    /// Entries that are needed: one per block.
    pub(crate) fn entries(&self) -> u64 {
        let blocks = self.classes().map(|index| self.wanted[index]);
        blocks.map(u64::from).sum()
    }
}

impl<W: Width> Engine<'_, W> {
    /// Whether all blocks of a demand can be taken, together with their entries: O(classes of the
    /// demand). Gives everything that is parked back if they cannot without: O(all classes), times
    /// what a class may park.
    pub(crate) fn can_serve(&self, demand: &BlockDemand) -> Result<(), Refused> {
        let refused = match self.can_serve_now(demand) {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        if self.unpark_all() {
            return self.can_serve_now(demand);
        }
        Err(refused)
    }

    /// As [`Engine::can_serve`], without giving back pages of which all blocks are parked.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "page-blocks and entries of one region are counted in 32 bits, sums of at most 128 such numbers in 64"
    )]
    fn can_serve_now(&self, demand: &BlockDemand) -> Result<(), Refused> {
        let mut pages = 0_u64;
        let geometry = self.pages.geometry;
        for class in demand.classes().filter_map(|index| geometry.class(index)) {
            let per_page = u32::from(geometry.layout(class).blocks);
            let state = self.class_state(class);
            let free = state.pages() * per_page - state.live();
            let missing = demand.blocks_of(class).saturating_sub(free);
            pages += u64::from(missing.div_ceil(per_page));
        }
        let table_pages = self.table_pages_for(demand.entries())?;
        if let Some(stock) = self.stock() {
            stock.serves(table_pages, pages)?;
        }
        let fresh = self.fresh_after(table_pages).ok_or(Refused::NoHandle)?;
        if pages > u64::from(self.free_page_count.get()) + u64::from(fresh) {
            return Err(Refused::NoPage);
        }
        Ok(())
    }

    /// Whether so many page-blocks of any classes can be taken even if each needs a page and an
    /// entry of its own. O(1). If not, [`Engine::can_serve`] knows.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "numbers of 32 bits, times at most eight, in 64 bits"
    )]
    pub(crate) fn has_room_for_any(&self, blocks: u32) -> bool {
        let blocks = u64::from(blocks);
        let made = u64::from(self.addresses.made.get());
        let table_bytes = blocks * W::ENTRY_BYTES as u64;
        let table_pages = (table_bytes >> self.pages.geometry.page_shift()) + 1;
        let free = u64::from(self.free_page_count.get());
        let fresh = self.fresh_after(table_pages);
        made + blocks <= u64::from(W::Word::NIL.get())
            && fresh.is_some_and(|fresh| blocks <= free + u64::from(fresh))
            && self
                .stock()
                .is_none_or(|stock| stock.serves(table_pages, blocks).is_ok())
    }

    /// Pages by which the address table must grow to hold that many more entries.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "sums of 128 numbers of 32 bits, times at most eight, in 64 bits; live and retired entries were made"
    )]
    pub(crate) fn table_pages_for(&self, entries: u64) -> Result<u64, Refused> {
        // Without a look at every class: all of them may be new ones, whatever is live.
        let taken = self.addresses.made.get() - self.addresses.retired.get();
        if entries <= u64::from(self.addresses.spare(taken)) {
            return Ok(0);
        }
        let numbers = u64::from(W::Word::NIL.get());
        let used =
            u64::from(self.live() + self.addresses.outside.get() + self.addresses.retired.get());
        if used + entries > numbers {
            return Err(Refused::NoHandle);
        }
        let room = (self.addresses.top() - self.addresses.floor()) as u64;
        let missing = ((used + entries) * W::ENTRY_BYTES as u64).saturating_sub(room);
        Ok(missing.div_ceil(self.pages.geometry.page_bytes() as u64))
    }
}
