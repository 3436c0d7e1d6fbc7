//! Verifies the numbered invariants of a shared heap: each group under its lock, each page under
//! its own.
//!
//! For every group it walks all entries, because full pages are in no list: they are found through
//! the objects in their first page-blocks. No link is followed, and no record read, before it is
//! known to lie inside the heap. What is in lists is not only counted: numbers are summed up
//! ([`Found`]), so that two lists with one end are told without memory.
#![deny(unsafe_code)]

use core::sync::atomic::Ordering::Relaxed;

use lock_api::RawMutex;
use surefit_classes::Bound;
use surefit_classes::automaton::incremental::over;
use surefit_classes::automaton::{ClassCounts, frees_in_a_row};
use surefit_core::{Corruption, ensure};

use super::engine::SharedEngine;
use super::entry::{NO_BLOCK, PIN_LIMIT, State};
use super::entry_list::NIL;
use super::group::{Move, Section};
use super::instance::NO_ID;
use crate::page::{Block, Page, PageId};
use crate::shared::config::Increment;
use crate::shared::lock::Granularity;
use crate::width::Spread;

mod free;

/// Numbers that were found: how many, and a sum that no other numbers are likely to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Found {
    count: u32,
    sum: u64,
}

impl Found {
    fn add(&mut self, number: u32) {
        // The end of SplitMix64.
        let mut word = u64::from(number).wrapping_add(0x9E37_79B9_7F4A_7C15);
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        self.count = self.count.wrapping_add(1);
        self.sum = self.sum.wrapping_add(word ^ word >> 31);
    }

    fn join(&mut self, other: Self) {
        self.count = self.count.wrapping_add(other.count);
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// The most frees for which the bound need not be asked, whichever objects they free. More frees
/// than there are objects come after as many allocations, which make no hole.
fn most_credit(bound: Bound, counts: ClassCounts) -> u32 {
    let Bound::Holes { base, .. } = bound else {
        return u32::MAX;
    };
    let most = frees_in_a_row(bound, counts);
    if most < counts.live {
        return most;
    }
    most.max(base.saturating_sub(counts.holes))
}

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// Verifies entries (T), groups (S, G), instances (I) and free pages (L), each under the lock
    /// that guards it. The result is exact only if no other thread works on the heap: an object
    /// that is freed or inserted, a thread that registers, and an instance that is destroyed
    /// meanwhile may be reported. O(groups · entries + pages · π).
    pub(crate) fn check(&self, debts: bool) -> Result<(), Corruption> {
        self.check_room()?;
        let mut pages = Found::default();
        for group in self.all_groups() {
            let section = self.enter(group);
            self.check_group(&section, group, &mut pages)?;
            let counts = self.counts(&section, self.class_of(group));
            ensure(
                debts || !over(self.bound_of(group), counts),
                "S3",
                "the group is over its bound",
                group as usize,
            )?;
            let is_kept = section.class.credit() <= most_credit(self.bound_of(group), counts);
            ensure(
                is_kept,
                "S3",
                "the bound would not be asked in time",
                group as usize,
            )?;
        }
        self.check_slack()?;
        self.check_instances()?;
        self.check_free_entries()?;
        self.check_free_pages(pages)
    }

    /// K6.
    fn check_slack(&self) -> Result<(), Corruption> {
        let lends = self.slack.as_ref().map(|slack| (slack.bytes, slack.words));
        let Some((bytes, [spare, _, lent @ ..])) = lends else {
            return Ok(());
        };
        let lent = self.all_groups().zip(lent).map(|(group, lent)| {
            let _section = self.enter(group);
            u64::from(lent.load(Relaxed)) * u64::from(self.share_of(group))
        });
        let all = lent.fold(u64::from(spare.load(Relaxed)), u64::saturating_add);
        ensure(
            all == u64::from(bytes),
            "K6",
            "spare and lent bytes are not the slack",
            0,
        )
    }

    fn check_instances(&self) -> Result<(), Corruption> {
        let mut threads: u64 = 0;
        for (number, instance) in self.instances.iter().enumerate() {
            let groups = self.groups_of(u32::try_from(number).expect("at most 4096 instances"));
            let held = groups.map(|group| self.enter(group).class.pages());
            ensure(
                held.fold(0, u32::wrapping_add) == instance.pages(),
                "I1",
                "the instance has another number of pages than its groups",
                number,
            )?;
            let registered = instance.threads();
            let known = registered.is_some_and(|threads| threads <= self.threads_per_instance());
            ensure(
                known && instance.id() != NO_ID,
                "I2",
                "an instance is closed, has no number, or too many threads",
                number,
            )?;
            threads += u64::from(registered.unwrap_or(0));
        }
        let buffers = self.store.buffers.iter();
        let taken = buffers.filter(|buffer| buffer.0.lock().taken).count();
        ensure(
            threads == taken as u64,
            "I2",
            "threads are registered without a buffer, or the reverse",
            taken,
        )
    }

    /// Whether an entry holds no object. Forgotten pins, which stay on a dead entry of a heap whose
    /// names may be stale, do not hide that it is dead.
    fn has_ended(&self, state: State) -> bool {
        let forgotten =
            self.stale_names && state.is_freed() && state.is_writer() && !state.is_moving();
        state.is_dead() || forgotten
    }

    /// The page that a link names, if it names one.
    fn page_named(
        &self,
        link: u32,
        invariant: &'static str,
    ) -> Result<Option<Page<'m, Spread>>, Corruption> {
        let page = self.pages.page(link);
        ensure(
            link == NIL || page.is_some(),
            invariant,
            "a link names no page",
            link as usize,
        )?;
        Ok(page)
    }

