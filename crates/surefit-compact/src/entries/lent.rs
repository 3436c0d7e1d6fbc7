//! Entries that are lent: the numbers of objects that lie outside the heap's pages for now.
//!
//! ```text
//! lend(place)          take an entry, or make one; its word is the place, with the highest bit set
//! relocate(entry, p)   its word is another place
//! take_in(entry, len)  allocate a page-block with its entry; the page-block gets the lent entry, and
//!                      the other entry is free
//! give_back(entry)     the entry is free
//! ```
//! A collector gives every object a number when it is born, and most objects die young. With a lent
//! entry an object has its number before it has a page-block: a nursery beside the heap serves it,
//! and the heap takes in what survives. No reference changes, since references are numbers.
//!
//! # Invariants
//! - L1 In a heap of up to [`EntryHeap::LENDS_UP_TO`] bytes an entry is lent iff the highest bit of
//!   its word is set and the word is not NIL: locations and numbers of entries are lower. A larger
//!   heap lends nothing.
//! - L2 `lent` counts them.
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

/// The bit of a word that says that its entry is lent.
const LENT: u32 = 1 << 31;

/// Where the object of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPlace {
    /// In a page-block of this size-class.
    Block(NonNull<u8>, SizeClass),
    /// Outside: the place that the borrower named.
    Lent(u32),
}

impl EntryHeap<'_, Wide> {
    /// Places of lent entries are below this number.
    pub const LENT_PLACES: u32 = LENT - 1;

    /// The bytes of the largest heap that lends entries: 8 GiB. An entry has four bytes, and a
    /// location counts units of eight, so neither the number of an entry nor a location has the bit
    /// of lent ones.
    pub const LENDS_UP_TO: u64 = 8 << 30;

    /// Lends an entry to whoever keeps an object elsewhere, at a place that the borrower names. It
    /// stays taken until its object is taken in, given back, or not kept by [`EntryHeap::retain`].
    ///
    /// # Errors
    /// [`Refused::NoHandle`] if no entry is free and the table cannot grow, or the heap is larger
    /// than 8 GiB. If it is not, what was parked is given back then.
    ///
    /// # Panics
    /// If the place is not below [`EntryHeap::LENT_PLACES`].
    ///
    /// # Complexity
    /// O(1). If no entry is free, everything parked is given back, or eight entries are made.
    #[inline]
    pub fn lend_entry(&mut self, place: u32) -> Result<u32, Refused> {
        assert!(place < Self::LENT_PLACES, "no place of a lent entry");
        if self.engine.addresses.has_no_free() || self.engine.is_too_large_to_lend() {
            self.engine.make_entries_to_lend()?;
        }
        Ok(self.engine.lend(place))
    }

    /// Where the object of an entry is.
    ///
    /// # Safety
    /// S1: the entry is live or lent. S2: the heap has no more than 8 GiB.
    ///
    /// # Complexity
    /// Two loads; one if it is lent.
    #[inline]
    #[must_use]
    pub unsafe fn entry_place(&self, entry: u32) -> EntryPlace {
        if let Some(place) = self.engine.lent_place(entry) {
            return EntryPlace::Lent(place);
        }
        // SAFETY: S1, S2: it is not lent (L1), so it is live.
        let (block, class) = unsafe { self.entry_block(entry) };
        EntryPlace::Block(block, class)
    }

    /// Names another place of a lent entry.
    ///
    /// # Panics
    /// If the place is not below [`EntryHeap::LENT_PLACES`], or the entry is not lent.
    ///
    /// # Complexity
    /// O(1).
    pub fn relocate_entry(&mut self, entry: u32, place: u32) {
        assert!(place < Self::LENT_PLACES, "no place of a lent entry");
        assert!(self.is_lent(entry), "entry {entry} is not lent");
        self.engine.set_lent(entry, place);
    }

    /// Gives a lent entry a page-block for `len` bytes: from now on its object is one of the heap.
    /// Moves nothing. The page-block may hold anything, and need not be initialised.
    ///
    /// # Errors
    /// As [`EntryHeap::allocate_entry`]; [`Refused::TooLarge`] if an object of so many bytes is in
    /// pieces. The entry is still lent then.
    ///
    /// # Panics
    /// If the entry is not lent.
    ///
    /// # Complexity
    /// That of [`EntryHeap::allocate_entry`], without clearing anything.
    pub fn take_in_entry(&mut self, entry: u32, len: usize) -> Result<NonNull<u8>, Refused> {
        assert!(self.is_lent(entry), "entry {entry} is not lent");
        if self.is_split(len) {
            let limit = self.config.piece_bytes().unwrap_or(0);
            return Err(Refused::TooLarge { limit });
        }
        let class = self.class_of(len, 8)?;
        let other = self.allocate_block(class)?;
        self.engine.take_in(entry, other);
        Ok(self.object(entry))
    }

    /// Frees a lent entry.
    ///
    /// # Panics
    /// If the entry is not lent.
    ///
    /// # Complexity
    /// O(1).
    #[inline]
    pub fn give_entry_back(&mut self, entry: u32) {
        assert!(self.is_lent(entry), "entry {entry} is not lent");
        self.engine.end_loan();
        let memory = &self.engine.pages.memory;
        self.engine.addresses.link(memory, entry);
    }

    /// The place of a lent entry; `None` if it is not lent. Any number may be given. O(1).
    #[inline]
    #[must_use]
    pub fn lent_place_of(&self, entry: u32) -> Option<u32> {
        let addresses = &self.engine.addresses;
        // In a heap that is too large to lend, other words have the bit.
        let may_be = addresses.lent.get() > 0 && addresses.contains(entry);
        may_be.then(|| self.engine.lent_place(entry)).flatten()
    }

    fn is_lent(&self, entry: u32) -> bool {
        self.lent_place_of(entry).is_some()
    }

    /// Entries that were made: the numbers of all that are taken are lower. A sweep may unmake the
    /// last. O(1).
    #[inline]
    #[must_use]
    pub fn entries_made(&self) -> u32 {
        self.engine.addresses.made.get()
    }

    /// All lent entries, in ascending order. O(entries ever made).
    pub fn lent_entries(&self) -> impl Iterator<Item = u32> {
        (0..self.engine.addresses.made.get()).filter(|&entry| self.is_lent(entry))
    }
}

