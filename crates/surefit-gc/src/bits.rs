//! One bit for every number that an object of a space can have.
//!
//! # Bounds
//! For a free-list heap, 1/64 of its bytes. A search looks at 64 numbers per step.
#![deny(unsafe_code)]

use core::ops::Range;

/// Bits in a word.
pub(crate) const BITS: u32 = u64::BITS;

/// Bits in borrowed words, as they are.
#[derive(Debug)]
pub(crate) struct Bits<'m> {
    words: &'m mut [u64],
}

impl<'m> Bits<'m> {
    pub(crate) const fn over(words: &'m mut [u64]) -> Self {
        Self { words }
    }

    pub(crate) const fn reborrow(&mut self) -> Bits<'_> {
        Bits { words: self.words }
    }

    pub(crate) const fn words(&self) -> &[u64] {
        self.words
    }

    pub(crate) const fn words_mut(&mut self) -> &mut [u64] {
        self.words
    }

    pub(crate) const fn count(&self) -> usize {
        self.words.len() * BITS as usize
    }

    pub(crate) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Copies the bits of `other`, which has as many. No bit of `unused` is set in either; these
    /// are not read.
    pub(crate) fn copy_from(&mut self, other: &Bits<'_>, unused: Range<u32>) {
        let (below, above) = self.around(unused);
        self.words[..below].copy_from_slice(&other.words[..below]);
        self.words[above..].copy_from_slice(&other.words[above..]);
    }

    /// Clears all bits. None of `unused` is set; these are not written.
    pub(crate) fn clear_but(&mut self, unused: Range<u32>) {
        let (below, above) = self.around(unused);
        self.words[..below].fill(0);
        self.words[above..].fill(0);
    }

    /// The first bit of `unused` that is set in the words that are neither cleared nor copied.
    pub(crate) fn next_unused(&self, unused: Range<u32>) -> Option<u32> {
        let (below, above) = self.around(unused);
        let set = (below..above).find(|&nth| self.words[nth] != 0)?;
        self.next(set as u32 * BITS)
    }

    /// The number of words that hold the bits before a range, and the first word of those behind
    /// it.
    fn around(&self, range: Range<u32>) -> (usize, usize) {
        let below = range.start.div_ceil(BITS) as usize;
        let above = (range.end / BITS) as usize;
        match below < above && above <= self.words.len() {
            true => (below, above),
            false => (0, 0),
        }
    }

    /// A number beyond all bits counts as not set.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> bool {
        let word = self.words.get((number / BITS) as usize).copied();
        word.unwrap_or(0) >> (number % BITS) & 1 != 0
    }

    #[inline]
    pub(crate) fn set(&mut self, number: u32) {
        self.words[(number / BITS) as usize] |= 1 << (number % BITS);
    }

    /// Sets a bit; returns whether it was clear before, or `None` if the number has no bit.
    #[inline]
    pub(crate) fn insert(&mut self, number: u32) -> Option<bool> {
        let word = self.words.get_mut((number / BITS) as usize)?;
        let bit = 1 << (number % BITS);
        let is_new = *word & bit == 0;
        *word |= bit;
        Some(is_new)
    }

    #[inline]
    pub(crate) fn reset(&mut self, number: u32) {
        self.words[(number / BITS) as usize] &= !(1 << (number % BITS));
    }

    /// Word `nth`; 0 if there is none.
    #[inline]
    pub(crate) fn word(&self, nth: usize) -> u64 {
        self.words.get(nth).copied().unwrap_or(0)
    }

    /// The first number at or after one, in its word, whose bit is set together with the next bit,
    /// and that `among` has too.
    pub(crate) fn next_pair_among(&self, number: u32, among: &Bits<'_>) -> Option<u32> {
        let at = (number / BITS) as usize;
        let (word, following) = (self.word(at), self.word(at + 1));
        let pairs = word & (word >> 1 | following << (BITS - 1)) & among.word(at);
        let found = pairs & u64::MAX << (number % BITS);
        (found != 0).then(|| at as u32 * BITS + found.trailing_zeros())
    }

    /// The word after those before a range, or any word inside it: the first word behind the range.
    /// Any other word is returned as it is.
    pub(crate) fn beyond(&self, nth: usize, unused: Range<u32>) -> usize {
        let (below, above) = self.around(unused);
        match (below..above).contains(&nth) {
            true => above,
            false => nth,
        }
    }

    /// The first number at or after one whose bit is set.
    #[inline]
    pub(crate) fn next(&self, number: u32) -> Option<u32> {
        // Objects often follow each other. A branch is predicted; the result of a search would have
        // to be waited for.
        match self.get(number) {
            true => Some(number),
            false => self.find(number, |word, _| word),
        }
    }

    /// The first number at or after one whose bit is set together with the next bit.
    pub(crate) fn next_pair(&self, number: u32) -> Option<u32> {
        let both = |word: u64, following: u64| word & (word >> 1 | following << (BITS - 1));
        self.find(number, both)
    }

    /// The first number at or after one whose bit is set in the word that `of` makes of its word
    /// and the next word.
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
}
