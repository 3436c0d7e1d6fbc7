//! Concurrent, incremental Compact-fit on page-blocks and entries: allocate, free, compact.
//!
//! One engine serves 1-CF and n-CF. It has one or several *instances*, each with a group for every
//! size-class, over one pool of pages and one table of entries. The entry of an object names its
//! group, which never changes. So a free knows which lock to take before it takes it.
//!
//! ```text
//! allocate   lock the group; take a parked pair (`parked`), or else a free entry, and a page-block
//!            of the allocation page, or open a page; unlock
//! free       lock; park the pair; or else give the entry back, and the page-block as the automaton
//!            decides; then rounds, each under the lock: the incremental automaton decides whether
//!            to step the move in flight, begin one, or leave (`moves`)
//! ```
//!
//! # Invariants
//! - S1 The used page-blocks of a group are its live objects, its parked pairs, and at most one
//!   target of a move. All of them have their entry as back-reference.
//! - S2 A page of a group is in its list iff the page has a free page-block. `pages` is the number
//!   of the group's pages.
//! - S3 At rest (no free in progress, no pins since the last frees) every group keeps the
//!   compaction bound, or exceeds it by the moves that pins prevented.
//! - S4 While an object of a page is being moved, the page is not full.
//!
//! # Bounds
//! `allocate` is O(1) and never moves. `free` makes a bounded number of rounds
//! (`automaton::incremental`). Each round copies at most min(β, ι) bytes, and looks at up to Π + 1
//! objects.
//!
//! # Source
//! Craciunas et al., concurrent and incremental Compact-fit (2009): 1-CF(κ,ι) and n-CF(κ,ι).
#![deny(unsafe_code)]

use core::marker::PhantomData;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use lock_api::RawMutex;
use surefit_classes::automaton::incremental::{keeps_full, malloc_cancels};
use surefit_classes::automaton::{self, ClassCounts, Free, Malloc, PageCounts};
use surefit_classes::{Bound, PageOrder, SizeClass};
use surefit_core::Refused;

use super::abort_on_unwind::AbortOnUnwind;
use super::entry::{Entry, NO_BLOCK, State, Unpinned};
use super::entry_list::NIL;
use super::group::{Group, Section};
use super::instance::Instance;
use super::pool::{Slot, Store};
use super::slack::Slack;
use super::table::EntryTable;
use crate::page::{Block, Page, PageTable};
use crate::shared::config::SharedConfig;
use crate::shared::lock::Granularity;
use crate::width::Spread;

/// The most objects freed without the lock that one operation gives back.
pub(crate) const DRAINED: u32 = 2;

/// A shared heap of page-blocks that entries name.
pub(crate) struct SharedEngine<'m, R: RawMutex, G: Granularity> {
    pub(crate) pages: PageTable<'m, Spread>,
    pub(crate) table: EntryTable,
    pub(crate) groups: &'m [Group<R>],
    pub(crate) instances: &'m [Instance],
    pub(crate) store: Store<'m, R>,
    pub(crate) config: &'m SharedConfig<G>,
    /// The number of low bits of a group's number that hold its class.
    pub(crate) class_bits: u32,
    /// Whether names may outlive their objects, so that pins come and go on any entry.
    pub(crate) stale_names: bool,
    /// One lock per page under page locks, else none.
    pub(crate) page_locks: &'m [AbortOnUnwind<R>],
    /// Holes that groups borrow, in place of those that the configuration's bound allows each.
    pub(crate) slack: Option<Slack<'m>>,
    pub(crate) granularity: PhantomData<G>,
}