impl<W: Width> Engine<'_, W> {
    /// Verifies L2.
    pub(crate) fn check_lent(&self) -> Result<(), Corruption> {
        let lent = self.addresses.lent.get();
        let word = |entry| self.addresses.word(&self.pages.memory, entry).get();
        let is_lent = |word: W::Word| word != W::Word::NIL && word.get() & LENT != 0;
        let made = self.addresses.made.get();
        let counted = lent == 0 || (0..made).filter(|&e| is_lent(word(e))).count() == lent as usize;
        ensure(counted, "L2", "lent entries are miscounted", lent as usize)
    }
}

impl Engine<'_, Wide> {
    /// The place of an entry that was made, if it is lent.
    #[inline]
    fn lent_place(&self, entry: u32) -> Option<u32> {
        let word = self.addresses.word(&self.pages.memory, entry).get();
        (word & LENT != 0 && word != u32::NIL).then_some(word & !LENT)
    }

    #[inline]
    fn set_lent(&self, entry: u32, place: u32) {
        let word = self.addresses.word(&self.pages.memory, entry);
        word.set(place | LENT);
    }

    /// Lends a free entry; there must be one.
    #[inline]
    fn lend(&self, place: u32) -> u32 {
        let (entry, word) = self.addresses.take(&self.pages.memory);
        word.set(place | LENT);
        let lent = &self.addresses.lent;
        lent.set(lent.get().wrapping_add(1));
        entry
    }

    #[inline]
    fn end_loan(&self) {
        let lent = &self.addresses.lent;
        lent.set(lent.get().wrapping_sub(1));
    }

    /// The page-block of `other` becomes that of a lent entry; `other` is free.
    fn take_in(&self, entry: u32, other: u32) {
        let block = self.block_of(other);
        self.pages.set_back_reference(block, entry);
        self.locate(entry, block);
        self.end_loan();
        self.addresses.link(&self.pages.memory, other);
    }

    /// Ensures that an entry is free, if the heap may lend one.
    #[cold]
    #[inline(never)]
    fn make_entries_to_lend(&self) -> Result<(), Refused> {
        if self.is_too_large_to_lend() {
            return Err(Refused::NoHandle);
        }
        self.make_entries()
    }

    #[inline]
    fn is_too_large_to_lend(&self) -> bool {
        self.pages.memory.len() as u64 > EntryHeap::<Wide>::LENDS_UP_TO
    }
}
