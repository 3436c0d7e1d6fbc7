//! Lists of free entries, linked through the entries themselves: those without a page-block, and
//! those that are parked with one.
#![deny(unsafe_code)]

use core::cell::Cell;

use super::entry::{Entry, State};

/// The number that names no entry.
pub(crate) const NIL: u32 = u32::MAX;

/// A list of free entries. The holder of the lock that guards it owns them.
#[derive(Debug)]
pub(crate) struct EntryList {
    head: Cell<u32>,
    count: Cell<u32>,
}

impl EntryList {
    pub(crate) const fn new() -> Self {
        Self {
            head: Cell::new(NIL),
            count: Cell::new(0),
        }
    }

    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.count.get()
    }

    /// The entry that is taken next, or [`NIL`].
    pub(crate) fn head(&self) -> u32 {
        self.head.get()
    }

    #[inline]
    pub(crate) fn push(&self, index: u32, entry: &Entry) {
        entry.set_next(self.head.get());
        self.head.set(index);
        self.count.set(self.count.get() + 1);
    }

    #[inline]
    pub(crate) fn pop<'e>(&self, entry: impl FnOnce(u32) -> &'e Entry) -> Option<u32> {
        let index = self.head.get();
        if index == NIL {
            return None;
        }
        self.head.set(entry(index).next());
        self.count.set(self.count.get() - 1);
        Some(index)
    }
}

/// A stack of *parked pairs*: dead entries that keep their page-blocks, newest first. The holder of
/// the group's lock owns them.
#[derive(Debug)]
pub(crate) struct ParkedStack {
    head: Cell<u32>,
    count: Cell<u32>,
}

impl ParkedStack {
    pub(crate) const fn new() -> Self {
        Self {
            head: Cell::new(NIL),
            count: Cell::new(0),
        }
    }

    #[inline]
    pub(crate) fn count(&self) -> u32 {
        self.count.get()
    }

    /// The entry of the pair that is taken next, or [`NIL`].
    #[inline]
    pub(crate) fn head(&self) -> u32 {
        self.head.get()
    }

    /// Adds the pair of an entry in `state`, whose object ends, and the page-block that it names.
    #[inline]
    pub(crate) fn push(&self, index: u32, entry: &Entry, state: State) {
        entry.set_parked_next(state, self.head.get());
        self.head.set(index);
        self.count.set(self.count.get() + 1);
    }

    /// Takes a pair: its entry, and the location of its page-block.
    #[inline]
    pub(crate) fn pop<'e>(&self, entry: impl FnOnce(u32) -> &'e Entry) -> Option<(u32, u32)> {
        let index = self.head.get();
        if index == NIL {
            return None;
        }
        let (next, block) = entry(index).parked();
        self.head.set(next);
        self.count.set(self.count.get() - 1);
        Some((index, block))
    }
}
