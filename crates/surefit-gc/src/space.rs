//! What a collector needs of the memory that it manages.

use core::num::NonZeroU32;
use core::ops::Range;
use core::ptr::NonNull;

use surefit_core::{Corruption, Parts, Refused};
use surefit_freelist::Swept;

use crate::marks::Marks;

/// A reference to an object: its number in its space, four bytes, never 0.
///
/// Copies are free and are no roots. A reference whose object was collected names nothing, or whatever object has the
/// number later: access is checked, so it reads no freed memory, but it may read another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object(NonZeroU32);

impl Object {
    /// The object with a number, as it is kept in a slot; `None` for 0.
    #[inline]
    #[must_use]
    pub const fn of(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number, to be kept in a slot.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0.get()
    }
}

/// Where the words of an object are, and how many it has: looked up once for all of them.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The first of them, if they follow each other.
    first: Option<NonNull<u32>>,
    words: u32,
}

impl Place {
    /// So many words, one behind the other.
    #[inline]
    #[must_use]
    pub const fn whole(first: NonNull<u32>, words: u32) -> Self {
        Self {
            first: Some(first),
            words,
        }
    }

    /// So many words, each where [`Space::word_in_pieces`] says.
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
    /// S1: [`Space::place`] of this space said so of the object, and the space was only read since. S2: `word` is less than
    /// its words.
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

/// A space of objects that keep their numbers: allocation, the places of words, and a sweep.
///
/// An object has words of four bytes, of which the first is aligned to eight. What is unsafe here, the
/// [`Collector`](crate::Collector) makes safe: it knows by its mark bits what lives.
///
/// # Safety
/// I1: numbers of live objects are at least 1 and less than [`Space::places`], and two of them differ by at least two.
/// I2: an object lives from [`Space::allocate`] until a sweep whose marks do not contain it; it keeps its number, its
/// words are its own, and all of them are initialised. They are aligned, and where [`Space::place`] says, until the space is
/// borrowed exclusively; whoever does that may write to them.
/// I3: [`Space::places`] never changes; nor does the number of words of an object while it lives; [`Space::objects`] yields all live objects and nothing else; no number in [`Space::unused`] is that of a live object.
pub unsafe trait Space {
    /// One more than the greatest number that an object can have.
    fn places(&self) -> u32;

    /// Numbers that no live object has; a collection clears no bits of them. Here a space tells of memory that it has not
    /// grown into.
    fn unused(&self) -> Range<u32> {
        0..0
    }

    /// Allocates an object of at least so many bytes, all of whose words are zero, from what is free as it is.
    ///
    /// # Errors
    /// [`Refused::TooLarge`] if no collection can help, else as the space says.
    fn allocate(&mut self, bytes: usize) -> Result<Object, Refused>;

    /// Makes room without a collection, if the space can: it moves objects together, or grows where a collection would
    /// soon be followed by another. Returns whether it did anything.
    fn relieve(&mut self) -> bool {
        false
    }

    /// Does what the space left until a collection has failed to make room; returns whether there was anything.
    fn merge(&mut self) -> bool {
        false
    }

    /// Takes more memory for a request of so many bytes that nothing else made room for; returns whether there was any. It
    /// is asked again until the request is served, or there is no more.
    fn grow(&mut self, _bytes: usize) -> bool {
        false
    }

    /// Where an object is now, and how many words it has: at least what was asked for.
    ///
    /// # Safety
    /// S1: the object is a live one of this space.
    unsafe fn place(&self, object: Object) -> Place;

    /// Where a word of an object is now whose words do not follow each other.
    ///
    /// # Safety
    /// S1: the object is a live one of this space, and [`Space::place`] says of it that it is in pieces. S2: `word` is less
    /// than its words.
    unsafe fn word_in_pieces(&self, object: Object, word: u32) -> NonNull<u32>;

    /// Frees every object that the marks do not contain.
    ///
    /// # Safety
    /// S1: no object that the marks do not contain is used again. S2: the marks contain only live objects of this space,
    /// none of them grey.
    unsafe fn sweep(&mut self, marks: &Marks<'_>) -> Swept;

    /// All live objects, in ascending order.
    fn objects(&self) -> impl Iterator<Item = Object>;

    /// Where every byte of the space is.
    fn parts(&self) -> Parts;

    /// Verifies the space's own invariants.
    ///
    /// # Errors
    /// The first that does not hold.
    fn check(&self) -> Result<(), Corruption>;
}
