//! What a heap over the operating system's memory must know about its pages: which free pages are
//! resident, and how much memory the heap holds.
//!
//! ```text
//! free pages, in the engine's list:   held | newest … oldest | those that were given back, by cluster
//!                                          └─── spare ────┘
//!                                     └──── resident ─────┘
//! ```
//! All kinds are in one list, which the engine takes from the front. So held pages serve first,
//! then the *spare* ones, which may be given back, the newest first; and no page is opened while
//! another is free. A free page that was given back names itself as its predecessor; a spare one
//! names the spare one before it, the first one nothing; a held one names nothing.
//!
//! A *cluster* is as many neighbouring pages as one page of the operating system has: one page
//! where these are no larger. Clusters are given back whole. One of their pages that is touched
//! makes all of them resident; they follow each other in the list, and become resident together.
//!
//! # Invariants
//! - S1 `spare` counts the free pages that are neither held nor were given back; `oldest` is the
//!   last of them.
//! - S2 The pages of a cluster that was given back follow each other in the list, all of them.
//! - S3 No more than `most` bytes are resident, as [`Stock::resident_bytes`] counts them: the
//!   limit, or what was resident when the limit became less than that.
//! - S4 The first `held_pages` pages, opened or not, and the address table's room from `held_table`
//!   on are resident for the heap's life: they are never given back. `held_free` counts the free
//!   ones of these pages, which are the first in the list; `last_held` is the last of them.
//!
//! # Bounds
//! Every function is O(pages of a cluster), except those that collect a run of neighbours: O(run).

#![cfg_attr(not(feature = "os"), allow(dead_code, reason = "what `os` uses"))]
#![deny(unsafe_code)]

use core::cell::Cell;
use core::ops::Range;

use surefit_core::Refused;

use crate::address::AddressTable;
use crate::layout;
use crate::page::{Page, PageTable};
use crate::width::{Width, Word};

mod check;

/// The state of a heap over the operating system's memory that its engine maintains.
#[derive(Debug)]
pub(crate) struct Supply<W: Width> {
    /// The last spare page.
    oldest: Cell<W::Count>,
    /// Free pages that are resident and not held.
    spare: Cell<u32>,
    /// The smallest `spare` since [`Supply::restart`].
    least: Cell<u32>,
    /// The lowest byte that the address table could touch since its end was given back.
    table_floor: Cell<usize>,
    /// Bytes that may be resident.
    limit: Cell<usize>,
    /// The limit, or what was resident when the limit became less than that.
    most: Cell<usize>,
    /// Bytes of a page of the operating system.
    unit: usize,
    /// The first pages, which are resident for the heap's life.
    held_pages: Cell<u32>,
    /// Held pages that are free.
    held_free: Cell<u32>,
    /// The last of them in the list.
    last_held: Cell<W::Count>,
    /// Where the address table's room begins that is resident for the heap's life.
    held_table: Cell<usize>,
}

/// What is resident for a heap's life, as ranges of bytes from the base.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) pages: Range<usize>,
    /// The address table, the class states, and the records of the pages.
    pub(crate) tail: Range<usize>,
}

/// The pages of a heap over the operating system's memory.
#[derive(Debug)]
pub(crate) struct Stock<'e, 'm, W: Width> {
    pub(crate) pages: &'e PageTable<'m, W>,
    pub(crate) addresses: &'e AddressTable<W>,
    /// Pages that were ever opened.
    pub(crate) frontier: u32,
    /// The first free page.
    pub(crate) list: &'e Cell<W::Count>,
    /// Free pages.
    pub(crate) free: u32,
    pub(crate) supply: &'m Supply<W>,
}

/// Neighbouring free pages that are resident.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    first: u32,
    pages: u32,
}

impl Run {
    /// The number of its pages.
    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }
}

impl<W: Width> Supply<W> {
    /// The supply of a heap without pages and without a limit, whose address table ends at
    /// `table_floor`, on a system with pages of `unit` bytes.
    pub(crate) fn new(unit: usize, table_floor: usize) -> Self {
        Self {
            oldest: Cell::new(W::Count::NIL),
            spare: Cell::new(0),
            least: Cell::new(0),
            table_floor: Cell::new(table_floor),
            limit: Cell::new(usize::MAX),
            most: Cell::new(usize::MAX),
            unit,
            held_pages: Cell::new(0),
            held_free: Cell::new(0),
            last_held: Cell::new(W::Count::NIL),
            held_table: Cell::new(table_floor),
        }
    }

    /// Free pages that are resident.
    pub(crate) fn resident(&self) -> u32 {
        self.held_free.get() + self.spare.get()
    }

    /// Free pages that could be given back.
    pub(crate) fn spare(&self) -> u32 {
        self.spare.get()
    }