// ---- names --------------------------------------------------------------------------------------

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// The group of a size-class of an instance.
    #[inline]
    pub(crate) fn group_of(&self, instance: u32, class: SizeClass) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "at most 128 classes")]
        {
            instance << self.class_bits | class.index() as u32
        }
    }

    /// The size-class of a group.
    #[inline]
    pub(crate) fn class_of(&self, group: u32) -> SizeClass {
        let class = group & ((1 << self.class_bits) - 1);
        let class = self.pages.geometry.class(class as usize);
        class.expect("a group's class is one of the geometry's")
    }

    /// The instance of a group.
    #[inline]
    pub(crate) fn instance_of(&self, group: u32) -> &'m Instance {
        &self.instances[(group >> self.class_bits) as usize]
    }

    /// The groups of an instance, one per size-class.
    pub(crate) fn groups_of(&self, instance: u32) -> core::ops::Range<u32> {
        #[expect(clippy::cast_possible_truncation, reason = "at most 128 classes")]
        let classes = self.pages.geometry.class_count() as u32;
        let first = instance << self.class_bits;
        first..first + classes
    }

    /// All groups.
    pub(crate) fn all_groups(&self) -> impl Iterator<Item = u32> {
        let instances = 0..u32::try_from(self.instances.len()).expect("at most 4096 groups");
        instances.flat_map(|instance| self.groups_of(instance))
    }

    #[inline]
    pub(crate) fn entry(&self, index: u32) -> &'m Entry {
        self.table.entry(&self.pages.memory, index)
    }

    /// Takes a group's lock.
    #[inline]
    pub(crate) fn enter(&self, group: u32) -> Section<'m, R> {
        let guard = if G::ONE {
            group >> self.class_bits << self.class_bits
        } else {
            group
        };
        self.groups[group as usize].enter(&self.groups[guard as usize])
    }

    /// The block at a location.
    #[inline]
    pub(crate) fn block(&self, location: u32) -> Block<'m, Spread> {
        self.pages.named_block_at((location as usize) << 3)
    }

    /// The location of a block.
    #[inline]
    pub(crate) fn location(&self, block: Block<'m, Spread>) -> u32 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "regions have at most 2^32 units of eight bytes"
        )]
        {
            (self.pages.offset(block) >> 3) as u32
        }
    }

    #[inline]
    pub(crate) fn bound(&self) -> Bound {
        self.config.config.bound()
    }

    /// The numbers of a group that decide a transition.
    #[inline]
    pub(crate) fn counts(&self, section: &Section<'m, R>, class: SizeClass) -> ClassCounts {
        let layout = self.pages.geometry.layout(class);
        let live = section.live();
        let _held = self.hold_last(section);
        self.pages
            .counts(self.bound(), &section.class, live, layout)
    }

    /// The numbers of a page that decide a transition.
    pub(crate) fn page_counts(&self, page: Page<'m, Spread>) -> PageCounts {
        let _held = self.hold(page);
        page.counts()
    }

    #[inline]
    fn add_live(&self, section: &Section<'m, R>) {
        if G::PAGES {
            section.group().live_apart.fetch_add(1, Relaxed);
        } else {
            section.class.add_live();
        }
    }

    #[inline]
    pub(crate) fn remove_live(&self, section: &Section<'m, R>) {
        if G::PAGES {
            section.group().live_apart.fetch_sub(1, Relaxed);
        } else {
            section.class.remove_live();
        }
    }

    /// The not-full page that serves allocations.
    #[inline]
    pub(crate) fn allocation_page(&self, section: &Section<'m, R>) -> Option<Page<'m, Spread>> {
        self.pages.linked(match self.config.config.order() {
            PageOrder::Newest => section.class.head.get(),
            PageOrder::Original => section.class.tail.get(),
        })
    }
}

