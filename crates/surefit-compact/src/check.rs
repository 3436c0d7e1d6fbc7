//! Verifies every numbered invariant of a heap.
//!
//! The naive reading of the tables: pages are walked in order, then lists, then entries, and what the heap keeps as
//! counts is counted again. Needs no memory of its own.
#![deny(unsafe_code)]

use surefit_core::Corruption;

use crate::automaton;
use crate::class::ClassState;
use crate::config::Bound;
use crate::engine::Engine;
use crate::geometry::SizeClass;
use crate::heap::Heap;
use crate::page::{Block, PageId, SMALL_BLOCKS};
use crate::width::{RecordWords, Width, Word};

fn ensure(
    holds: bool,
    invariant: &'static str,
    what: &'static str,
    at: usize,
) -> Result<(), Corruption> {
    if holds {
        Ok(())
    } else {
        Err(Corruption {
            invariant,
            what,
            at,
        })
    }
}

impl<W: Width> Heap<'_, W> {
    /// Verifies every numbered invariant of pages (P), addresses (A) and classes (H). O(region · π).
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        let engine = &self.engine;
        let table_pages = engine.addresses.floor() >> self.config.geometry().page_shift();
        ensure(
            engine.frontier.get() as usize <= table_pages,
            "H1",
            "data pages reach into the address table",
            engine.frontier.get() as usize,
        )?;
        engine.check_free_pages()?;
        for class in self.config.geometry().classes() {
            engine.check_class(class)?;
        }
        engine.check_pages()?;
        engine.check_addresses()?;
        let total = self.parts().total();
        let region = engine.pages.memory.len() + self.skipped;
        ensure(total == region, "H3", "the parts do not add up to the region", total)
    }
}

