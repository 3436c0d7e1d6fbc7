//! Whether a handful of page-blocks can be served, before the first of them is taken.
#![deny(unsafe_code)]

use surefit_core::Refused;

use crate::engine::Engine;
use crate::geometry::SizeClass;
use crate::width::{Width, Word};

/// Size-classes that one byte object can use: whole pieces at the object's alignment and at a word's, and one remainder for
/// the object and for each of its spines. A level of spines is at least 16 times shorter than the one above, so 64 bits of
/// length have at most 16 levels.
const MOST_CLASSES: usize = 20;

/// How many page-blocks of which size-classes are wanted at once.
#[derive(Debug)]
pub(crate) struct BlockDemand {
    wanted: [Option<(SizeClass, u32)>; MOST_CLASSES],
}

impl BlockDemand {
    pub(crate) const fn new() -> Self {
        Self {
            wanted: [None; MOST_CLASSES],
        }
    }

    /// Adds blocks of a class.
    pub(crate) fn add(&mut self, class: SizeClass, blocks: u32) {
        let place = self
            .wanted
            .iter_mut()
            .find(|place| place.is_none_or(|(other, _)| other == class))
            .expect("an object uses at most as many classes as levels and three");
        let before = place.map_or(0, |(_, blocks)| blocks);
        *place = Some((class, before.saturating_add(blocks)));
    }

    /// Blocks of a class that are wanted.
    pub(crate) fn blocks_of(&self, class: SizeClass) -> u32 {
        let of_class = self
            .wanted
            .iter()
            .flatten()
            .find(|(other, _)| *other == class);
        of_class.map_or(0, |&(_, blocks)| blocks)
    }

    /// Entries that are wanted: one a block.
    pub(crate) fn entries(&self) -> u64 {
        let blocks = self
            .wanted
            .iter()
            .flatten()
            .map(|&(_, blocks)| u64::from(blocks));
        blocks.sum()
    }
}

impl<W: Width> Engine<'_, W> {
    /// Whether all blocks of a demand can be taken, together with their entries. O(classes of the demand).
    pub(crate) fn can_serve(&self, demand: &BlockDemand) -> Result<(), Refused> {
        let mut pages = 0_u64;
        for (class, blocks) in demand.wanted.iter().flatten() {
            let per_page = u32::from(self.pages.geometry.layout(*class).blocks);
            let state = self.class_state(*class);
            let free = state.pages() * per_page - state.live();
            pages += u64::from(blocks.saturating_sub(free).div_ceil(per_page));
        }
        let table_pages = self.table_pages_for(demand.entries())?;
        let fresh = u64::from(self.fresh_pages());
        if table_pages > fresh {
            return Err(Refused::NoHandle);
        }
        if pages > u64::from(self.free_page_count.get()) + fresh - table_pages {
            return Err(Refused::NoPage);
        }
        Ok(())
    }

    /// Pages by which the address table must grow to hold that many entries more.
    pub(crate) fn table_pages_for(&self, entries: u64) -> Result<u64, Refused> {
        let numbers = u64::from(W::Word::NIL.get());
        let used = u64::from(self.live() + self.addresses.retired.get());
        if used + entries > numbers {
            return Err(Refused::NoHandle);
        }
        let missing = entries.saturating_sub(u64::from(self.addresses.spare(self.live())));
        let page_bytes = self.pages.geometry.page_bytes() as u64;
        Ok((missing * W::ENTRY_BYTES as u64).div_ceil(page_bytes))
    }
}