    fn check_group(
        &self,
        section: &Section<'m, R>,
        group: u32,
        pages: &mut Found,
    ) -> Result<(), Corruption> {
        let at = group as usize;
        let others = section.class.parked() == 0
            && (G::PAGES || section.group().live_apart.load(Relaxed) == 0);
        ensure(others, "S1", "a count that nobody uses has changed", at)?;
        if G::PAGES {
            self.page_named(section.group().hint.load(Relaxed), "S2")?;
        }
        let (used, listed) = self.check_list(section, group, pages)?;
        let before = pages.count;
        let named = self.check_entries(section, group, pages)?;
        ensure(
            named == section.live(),
            "S1",
            "live page-blocks without an entry, or the reverse",
            at,
        )?;
        self.check_parked(section, group, pages)?;
        self.check_move(section, group, pages)?;
        let full = pages.count - before;
        ensure(
            section.class.pages().checked_sub(full) == Some(listed),
            "S2",
            "the pages of a group are miscounted",
            at,
        )?;
        let blocks = self.pages.geometry.layout(self.class_of(group)).blocks;
        let all = u64::from(full) * u64::from(blocks) + u64::from(used);
        let reserved = u64::from(section.moving.get().is_some());
        ensure(
            all == u64::from(named) + u64::from(section.parked.count()) + reserved,
            "S1",
            "used page-blocks are not the live ones, those parked and those reserved",
            at,
        )
    }

    /// Verifies a page of a group, whose lock is held, and the page's own.
    fn check_page(&self, page: Page<'m, Spread>, group: u32) -> Result<(), Corruption> {
        let at = page.id.index();
        ensure(
            page.record.class.get() == self.class_of(group),
            "S2",
            "a page of another class is in the group",
            at,
        )?;
        let used = |&number: &u32| self.pages.is_used(Block { page, number });
        let bits = (0..page.blocks()).filter(used);
        ensure(
            page.used() <= page.blocks()
                && bits.clone().count() == page.used() as usize
                && !self.pages.stray_bits(page),
            "P1",
            "used page-blocks and their bitmap differ",
            at,
        )?;
        if self.pages.is_small(page) {
            return Ok(());
        }
        let fresh = self.pages.fresh(page);
        ensure(
            fresh <= page.blocks() && bits.last() < Some(fresh),
            "P1",
            "a used page-block was never taken",
            at,
        )?;
        ensure(
            self.pages.linked_free_blocks(page) == fresh - page.used(),
            "P3",
            "a list of free page-blocks is wrong",
            at,
        )
    }

    /// Verifies the page of a page-block that an entry names, if it is full and this is its first
    /// page-block.
    fn check_full(
        &self,
        block: Block<'m, Spread>,
        group: u32,
        pages: &mut Found,
    ) -> Result<(), Corruption> {
        if block.number == 0 && block.page.used() == block.page.blocks() {
            self.check_page(block.page, group)?;
            pages.add(block.page.id.word());
        }
        Ok(())
    }