    /// The smallest number of spare pages since the last restart: so many pages were not needed all
    /// that time. Counts anew from here on.
    pub(crate) fn restart(&self) -> u32 {
        self.least.replace(self.spare.get())
    }

    fn set_spare(&self, pages: u32) {
        self.spare.set(pages);
        self.least.set(self.least.get().min(pages));
    }
}

// ---- the engine's hooks -------------------------------------------------------------------------

impl<'m, W: Width> Stock<'_, 'm, W> {
    /// A page was put first in the list of free pages.
    pub(crate) fn added(&self, page: Page<'m, W>) {
        let behind = page.record.next.get();
        page.record.prev.set(W::Count::NIL);
        if self.is_held(page.id.word()) {
            self.supply.held_free.set(self.supply.held_free.get() + 1);
            if self.supply.held_free.get() == 1 {
                self.supply.last_held.set(page.id.word());
            }
            return;
        }
        if self.supply.held_free.get() > 0 {
            self.list.set(behind);
            let front = self.front();
            page.record.next.set(front.replace(page.id.word()));
        }
        if self.supply.spare.get() == 0 {
            self.supply.oldest.set(page.id.word());
        } else if let Some(next) = self.pages.linked(page.record.next.get()) {
            next.record.prev.set(page.id.word());
        }
        self.supply.set_spare(self.supply.spare.get() + 1);
    }

    /// A page was taken from the front of the list of free pages.
    pub(crate) fn taken(&self, page: Page<'m, W>) {
        if self.is_held(page.id.word()) {
            self.supply.held_free.set(self.supply.held_free.get() - 1);
            if self.supply.held_free.get() == 0 {
                self.supply.last_held.set(W::Count::NIL);
            }
            return;
        }
        let spare = self.supply.spare.get();
        if spare == 0 {
            return self.revive_cluster(page);
        }
        self.supply.set_spare(spare - 1);
        match spare {
            1 => self.supply.oldest.set(W::Count::NIL),
            _ => {
                let first = self.pages.linked(self.list.get());
                let first = first.expect("another spare page (S1)");
                first.record.prev.set(W::Count::NIL);
            }
        }
    }

    /// Whether a page is held (S4).
    fn is_held(&self, page: u32) -> bool {
        page < self.supply.held_pages.get()
    }

    /// What names the first free page that is not held: the last held one that is free, or the list
    /// itself.
    fn front(&self) -> &Cell<W::Count> {
        match self.pages.linked(self.supply.last_held.get()) {
            Some(last) => &last.record.next,
            None => self.list,
        }
    }

    /// The first page of a cluster that was given back was taken: the others are resident again.
    fn revive_cluster(&self, taken: Page<'m, W>) {
        let (mut before, mut link) = (W::Count::NIL, self.list.get());
        for _ in 1..self.cluster() {
            let page = self.pages.linked(link).expect("clusters are whole (S2)");
            debug_assert!(
                self.first_of_cluster(page.id.word()) == self.first_of_cluster(taken.id.word())
            );
            page.record.prev.set(before);
            self.supply.set_spare(self.supply.spare.get() + 1);
            self.supply.oldest.set(link);
            (before, link) = (link, page.record.next.get());
        }
    }

    /// The address table got room down to its floor.
    pub(crate) fn extended(&self) {
        let floor = self.addresses.floor().min(self.supply.table_floor.get());
        self.supply.table_floor.set(floor);
    }

    /// Whether so many more pages may become resident.
    ///
    /// # Errors
    /// [`Refused::Limit`].
    fn grants(&self, pages: u64) -> Result<(), Refused> {
        let limit = self.supply.limit.get();
        let each = self.pages.geometry.page_bytes().max(self.supply.unit) + size_of_record::<W>();
        // The records may begin another page of the operating system.
        let left = limit.saturating_sub(self.resident_bytes() + self.supply.unit);
        if pages > (left / each) as u64 {
            return Err(Refused::Limit { limit });
        }
        Ok(())
    }

    /// Whether the limit leaves room for pages of the address table, and for pages of which the
    /// resident free ones serve first.
    ///
    /// # Errors
    /// [`Refused::Limit`].
    pub(crate) fn serves(&self, table_pages: u64, pages: u64) -> Result<(), Refused> {
        let ready = u64::from(self.supply.resident()) + u64::from(self.held_fresh());
        let missing = pages.saturating_sub(ready);
        let page = self.pages.geometry.page_bytes();
        let held_table = self
            .addresses
            .floor()
            .saturating_sub(self.supply.held_table.get());
        let table_pages = table_pages.saturating_sub((held_table / page) as u64);
        if table_pages + missing == 0 {
            return Ok(());
        }
        self.grants(table_pages + missing)
    }

    /// Held pages that were never opened (S4).
    fn held_fresh(&self) -> u32 {
        self.supply.held_pages.get().saturating_sub(self.frontier)
    }
}

