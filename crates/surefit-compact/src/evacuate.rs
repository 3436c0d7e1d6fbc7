//! Windows of consecutive pages: any page is made free by moving what is in it to another one.
//!
//! ```text
//! open(m pages):   refuse unless m pages are free and the slot ends before the address table
//!                  give the pages up to the end of the new slot to the list of free pages
//!                  for every smaller level, the smallest first:
//!                      its first slots go to its other end: as many pages as the new slot has
//!                  clear the new slot's first m pages; the first one is the head
//! close(window):   free its pages; the last slot of its level takes its place
//!                  for every smaller level, the largest first:
//!                      its last slots go to its other end: as many pages as the closed slot had
//! clear(page):     a free page leaves the list; a page with page-blocks moves to a free page
//! ```
//! A window moves page by page: first to the pages that were free, and each copied page is free at
//! once. So a window can move while any page at all is free.
//!
//! # Bounds
//! With a slot of s pages and g levels of smaller slots that are not empty, `open` copies at most m
//! + 2·g·s pages, `close` at most (2·g + 2)·s. Neither depends on the size of the heap.
//!
//! # Source
//! Ours ([the bounds, 9](crate::bounds#9-contiguous-objects-over-a-page)).

use surefit_core::Refused;

use crate::engine::Engine;
use crate::page::{Block, Page};
use crate::width::{Width, Word};
use crate::windows::Level;

// ---- pages -------------------------------------------------------------------------------------

impl<'m, W: Width> Engine<'m, W> {
    /// Whether a page is a part of a window, not its head: it is used, and has no used page-block.
    pub(crate) fn is_part(&self, page: Page<'m, W>) -> bool {
        page.used() > 0 && self.pages.is_small(page) && page.record.small.get() == 0
    }

    /// The page of that number, which exists.
    pub(crate) fn numbered_page(&self, number: u32) -> Page<'m, W> {
        self.pages.page(number).expect("windows lie in the region")
    }

    /// Moves all page-blocks of a page into a free one, which takes its place. The page is then in
    /// no list.
    pub(crate) fn replace_page(&self, page: Page<'m, W>) {
        let class = page.record.class.get();
        let (state, other) = (
            self.class_state(class),
            self.pages.open(self.take_page(), class),
        );
        // Under the hole bound, the last page of a list plays another role than the others.
        let was_last = state.tail.get() == page.id.word();
        if page.free_blocks() > 0 {
            self.pages.detach(state, page);
        }
        while page.used() > 0 {
            self.move_last_block(page, other);
        }
        match other.free_blocks() {
            0 => {}
            _ if was_last => self.pages.push_back(state, other),
            _ => self.pages.push_front(state, other),
        }
    }

    fn move_last_block(&self, from: Page<'m, W>, to: Page<'m, W>) {
        let from = self.pages.last_used(from);
        let entry = self.pages.back_reference(from);
        let to = self.pages.take_free(to, entry);
        self.relocate(from, to, entry);
    }

    /// Makes a page that is in no list and has no used page-block a part of a window.
    fn join(&self, page: Page<'m, W>) -> Page<'m, W> {
        let page = self.pages.open(page, self.pages.geometry.largest());
        page.record.used.set(1);
        let block = Block { page, number: 0 };
        let none = W::Word::NIL.get();
        self.pages.set_back_reference(block, none);
        page
    }

    /// Frees a page of a window.
    fn leave(&self, page: Page<'m, W>) {
        page.record.used.set(0);
        page.record.small.set(0);
        self.add_free_page(page);
    }

    /// Makes a part the head of a window of `pages` pages that holds an entry's object.
    fn lead(&self, page: Page<'m, W>, pages: u32, entry: u32) {
        let page = self.pages.open(page, self.pages.geometry.largest());
        page.record.used.set(0);
        let block = self.pages.take_free(page, entry);
        page.record.next.set(W::Count::new(pages));
        self.locate(entry, block);
    }
}

// ---- windows -----------------------------------------------------------------------------------

impl<'m, W: Width> Engine<'m, W> {
    /// The head, the entry and the pages of the window that begins at a page.
    pub(crate) fn window_at(&self, first: u32) -> (Block<'m, W>, u32, u32) {
        let page = self.numbered_page(first);
        let head = Block { page, number: 0 };
        let pages = page.record.next.get().get();
        (head, self.pages.back_reference(head), pages)
    }

