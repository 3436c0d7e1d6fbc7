//! Calls that page locks serve alone: an allocation that leaves its page not-full (M2), and a free
//! that does (F4).
//!
//! Such a call changes neither the lists of the group nor any decision of the automaton that
//! compares not-full pages, so it does not need the group's lock. Under the hole bound a free needs
//! that lock all the same, because it makes a hole.
//!
//! # Invariants
//! - F1 Only the holder of a page's lock changes the record and the tail of the page. Its number of
//!   used page-blocks changes from or to 0 and π only under the group's lock as well.

use core::sync::atomic::Ordering::Relaxed;

use lock_api::RawMutex;
use surefit_classes::Bound;

use super::abort_on_unwind::AbortOnUnwind;
use super::engine::SharedEngine;
use super::group::Section;
use super::pool::Slot;
use crate::page::{Page, PageId};
use crate::shared::lock::Granularity;
use crate::width::Spread;

/// A page whose lock is held, under page locks.
pub(crate) struct Held<'m, R: RawMutex>(Option<&'m AbortOnUnwind<R>>);

impl<R: RawMutex> Drop for Held<'_, R> {
    #[inline]
    fn drop(&mut self) {
        if let Some(lock) = self.0 {
            // SAFETY: `hold_page` took this lock, and only this guard releases it.
            unsafe { lock.unlock() };
        }
    }
}

impl<'m, R: RawMutex, G: Granularity> SharedEngine<'m, R, G> {
    /// Takes a page's lock, if pages have locks.
    #[inline]
    pub(crate) fn hold(&self, page: Page<'m, Spread>) -> Held<'m, R> {
        self.hold_page(page.id)
    }

    /// As `hold`, without access to the page.
    #[inline]
    pub(crate) fn hold_page(&self, page: PageId) -> Held<'m, R> {
        if !G::PAGES {
            return Held(None);
        }
        let lock = &self.page_locks[page.index()];
        surefit_core::point();
        lock.lock();
        Held(Some(lock))
    }

    /// Takes the lock of the last page of a group's list, if pages have locks.
    #[inline]
    pub(crate) fn hold_last(&self, section: &Section<'m, R>) -> Held<'m, R> {
        if !G::PAGES || !matches!(self.bound(), Bound::Holes { .. }) {
            return Held(None);
        }
        let last = self.pages.numbered(section.class.tail.get());
        last.map_or(Held(None), |page| self.hold_page(page))
    }

    /// Shows the first not-full page to threads that come without the group's lock.
    #[inline]
    pub(crate) fn show_first(&self, section: &Section<'m, R>) {
        if G::PAGES {
            let first = section.class.head.get();
            section.group().hint.store(first, Relaxed);
        }
    }

    /// M2 under the page's lock alone; `None` if that is not enough.
    pub(crate) fn allocate_in_page(&self, slot: Slot, group: u32) -> Option<(u32, u32)> {
        let hint = self.groups[group as usize].hint.load(Relaxed);
        let id = self.pages.numbered(hint)?;
        let _held = self.hold_page(id);
        let page = self.pages.known(id);
        let counts = page.counts();
        let serves = page.record.class.get() == self.class_of(group)
            && counts.used > 0
            && counts.used + 1 < counts.blocks;
        if !serves {
            return None;
        }
        let index = {
            let buffer = self.store.buffers[slot as usize].0.lock();
            buffer.entries.pop(|index| self.entry(index))?
        };
        let block = self.pages.take_free(page, index);
        self.groups[group as usize].live_apart.fetch_add(1, Relaxed);
        let location = self.location(block);
        self.begin_construction(index, group, location);
        Some((index, location))
    }

    /// F4 under the page's lock alone, for an object that nobody has pinned. Returns whether that
    /// was enough.
    pub(crate) fn free_in_page(&self, slot: Slot, index: u32) -> bool {
        if matches!(self.bound(), Bound::Holes { .. }) {
            return false;
        }
        let entry = self.entry(index);
        let state = entry.state();
        let location = entry.location(state);
        let Some(id) = self.pages.page_number_at((location as usize) << 3) else {
            return false;
        };
        let _held = self.hold_page(id);
        // A move may have taken the object elsewhere before the lock was taken.
        if entry.state() != state || state.is_moving() || entry.location(state) != location {
            return false;
        }
        let page = self.pages.known(id);
        if page.used() <= 1 || page.free_blocks() == 0 {
            return false;
        }
        let buffer = self.store.buffers[slot as usize].0.lock();
        if buffer.entries.count() >= u32::from(self.config.entry_buffer) {
            return false;
        }
        self.pages.clear(self.block(location));
        entry.deactivate();
        buffer.entries.push(index, entry);
        self.groups[state.group() as usize]
            .live_apart
            .fetch_sub(1, Relaxed);
        true
    }
}
