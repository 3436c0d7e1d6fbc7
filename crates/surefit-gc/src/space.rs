//! What a collector needs of the memory that it manages.

use core::num::NonZeroU32;
use core::ops::Range;

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

/// A space of objects that keep their numbers: allocation, access to words, and a sweep.
///
/// An object has words of four bytes, of which the first is aligned to eight. What is unsafe here, the
/// [`Collector`](crate::Collector) makes safe: it knows by its mark bits what lives.
///
/// # Safety
/// I1: numbers of live objects are at least 1 and less than [`Space::places`], and two of them differ by at least two.
/// I2: an object lives from [`Space::allocate`] until a sweep whose marks do not contain it; it keeps its number, its
/// words are its own, and all of them are initialised.
/// I3: [`Space::places`] never changes; [`Space::words`] tells how many words an object has, the same while it lives;
/// [`Space::objects`] yields all live objects and nothing else; no number in [`Space::unused`] is that of a live object.
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

    /// The words of an object: at least what was asked for.
    ///
    /// # Safety
    /// S1: the object is a live one of this space.
    unsafe fn words(&self, object: Object) -> u32;

    /// Reads a word of an object.
    ///
    /// # Safety
    /// S1: the object is a live one of this space. S2: `word` is less than its words.
    unsafe fn load(&self, object: Object, word: u32) -> u32;

    /// Writes a word of an object.
    ///
    /// # Safety
    /// As [`Space::load`].
    unsafe fn store(&mut self, object: Object, word: u32, value: u32);

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
