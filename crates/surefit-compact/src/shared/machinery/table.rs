//! The abstract address table of a shared heap: one [`Entry`] per object, and the free entries.
//!
//! ```text
//! … | entry 2 | entry 1 | entry 0 |  fixed area      the table grows downwards, and never shrinks
//! an entry: | state | location | location |
//! ```
//! Entries never move, so any thread that holds a name can reach its entry without a lock.
//!
//! # Invariants
//! - T1 Entries below `made` are initialised, and lie between the table's floor and its top.
//! - T2 A dead entry is in exactly one list, linked through its location words. The lists are that
//!   of the pool, those of groups and of threads, and the deferred lists.

use core::sync::atomic::Ordering::{Acquire, Release};

use super::entry::Entry;
use super::entry_list::NIL;
use super::pool::Pool;
use super::sync::AtomicU32;
use crate::memory::Memory;

/// Where the entries are.
#[derive(Debug)]
pub(crate) struct EntryTable {
    /// Offset of the end of entry 0.
    top: usize,
    /// The number of entries made.
    made: AtomicU32,
}

impl EntryTable {
    /// A table that grows downwards from `top`.
    pub(crate) const fn new(top: usize) -> Self {
        Self {
            top,
            made: AtomicU32::new(0),
        }
    }

    /// An entry that was made.
    #[inline]
    pub(crate) fn entry<'m>(&self, memory: &Memory<'m>, index: u32) -> &'m Entry {
        let offset = self.top - (index as usize + 1) * ENTRY_BYTES;
        // SAFETY: T1: a made entry is initialised, inside the region and aligned to four (top and
        // the size of an entry are multiples of four). Only names of made entries reach this, and
        // entries consist of atomics.
        unsafe { memory.shared(offset) }
    }

    /// The number of an entry of this table.
    pub(crate) fn index_of(&self, memory: &Memory<'_>, entry: &Entry) -> u32 {
        let offset = memory.offset_of(entry);
        u32::try_from((self.top - offset) / ENTRY_BYTES - 1)
            .expect("entries have numbers of 32 bits")
    }

    /// The number of entries made, of which the pool has a copy.
    pub(crate) fn made(&self) -> &AtomicU32 {
        &self.made
    }

    /// Offset of the end of entry 0.
    pub(crate) fn top(&self) -> usize {
        self.top
    }

    /// Whether a number names an entry that was made. For names that may be another heap's.
    #[inline]
    pub(crate) fn contains(&self, index: u32) -> bool {
        index < self.made.load(Acquire)
    }

    /// Makes room for another entry if there is none, with a fresh page. Without a fresh page it
    /// does nothing.
    pub(crate) fn grow(&self, shift: u32, pool: &mut Pool) {
        if !self.has_room(pool) && pool.made != NIL && pool.fresh_pages(shift) > 0 {
            pool.floor -= 1 << shift;
        }
    }

    fn has_room(&self, pool: &Pool) -> bool {
        pool.made != NIL && (pool.made as usize + 1) * ENTRY_BYTES <= self.top - pool.floor
    }

    /// Makes a new entry, if the table has room for it.
    pub(crate) fn make(&self, memory: &Memory<'_>, pool: &mut Pool) -> Option<u32> {
        if !self.has_room(pool) {
            return None;
        }
        let bytes = (pool.made as usize + 1) * ENTRY_BYTES;
        let (index, offset) = (pool.made, self.top - bytes);
        // SAFETY: the entry lies above the floor, which only grows downwards through fresh pages
        // (T1), so it is inside the region; it is aligned to four; nobody knows of it yet.
        unsafe { memory.table(offset, 1, Entry::new) };
        pool.made += 1;
        // Release: the entry, to any thread that finds its number among those made.
        self.made.store(pool.made, Release);
        Some(index)
    }
}

/// Bytes of an entry.
pub(crate) const ENTRY_BYTES: usize = size_of::<Entry>();

const _: () = assert!(ENTRY_BYTES == 12);
