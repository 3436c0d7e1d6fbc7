//! Free pages and free entries of a shared heap: the pool that all groups share, and the buffer of
//! each thread.
//!
//! ```text
//! a group opens a page      own buffer → pool: a freed page, then a fresh one → others' buffers
//! a group releases a page   own buffer while it has room → pool
//! ```
//! Before anything is refused, the heap takes back what threads have buffered.
//!
//! # Invariants
//! - L1 A free page is in one buffer or in the pool; nobody else touches its record.
//! - L2 Locks are taken in the order group, buffer, pool; never two buffers at once.
//! - L3 What is free and stays free is always in the pool or in a buffer, and goes only from
//!   buffers to the pool. So a thread that finds nothing in the pool, nothing in any buffer, and
//!   nothing in the pool again, may refuse.
//!
//! # Bounds
//! Constant, except for taking pages back: one look at the buffer of every registered thread.
#![deny(unsafe_code)]

use lock_api::{Mutex, RawMutex};

use super::abort_on_unwind::AbortOnUnwind;
use super::entry::Entry;
use super::entry_list::{EntryList, NIL};
use crate::page::{Page, PageTable};
use crate::width::Spread;

/// The number of a registered thread's buffer, or [`NO_SLOT`].
pub(crate) type Slot = u32;

/// No buffer.
pub(crate) const NO_SLOT: Slot = u32::MAX;

/// A list of free pages, linked through their records.
#[derive(Debug)]
pub(crate) struct PageList {
    head: u32,
    count: u32,
}

impl PageList {
    pub(crate) const fn new() -> Self {
        Self {
            head: NIL,
            count: 0,
        }
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// The first page of the list, or [`NIL`].
    pub(crate) fn head(&self) -> u32 {
        self.head
    }

    pub(crate) fn push(&mut self, page: Page<'_, Spread>) {
        page.record.next.set(self.head);
        self.head = page.id.word();
        self.count += 1;
    }

    pub(crate) fn pop<'m>(&mut self, pages: &PageTable<'m, Spread>) -> Option<Page<'m, Spread>> {
        let page = pages.linked(self.head)?;
        self.head = page.record.next.get();
        self.count -= 1;
        Some(page)
    }
}

/// What all groups share.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) pages: PageList,
    /// Pages ever opened.
    pub(crate) frontier: u32,
    /// Free entries.
    pub(crate) entries: EntryList,
    /// Entries ever made.
    pub(crate) made: u32,
    /// The offset below which the address table may not grow without another page.
    pub(crate) floor: usize,
    /// Times that the pool's lock was taken.
    pub(crate) sections: u64,
}

impl Pool {
    /// A pool whose pages are all fresh; the address table may not grow below `floor`.
    pub(crate) const fn new(floor: usize) -> Self {
        Self {
            pages: PageList::new(),
            frontier: 0,
            entries: EntryList::new(),
            made: 0,
            floor,
            sections: 0,
        }
    }

    /// Pages that were never opened and that the address table does not use.
    pub(crate) fn fresh_pages(&self, shift: u32) -> u32 {
        let below = u32::try_from(self.floor >> shift).expect("page numbers have 32 bits");
        below - self.frontier
    }
}

/// A registered thread's buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) pages: PageList,
    /// Free entries, from frees that page locks alone served.
    pub(crate) entries: EntryList,
    /// Whether a thread has it.
    pub(crate) taken: bool,
}

impl Buffer {
    /// An empty buffer that no thread has.
    pub(crate) const fn new() -> Self {
        Self {
            pages: PageList::new(),
            entries: EntryList::new(),
            taken: false,
        }
    }
}

/// A value on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct CachePadded<T>(pub(crate) T);

