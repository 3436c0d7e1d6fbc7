//! Outside entries: the numbers of objects that lie outside the heap's pages for now.
//!
//! ```text
//! add(place)           take an entry, or make one; its word is the place, with the highest bit set
//! relocate(entry, p)   its word is another place
//! take_in(entry, len)  allocate a page-block with its entry; the page-block gets the outside
//!                      entry, and the other entry is free
//! give_back(entry)     the entry is free
//! ```
//! A collector gives every object a number when it is born, and most objects die young. With an
//! outside entry an object has its number before it has a page-block: a nursery beside the heap
//! serves it, and the heap takes in what survives. No reference changes, since references are
//! numbers.
//!
//! # Invariants
//! - L1 In a heap of up to [`EntryHeap::OUTSIDE_UP_TO`] bytes an entry is outside iff the highest
//!   bit of its word is set and the word is not NIL: locations and numbers of entries are lower. A
//!   larger heap has no outside entries.
//! - L2 `outside` counts them.
//!
//! # Bounds
//! Everything is O(1), apart from what is parked, which goes back before the table grows. Taking an
//! object in costs an allocation and moves nothing. For a moment it needs one entry more.
//!
//! # Source
//! Ours. Generations over handles: Ungar, Generation scavenging (1984), whose objects moved behind
//! an object table before they were referred to directly.

use core::ptr::NonNull;

use surefit_classes::SizeClass;
use surefit_core::{Corruption, Refused, ensure};

use super::heap::EntryHeap;
use crate::engine::Engine;
use crate::width::{Wide, Width, Word};

/// The bit of a word that says that its entry is outside.
const OUTSIDE: u32 = 1 << 31;

/// Where the object of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPlace {
    /// In a page-block of this size-class.
    Block(NonNull<u8>, SizeClass),
    /// Outside: the place that the caller named.
    Outside(u32),
}

impl EntryHeap<'_, Wide> {
    /// Places of outside entries are below this number.
    pub const OUTSIDE_PLACES: u32 = OUTSIDE - 1;

    /// The bytes of the largest heap that has outside entries: 8 GiB. An entry has four bytes, and
    /// a location counts units of eight, so neither the number of an entry nor a location has the
    /// bit of outside ones.
    pub const OUTSIDE_UP_TO: u64 = 8 << 30;

    /// Takes an entry for an object that its owner keeps elsewhere, at a place that the owner
    /// names. It stays taken until its object is taken in, given back, or not kept by
    /// [`EntryHeap::retain`].
    ///
    /// # Errors
    /// [`Refused::NoHandle`] if no entry is free and the table cannot grow, or the heap is larger
    /// than 8 GiB. If it is not, what was parked is given back then.
    ///
    /// # Panics
    /// If the place is not below [`EntryHeap::OUTSIDE_PLACES`].
    ///
    /// # Complexity
    /// O(1). If no entry is free, everything parked is given back, or eight entries are made.
    #[inline]
    pub fn add_outside_entry(&mut self, place: u32) -> Result<u32, Refused> {
        assert!(place < Self::OUTSIDE_PLACES, "no place of an outside entry");
        if self.engine.addresses.has_no_free() || self.engine.is_too_large_for_outside() {
            self.engine.make_entries_for_outside()?;
        }
        Ok(self.engine.add_outside(place))
    }

    /// Where the object of an entry is.
    ///
    /// # Safety
    /// S1: the entry is live or outside. S2: the heap has no more than 8 GiB.
    ///
    /// # Complexity
    /// Two loads; one if it is outside.
    #[inline]
    #[must_use]
    pub unsafe fn entry_place(&self, entry: u32) -> EntryPlace {
        if let Some(place) = self.engine.outside_place(entry) {
            return EntryPlace::Outside(place);
        }
        // SAFETY: S1, S2: it is not outside (L1), so it is live.
        let (block, class) = unsafe { self.entry_block(entry) };
        EntryPlace::Block(block, class)
    }

    /// Names another place of an outside entry.
    ///
    /// # Panics
    /// If the place is not below [`EntryHeap::OUTSIDE_PLACES`], or the entry is not outside.
    ///
    /// # Complexity
    /// O(1).
    pub fn relocate_entry(&mut self, entry: u32, place: u32) {
        assert!(place < Self::OUTSIDE_PLACES, "no place of an outside entry");
        assert!(self.is_outside(entry), "entry {entry} is not outside");
        self.engine.set_outside(entry, place);
    }

    /// Gives an outside entry a page-block for `len` bytes: from now on its object is one of the
    /// heap. Moves nothing. The page-block may hold anything, and need not be initialised.
    ///
    /// # Errors
    /// As [`EntryHeap::allocate_entry`]; [`Refused::TooLarge`] if an object of so many bytes is in
    /// pieces. The entry is still outside then.
    ///
    /// # Panics
    /// If the entry is not outside.
    ///
    /// # Complexity
    /// That of [`EntryHeap::allocate_entry`], without clearing anything.
    pub fn take_in_entry(&mut self, entry: u32, len: usize) -> Result<NonNull<u8>, Refused> {
        assert!(self.is_outside(entry), "entry {entry} is not outside");
        if self.is_split(len) {
            let limit = self.config.piece_bytes().unwrap_or(0);
            return Err(Refused::TooLarge { limit });
        }
        let class = self.class_of(len, 8)?;
        let other = self.allocate_block(class)?;
        self.engine.take_in(entry, other);
        Ok(self.object(entry))
    }

    /// Frees an outside entry.
    ///
    /// # Panics
    /// If the entry is not outside.
    ///
    /// # Complexity
    /// O(1).
    #[inline]
    pub fn give_entry_back(&mut self, entry: u32) {
        assert!(self.is_outside(entry), "entry {entry} is not outside");
        self.engine.end_outside();
        let memory = &self.engine.pages.memory;
        self.engine.addresses.link(memory, entry);
    }

    /// The place of an outside entry; `None` if it is not one. Any number may be given. O(1).
    #[inline]
    #[must_use]
    pub fn outside_place_of(&self, entry: u32) -> Option<u32> {
        let addresses = &self.engine.addresses;
        // In a heap that is too large for outside entries, other words have the bit.
        let may_be = addresses.outside.get() > 0 && addresses.contains(entry);
        may_be.then(|| self.engine.outside_place(entry)).flatten()
    }

    fn is_outside(&self, entry: u32) -> bool {
        self.outside_place_of(entry).is_some()
    }

    /// Entries that were made: the numbers of all that are taken are lower. A sweep may unmake the
    /// last. O(1).
    #[inline]
    #[must_use]
    pub fn entries_made(&self) -> u32 {
        self.engine.addresses.made.get()
    }

    /// All outside entries, in ascending order. O(entries ever made).
    pub fn outside_entries(&self) -> impl Iterator<Item = u32> {
        (0..self.engine.addresses.made.get()).filter(|&entry| self.is_outside(entry))
    }
}

