//! Verifies what is free: entries, pages, and the room of both.
#![deny(unsafe_code)]

use core::sync::atomic::Ordering::Relaxed;

use lock_api::RawMutex;
use surefit_core::{Corruption, ensure};

use super::Found;
use crate::shared::lock::Granularity;
use crate::shared::machinery::engine::SharedEngine;
use crate::shared::machinery::entry::{Entry, State};
use crate::shared::machinery::entry_list::NIL;
use crate::shared::machinery::group::Section;
use crate::shared::machinery::pool::PageList;
use crate::shared::machinery::table::ENTRY_BYTES;

fn same(found: u32, count: u32, at: u32) -> Result<(), Corruption> {
    ensure(
        found == count,
        "T2",
        "a list of free entries is miscounted",
        at as usize,
    )
}

/// What a walk does with an entry.
type Look<'a> = dyn FnMut(u32, State) -> Result<(), Corruption> + 'a;

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// Entries are read only below `made`, and pages only below the table's floor, so this runs
    /// before the first of them is read.
    pub(super) fn check_room(&self) -> Result<(), Corruption> {
        let pool = self.store.pool();
        let page = self.pages.geometry.page_bytes();
        let made = pool.made as usize;
        ensure(
            self.table.made().load(Relaxed) == pool.made,
            "T1",
            "two numbers of entries differ",
            made,
        )?;
        let whole = self.pages.count() as usize * page;
        let needed = made.saturating_mul(ENTRY_BYTES);
        let needed = needed.saturating_sub(self.table.top() - whole);
        let floor = whole.checked_sub(needed.div_ceil(page).saturating_mul(page));
        ensure(
            floor == Some(pool.floor),
            "T1",
            "the address table has another room than it needs",
            pool.floor,
        )?;
        ensure(
            pool.frontier as usize <= pool.floor / page,
            "T1",
            "data pages reach into the address table",
            pool.frontier as usize,
        )
    }

    /// Walks a list of entries that have ended; returns its length.
    fn walk(
        &self,
        first: u32,
        next: fn(&Entry) -> u32,
        look: &mut Look<'_>,
    ) -> Result<u32, Corruption> {
        let (mut found, mut link) = (0, first);
        while link != NIL {
            // No list has more entries than were made.
            let known = self.table.contains(link) && self.table.contains(found);
            ensure(
                known,
                "T2",
                "a link names no entry, or a list is a ring",
                link as usize,
            )?;
            let entry = self.entry(link);
            let state = entry.state();
            ensure(
                self.has_ended(state),
                "T2",
                "an entry in a list has an object",
                link as usize,
            )?;
            look(link, state)?;
            found += 1;
            link = next(entry);
        }
        Ok(found)
    }

    /// Walks a group's two deferred lists: the one being drained, and the one that grows.
    pub(super) fn walk_waiting(
        &self,
        section: &Section<'m, R>,
        look: &mut Look<'_>,
    ) -> Result<(), Corruption> {
        let group = section.group();
        for first in [group.draining().load(Relaxed), group.first_deferred()] {
            self.walk(first, Entry::deferred_next, look)?;
        }
        Ok(())
    }

    /// Every dead entry is in exactly one list.
    pub(super) fn check_free_entries(&self) -> Result<(), Corruption> {
        let (mut listed, mut spare) = (Found::default(), Found::default());
        let mut free = |index: u32, _| {
            spare.add(index);
            Ok(())
        };
        for group in self.all_groups() {
            let section = self.enter(group);
            self.walk_waiting(&section, &mut |index, _| {
                listed.add(index);
                Ok(())
            })?;
            let found = self.walk(section.spare.head(), Entry::next, &mut free)?;
            same(found, section.spare.count(), group)?;
            let parked = |entry: &Entry| entry.parked().0;
            self.walk(section.parked.head(), parked, &mut free)?;
        }
        for (slot, buffer) in (0..).zip(self.store.buffers) {
            let buffer = buffer.0.lock();
            let found = self.walk(buffer.entries.head(), Entry::next, &mut free)?;
            same(found, buffer.entries.count(), slot)?;
            ensure(
                found <= u32::from(self.config.entry_buffer),
                "T2",
                "a thread has too many free entries",
                slot as usize,
            )?;
        }
        let pool = self.store.pool();
        let found = self.walk(pool.entries.head(), Entry::next, &mut free)?;
        same(found, pool.entries.count(), pool.made)?;
        let dead = self.check_all_entries(pool.made)?;
        listed.join(spare);
        ensure(
            dead == listed,
            "T2",
            "a free entry is lost, or in two lists",
            pool.made as usize,
        )
    }

    /// Verifies every entry. Returns those that have ended.
    fn check_all_entries(&self, made: u32) -> Result<Found, Corruption> {
        let mut dead = Found::default();
        for index in 0..made {
            let state = self.entry(index).state();
            let ended = self.has_ended(state);
            self.check_entry(index, state, ended)?;
            if ended {
                dead.add(index);
            }
        }
        Ok(dead)
    }

    /// Verifies that the group of an object exists.
    fn check_entry(&self, index: u32, state: State, ended: bool) -> Result<(), Corruption> {
        let instance = state.group() >> self.class_bits;
        let known = (instance as usize) < self.instances.len()
            && self.groups_of(instance).contains(&state.group());
        ensure(
            ended || known,
            "E1",
            "an entry is of no group",
            index as usize,
        )
    }

    /// Every page is one of a group, free in one list, or was never opened. `used` are those of
    /// groups.
    pub(super) fn check_free_pages(&self, used: Found) -> Result<(), Corruption> {
        let mut found = used;
        for (slot, buffer) in self.store.buffers.iter().enumerate() {
            let buffer = buffer.0.lock();
            self.walk_pages(&buffer.pages, &mut found)?;
            ensure(
                buffer.pages.count() <= self.store.buffer_pages,
                "L1",
                "a thread has too many free pages",
                slot,
            )?;
        }
        let pool = self.store.pool();
        self.walk_pages(&pool.pages, &mut found)?;
        let mut opened = Found::default();
        (0..pool.frontier).for_each(|page| opened.add(page));
        ensure(
            found == opened,
            "L1",
            "a page is lost, or in two places",
            pool.frontier as usize,
        )?;
        // Whoever opens one of them takes the pool's lock before.
        let fresh = pool.frontier..self.pages.count();
        let touched = fresh.filter_map(|number| self.pages.page(number));
        let touched = touched.filter(|page| page.used() > 0).count();
        ensure(
            touched == 0,
            "L1",
            "a page that was never opened has used page-blocks",
            touched,
        )
    }

    /// Walks a list of free pages; all of them must be empty.
    fn walk_pages(&self, list: &PageList, all: &mut Found) -> Result<(), Corruption> {
        let (mut found, mut link) = (0, list.head());
        while let Some(page) = self.page_named(link, "L1")? {
            ensure(
                page.used() == 0,
                "L1",
                "a free page has used page-blocks",
                link as usize,
            )?;
            all.add(link);
            found += 1;
            ensure(
                found <= list.count(),
                "L1",
                "a list of free pages is longer than its count",
                link as usize,
            )?;
            link = page.record.next.get();
        }
        ensure(
            found == list.count(),
            "L1",
            "a list of free pages is shorter than its count",
            list.head() as usize,
        )
    }
}