impl<W: Width> Engine<'_, W> {
    fn opened(&self) -> impl Iterator<Item = PageId> + '_ {
        (0..self.frontier.get()).filter_map(|number| self.pages.page(number))
    }

    /// A page that a link names, if it names an opened page.
    fn opened_page(&self, word: W::Word, invariant: &'static str) -> Result<PageId, Corruption> {
        let at = word.get() as usize;
        let opened = word.get() < self.frontier.get();
        ensure(opened, invariant, "a link names no opened page", at)?;
        self.pages.page(word.get()).ok_or(Corruption {
            invariant,
            what: "a link names no page",
            at,
        })
    }

    fn check_free_pages(&self) -> Result<(), Corruption> {
        let mut found = 0;
        let mut link = self.free_pages.get();
        while link != W::Word::NIL {
            let page = self.opened_page(link, "P2")?;
            let used = self.pages.used(page);
            ensure(used == 0, "P2", "a free page has used blocks", page.index())?;
            found += 1;
            ensure(
                found <= self.free_page_count.get(),
                "P2",
                "the list of free pages is longer than its count",
                page.index(),
            )?;
            link = self.pages.record(page).next.get();
        }
        let empty = self.opened().filter(|&page| self.pages.used(page) == 0);
        let counted = found == self.free_page_count.get() && found as usize == empty.count();
        ensure(counted, "P2", "an empty page is not in the list of free pages", found as usize)
    }

    fn check_class(&self, class: SizeClass) -> Result<(), Corruption> {
        let state = self.class_state(class);
        let at = class.index();
        let mut sums = ClassSums::default();
        for page in self.opened() {
            if self.pages.class(page) == class && self.pages.used(page) > 0 {
                let free = self.free_blocks(page);
                sums.pages += 1;
                sums.live += self.pages.used(page);
                sums.not_full += u32::from(free > 0);
                sums.free += free;
            }
        }
        let counts = state.counts();
        ensure(sums.live == counts.live, "H3", "a class's live blocks are miscounted", at)?;
        ensure(sums.pages == state.pages(), "H3", "a class's pages are miscounted", at)?;
        ensure(
            sums.not_full == counts.not_full,
            "H3",
            "a class's not-full pages are miscounted",
            at,
        )?;
        self.check_list(state, class, sums)?;
        self.check_bound(state, sums, at)
    }

    fn check_list(
        &self,
        state: &ClassState<W>,
        class: SizeClass,
        sums: ClassSums,
    ) -> Result<(), Corruption> {
        let at = class.index();
        let (mut found, mut before) = (0, W::Word::NIL);
        let mut link = state.head.get();
        while link != W::Word::NIL {
            let page = self.opened_page(link, "H2")?;
            let record = self.pages.record(page);
            let own = self.pages.class(page) == class && self.pages.used(page) > 0;
            ensure(own, "H2", "a list holds a page of another class", page.index())?;
            ensure(self.free_blocks(page) > 0, "H2", "a list holds a full page", page.index())?;
            ensure(record.prev.get() == before, "H2", "a backward link is wrong", page.index())?;
            found += 1;
            ensure(found <= sums.not_full, "H2", "a list is longer than its count", at)?;
            before = link;
            link = record.next.get();
        }
        ensure(before == state.tail.get(), "H2", "the tail is not the last page", at)?;
        ensure(found == sums.not_full, "H2", "a not-full page is in no list", at)
    }

    fn check_bound(
        &self,
        state: &ClassState<W>,
        sums: ClassSums,
        at: usize,
    ) -> Result<(), Corruption> {
        let counts = state.counts();
        match self.bound {
            Bound::Unbounded => ensure(counts.holes == 0, "H3", "holes are counted without need", at),
            Bound::Pages(most) => {
                ensure(counts.holes == 0, "H3", "holes are counted without need", at)?;
                ensure(sums.not_full <= most, "H4", "more than κ not-full pages", at)
            }
            Bound::Holes { .. } => {
                let reservoir = self.pages.linked(state.tail.get());
                let own = reservoir.map_or(0, |page| self.free_blocks(page));
                ensure(sums.free - own == counts.holes, "H3", "holes are miscounted", at)?;
                let kept = !automaton::settle(self.bound, counts);
                ensure(kept, "H4", "more holes than the bound allows", at)
            }
        }
    }

    fn check_pages(&self) -> Result<(), Corruption> {
        for page in self.opened() {
            let known = self.pages.class(page).index() < self.classes.len();
            ensure(known, "H1", "a page has an unknown class", page.index())?;
            if self.pages.used(page) > 0 {
                self.check_bitmap(page)?;
                self.check_blocks(page)?;
            }
        }
        Ok(())
    }

    fn check_bitmap(&self, page: PageId) -> Result<(), Corruption> {
        let at = page.index();
        let blocks = self.counts(page).blocks;
        ensure(self.pages.used(page) <= blocks, "P1", "more used blocks than blocks", at)?;
        let leaves = u32::from(self.pages.layout(page).leaves);
        let words = self.pages.record(page).words.cells();
        if leaves == 0 {
            let (bits, own) = if blocks > SMALL_BLOCKS {
                (words[0].get(), blocks)
            } else {
                (u64::from(self.pages.record(page).small.get()), blocks)
            };
            let stray = bits & !(u64::MAX >> (64 - own));
            return ensure(stray == 0, "P1", "a bit beyond the last block is set", at);
        }
        for leaf in 0..leaves {
            let members = (leaf * 64)..(leaf * 64 + 64).min(blocks);
            let used = members.clone().filter(|&number| self.pages.is_used(Block { page, number }));
            let used = u32::try_from(used.count()).unwrap_or(u32::MAX);
            let has_used = words[0].get() >> leaf & 1 == 1;
            let has_free = words[1].get() >> leaf & 1 == 1;
            ensure(has_used == (used > 0), "P3", "a summary of used blocks is wrong", at)?;
            let free = used < members.end - members.start;
            ensure(has_free == free, "P3", "a summary of free blocks is wrong", at)?;
        }
        let stray = leaves < 64 && (words[0].get() | words[1].get()) >> leaves != 0;
        ensure(!stray, "P3", "a summary bit beyond the last leaf is set", at)
    }

    fn check_blocks(&self, page: PageId) -> Result<(), Corruption> {
        let blocks = 0..self.counts(page).blocks;
        let mut used = 0;
        for block in blocks.map(|number| Block { page, number }) {
            if self.pages.is_used(block) {
                used += 1;
                let entry = self.pages.back_reference(block).get();
                let named = self.vet(entry) == Some(block);
                ensure(named, "P4", "a used block's entry does not name it", page.index())?;
            }
        }
        let counted = used == self.pages.used(page);
        ensure(counted, "P1", "used blocks are miscounted", page.index())
    }

    fn check_addresses(&self) -> Result<(), Corruption> {
        let table = &self.addresses;
        let made = table.made.get();
        let live = (0..made).filter(|&entry| self.vet(entry).is_some()).count();
        let counted = live == table.live.get() as usize;
        ensure(counted, "A2", "live entries are miscounted", live)?;
        let (mut free, mut link) = (0_u32, table.free.get());
        while link != W::Word::NIL {
            let entry = link.get();
            ensure(entry < made, "A1", "a link names no entry", entry as usize)?;
            let dead = self.vet(entry).is_none();
            ensure(dead, "A1", "a free entry is live", entry as usize)?;
            free += 1;
            ensure(free <= made, "A1", "the list of free entries is a ring", entry as usize)?;
            link = table.word(&self.pages.memory, entry).get();
        }
        let sum = table.live.get() + table.retired.get() + free;
        ensure(sum == made, "A4", "an entry is neither live, free nor retired", sum as usize)?;
        let room = (table.top() - table.floor()) / W::ENTRY_BYTES;
        ensure(made as usize <= room, "A3", "the address table is longer than its room", made as usize)
    }
}

/// What the pages of a class say.
#[derive(Clone, Copy, Debug, Default)]
struct ClassSums {
    pages: u32,
    live: u32,
    not_full: u32,
    free: u32,
}
