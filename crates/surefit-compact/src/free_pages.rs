//! Pages that are in no size-class, and what allocations take of them: a page, or a page more for
//! the address table.
//!
//! ```text
//! 0                                 frontier       limit       floor of the table
//! | pages of classes, windows, free pages | fresh pages | (not used) | table, from its top downwards |
//!
//! make_room(class)   a page for the class and an entry, where it lacks them; else the refusal
//! take_page          a free page, or the first fresh one: the frontier rises
//! add_free_page      what a class gave back
//! close_last_page    the last page below the frontier is a fresh one again
//! ```
//! What is parked goes back before the table grows, and before anything is refused.
#![deny(unsafe_code)]

use surefit_classes::SizeClass;
use surefit_core::Refused;

use crate::class::ClassState;
use crate::engine::Engine;
use crate::page::Page;
use crate::supply::Stock;
use crate::width::Width;

impl<'m, W: Width> Engine<'m, W> {
    /// The pages as a heap over the operating system's memory sees them; `None` for other heaps.
    #[inline]
    pub(crate) fn stock(&self) -> Option<Stock<'_, 'm, W>> {
        // Without the feature no heap has a supply: the compiler then leaves out what would use it.
        if !cfg!(feature = "os") {
            return None;
        }
        self.supply.map(|supply| Stock {
            pages: &self.pages,
            addresses: &self.addresses,
            frontier: self.frontier.get(),
            list: &self.free_pages,
            free: self.free_page_count.get(),
            supply,
        })
    }

    /// Pages below the address table.
    pub(crate) fn pages_below_table(&self) -> u32 {
        let below = self.addresses.floor() >> self.pages.geometry.page_shift();
        u32::try_from(below).expect("a page number fits")
    }

    /// Pages that were never opened, and that the table does not use.
    pub(crate) fn unopened_pages(&self) -> u32 {
        self.pages_below_table() - self.frontier.get()
    }

    /// Pages that were never opened, and may be.
    pub(crate) fn fresh_pages(&self) -> u32 {
        self.fresh_after(0)
            .expect("the table is where it may be (G1)")
    }

    /// As [`Engine::fresh_pages`], once the address table has grown by so many pages; `None` if it
    /// cannot.
    pub(crate) fn fresh_after(&self, table_pages: u64) -> Option<u32> {
        let below = self.pages_below_table();
        let below = below.checked_sub(u32::try_from(table_pages).ok()?)?;
        match &self.limit {
            None => below.checked_sub(self.frontier.get()),
            Some(limit) => (below >= limit.end).then(|| limit.pages.get() - self.frontier.get()),
        }
    }

    /// Whether there is a place for so many data pages, and for so many more pages of the table.
    pub(crate) fn has_place(&self, pages: u64, table_pages: u64) -> bool {
        let below = u64::from(self.pages_below_table()).checked_sub(table_pages);
        below.is_some_and(|below| match &self.limit {
            None => pages <= below,
            Some(limit) => below >= limit.end.into() && pages <= limit.pages.get().into(),
        })
    }

    /// Ensures that a block of a class and an entry can be taken; lets the address table grow if
    /// necessary.
    ///
    /// Before it lets the table grow by a page, or refuses, everything that is parked goes back: so
    /// no more entries or pages are ever needed than without parking.
    pub(crate) fn make_room(&self, class: SizeClass) -> Result<(), Refused> {
        let mut page = self.class_state(class).not_full() == 0;
        let mut entry = self.addresses.is_exhausted();
        let no_page = page && self.free_page_count.get() == 0 && self.fresh_after(0) == Some(0);
        // Nothing must be granted. Small images do without this shorter way.
        if cfg!(target_pointer_width = "64")
            && !(entry || no_page || self.stock().is_some() || self.limit.is_some())
        {
            return Ok(());
        }
        if (entry || no_page) && self.unpark_all() {
            page = self.class_state(class).not_full() == 0;
            entry = self.addresses.is_exhausted();
        }
        let granted = self.grant(entry, page);
        // The limit of a heap over the operating system's memory refused: a page that only parked
        // pairs hold serves within it. Where there is no entry or no page, nothing is parked any more.
        if granted.is_err() && self.stock().is_some() && self.unpark_all() {
            return self.make_room(class);
        }
        granted
    }

