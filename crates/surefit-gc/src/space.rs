//! What a collector needs from the memory that it manages.

use core::ops::Range;
use core::ptr::NonNull;

use surefit_core::{Corruption, Refused, Usage};
use surefit_freelist::Swept;

use crate::marks::Marks;
use crate::object::Object;

/// Where the words of an object are, and how many there are: one look-up serves all words.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The first word, if the words follow each other.
    first: Option<NonNull<u32>>,
    words: u32,
}

impl Place {
    /// `words` words that follow each other.
    #[inline]
    #[must_use]
    pub const fn whole(first: NonNull<u32>, words: u32) -> Self {
        Self {
            first: Some(first),
            words,
        }
    }

    /// `words` words; [`Space::word_in_pieces`] says where each one is.
    #[inline]
    #[must_use]
    pub const fn in_pieces(words: u32) -> Self {
        Self { first: None, words }
    }

    /// How many words the object has.
    #[inline]
    #[must_use]
    pub const fn words(&self) -> u32 {
        self.words
    }

    /// Where a word is.
    ///
    /// # Safety
    /// S1: [`Space::place`] of this space returned this for the object, and the space was only read
    /// since. S2: `word` is less than the object's words.
    #[inline]
    pub(crate) unsafe fn word<S: Space>(
        &self,
        space: &S,
        object: Object,
        word: u32,
    ) -> NonNull<u32> {
        match self.first {
            // SAFETY: S1, S2: the words follow each other, and are the object's (I2).
            Some(first) => unsafe { first.add(word as usize) },
            // SAFETY: S1, S2: the object lives.
            None => unsafe { space.word_in_pieces(object, word) },
        }
    }
}

impl Place {
    /// Where a byte is, and how many bytes from there on follow each other in the object.
    ///
    /// # Safety
    /// S1 of [`Place::word`]. S2: `byte` is less than four times the object's words.
    #[inline]
    pub(crate) unsafe fn bytes_from<S: Space>(
        &self,
        space: &S,
        object: Object,
        byte: usize,
    ) -> (NonNull<u8>, usize) {
        let (word, within) = ((byte / 4) as u32, byte % 4);
        // SAFETY: S1; S2: the byte is one of this word.
        let place = unsafe { self.word(space, object, word) }.cast::<u8>();
        let end = match self.first {
            Some(_) => self.words as usize * 4,
            None => byte - within + 4,
        };
        // SAFETY: a byte of the word.
        (unsafe { place.add(within) }, end - byte)
    }
}

/// A space of objects that keep their numbers: allocation, the places of words, and a sweep.
///
/// An object has words of four bytes; the first one is aligned to eight. The
/// [`Collector`](crate::Collector) makes the unsafe parts safe: its live bits say which objects
/// live.
///
/// # Safety
/// - I1: The numbers of live objects are at least 1 and less than [`Space::places`], and two of
///   them differ by at least two.
/// - I2: An object lives from [`Space::allocate`] until a sweep whose marks do not contain it. It
///   keeps its number; its words belong to it alone, and all of them are initialised. They are
///   aligned, and stay where [`Space::place`] says until the space is borrowed exclusively; whoever
///   borrows it so may write to them.
/// - I3: [`Space::places`] never changes, nor does the number of words of an object while it lives.
///   [`Space::objects`] yields all live objects and nothing else. No number in [`Space::unused`] is
///   that of a live object.
pub unsafe trait Space {
    /// The greatest number that an object can have, plus one.
    fn places(&self) -> u32;

    /// Numbers that no live object has; a collection does not clear their bits. A space returns the
    /// numbers of the memory that it has not grown into yet.
    fn unused(&self) -> Range<u32> {
        0..0
    }

    /// Allocates an object of at least `bytes` bytes from what is free as it is. All words of the
    /// object are zero.
    ///
    /// # Errors
    /// [`Refused::TooLarge`] if no collection can help; otherwise what the space says.
    fn allocate(&mut self, bytes: usize) -> Result<Object, Refused>;

    /// Makes room without a collection, if the space can: it moves objects together, or grows if
    /// another collection would soon follow. Returns whether it did anything.
    fn relieve(&mut self) -> bool {
        false
    }

    /// Does what the space postponed until a collection has failed to make room. Returns whether
    /// there was anything to do.
    fn merge(&mut self) -> bool {
        false
    }

    /// Takes more memory for a request of this many bytes, after nothing else made room for it.
    /// Returns whether there was any. The collector calls it again until the request is served or
    /// there is no more.
    fn grow(&mut self, _bytes: usize) -> bool {
        false
    }

    /// Where an object is now, and how many words it has: at least what was asked for.
    ///
    /// # Safety
    /// S1: the object is a live one of this space.
    unsafe fn place(&self, object: Object) -> Place;

    /// Where a word is now, of an object whose words do not follow each other.
    ///
    /// # Safety
    /// S1: the object is a live one of this space, and [`Space::place`] says that it is in pieces.
    /// S2: `word` is less than the object's words.
    unsafe fn word_in_pieces(&self, object: Object, word: u32) -> NonNull<u32>;

    /// Frees every object that the marks do not contain.
    ///
    /// # Safety
    /// S1: no object that the marks do not contain is used again. S2: the marks contain only live
    /// objects of this space, none of them grey.
    unsafe fn sweep(&mut self, marks: &Marks<'_>) -> Swept;

    /// All live objects, in ascending order.
    fn objects(&self) -> impl Iterator<Item = Object>;

    /// Where every byte of the space is.
    fn usage(&self) -> Usage;

    /// Verifies the space's own invariants.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    fn check(&self) -> Result<(), Corruption>;
}
