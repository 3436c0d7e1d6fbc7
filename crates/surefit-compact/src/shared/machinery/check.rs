//! Verifies the numbered invariants of a shared heap: each group under its lock, each page under
//! its own.
//!
//! For every group it walks all entries, because full pages are in no list: they are counted
//! through their objects.
#![deny(unsafe_code)]

use core::sync::atomic::Ordering::Relaxed;

use lock_api::RawMutex;
use surefit_core::{Corruption, ensure};

use super::engine::SharedEngine;
use super::entry::{NO_BLOCK, State};
use super::entry_list::NIL;
use super::group::Section;
use crate::automaton::incremental::over;
use crate::page::{Block, Page};
use crate::shared::lock::Granularity;
use crate::width::Spread;

/// The first entries of a group's two deferred lists: the one being drained, and the one that
/// grows.
fn waiting_in<R: RawMutex>(section: &Section<'_, R>) -> [u32; 2] {
    let group = section.group();
    [group.draining().load(Relaxed), group.first_deferred()]
}

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// Verifies entries (T), groups (S, G), instances (I) and free pages (L), each under the lock
    /// that guards it. The result is exact only if no other thread works on the heap: an object
    /// that is freed or inserted meanwhile may be reported. O(groups · entries + pages · π).
    pub(crate) fn check(&self, debts: bool) -> Result<(), Corruption> {
        let mut pages = 0;
        for group in self.all_groups() {
            let section = self.enter(group);
            self.check_group(&section, group)?;
            let counts = self.counts(&section, self.class_of(group));
            ensure(
                debts || !over(self.bound(), counts),
                "S3",
                "the group is over its bound",
                group as usize,
            )?;
            pages += section.class.pages();
        }
        for (number, instance) in self.instances.iter().enumerate() {
            let number = u32::try_from(number).expect("at most 4096 instances");
            let held = self
                .groups_of(number)
                .map(|group| self.enter(group).class.pages());
            ensure(
                held.sum::<u32>() == instance.pages(),
                "I1",
                "the instance has another number of pages than its groups",
                number as usize,
            )?;
        }
        self.check_free_entries()?;
        self.check_free_pages(pages)
    }

    /// Every dead entry is in exactly one list, or retired.
    fn check_free_entries(&self) -> Result<(), Corruption> {
        let mut listed = 0;
        for group in self.all_groups() {
            let section = self.enter(group);
            let waiting = waiting_in(&section).into_iter();
            let waiting = waiting.map(|first| self.waiting_from(first).count());
            let spare = section.spare.count() + section.parked.count();
            listed += spare as usize + waiting.sum::<usize>();
        }
        for buffer in self.store.buffers {
            listed += buffer.0.lock().entries.count() as usize;
        }
        let pool = self.store.pool();
        listed += (pool.entries.count() + pool.retired) as usize;
        let dead = (0..pool.made).filter(|&index| self.has_ended(self.entry(index).state()));
        ensure(
            dead.count() == listed,
            "T2",
            "a free entry is lost, or in two lists",
            pool.made as usize,
        )
    }

    /// Whether an entry holds no object. In a heap of several instances whose objects have one name
    /// each, nobody pins exclusively. So forgotten pins, which stay on a dead entry, do not hide
    /// that it is dead.
    fn has_ended(&self, state: State) -> bool {
        let one_name = self.stale_names && !self.table.is_keyed();
        let forgotten = one_name && state.is_freed() && state.is_writer();
        state.is_dead() || forgotten
    }

    /// The entries of a deferred list.
    fn waiting_from(&self, first: u32) -> impl Iterator<Item = u32> {
        let next = |&index: &u32| (index != NIL).then(|| self.entry(index).deferred_next());
        core::iter::successors(Some(first), next).take_while(|&index| index != NIL)
    }

    fn check_free_pages(&self, used: u32) -> Result<(), Corruption> {
        let mut free = 0;
        for slot in 0..self.store.buffers.len() {
            let buffer = self.store.buffers[slot].0.lock();
            let found = self.pages_linked(buffer.pages.head(), buffer.pages.count())?;
            free += found;
        }
        let pool = self.store.pool();
        free += self.pages_linked(pool.pages.head(), pool.pages.count())?;
        ensure(
            used + free == pool.frontier,
            "L1",
            "a page is lost, or in two places",
            pool.frontier as usize,
        )?;
        let shift = self.pages.geometry.page_shift();
        ensure(
            (pool.frontier as usize) <= pool.floor >> shift,
            "T1",
            "data pages reach into the address table",
            pool.frontier as usize,
        )
    }

    /// The number of free pages in a list; all of them must be empty.
    fn pages_linked(&self, head: u32, count: u32) -> Result<u32, Corruption> {
        let (mut found, mut link) = (0, head);
        while let Some(page) = self.pages.linked(link) {
            ensure(
                page.used() == 0,
                "L1",
                "a free page has used page-blocks",
                link as usize,
            )?;
            found += 1;
            ensure(
                found <= count,
                "L1",
                "a list of free pages is longer than its count",
                link as usize,
            )?;
            link = page.record.next.get();
        }
        ensure(
            found == count,
            "L1",
            "a list of free pages is shorter than its count",
            head as usize,
        )?;
        Ok(found)
    }

    fn check_group(&self, section: &Section<'m, R>, group: u32) -> Result<(), Corruption> {
        let layout = self.pages.geometry.layout(self.class_of(group));
        let (used, listed) = self.check_list(section, group)?;
        let full = section.class.pages() - listed;
        let reserved = u32::from(section.moving.get().is_some());
        let live = section.live();
        ensure(
            used + full * u32::from(layout.blocks) == live + section.parked.count() + reserved,
            "S1",
            "used page-blocks are not the live ones, those parked and those reserved",
            group as usize,
        )?;
        let named = self.check_entries(section, group)?;
        ensure(
            named == live,
            "S1",
            "live page-blocks without an entry, or the reverse",
            group as usize,
        )?;
        self.check_parked(section, group)?;
        self.check_move(section, group)
    }

    /// Walks the stack of parked pairs.
    fn check_parked(&self, section: &Section<'m, R>, group: u32) -> Result<(), Corruption> {
        let (mut found, mut index) = (0, section.parked.head());
        while index != NIL {
            found += 1;
            ensure(
                found <= section.parked.count(),
                "K1",
                "the stack of parked pairs is a ring, or longer than its count",
                group as usize,
            )?;
            let state = self.entry(index).state();
            ensure(
                self.has_ended(state) && state.group() == group,
                "K1",
                "a parked entry has an object, or is another group's",
                index as usize,
            )?;
            self.check_block(index, state)?;
            index = self.entry(index).parked().0;
        }
        let buffered = section.parked.count() + section.spare.count();
        ensure(
            found == section.parked.count() && buffered <= u32::from(self.config.entry_buffer),
            "K1",
            "the stack of parked pairs is shorter than its count, or too long",
            group as usize,
        )?;
        ensure(
            found == 0 || section.class.pages() <= section.live(),
            "K3",
            "pairs are parked in a group with more pages than objects",
            group as usize,
        )
    }

    /// Walks the list of not-full pages. Returns the number of their used page-blocks, and of the
    /// pages.
    fn check_list(&self, section: &Section<'m, R>, group: u32) -> Result<(u32, u32), Corruption> {
        let (mut used, mut listed) = (0, 0);
        let (mut link, mut before) = (section.class.head.get(), NIL);
        while let Some(page) = self.pages.linked(link) {
            let _held = self.hold(page);
            ensure(
                listed < section.class.not_full(),
                "S2",
                "the list is a ring",
                link as usize,
            )?;
            ensure(
                page.record.class.get() == self.class_of(group),
                "S2",
                "a page of another class is in the list",
                link as usize,
            )?;
            ensure(
                page.used() > 0 && page.free_blocks() > 0,
                "S2",
                "a page in the list is full or empty",
                link as usize,
            )?;
            ensure(
                listed == 0 || page.record.prev.get() == before,
                "S2",
                "a backward link is wrong",
                link as usize,
            )?;
            ensure(
                self.bits(page) == page.used() && !self.pages.stray_bits(page),
                "P1",
                "used page-blocks and their bitmap differ",
                link as usize,
            )?;
            used += page.used();
            listed += 1;
            before = link;
            link = page.record.next.get();
        }
        ensure(
            section.class.tail.get() == before,
            "S2",
            "the last page is another",
            group as usize,
        )?;
        ensure(
            listed == section.class.not_full(),
            "S2",
            "the list is too short",
            group as usize,
        )?;
        Ok((used, listed))
    }

    fn bits(&self, page: Page<'m, Spread>) -> u32 {
        let used = |number: u32| self.pages.is_used(Block { page, number });
        let used = (0..page.blocks()).filter(|&number| used(number));
        u32::try_from(used.count()).expect("at most 4096 page-blocks")
    }

    /// The number of entries of a group that hold a page-block. Each of these page-blocks must be
    /// used, and name the entry.
    fn check_entries(&self, section: &Section<'m, R>, group: u32) -> Result<u32, Corruption> {
        let mut named = 0;
        for index in 0..self.store.pool().made {
            let entry = self.entry(index);
            let state = entry.state();
            if state.group() != group || self.has_ended(state) {
                continue;
            }
            self.check_block(index, state)?;
            let moving = section
                .moving
                .get()
                .is_some_and(|moving| moving.entry == index);
            ensure(
                moving == state.is_moving(),
                "G2",
                "an entry is in motion, or not",
                index as usize,
            )?;
            named += 1;
        }
        Ok(named + self.check_deferred(section)?)
    }

    /// Verifies the page-block of an entry of the section's group, whose state was `state` a moment
    /// ago.
    fn check_block(&self, index: u32, state: State) -> Result<(), Corruption> {
        let entry = self.entry(index);
        let location = entry.location(state);
        let id = self.pages.page_number_at((location as usize) << 3);
        // F1: only the holder of the page's lock may look at its record and its tail.
        let _held = id.map(|id| self.hold_page(id));
        // A call that page locks serve alone may have freed the object before the lock was taken.
        if G::PAGES && (entry.state() != state || entry.location(state) != location) {
            return Ok(());
        }
        let Some(block) = id.map(|_| self.block(location)) else {
            return ensure(false, "E1", "an entry names no page-block", index as usize);
        };
        ensure(
            self.pages.is_used(block),
            "S1",
            "an entry names a free page-block",
            index as usize,
        )?;
        ensure(
            self.pages.back_reference(block) == index,
            "S1",
            "a page-block names another entry",
            index as usize,
        )?;
        ensure(
            self.location(block) == location,
            "E1",
            "an entry names no page-block's start",
            index as usize,
        )
    }

    /// The number of freed objects that wait and still hold their page-block.
    fn check_deferred(&self, section: &Section<'m, R>) -> Result<u32, Corruption> {
        let mut waiting = 0;
        let lists = waiting_in(section).into_iter();
        for index in lists.flat_map(|first| self.waiting_from(first)) {
            let entry = self.entry(index);
            let state = entry.state();
            ensure(
                state.is_freed(),
                "E2",
                "a live object waits to be drained",
                index as usize,
            )?;
            if entry.location(state) != NO_BLOCK {
                self.check_block(index, state)?;
                waiting += 1;
            }
        }
        Ok(waiting)
    }

    fn check_move(&self, section: &Section<'m, R>, group: u32) -> Result<(), Corruption> {
        let Some(moving) = section.moving.get() else {
            return Ok(());
        };
        let block = |(page, number)| Block {
            page: self.pages.known(page),
            number,
        };
        let (from, to) = (block(moving.from), block(moving.to));
        ensure(
            from.page.id != to.page.id,
            "S1",
            "a move stays in its page",
            group as usize,
        )?;
        ensure(
            from.page.free_blocks() > 0,
            "S4",
            "the page that a move leaves is full",
            group as usize,
        )?;
        let names = self.pages.is_used(to) && self.pages.back_reference(to) == moving.entry;
        ensure(
            names,
            "S1",
            "the target of a move is not reserved for it",
            group as usize,
        )
    }
}
