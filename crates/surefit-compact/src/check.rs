//! Verifies every numbered invariant of a heap.
//!
//! This is the naive reading of the tables: it walks pages in order, then lists, then entries, and
//! recounts everything that the heap counts. It needs no memory of its own.
#![deny(unsafe_code)]

use surefit_classes::automaton::{self, ClassCounts};
use surefit_classes::{Bound, SizeClass};
use surefit_core::{Corruption, ensure};

use crate::class::ClassState;
use crate::engine::Engine;
use crate::heap::Heap;
use crate::page::{Block, Page};
use crate::parked::MOST_PARKED;
use crate::slack::share;
use crate::width::{Generation, Width, Word};

impl<W: Width> Heap<'_, W> {
    /// Verifies every numbered invariant of pages (P), addresses (A), classes (H) and windows
    /// (W). O(region · π).
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        let engine = &self.engine;
        engine.check_table_room()?;
        let table_pages = engine.addresses.floor() >> self.config.geometry().page_shift();
        ensure(
            engine.frontier.get() as usize <= table_pages,
            "H1",
            "data pages reach into the address table",
            engine.frontier.get() as usize,
        )?;
        engine.check_limit()?;
        engine.check_fresh_pages()?;
        engine.check_free_pages()?;
        engine.stock().map_or(Ok(()), |stock| stock.check())?;
        for class in self.config.geometry().classes() {
            engine.check_class(class)?;
        }
        engine.check_slack()?;
        // Whether a head is parked can be asked now.
        engine.check_windows()?;
        engine.check_pages()?;
        engine.check_addresses()?;
        let total = self.usage().total();
        let region = engine.pages.memory.len() + self.skipped as usize;
        ensure(
            total == region,
            "H3",
            "the parts do not add up to the region",
            total,
        )
    }
}

impl<'m, W: Width> Engine<'m, W> {
    fn opened(&self) -> impl Iterator<Item = Page<'m, W>> + '_ {
        (0..self.frontier.get()).filter_map(|number| self.pages.page(number))
    }