impl<W: Width> Engine<'_, W> {
    /// Verifies L2.
    pub(crate) fn check_outside(&self) -> Result<(), Corruption> {
        let outside = self.addresses.outside.get();
        let word = |entry| self.addresses.word(&self.pages.memory, entry).get();
        let is_outside = |word: W::Word| word != W::Word::NIL && word.get() & OUTSIDE != 0;
        let made = self.addresses.made.get();
        let counted =
            outside == 0 || (0..made).filter(|&e| is_outside(word(e))).count() == outside as usize;
        ensure(
            counted,
            "L2",
            "outside entries are miscounted",
            outside as usize,
        )
    }
}

impl Engine<'_, Wide> {
    /// The place of an entry that was made, if it is outside.
    #[inline]
    fn outside_place(&self, entry: u32) -> Option<u32> {
        let word = self.addresses.word(&self.pages.memory, entry).get();
        (word & OUTSIDE != 0 && word != u32::NIL).then_some(word & !OUTSIDE)
    }

    #[inline]
    fn set_outside(&self, entry: u32, place: u32) {
        let word = self.addresses.word(&self.pages.memory, entry);
        word.set(place | OUTSIDE);
    }

    /// Takes a free entry for an object outside; there must be one.
    #[inline]
    fn add_outside(&self, place: u32) -> u32 {
        let (entry, word) = self.addresses.take(&self.pages.memory);
        word.set(place | OUTSIDE);
        let outside = &self.addresses.outside;
        outside.set(outside.get().wrapping_add(1));
        entry
    }

    #[inline]
    fn end_outside(&self) {
        let outside = &self.addresses.outside;
        outside.set(outside.get().wrapping_sub(1));
    }

    /// The page-block of `other` becomes that of an outside entry; `other` is free.
    fn take_in(&self, entry: u32, other: u32) {
        let block = self.block_of(other);
        self.pages.set_back_reference(block, entry);
        self.locate(entry, block);
        self.end_outside();
        self.addresses.link(&self.pages.memory, other);
    }

    /// Ensures that an entry is free, if the heap may have outside ones.
    #[cold]
    #[inline(never)]
    fn make_entries_for_outside(&self) -> Result<(), Refused> {
        if self.is_too_large_for_outside() {
            return Err(Refused::NoHandle);
        }
        self.make_entries()
    }

    #[inline]
    fn is_too_large_for_outside(&self) -> bool {
        self.pages.memory.len() as u64 > EntryHeap::<Wide>::OUTSIDE_UP_TO
    }
}
