//! Verifies what a heap over the operating system's memory knows about its pages.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::{Stock, is_given_back};
use crate::layout;
use crate::width::{Width, Word};

impl<W: Width> Stock<'_, '_, W> {
    /// Verifies S1 to S4. The list itself was verified before (P2), and so was the table's room
    /// (A3).
    pub(crate) fn check(&self) -> Result<(), Corruption> {
        self.check_room()?;
        self.check_held()?;
        let (mut found, mut before) = (0, W::Count::NIL);
        let mut link = self.front().get();
        while found < self.supply.spare.get() {
            let page = self.pages.linked(link);
            let page = page.ok_or(Corruption::new(
                "S1",
                "spare free pages are missing",
                found as usize,
            ))?;
            let linked = page.record.prev.get() == before && !self.is_held(page.id.word());
            ensure(
                linked,
                "S1",
                "a spare page is held, or its backward link is wrong",
                page.id.index(),
            )?;
            found += 1;
            (before, link) = (link, page.record.next.get());
        }
        let last = self.supply.oldest.get() == before;
        ensure(
            last,
            "S1",
            "the oldest spare page is not the last",
            found as usize,
        )?;
        let least = self.supply.least.get() <= found;
        ensure(
            least,
            "S1",
            "fewer pages are spare than ever were",
            found as usize,
        )?;
        self.check_clusters(link)?;
        let bytes = self.resident_bytes();
        ensure(
            bytes <= self.supply.most.get(),
            "S3",
            "more bytes are resident than the limit",
            bytes,
        )
    }

    /// Verifies that what is held lies inside the heap, before anything is counted with it, and
    /// that no room of the table that is held or needed was given back.
    fn check_room(&self) -> Result<(), Corruption> {
        let (page, supply) = (self.pages.geometry.page_bytes(), self.supply);
        let (held, table) = (supply.held_table.get(), supply.table_floor.get());
        let pages = supply.held_pages.get();
        let inside = pages <= self.pages.count() && held <= self.whole();
        ensure(
            inside && pages as usize * page <= held && held % page == 0,
            "S4",
            "what is held lies outside of the heap",
            held,
        )?;
        ensure(
            table <= held.min(self.addresses.floor()) && table % page == 0,
            "S4",
            "room of the address table that is held or needed was given back",
            table,
        )?;
        ensure(
            supply.limit.get() <= supply.most.get(),
            "S3",
            "less may be resident than the limit",
            supply.most.get(),
        )
    }

    /// Bytes of all pages.
    fn whole(&self) -> usize {
        self.pages.count() as usize * self.pages.geometry.page_bytes()
    }

    /// Verifies what the owner of the supply knows, too: a page of the operating system, the limit,
    /// and what was resident once the supply held what a floor names, or 0 (S4).
    pub(crate) fn check_made(
        &self,
        unit: usize,
        limit: usize,
        floor: usize,
    ) -> Result<(), Corruption> {
        let supply = self.supply;
        let same = supply.unit == unit && supply.limit.get() == limit;
        ensure(same, "S3", "the limit is another one", supply.limit.get())?;
        let held = match floor {
            0 => supply.held_pages.get() == 0 && supply.held_table.get() == self.whole(),
            floor => self.held_bytes() == floor,
        };
        ensure(
            held,
            "S4",
            "the floor is another one",
            supply.held_pages.get() as usize,
        )
    }

    /// [`Stock::resident_bytes`] of a heap that was just made, with what it holds.
    fn held_bytes(&self) -> usize {
        let (pages, unit) = (self.supply.held_pages.get() as usize, self.supply.unit);
        let opened = (pages * self.pages.geometry.page_bytes()).next_multiple_of(unit);
        let records = layout::fixed_bytes::<W>(self.pages.geometry.class_count(), pages);
        let end = (self.addresses.top() + records).next_multiple_of(unit);
        let table = self.supply.held_table.get() / unit * unit;
        opened + end - table.max(opened) + unit
    }

    /// Verifies that the held pages that are free are the first in the list.
    fn check_held(&self) -> Result<(), Corruption> {
        let (mut before, mut link) = (W::Count::NIL, self.list.get());
        for found in 0..self.supply.held_free.get() {
            let page = self.pages.linked(link);
            let held = page.filter(|page| self.is_held(page.id.word()) && !is_given_back(*page));
            let page = held.ok_or(Corruption::new(
                "S4",
                "free pages that are held are not the first",
                found as usize,
            ))?;
            (before, link) = (link, page.record.next.get());
        }
        ensure(
            before == self.supply.last_held.get(),
            "S4",
            "the last held page that is free is another one",
            self.supply.held_free.get() as usize,
        )
    }

    fn check_clusters(&self, first: W::Count) -> Result<(), Corruption> {
        let (cluster, mut link, mut found) = (self.cluster(), first, 0);
        let mut expected = 0;
        while let Some(page) = self.pages.linked(link) {
            let number = page.id.word::<u32>();
            ensure(
                is_given_back(page),
                "S1",
                "a page behind the resident ones was not given back",
                number as usize,
            )?;
            let held = number < self.supply.held_pages.get();
            ensure(!held, "S4", "a held page was given back", number as usize)?;
            if found % cluster == 0 {
                expected = self.first_of_cluster(number);
            }
            ensure(
                number == expected,
                "S2",
                "a cluster was not given back whole",
                number as usize,
            )?;
            expected += 1;
            found += 1;
            link = page.record.next.get();
        }
        ensure(
            found % cluster == 0,
            "S2",
            "a cluster was not given back whole",
            found as usize,
        )
    }
}

#[cfg(test)]
impl<W: Width> super::Supply<W> {
    /// The places and lengths of its words.
    pub(crate) fn words(&self) -> [(&'static str, *mut u8, usize); 10] {
        let (word, size) = (W::WORD_BYTES, size_of::<usize>());
        [
            ("oldest", self.oldest.as_ptr().cast(), word),
            ("spare", self.spare.as_ptr().cast(), 4),
            ("least", self.least.as_ptr().cast(), 4),
            ("table_floor", self.table_floor.as_ptr().cast(), size),
            ("supply's limit", self.limit.as_ptr().cast(), size),
            ("most", self.most.as_ptr().cast(), size),
            ("held_pages", self.held_pages.as_ptr().cast(), 4),
            ("held_free", self.held_free.as_ptr().cast(), 4),
            ("last_held", self.last_held.as_ptr().cast(), word),
            ("held_table", self.held_table.as_ptr().cast(), size),
        ]
    }
}