    /// The page that a link names. It must be an opened page.
    fn opened_page(
        &self,
        word: W::Count,
        invariant: &'static str,
    ) -> Result<Page<'m, W>, Corruption> {
        let page = (word.get() < self.frontier.get()).then(|| self.pages.page(word.get()));
        let what = "a link names no opened page";
        page.flatten()
            .ok_or(Corruption::new(invariant, what, word.get() as usize))
    }

    /// Entries are read only below `made`, and pages only below the table's floor, so this runs
    /// before the first of them is read.
    fn check_table_room(&self) -> Result<(), Corruption> {
        let table = &self.addresses;
        let pages = self.pages.count() as usize;
        let page_bytes = self.pages.geometry.page_bytes();
        // The table takes whole pages, from the last one on.
        let whole = table.floor() <= pages * page_bytes && table.floor() % page_bytes == 0;
        ensure(
            whole,
            "A3",
            "the address table begins inside a page, or behind all",
            table.floor(),
        )?;
        let made = table.made.get() as usize;
        let room = table.top() - table.floor();
        ensure(
            made <= room / W::ENTRY_BYTES,
            "A3",
            "the address table is longer than its room",
            made,
        )?;
        let needed =
            table.floor() == pages * page_bytes || room < made * W::ENTRY_BYTES + page_bytes;
        ensure(
            needed,
            "A3",
            "the address table has a page that it does not need",
            table.floor(),
        )
    }

    /// No page that was never opened has used blocks. A heap over the operating system's memory
    /// has far more of them than it uses, so there nobody looks at their records.
    fn check_fresh_pages(&self) -> Result<(), Corruption> {
        let behind = if self.stock().is_some() {
            0
        } else {
            self.pages.count()
        };
        let mut fresh = (self.frontier.get()..behind).filter_map(|number| self.pages.page(number));
        let used = fresh.find(|page| page.used() > 0);
        ensure(
            used.is_none(),
            "P2",
            "a page that was never opened has used blocks",
            used.map_or(0, |page| page.id.index()),
        )
    }

    fn check_free_pages(&self) -> Result<(), Corruption> {
        let count = self.free_page_count.get();
        let (mut found, mut before) = (0, W::Count::NIL);
        let mut link = self.free_pages.get();
        while link != W::Count::NIL {
            let page = self.opened_page(link, "P2")?;
            let at = page.id.index();
            ensure(page.used() == 0, "P2", "a free page has used blocks", at)?;
            // A supply has its own rule for these links, and verifies it (S1, S2).
            let back = found == 0 || self.stock().is_some() || page.record.prev.get() == before;
            ensure(back, "P2", "a backward link is wrong", at)?;
            before = link;
            found += 1;
            ensure(
                found <= count,
                "P2",
                "the list of free pages is longer than its count",
                at,
            )?;
            link = page.record.next.get();
        }
        let empty = self.opened().filter(|page| page.used() == 0).count();
        let counted = found == count && found as usize == empty;
        ensure(
            counted,
            "P2",
            "an empty page is not in the list of free pages",
            found as usize,
        )
    }

    fn check_class(&self, class: SizeClass) -> Result<(), Corruption> {
        let state = self.class_state(class);
        let at = class.index();
        let mut sums = ClassSums::default();
        for page in self.opened() {
            if page.record.class.get() == class && page.used() > 0 && !self.is_part(page) {
                ensure(
                    page.used() <= page.blocks(),
                    "P1",
                    "more used blocks than blocks",
                    at,
                )?;
                sums.add(page);
            }
        }
        ensure(
            sums.live == state.used(),
            "H3",
            "used blocks of a class are miscounted",
            at,
        )?;
        ensure(
            sums.pages == state.pages(),
            "H3",
            "pages of a class are miscounted",
            at,
        )?;
        let counted = sums.not_full == state.not_full();
        ensure(
            counted,
            "H3",
            "not-full pages of a class are miscounted",
            at,
        )?;
        self.check_list(state, class, sums)?;
        self.check_parked(state, class)?;
        let counts = self.counts(state, self.pages.geometry.layout(class));
        self.check_bound(state, counts, at)
    }

    fn check_list(
        &self,
        state: &ClassState<W>,
        class: SizeClass,
        sums: ClassSums,
    ) -> Result<(), Corruption> {
        let (mut found, mut before) = (0, W::Count::NIL);
        let mut link = state.head.get();
        while link != W::Count::NIL {
            let page = self.opened_page(link, "H2")?;
            let at = page.id.index();
            let own = page.record.class.get() == class && page.used() > 0;
            ensure(own, "H2", "a list holds a page of another class", at)?;
            ensure(page.free_blocks() > 0, "H2", "a list holds a full page", at)?;
            // A supply has its own rule for these links, and verifies it (S1, S2).
            let back = found == 0 || self.stock().is_some() || page.record.prev.get() == before;
            ensure(back, "H2", "a backward link is wrong", at)?;
            found += 1;
            ensure(
                found <= sums.not_full,
                "H2",
                "a list is longer than its count",
                at,
            )?;
            before = link;
            link = page.record.next.get();
        }
        let at = class.index();
        ensure(
            before == state.tail.get(),
            "H2",
            "the tail is not the last page",
            at,
        )?;
        ensure(
            found == sums.not_full,
            "H2",
            "a not-full page is in no list",
            at,
        )
    }

    fn check_bound(
        &self,
        state: &ClassState<W>,
        counts: ClassCounts,
        at: usize,
    ) -> Result<(), Corruption> {
        let kept = match self.bound {
            Bound::Holes { .. } => !automaton::settle(self.bound_of(state), counts),
            Bound::Pages(most) => counts.not_full <= most,
            Bound::Unbounded => true,
        };
        ensure(kept, "H4", "a class breaks its compaction bound", at)?;
        let left = u32::from(state.left.get());
        let frees = state.credit().saturating_add(left);
        let is_kept = match self.bound {
            // Every free asks.
            Bound::Pages(_) => frees == 0,
            _ => frees <= automaton::frees_in_a_row(self.bound_of(state), counts),
        };
        ensure(is_kept, "H5", "the bound would not be asked in time", at)?;
        let pages = state.pages().saturating_add(frees) <= state.live();
        ensure(pages, "T3", "more pages than live blocks may result", at)
    }

    /// K1.
    fn check_slack(&self) -> Result<(), Corruption> {
        let Some(slack) = self.slack() else {
            return Ok(());
        };
        let next = slack.next.get() as usize;
        let known = next < slack.lent.len();
        ensure(known, "K1", "the class that is asked next is unknown", next)?;
        let geometry = self.pages.geometry;
        let lent = geometry.classes().zip(slack.lent).map(|(class, lent)| {
            let share = share(geometry.page_bytes(), geometry.layout(class));
            u64::from(lent.get()) * share
        });
        let all = lent.fold(slack.spare.get(), u64::saturating_add);
        ensure(
            all == slack.bytes,
            "K1",
            "spare and lent bytes are not the slack",
            0,
        )
    }

    /// T1. The number of parked pairs is compared with that of used blocks before `live` is used.
    fn check_parked(&self, state: &ClassState<W>, class: SizeClass) -> Result<(), Corruption> {
        let at = class.index();
        let sound = state.left.get() <= state.cap.get() && state.cap.get() <= MOST_PARKED;
        ensure(sound, "T1", "more pairs may be parked than at most", at)?;
        let fits = state.parked() <= state.used();
        ensure(fits, "T1", "more pairs are parked than blocks are used", at)?;
        let mut link = state.top.get();
        for number in 0..state.parked() {
            let entry = link.get();
            let block = self.named(entry);
            let own = block.is_some_and(|block| block.page.record.class.get() == class);
            ensure(own, "T1", "a parked entry names no block of its class", at)?;
            let before = self.parked(state).take(number as usize);
            let twice = before.into_iter().any(|other| other == entry);
            ensure(!twice, "T1", "an entry is parked twice", at)?;
            link = self.link(entry).get();
        }
        let ends = link == W::Count::NIL;
        ensure(ends, "T1", "more pairs are linked than are parked", at)
    }

    fn check_pages(&self) -> Result<(), Corruption> {
        for page in self.opened() {
            let known = self.classes.get(page.record.class.get()).is_some();
            ensure(known, "H1", "a page has an unknown class", page.id.index())?;
            if page.used() > 0 && !self.is_part(page) {
                self.check_blocks(page)?;
                self.check_free_blocks(page)?;
            }
        }
        Ok(())
    }

    fn check_blocks(&self, page: Page<'m, W>) -> Result<(), Corruption> {
        let at = page.id.index();
        let mut used = 0;
        for number in 0..page.blocks() {
            let block = Block { page, number };
            if self.pages.is_used(block) {
                used += 1;
                let entry = self.pages.back_reference(block);
                let named = self.named(entry) == Some(block);
                ensure(
                    named,
                    "P4",
                    "the entry of a used block does not name it",
                    at,
                )?;
                let fresh = !self.pages.is_small(page) && number >= self.pages.fresh(page);
                ensure(!fresh, "P1", "a used block was never taken", at)?;
            }
        }
        ensure(used == page.used(), "P1", "used blocks are miscounted", at)?;
        let strays = self.pages.stray_bits(page);
        ensure(!strays, "P1", "a bit beyond the last block is set", at)
    }

    fn check_free_blocks(&self, page: Page<'m, W>) -> Result<(), Corruption> {
        if self.pages.is_small(page) {
            return Ok(());
        }
        let at = page.id.index();
        let fresh = self.pages.fresh(page);
        ensure(
            fresh <= page.blocks(),
            "P1",
            "more blocks were taken than there are",
            at,
        )?;
        let linked = self.pages.linked_free_blocks(page);
        ensure(
            linked == fresh - page.used(),
            "P3",
            "a list of free blocks is wrong",
            at,
        )
    }

    fn check_addresses(&self) -> Result<(), Corruption> {
        let table = &self.addresses;
        let made = table.made.get();
        let used = (0..made)
            .filter(|&entry| self.named(entry).is_some())
            .count();
        let counted = used == self.used() as usize;
        ensure(
            counted,
            "A2",
            "live and parked entries are miscounted",
            used,
        )?;
        let (mut free, mut link) = (0_u32, table.free.get().get());
        while link != W::Word::NIL.get() {
            let entry = link;
            ensure(entry < made, "A1", "a link names no entry", entry as usize)?;
            let dead = self.named(entry).is_none();
            ensure(dead, "A1", "a free entry is live", entry as usize)?;
            ensure(
                !self.is_retired(entry),
                "A1",
                "a free entry is retired",
                entry as usize,
            )?;
            free += 1;
            ensure(
                free <= made,
                "A1",
                "the list of free entries is a ring",
                entry as usize,
            )?;
            link = table.word(&self.pages.memory, entry).get().get();
        }
        let outside = u64::from(table.outside.get());
        let sum =
            u64::from(self.used()) + outside + u64::from(table.retired.get()) + u64::from(free);
        let whole = sum == u64::from(made);
        ensure(
            whole,
            "A4",
            "an entry is neither live, parked, outside, free nor retired",
            made as usize,
        )?;
        self.check_outside()?;
        self.check_generations()
    }

    /// Only retired entries carry the last generation, and none of them is live.
    fn check_generations(&self) -> Result<(), Corruption> {
        let table = &self.addresses;
        let mut retired = 0;
        for entry in (0..table.made.get()).filter(|&entry| self.is_retired(entry)) {
            let dead = self.named(entry).is_none();
            ensure(dead, "A4", "a retired entry is live", entry as usize)?;
            retired += 1;
        }
        let counted = retired == table.retired.get();
        ensure(
            counted,
            "A4",
            "retired entries are miscounted",
            retired as usize,
        )
    }

    /// Whether an entry that was made carries the last generation.
    fn is_retired(&self, entry: u32) -> bool {
        let generation = || self.addresses.generation(&self.pages.memory, entry).get();
        W::Generation::BYTES > 0 && generation() == W::Generation::RETIRED
    }
}

/// Sums over the pages of a class.
#[derive(Clone, Copy, Debug, Default)]
struct ClassSums {
    pages: u32,
    live: u32,
    not_full: u32,
}

impl ClassSums {
    fn add<W: Width>(&mut self, page: Page<'_, W>) {
        self.pages += 1;
        self.live += page.used();
        self.not_full += u32::from(page.free_blocks() > 0);
    }
}

#[cfg(test)]
pub(crate) mod tests;
mod windows;