    /// The bytes of a used page-block, or of all pages of a window if the block is its head.
    pub(crate) fn bytes_of(&self, block: Block<'m, W>) -> u32 {
        let first = block.page.id.word();
        if block.page.blocks() > 1 || !self.windows.begins_at(first) {
            return block.page.layout.block_bytes;
        }
        let (_, _, pages) = self.window_at(first);
        block.page.layout.block_bytes.saturating_mul(pages)
    }

    /// Whether a window of `pages` pages, two or more, and its entry can be had now. Gives
    /// everything that is parked back if it cannot without. O(levels).
    pub(crate) fn admits_window(&self, pages: u32) -> Result<(), Refused> {
        match self.admits_window_now(pages) {
            Err(_) if self.unpark_all() => self.admits_window_now(pages),
            admitted => admitted,
        }
    }

    /// As [`Engine::admits_window`], without giving back pages of which all blocks are parked.
    fn admits_window_now(&self, pages: u32) -> Result<(), Refused> {
        let total = self.pages.count();
        let level = Level::of(pages).filter(|level| level.pages() <= total);
        let Some(level) = level else {
            let most = (1 << total.ilog2()) * self.pages.geometry.page_bytes();
            return Err(Refused::TooLarge { limit: most });
        };
        let fresh = self.fresh_after(self.addresses.is_exhausted().into());
        let fresh = fresh.filter(|_| self.addresses.can_number_another());
        let fresh = fresh.ok_or(Refused::NoHandle)?;
        let end = u64::from(self.windows.end()) + u64::from(level.pages());
        let has_place = end <= u64::from(self.frontier.get()) + u64::from(fresh);
        if !has_place || pages > self.free_page_count.get() + fresh {
            return Err(Refused::NoPage);
        }
        Ok(())
    }

    /// Allocates a window of `pages` pages, two or more; returns its entry. May move other windows
    /// and page-blocks.
    ///
    /// # Errors
    /// What is exhausted; nothing has changed.
    pub(crate) fn allocate_window(&self, pages: u32) -> Result<u32, Refused> {
        // The table must not grow for entries that are parked.
        self.unpark_all();
        self.admits_window_now(pages)?;
        let level = Level::of(pages).expect("admitted");
        if self.addresses.is_exhausted() {
            let page_bytes = self.pages.geometry.page_bytes();
            self.addresses
                .extend_to(self.addresses.floor() - page_bytes);
        }
        if self.addresses.has_no_free() {
            self.addresses.make(&self.pages.memory);
        }
        let slot = level.pages();
        self.open_to(self.windows.end() + slot);
        for smaller in level.smaller() {
            self.shift_up(smaller, slot);
        }
        let first = self.windows.slot(level, self.windows.count(level));
        self.claim(first, pages);
        self.windows.add_slot(level);
        self.windows.add_parts(pages - 1);
        let (entry, _) = self.addresses.take(&self.pages.memory);
        let state = self.class_state(self.pages.geometry.largest());
        state.add_page();
        state.add_live();
        self.lead(self.numbered_page(first), pages, entry);
        Ok(entry)
    }

    /// Frees the window of a live entry, and the entry. May move other windows and page-blocks.
    pub(crate) fn free_window(&self, entry: u32) {
        let (head, _, pages) = self.window_at(self.block_of(entry).page.id.word());
        let first: u32 = head.page.id.word();
        let level = Level::of(pages).expect("a window has a level");
        (1..pages).for_each(|part| self.leave(self.numbered_page(first + part)));
        self.addresses.give(&self.pages.memory, entry);
        self.pages.clear(head);
        let state = self.class_state(head.page.record.class.get());
        state.remove_live();
        self.release(state, head.page.id);
        self.windows.remove_parts(pages - 1);
        let last = self.windows.slot(level, self.windows.count(level) - 1);
        if last != first {
            self.move_window(last, first);
        }
        self.windows.remove_slot(level);
        for smaller in level.smaller().rev() {
            self.shift_down(smaller, level.pages());
        }
    }