    /// Ensures that an entry is free: first gives back what is parked, then lets the table grow.
    pub(crate) fn make_entries(&self) -> Result<(), Refused> {
        if self.addresses.is_exhausted() {
            self.unpark_all();
        }
        if self.addresses.is_exhausted() {
            self.grant(true, false)?;
        }
        if self.addresses.has_no_free() {
            self.addresses.make(&self.pages.memory);
        }
        Ok(())
    }

    /// Lets the address table grow by a page if an entry is wanted; ensures that another page can
    /// be taken if one is wanted. Inlined, so that each caller has what it asks for alone.
    #[inline(always)]
    fn grant(&self, entry: bool, page: bool) -> Result<(), Refused> {
        if entry && (!self.addresses.can_number_another() || self.fresh_after(1).is_none()) {
            return Err(Refused::NoHandle);
        }
        let fresh = self.fresh_after(entry.into()).unwrap_or(0);
        if page && self.free_page_count.get() == 0 && fresh == 0 {
            return Err(Refused::NoPage);
        }
        if let Some(stock) = self.stock() {
            stock.serves(entry.into(), page.into())?;
        }
        if entry {
            self.extend_table();
        }
        Ok(())
    }

    /// Lets the address table grow by a page, which must be a fresh one.
    fn extend_table(&self) {
        self.addresses
            .extend_to(self.addresses.floor() - self.pages.geometry.page_bytes());
        if let Some(stock) = self.stock() {
            stock.extended();
        }
    }

    /// Takes a freed page, or opens a fresh one only if there is none. `make_room` must have
    /// succeeded.
    pub(crate) fn take_page(&self) -> Page<'m, W> {
        if let Some(page) = self.pages.linked(self.free_pages.get()) {
            self.free_pages.set(page.record.next.get());
            self.free_page_count.set(self.free_page_count.get() - 1);
            if let Some(stock) = self.stock() {
                stock.taken(page);
            }
            return page;
        }
        let number = self.frontier.get();
        self.frontier.set(number + 1);
        // `make_room` left a fresh page.
        self.pages.named_page(number)
    }

    /// Takes a page, which is in no list, from its class.
    pub(crate) fn give_page(&self, state: &ClassState<W>, page: Page<'m, W>) {
        state.remove_page();
        self.add_free_page(page);
    }

    /// Puts a page first in the list of free pages. The backward link of the first page means
    /// nothing.
    pub(crate) fn add_free_page(&self, page: Page<'m, W>) {
        let head = self.free_pages.replace(page.id.word());
        page.record.next.set(head);
        self.free_page_count.set(self.free_page_count.get() + 1);
        if let Some(stock) = self.stock() {
            stock.added(page);
        } else if let Some(head) = self.pages.linked(head) {
            head.record.prev.set(page.id.word());
        }
    }

    /// Takes a page out of the list of free pages, which it is in.
    pub(crate) fn remove_free_page(&self, page: Page<'m, W>) {
        let next = page.record.next.get();
        self.free_page_count.set(self.free_page_count.get() - 1);
        if self.free_pages.get() == page.id.word() {
            self.free_pages.set(next);
            return;
        }
        let prev = page.record.prev.get();
        if let Some(prev) = self.pages.linked(prev) {
            prev.record.next.set(next);
        }
        if let Some(next) = self.pages.linked(next) {
            next.record.prev.set(prev);
        }
    }

    /// Makes the last opened page a never-opened one, if it is free or can be emptied into a free
    /// page; returns whether it did.
    pub(crate) fn close_last_page(&self) -> bool {
        let last = self.frontier.get().checked_sub(1);
        let last = last.filter(|&last| last >= self.windows.end());
        let Some(last) = last.and_then(|number| self.pages.page(number)) else {
            return false;
        };
        if last.used() == 0 {
            self.remove_free_page(last);
        } else if self.free_page_count.get() > 0 {
            self.replace_page(last);
        } else {
            return false;
        }
        self.frontier.set(last.id.word());
        true
    }
}