fn size_of_record<W: Width>() -> usize {
    layout::page_record_bytes::<W>()
}

// ---- what is resident ---------------------------------------------------------------------------

impl<W: Width> Stock<'_, '_, W> {
    /// Pages in one page of the operating system, at least one.
    fn cluster(&self) -> u32 {
        let pages = self.supply.unit.div_ceil(self.pages.geometry.page_bytes());
        u32::try_from(pages).expect("a page of the operating system is small")
    }

    fn first_of_cluster(&self, page: u32) -> u32 {
        page / self.cluster() * self.cluster()
    }

    /// Free pages that were given back.
    pub(crate) fn given_back(&self) -> u32 {
        self.free - self.supply.resident()
    }

    /// An upper bound of the bytes that are resident, in whole pages of the operating system: every
    /// opened page that was not given back, what the address table has room for, the class states,
    /// the records of all pages that were ever opened, and the page in which the supply itself
    /// lies. O(1).
    pub(crate) fn resident_bytes(&self) -> usize {
        let page = self.pages.geometry.page_bytes();
        let pages = self.resident_end();
        let opened = (pages as usize * page).next_multiple_of(self.supply.unit);
        let given_back = self.given_back() as usize * page;
        let classes = self.pages.geometry.class_count();
        let records = self.addresses.top() + layout::fixed_bytes::<W>(classes, pages as usize);
        let tail = records.next_multiple_of(self.supply.unit) - self.table_end();
        opened - given_back + tail + self.supply.unit
    }

    /// The page behind those that were opened, and behind those that are held.
    fn resident_end(&self) -> u32 {
        self.frontier.max(self.supply.held_pages.get())
    }

    /// The lowest byte that the address table may have touched, down to a page of the operating
    /// system. Pages that were opened since count as such.
    fn table_end(&self) -> usize {
        let opened = self.resident_end() as usize * self.pages.geometry.page_bytes();
        let floor = self.supply.table_floor.get() / self.supply.unit * self.supply.unit;
        floor.max(opened.next_multiple_of(self.supply.unit))
    }

    /// Bytes that the address table touched and does not need any more.
    pub(crate) fn table_surplus(&self) -> Option<Range<usize>> {
        let needed = self.addresses.floor().min(self.supply.held_table.get());
        let surplus = self.table_end()..needed / self.supply.unit * self.supply.unit;
        (!surplus.is_empty()).then_some(surplus)
    }

    /// The least limit with which a heap without objects can serve one: a page for it, and one for
    /// the address table.
    pub(crate) fn least_limit(&self) -> usize {
        let (page, classes) = (
            self.pages.geometry.page_bytes(),
            self.pages.geometry.class_count(),
        );
        let each = page.max(self.supply.unit) + size_of_record::<W>();
        2 * page + layout::fixed_bytes::<W>(classes, 1) + 2 * each + 4 * self.supply.unit
    }

    /// Sets the bytes that may be resident. What is resident stays so.
    pub(crate) fn set_limit(&self, limit: usize) {
        self.supply.limit.set(limit);
        self.supply.most.set(limit.max(self.resident_bytes()));
    }

    /// What [`Stock::table_surplus`] names was given back.
    pub(crate) fn gave_table_surplus(&self) {
        let needed = self.addresses.floor().min(self.supply.held_table.get());
        self.supply.table_floor.set(needed);
    }
}

// ---- what is held -------------------------------------------------------------------------------

impl<W: Width> Stock<'_, '_, W> {
    /// From now on the first pages, of `page_bytes` bytes together, and the room of `entries`
    /// entries are resident, for the heap's life (S4); the caller makes them so. `None`, and
    /// nothing has changed, if the heap has no room for them. The heap must be fresh.
    pub(crate) fn hold(&self, page_bytes: usize, entries: usize) -> Option<Held> {
        debug_assert!(self.frontier == 0);
        let (page, unit) = (self.pages.geometry.page_bytes(), self.supply.unit);
        let pages_end = page_bytes.checked_next_multiple_of(page.max(unit))?;
        let missing = entries
            .checked_mul(W::ENTRY_BYTES)?
            .saturating_sub(self.addresses.top() - self.addresses.floor());
        let table = self
            .addresses
            .floor()
            .checked_sub(missing.checked_next_multiple_of(page)?)?;
        if pages_end > table / unit * unit {
            return None;
        }
        let pages = u32::try_from(pages_end / page).ok()?;
        self.supply.held_pages.set(pages);
        self.supply.held_table.set(table);
        self.supply.table_floor.set(table);
        let classes = self.pages.geometry.class_count();
        let records = self.addresses.top() + layout::fixed_bytes::<W>(classes, pages as usize);
        Some(Held {
            pages: 0..pages_end,
            tail: table / unit * unit..records.next_multiple_of(unit),
        })
    }
}