// ---- allocate -----------------------------------------------------------------------------------

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// Allocates a page-block of a group. Returns its entry, under construction, and its location.
    ///
    /// # Errors
    /// The resource that is exhausted; no object has changed. The address table may have grown by a
    /// page, for an entry that is ready for the next allocation now.
    pub(crate) fn allocate(&self, slot: Slot, group: u32) -> Result<(u32, u32), Refused> {
        if G::PAGES {
            if let Some(allocated) = self.allocate_in_page(slot, group) {
                return Ok(allocated);
            }
        }
        let mut taken_back = false;
        loop {
            let section = self.enter(group);
            if self.bound() == Bound::Unbounded {
                self.drain(&section, slot, group);
            }
            if let Some(parked) = self.take_parked(&section, group) {
                return Ok(parked);
            }
            if section.class.head.get() == NIL && self.bound() != Bound::Unbounded {
                self.drain(&section, slot, group);
            }
            if section.spare.count() > 0 || self.refill_entries(&section) {
                return self.allocate_in(&section, slot, group);
            }
            drop(section);
            if taken_back {
                return Err(Refused::NoHandle);
            }
            self.take_back_entries();
            taken_back = true;
        }
    }

    fn allocate_in(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
    ) -> Result<(u32, u32), Refused> {
        let page = self.page_for(section, slot, group)?;
        let index = section.spare.pop(|index| self.entry(index));
        let index = index.expect("the caller looked");
        let held = self.hold(page);
        let decision = automaton::malloc(Some(page.counts()));
        let block = self.pages.take_free(page, index);
        drop(held);
        if decision == Malloc::Fill {
            self.pages.detach(&section.class, page);
        }
        self.add_live(section);
        self.show_first(section);
        let location = self.location(block);
        self.begin_construction(index, group, location);
        Ok((index, location))
    }

    /// Gives an entry to the object that its caller is about to write.
    #[inline]
    pub(crate) fn begin_construction(&self, index: u32, group: u32, location: u32) {
        if self.stale_names {
            self.entry(index).begin_construction(group, location);
        } else {
            self.entry(index).begin_construction_alone(group, location);
        }
    }

    /// Ends the construction: the object of an allocated entry is written, and may be pinned and
    /// moved.
    #[inline]
    pub(crate) fn end_construction(&self, index: u32) {
        if self.stale_names {
            self.entry(index).end_construction();
        } else {
            self.entry(index).end_construction_alone();
        }
    }

    /// The page that serves an allocation. Opens one if necessary.
    fn page_for(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
    ) -> Result<Page<'m, Spread>, Refused> {
        loop {
            let Some(page) = self.allocation_page(section) else {
                return self.open_page(section, slot, group);
            };
            let moving = section.moving.get();
            let leaves = moving.is_some_and(|moving| moving.from.0 == page.id);
            // Under page locks no move is in flight here, and only the holder of a page's lock
            // reads its counts.
            if !leaves || !malloc_cancels(self.page_counts(page), leaves) {
                return Ok(page);
            }
            self.cancel(section, slot, group);
        }
    }

    #[cold]
    fn open_page(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
    ) -> Result<Page<'m, Spread>, Refused> {
        let instance = self.instance_of(group);
        if !instance.admit_page() {
            return Err(Refused::Quota);
        }
        let Some(page) = self.store.take_page(&self.pages, slot) else {
            instance.return_page();
            return Err(Refused::NoPage);
        };
        let held = self.hold(page);
        let page = self.pages.open(page, self.class_of(group));
        drop(held);
        section.class.add_page();
        self.pages.push_front(&section.class, page);
        Ok(page)
    }

    /// Brings free entries to a group that has none, from the pool, or new ones; at least one if
    /// there is any.
    ///
    /// Only the first entry, which the caller needs, may cost a page of the address table, because
    /// the certificate counts the entries that are needed. Other entries are made only where the
    /// table has room for them already.
    #[cold]
    fn refill_entries(&self, section: &Section<'m, R>) -> bool {
        let memory = &self.pages.memory;
        let shift = self.pages.geometry.page_shift();
        let mut pool = self.store.pool();
        // Entries made together are neighbours, so entries of different groups share few cache
        // lines.
        for _ in 0..(self.config.entry_buffer / 2).max(1) {
            if section.spare.count() == 0 && pool.entries.count() == 0 {
                self.table.grow(shift, &mut pool);
            }
            let pooled = pool.entries.pop(|index| self.entry(index));
            let Some(index) = pooled.or_else(|| self.table.make(memory, &mut pool)) else {
                break;
            };
            section.spare.push(index, self.entry(index));
        }
        section.spare.count() > 0
    }

    /// Returns the free entries that groups and threads have in reserve to the pool.
    #[cold]
    fn take_back_entries(&self) {
        for group in self.all_groups() {
            let section = self.enter(group);
            while let Some(index) = section.spare.pop(|index| self.entry(index)) {
                self.store.pool().entries.push(index, self.entry(index));
            }
        }
        for slot in 0..u32::from(self.config.locals) {
            self.store
                .take_back_entries(slot, |index| self.entry(index));
        }
    }
}