    /// Walks the stack of parked pairs.
    fn check_parked(
        &self,
        section: &Section<'m, R>,
        group: u32,
        pages: &mut Found,
    ) -> Result<(), Corruption> {
        let (mut found, mut index) = (0, section.parked.head());
        while index != NIL {
            found += 1;
            ensure(
                found <= section.parked.count() && self.table.contains(index),
                "K1",
                "the stack of parked pairs is a ring, longer than its count, or names no entry",
                group as usize,
            )?;
            let state = self.entry(index).state();
            ensure(
                self.has_ended(state) && state.group() == group,
                "K1",
                "a parked entry has an object, or is another group's",
                index as usize,
            )?;
            self.check_block(index, state, pages)?;
            index = self.entry(index).parked().0;
        }
        let buffered = section.parked.count().saturating_add(section.spare.count());
        ensure(
            found == section.parked.count()
                && found <= u32::from(self.config.parked_max())
                && buffered <= u32::from(self.config.entry_buffer),
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
    fn check_list(
        &self,
        section: &Section<'m, R>,
        group: u32,
        pages: &mut Found,
    ) -> Result<(u32, u32), Corruption> {
        let (mut used, mut listed) = (0, 0);
        let (mut link, mut before) = (section.class.head.get(), NIL);
        while let Some(page) = self.page_named(link, "S2")? {
            let _held = self.hold(page);
            ensure(
                listed < section.class.not_full(),
                "S2",
                "the list is a ring",
                link as usize,
            )?;
            self.check_page(page, group)?;
            ensure(
                page.used() > 0 && page.used() < page.blocks(),
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
            pages.add(link);
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

    /// The number of entries of a group that hold a page-block. Each of these page-blocks must be
    /// used, and name the entry.
    fn check_entries(
        &self,
        section: &Section<'m, R>,
        group: u32,
        pages: &mut Found,
    ) -> Result<u32, Corruption> {
        let mut named = 0;
        // The pool's lock is not kept: a page's is taken below, and threads that hold one take the
        // pool's.
        let made = self.store.pool().made;
        for index in 0..made {
            let entry = self.entry(index);
            let state = entry.state();
            if state.group() != group || self.has_ended(state) {
                continue;
            }
            self.check_block(index, state, pages)?;
            ensure(
                !state.is_claimable() && state.pins() <= PIN_LIMIT,
                "E5",
                "a freed object is nobody's, or has too many pins",
                index as usize,
            )?;
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
        Ok(named + self.check_deferred(section, group, pages)?)
    }

    /// Verifies the page-block of an entry of the section's group, whose state was `state` a moment
    /// ago.
    fn check_block(&self, index: u32, state: State, pages: &mut Found) -> Result<(), Corruption> {
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
        )?;
        ensure(
            block.page.record.class.get() == self.class_of(state.group()),
            "S1",
            "an entry names a page-block of another class",
            index as usize,
        )?;
        self.check_full(block, state.group(), pages)
    }

    /// The number of freed objects that wait and still hold their page-block.
    fn check_deferred(
        &self,
        section: &Section<'m, R>,
        group: u32,
        pages: &mut Found,
    ) -> Result<u32, Corruption> {
        let mut waiting = 0;
        self.walk_waiting(section, &mut |index, state| {
            ensure(
                state.group() == group,
                "E2",
                "an object of another group waits to be drained",
                index as usize,
            )?;
            if self.entry(index).location(state) != NO_BLOCK {
                self.check_block(index, state, pages)?;
                waiting += 1;
            }
            Ok(())
        })?;
        Ok(waiting)
    }

    fn check_move(
        &self,
        section: &Section<'m, R>,
        group: u32,
        pages: &mut Found,
    ) -> Result<(), Corruption> {
        let Some(moving) = section.moving.get() else {
            return Ok(());
        };
        let at = group as usize;
        let block = |(page, number): (PageId, u32)| {
            let page = self.pages.page(page.word())?;
            Some(Block { page, number })
        };
        let (Some(from), Some(to)) = (block(moving.from), block(moving.to)) else {
            return ensure(false, "S1", "a move begins or ends in no page", at);
        };
        ensure(
            from.page.id != to.page.id,
            "S1",
            "a move stays in its page",
            at,
        )?;
        self.check_source(moving, from, group)?;
        let _held = self.hold(to.page);
        ensure(
            self.pages.is_used(to)
                && self.pages.back_reference(to) == moving.entry
                && to.page.record.class.get() == self.class_of(group),
            "S1",
            "the target of a move is not reserved for it",
            at,
        )?;
        // No step of another size was made, and the last one would have ended the move.
        let block_bytes = from.page.layout.block_bytes;
        let steps = match self.config.increment {
            Increment::Whole => moving.done == 0,
            Increment::Bytes(bytes) => moving.done % bytes.get() == 0,
        };
        ensure(
            steps
                && moving.done < block_bytes
                && moving.serial.wrapping_add(1) == section.begun.get(),
            "G2",
            "a move has copied what no steps copy, or is not the last that began",
            at,
        )?;
        self.check_full(to, group, pages)
    }

    /// Verifies that a move's object is where the move begins, and that its page is not full.
    fn check_source(
        &self,
        moving: Move,
        from: Block<'m, Spread>,
        group: u32,
    ) -> Result<(), Corruption> {
        let at = group as usize;
        let known = self.table.contains(moving.entry) && from.number < from.page.blocks();
        let entry = known.then(|| self.entry(moving.entry));
        let there = entry.is_some_and(|entry| {
            let state = entry.state();
            let there = entry.location(state) == self.location(from);
            state.is_moving() && state.group() == group && there
        });
        ensure(there, "G2", "a move begins where its object is not", at)?;
        let _held = self.hold(from.page);
        ensure(
            from.page.used() < from.page.blocks(),
            "S4",
            "the page that a move leaves is full",
            at,
        )
    }
}