    /// Changes the pages of a live entry's window within its slot; more pages must be free, if more
    /// are wanted.
    pub(crate) fn resize_window(&self, entry: u32, pages: u32) {
        let (head, _, old) = self.window_at(self.block_of(entry).page.id.word());
        let first: u32 = head.page.id.word();
        if pages > old {
            self.claim(first + old, pages - old);
            self.windows.add_parts(pages - old);
        } else {
            let left = first + pages..first + old;
            left.for_each(|part| self.leave(self.numbered_page(part)));
            self.windows.remove_parts(old - pages);
        }
        head.page.record.next.set(W::Count::new(pages));
    }

    /// Frees every window whose entry is not kept. Smaller slots come first: those of a level keep
    /// their places while smaller ones move, and the last one takes a freed slot.
    pub(crate) fn retain_windows(&self, is_kept: impl Fn(u32) -> bool) {
        for level in Level::all() {
            for number in (0..self.windows.count(level)).rev() {
                let (_, entry, _) = self.window_at(self.windows.slot(level, number));
                if !is_kept(entry) {
                    self.free_window(entry);
                }
            }
        }
    }

    /// Gives the fresh pages before page `end` to the list of free pages.
    fn open_to(&self, end: u32) {
        for number in self.frontier.get()..end {
            self.frontier.set(number + 1);
            self.add_free_page(self.numbered_page(number));
        }
    }

    /// Makes consecutive pages, none of which is of a window, parts of one.
    fn claim(&self, first: u32, pages: u32) {
        self.remove_free_of(first, pages);
        for page in (first..first + pages).map(|number| self.numbered_page(number)) {
            if page.used() > 0 {
                self.replace_page(page);
            }
            self.join(page);
        }
    }

    /// Takes those of consecutive pages that are free out of the list.
    fn remove_free_of(&self, first: u32, pages: u32) {
        let pages = (first..first + pages).map(|number| self.numbered_page(number));
        pages
            .filter(|page| page.used() == 0)
            .for_each(|page| self.remove_free_page(page));
    }

    /// Makes room for `pages` pages before the slots of a level: its first slots move behind its
    /// last one.
    fn shift_up(&self, level: Level, pages: u32) {
        let (start, count, slot) = self.slots_of(level);
        let moved = count.min(pages / slot);
        let by = (count * slot).max(pages);
        for number in 0..moved {
            let from = start + number * slot;
            self.move_window(from, from + by);
        }
    }

    /// Closes a gap of `pages` pages before the slots of a level, which `start` does not count: its
    /// last slots move before its first one.
    fn shift_down(&self, level: Level, pages: u32) {
        let (start, count, slot) = self.slots_of(level);
        let moved = count.min(pages / slot);
        let by = (count * slot).max(pages);
        for number in 0..moved {
            let to = start + number * slot;
            self.move_window(to + by, to);
        }
    }

    /// The first page of the slots of a level, their number, and the pages of each.
    fn slots_of(&self, level: Level) -> (u32, u32, u32) {
        let (start, count) = (self.windows.start(level), self.windows.count(level));
        (start, count, level.pages())
    }

    /// Moves a window to pages none of which is of a window; at least one page must be free.
    fn move_window(&self, from: u32, to: u32) {
        let (_, entry, pages) = self.window_at(from);
        self.remove_free_of(to, pages);
        let parts = (0..pages).map(|part| {
            let (from, to) = (from + part, to + part);
            (self.numbered_page(from), self.numbered_page(to))
        });
        for (from, to) in parts.clone().filter(|(_, to)| to.used() == 0) {
            self.move_page(from, to);
        }
        for (from, to) in parts {
            let to = self.numbered_page(to.id.word());
            if !self.is_part(to) {
                self.replace_page(to);
                self.move_page(from, to);
            }
        }
        self.lead(self.numbered_page(to), pages, entry);
    }

    /// Moves one page of a window.
    fn move_page(&self, from: Page<'m, W>, to: Page<'m, W>) {
        let to = self.join(to);
        let block = |page| Block { page, number: 0 };
        self.pages.copy(block(from), block(to));
        self.leave(from);
        let bytes = self.pages.geometry.page_bytes() as u64;
        self.moved.moves.set(self.moved.moves.get() + 1);
        self.moved.bytes.set(self.moved.bytes.get() + bytes);
    }
}
