//! Mark bits beside the heap. Each object has two: the bit of its number and the next one.
//!
//! ```text
//! white   00   not reached, or not an object
//! grey    11   reached, still to be scanned, not on the mark stack: it did not fit
//! black   10   reached: scanned already, or on the mark stack
//! ```
//! The numbers of two objects differ by at least two, so the second bit belongs to no other object.
//! So the bits can be read from left to right without the objects: two neighbouring set bits belong
//! to a grey object, and the first one is its number. The collector never touches a dead object to
//! mark it or to find out that it is dead.
//!
//! Between collections the bits are those of the last one. They have no meaning, except for a
//! [`Generational`](crate::Generational) collector.
#![deny(unsafe_code)]

use core::ops::Range;

use crate::bits::Bits;
use crate::object::Object;

/// The mark bits of all objects of a space.
#[derive(Debug)]
pub struct Marks<'m> {
    bits: Bits<'m>,
}

impl<'m> Marks<'m> {
    /// Mark bits in these words, as they are.
    pub(crate) const fn over(words: &'m mut [u64]) -> Self {
        Self {
            bits: Bits::over(words),
        }
    }

    /// The same bits, borrowed.
    pub(crate) const fn reborrow(&mut self) -> Marks<'_> {
        Marks {
            bits: self.bits.reborrow(),
        }
    }

    /// The bits.
    pub(crate) const fn bits(&self) -> &Bits<'m> {
        &self.bits
    }

    /// The words of the bits, for tests of the checker.
    #[cfg(test)]
    pub(crate) const fn words_mut(&mut self) -> &mut [u64] {
        self.bits.words_mut()
    }

    /// Whether an object was reached: it is not white.
    #[inline]
    #[must_use]
    pub fn contains(&self, object: Object) -> bool {
        self.bits.get(object.number())
    }

    /// Whether an object is grey.
    #[inline]
    pub(crate) fn is_grey(&self, object: Object) -> bool {
        self.contains(object) && self.bits.get(object.number() + 1)
    }

    /// The first object at or after a number that is not white.
    #[must_use]
    pub fn next(&self, number: u32) -> Option<Object> {
        self.bits.next(number).and_then(Object::of)
    }

    /// The first grey object at or after a number; `number` is not the second number of an object.
    pub(crate) fn next_grey(&self, number: u32) -> Option<Object> {
        self.bits.next_pair(number).and_then(Object::of)
    }

    /// The first grey object at or after a number among 64, or `None`: those whose bits are in one
    /// word. `live` has the bits of all objects, so that a second bit is not taken for an object.
    pub(crate) fn next_grey_in_word(&self, number: u32, live: &Bits<'_>) -> Option<Object> {
        self.bits.next_pair_among(number, live).and_then(Object::of)
    }

    /// Makes the objects of one word of bits white.
    pub(crate) fn clear_word(&mut self, nth: usize) {
        if let Some(word) = self.bits.words_mut().get_mut(nth) {
            *word = 0;
        }
    }

    /// Makes all objects white.
    pub(crate) fn clear(&mut self) {
        self.bits.clear();
    }

    /// Makes all white, except `unused`, which are white already.
    pub(crate) fn clear_but(&mut self, unused: Range<u32>) {
        self.bits.clear_but(unused);
    }

    /// Makes a white object black; returns whether it was white.
    #[inline]
    pub(crate) fn reach(&mut self, object: Object) -> bool {
        self.bits.insert(object.number()) == Some(true)
    }

    /// Makes a black object grey.
    pub(crate) fn make_grey(&mut self, object: Object) {
        self.bits.set(object.number() + 1);
    }

    /// Makes a grey object black.
    pub(crate) fn make_black(&mut self, object: Object) {
        self.bits.reset(object.number() + 1);
    }
}
