//! Mark bits beside the heap: two for every object, at its number and the one after.
//!
//! ```text
//! white   00   not reached, or no object
//! grey    11   reached, to be scanned
//! black   10   reached and scanned; between collections: an object
//! ```
//! Numbers of two objects differ by at least two, so the second bit is nobody else's. Hence the bits can be read from
//! left to right without the objects: two set bits that are neighbours are a grey object's, and the first of them is its
//! number. Dead objects are never touched to be marked or to be found dead.
//!
//! # Bounds
//! One bit for every possible number: of a free-list heap, 1/64 of its bytes. `next` looks at 64 numbers a step.
#![deny(unsafe_code)]

use crate::space::Object;

const BITS: u32 = u64::BITS;

/// The mark bits of all objects of a space.
#[derive(Debug)]
pub struct Marks<'m> {
    words: &'m mut [u64],
}

impl<'m> Marks<'m> {
    /// Mark bits in these words, as they are.
    pub(crate) const fn over(words: &'m mut [u64]) -> Self {
        Self { words }
    }

    /// The same bits, borrowed.
    pub(crate) const fn reborrow(&mut self) -> Marks<'_> {
        Marks { words: self.words }
    }

    /// How many bits there are.
    pub(crate) const fn bits(&self) -> usize {
        self.words.len() * BITS as usize
    }

    /// Whether an object is not white: it was reached, or, between collections, it lives.
    #[inline]
    #[must_use]
    pub fn contains(&self, object: Object) -> bool {
        self.get(object.number())
    }

    /// The first object at or after a number that is not white.
    #[must_use]
    pub fn next(&self, number: u32) -> Option<Object> {
        self.find(number, |word, _| word).and_then(Object::of)
    }

    /// The first grey object at or after a number, which is not the second of an object's two.
    pub(crate) fn next_grey(&self, number: u32) -> Option<Object> {
        // The bit of each number whose follower is set too: of a grey object, and maybe of what follows it.
        let both = |word: u64, following: u64| word & (word >> 1 | following << (BITS - 1));
        self.find(number, both).and_then(Object::of)
    }

    /// Makes all white.
    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Makes a white object grey; returns whether it was white.
    #[inline]
    pub(crate) fn make_grey(&mut self, object: Object) -> bool {
        let number = object.number();
        if self.get(number) {
            return false;
        }
        self.set(number);
        self.set(number + 1);
        true
    }

    /// Makes an object black.
    #[inline]
    pub(crate) fn make_black(&mut self, object: Object) {
        self.set(object.number());
        let second = object.number() + 1;
        self.words[(second / BITS) as usize] &= !(1 << (second % BITS));
    }

    /// Makes a wrong bit, for tests of the checker.
    #[cfg(test)]
    pub(crate) fn flip(&mut self, object: Object) {
        let number = object.number();
        self.words[(number / BITS) as usize] ^= 1 << (number % BITS);
    }

    /// The first number at or after one whose bit is set in what `of` makes of its word and the word after.
    #[inline]
    fn find(&self, number: u32, of: impl Fn(u64, u64) -> u64) -> Option<u32> {
        let mut at = (number / BITS) as usize;
        let mut mask = u64::MAX << (number % BITS);
        while let Some(&word) = self.words.get(at) {
            let following = self.words.get(at + 1).copied().unwrap_or(0);
            let found = of(word, following) & mask;
            if found != 0 {
                return Some(at as u32 * BITS + found.trailing_zeros());
            }
            (at, mask) = (at + 1, u64::MAX);
        }
        None
    }

    /// A number beyond all bits has none that is set.
    #[inline]
    fn get(&self, number: u32) -> bool {
        let word = self.words.get((number / BITS) as usize).copied();
        word.unwrap_or(0) >> (number % BITS) & 1 != 0
    }

    #[inline]
    fn set(&mut self, number: u32) {
        self.words[(number / BITS) as usize] |= 1 << (number % BITS);
    }
}