/// The pool and the buffers.
#[derive(Debug)]
pub(crate) struct Store<'m, R: RawMutex> {
    pub(crate) pool: CachePadded<Mutex<AbortOnUnwind<R>, Pool>>,
    pub(crate) buffers: &'m [CachePadded<Mutex<AbortOnUnwind<R>, Buffer>>],
    /// The most pages in a buffer.
    pub(crate) buffer_pages: u32,
}

impl<'m, R: RawMutex> Store<'m, R> {
    /// Takes a buffer that no thread has.
    pub(crate) fn register(&self) -> Option<u32> {
        let free = self.buffers.iter().position(|buffer| {
            let mut buffer = buffer.0.lock();
            !core::mem::replace(&mut buffer.taken, true)
        });
        free.map(|index| u32::try_from(index).expect("at most 2^16 threads"))
    }

    /// Gives a buffer back, and its content to the pool.
    pub(crate) fn unregister<'e>(
        &self,
        pages: &PageTable<'m, Spread>,
        slot: Slot,
        entry: impl Fn(u32) -> &'e Entry,
    ) {
        surefit_core::point();
        let mut buffer = self.buffers[slot as usize].0.lock();
        let mut pool = self.pool();
        while let Some(page) = buffer.pages.pop(pages) {
            pool.pages.push(page);
        }
        while let Some(index) = buffer.entries.pop(&entry) {
            pool.entries.push(index, entry(index));
        }
        buffer.taken = false;
    }

    /// Moves the entries of a buffer to the pool.
    pub(crate) fn take_back_entries<'e>(&self, slot: Slot, entry: impl Fn(u32) -> &'e Entry) {
        surefit_core::point();
        let buffer = self.buffers[slot as usize].0.lock();
        if buffer.entries.count() == 0 {
            return;
        }
        let pool = self.pool();
        while let Some(index) = buffer.entries.pop(&entry) {
            pool.entries.push(index, entry(index));
        }
    }

    /// The pool, locked.
    pub(crate) fn pool(&self) -> lock_api::MutexGuard<'_, AbortOnUnwind<R>, Pool> {
        surefit_core::point();
        let mut pool = self.pool.0.lock();
        pool.sections += 1;
        pool
    }

    fn pop_buffered(&self, pages: &PageTable<'m, Spread>, slot: Slot) -> Option<Page<'m, Spread>> {
        if slot == NO_SLOT {
            return None;
        }
        surefit_core::point();
        self.buffers[slot as usize].0.lock().pages.pop(pages)
    }

    /// Takes a free page: a freed one if there is one, and one that others buffer only at last.
    pub(crate) fn take_page(
        &self,
        pages: &PageTable<'m, Spread>,
        slot: Slot,
    ) -> Option<Page<'m, Spread>> {
        self.pop_buffered(pages, slot)
            .or_else(|| self.take_pooled(pages))
            .or_else(|| self.take_back(pages))
            .or_else(|| self.take_pooled(pages))
    }

    fn take_pooled(&self, pages: &PageTable<'m, Spread>) -> Option<Page<'m, Spread>> {
        let mut pool = self.pool();
        if let Some(page) = pool.pages.pop(pages) {
            return Some(page);
        }
        if pool.fresh_pages(pages.geometry.page_shift()) == 0 {
            return None;
        }
        pool.frontier += 1;
        pages.page(pool.frontier - 1)
    }

    /// Takes a page from any buffer that has one.
    #[cold]
    fn take_back(&self, pages: &PageTable<'m, Spread>) -> Option<Page<'m, Spread>> {
        (0..self.buffers.len() as u32).find_map(|slot| self.pop_buffered(pages, slot))
    }

    /// Gives a free page back.
    pub(crate) fn give_page(&self, slot: Slot, page: Page<'m, Spread>) {
        if slot != NO_SLOT {
            surefit_core::point();
            let mut buffer = self.buffers[slot as usize].0.lock();
            if buffer.pages.count() < self.buffer_pages {
                return buffer.pages.push(page);
            }
        }
        self.pool().pages.push(page);
    }
}