// ---- free ---------------------------------------------------------------------------------------

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// Frees the object of a live entry that nobody has pinned.
    pub(crate) fn free(&self, slot: Slot, index: u32) {
        if G::PAGES && self.free_in_page(slot, index) {
            return;
        }
        let group = self.entry(index).state().group();
        let section = self.enter(group);
        self.free_in(section, slot, group, index);
    }

    /// A free in a section of its group, followed by some of the objects that were freed without
    /// the lock.
    #[inline]
    pub(crate) fn free_in(&self, section: Section<'m, R>, slot: Slot, group: u32, index: u32) {
        if self.park(&section, index) {
            drop(section);
        } else {
            self.free_unparked(section, slot, group, index);
        }
        if self.groups[group as usize].has_deferred() {
            self.free_deferred(slot, group);
        }
    }

    #[inline(never)]
    fn free_unparked(&self, section: Section<'m, R>, slot: Slot, group: u32, index: u32) {
        let freed = self.begin_free(&section, slot, group, index);
        self.settle(section, slot, group, freed);
    }

    /// Frees objects that were freed without the lock, with the moves that this requires.
    #[cold]
    pub(crate) fn free_deferred(&self, slot: Slot, group: u32) {
        for _ in 0..DRAINED {
            if !self.free_next_deferred(slot, group) {
                return;
            }
        }
    }

    /// Frees one of the objects that were freed without the lock. Returns whether there was one.
    pub(crate) fn free_next_deferred(&self, slot: Slot, group: u32) -> bool {
        let section = self.enter(group);
        let Some(index) = self.next_deferred(&section) else {
            return false;
        };
        let freed = self.begin_free(&section, slot, group, index);
        self.settle(section, slot, group, freed);
        true
    }

    /// Gives back objects that were freed without the lock, where that cannot require a move: one
    /// if no page is not-full, more if the group never moves.
    fn drain(&self, section: &Section<'m, R>, slot: Slot, group: u32) {
        let most = if self.bound() == Bound::Unbounded {
            DRAINED
        } else {
            1
        };
        for _ in 0..most {
            let Some(index) = self.next_deferred(section) else {
                return;
            };
            section.class.take_credit();
            if let Some(kept) = self.begin_free(section, slot, group, index).kept {
                self.clear(section, slot, group, kept);
            }
        }
    }

    /// Leaves a claimed entry to the next operations of its group. Lock-free.
    pub(crate) fn defer(&self, group: u32, index: u32) {
        let (entry, head) = (self.entry(index), self.groups[group as usize].deferred());
        let mut first = head.load(Relaxed);
        loop {
            entry.set_deferred_next(first);
            // Release: the link, and what the claimant did to the object, to the drain.
            match head.compare_exchange_weak(first, index, Release, Relaxed) {
                Ok(_) => return,
                Err(now) => first = now,
            }
        }
    }

    /// Leaves an object that an unpin claimed to the next operations of its group.
    pub(crate) fn after_unpin(&self, unpinned: Unpinned, index: u32) {
        if let Unpinned::Claimed(state) = unpinned {
            self.defer(state.group(), index);
        }
    }

    /// The next of the objects that were freed without the lock.
    #[inline]
    fn next_deferred(&self, section: &Section<'m, R>) -> Option<u32> {
        let (draining, deferred) = (section.group().draining(), section.group().deferred());
        let mut index = draining.load(Relaxed);
        if index == NIL {
            if deferred.load(Relaxed) == NIL {
                return None;
            }
            // Acquire: the links, and what claimants did to their objects (`defer`).
            index = deferred.swap(NIL, Acquire);
        }
        draining.store(self.entry(index).deferred_next(), Relaxed);
        Some(index)
    }

    /// First part of a free: gives back the entry, and the page-block as the automaton decides.
    pub(crate) fn begin_free(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
        index: u32,
    ) -> BegunFree<'m> {
        self.give_back_before_settling(section, slot, group);
        let entry = self.entry(index);
        let target = self.end_move_of(section, index);
        let location = entry.location(entry.state());
        self.deactivate(entry, entry.state());
        self.give_entry(section, index);
        if location == NO_BLOCK {
            return BegunFree::NOTHING;
        }
        self.remove_live(section);
        let block = self.block(location);
        match target {
            None => self.free_block(section, slot, group, block),
            Some(target) => {
                // X1: the object's page is not full (S4), and this call frees the target.
                self.clear(section, slot, group, block);
                self.free_block(section, slot, group, target)
            }
        }
    }

    /// Makes the entry of an object dead that the caller frees under the group's lock, under which
    /// the caller has read the entry's state.
    #[inline]
    pub(crate) fn deactivate(&self, entry: &Entry, state: State) {
        if self.stale_names {
            entry.deactivate_keeping_pins();
        } else if !state.is_dead() {
            entry.deactivate_in(state);
        }
    }

    fn free_block(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
        block: Block<'m, Spread>,
    ) -> BegunFree<'m> {
        let counts = self.counts(section, self.class_of(group));
        let (page, in_flight) = (self.page_counts(block.page), section.moving.get().is_some());
        if keeps_full(self.bound(), counts, page, in_flight) {
            return BegunFree {
                kept: Some(block),
                page: None,
            };
        }
        let stays = self.clear(section, slot, group, block);
        BegunFree {
            kept: None,
            page: stays.then_some(block.page),
        }
    }

    /// Gives a used page-block back: F1, F4 or F5. Returns whether its page stays in the group.
    pub(crate) fn clear(
        &self,
        section: &Section<'m, R>,
        slot: Slot,
        group: u32,
        block: Block<'m, Spread>,
    ) -> bool {
        let page = block.page;
        let held = self.hold(page);
        let counts = page.counts();
        self.pages.clear(block);
        drop(held);
        let decision = automaton::free(Bound::Unbounded, ClassCounts::ZERO, counts, None);
        match decision {
            Free::Release => {
                if page.blocks() > 1 {
                    self.pages.detach(&section.class, page);
                }
                section.class.remove_page();
                self.show_first(section);
                self.store.give_page(slot, page);
                // After that: a page on its way counts for the quota, so that all instances never
                // have more pages than they count.
                self.instance_of(group).return_page();
                return false;
            }
            Free::Loosen => {
                self.pages.push_front(&section.class, page);
                self.show_first(section);
            }
            Free::Clear | Free::Refill { .. } => {}
        }
        true
    }

    /// Gives a dead entry back. If the group has too many in reserve, half of them go to the pool.
    pub(crate) fn give_entry(&self, section: &Section<'m, R>, index: u32) {
        section.spare.push(index, self.entry(index));
        self.keep_entries(section);
    }

    /// Keeps the entries that a group has in reserve, parked ones included, within the buffer: if
    /// there are more, half of the spare ones go to the pool.
    #[inline]
    pub(crate) fn keep_entries(&self, section: &Section<'m, R>) {
        let spare = u32::from(self.config.entry_buffer) - section.parked.count();
        if section.spare.count() > spare {
            self.spill(section, spare / 2);
        }
    }

    #[cold]
    pub(crate) fn spill(&self, section: &Section<'m, R>, keep: u32) {
        let pool = self.store.pool();
        while section.spare.count() > keep {
            let index = section.spare.pop(|index| self.entry(index));
            let index = index.expect("the list has so many");
            pool.entries.push(index, self.entry(index));
        }
    }
}

/// What the first part of a free leaves to its rounds.
pub(crate) struct BegunFree<'m> {
    /// The page-block that is the target of a move to begin at once, so that its page stays full.
    pub(crate) kept: Option<Block<'m, Spread>>,
    /// The not-full page of the page-block that was given back.
    pub(crate) page: Option<Page<'m, Spread>>,
}

impl BegunFree<'_> {
    const NOTHING: Self = Self {
        kept: None,
        page: None,
    };
}