impl<W: Width> Stock<'_, '_, W> {
    /// A limit with which [`Stock::hold`] holds so much, and no more than a few pages above what it
    /// needs: as [`Stock::resident_bytes`] counts, whatever is lost to whole pages.
    pub(crate) fn enough_to_hold(&self, page_bytes: usize, entries: usize) -> usize {
        let (page, unit) = (self.pages.geometry.page_bytes(), self.supply.unit);
        let whole = page.max(unit);
        let pages = page_bytes.div_ceil(page).saturating_add(whole / page);
        let classes = self.pages.geometry.class_count();
        let records = layout::page_record_bytes::<W>().saturating_mul(pages);
        let fixed = layout::fixed_bytes::<W>(classes, 0).saturating_add(records);
        [
            page_bytes,
            entries.saturating_mul(W::ENTRY_BYTES),
            fixed,
            // The ends of the pages, of the table on both sides, of the records; the supply's page.
            whole.saturating_mul(3),
            unit.saturating_mul(3),
        ]
        .into_iter()
        .fold(0, usize::saturating_add)
        .max(self.least_limit())
    }
}

// ---- giving back --------------------------------------------------------------------------------

impl<'m, W: Width> Stock<'_, 'm, W> {
    /// At most `most` neighbouring spare pages, around the one that was freed first, in whole
    /// clusters. `None` if there are none; and if the cluster of that page is not all free: then
    /// the page becomes the newest, so that the next call looks at another one.
    pub(crate) fn oldest_run(&self, most: u32) -> Option<Run> {
        let cluster = self.cluster();
        let oldest = self.pages.linked(self.supply.oldest.get())?;
        let first = self.first_of_cluster(oldest.id.word());
        if most < cluster || !self.is_cluster_spare(first, cluster) {
            self.put_first(oldest);
            return None;
        }
        let (mut start, mut end) = (first, first + cluster);
        while end - start + cluster <= most && self.is_cluster_spare(end, cluster) {
            end += cluster;
        }
        while end - start + cluster <= most
            && start > 0
            && self.is_cluster_spare(start - cluster, cluster)
        {
            start -= cluster;
        }
        Some(Run {
            first: start,
            pages: end - start,
        })
    }

    fn is_cluster_spare(&self, first: u32, cluster: u32) -> bool {
        (first..first + cluster).all(|number| {
            let page = self.pages.page(number).filter(|_| number < self.frontier);
            let page = page.filter(|_| !self.is_held(number));
            page.is_some_and(|page| page.used() == 0 && !is_given_back(page))
        })
    }

    /// The bytes of a run, from the base.
    pub(crate) fn bytes_of(&self, run: &Run) -> Range<usize> {
        let page = self.pages.geometry.page_bytes();
        run.first as usize * page..(run.first + run.pages) as usize * page
    }

    /// The pages of a run were given back: they go behind the resident ones.
    pub(crate) fn gave_run(&self, run: &Run) {
        for page in self.run_pages(run) {
            self.unlink(page);
        }
        self.supply.set_spare(self.supply.spare.get() - run.pages);
        for page in self.run_pages(run) {
            let behind = match self.pages.linked(self.supply.oldest.get()) {
                Some(oldest) => &oldest.record.next,
                None => self.front(),
            };
            page.record.next.set(behind.get());
            page.record.prev.set(page.id.word());
            behind.set(page.id.word());
        }
    }

    /// The pages of a run, the last one first.
    fn run_pages(&self, run: &Run) -> impl Iterator<Item = Page<'m, W>> {
        let numbers = (run.first..run.first + run.pages).rev();
        numbers.map(|number| self.pages.page(number).expect("a run of pages"))
    }

    /// Takes a spare page out of the list of free pages.
    fn unlink(&self, page: Page<'m, W>) {
        let (prev, next) = (page.record.prev.get(), page.record.next.get());
        match self.pages.linked(prev) {
            Some(prev) => prev.record.next.set(next),
            None => self.front().set(next),
        }
        if self.supply.oldest.get() == page.id.word() {
            self.supply.oldest.set(prev);
        } else if let Some(next) = self.pages.linked(next) {
            next.record.prev.set(prev);
        }
    }

    /// Makes the oldest spare page the newest, unless it is the only one.
    fn put_first(&self, oldest: Page<'m, W>) {
        let Some(first) = self.pages.linked(self.front().get()) else {
            return;
        };
        if first.id != oldest.id {
            self.unlink(oldest);
            first.record.prev.set(oldest.id.word());
            oldest.record.prev.set(W::Count::NIL);
            oldest.record.next.set(first.id.word());
            self.front().set(oldest.id.word());
        }
    }
}

fn is_given_back<W: Width>(page: Page<'_, W>) -> bool {
    page.record.prev.get() == page.id.word()
}
