//! The bits that distinguish pieces and spines from objects.
#![deny(unsafe_code)]

use crate::bits::Bits;
use crate::marks::Marks;

/// The entries of pieces and spines: one bit each.
#[derive(Debug)]
pub(super) struct Pieces<'m> {
    bits: Bits<'m>,
    /// How many bits are set.
    count: u32,
}

impl<'m> Pieces<'m> {
    /// No entry, in these words.
    pub(super) fn none(words: &'m mut [u64]) -> Self {
        let mut bits = Bits::over(words);
        bits.clear();
        Self { bits, count: 0 }
    }

    /// Entries for which there are bits.
    pub(super) const fn room(&self) -> u32 {
        self.bits.count() as u32
    }

    /// Entries that have a bit.
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    #[inline]
    pub(super) fn contains(&self, entry: u32) -> bool {
        self.bits.get(entry)
    }

    pub(super) fn add(&mut self, entry: u32) -> bool {
        self.bits.set(entry);
        self.count += 1;
        true
    }

    pub(super) fn remove(&mut self, entry: u32) -> bool {
        self.bits.reset(entry);
        self.count -= 1;
        true
    }

    /// All words, for tests of the checker.
    #[cfg(test)]
    pub(super) const fn parts(&mut self) -> (&mut [u64], &mut u32) {
        (self.bits.words_mut(), &mut self.count)
    }

    /// Sets a wrong bit, for tests of the checker.
    #[cfg(test)]
    pub(super) fn flip(&mut self, entry: u32) {
        match self.contains(entry) {
            true => self.bits.reset(entry),
            false => self.bits.set(entry),
        }
    }

    /// Sets the bits of the entries of the marked objects, without counting them: a sweep keeps
    /// both these and the pieces.
    pub(super) fn add_objects(&mut self, marks: &Marks<'_>) {
        let words = self.bits.words_mut().iter_mut().zip(0..);
        words.for_each(|(word, nth)| *word |= objects_of(marks, nth));
    }

    /// Clears them again: no piece is an object.
    pub(super) fn remove_objects(&mut self, marks: &Marks<'_>) {
        let words = self.bits.words_mut().iter_mut().zip(0..);
        let kept = words.filter(|(word, _)| **word != 0);
        kept.for_each(|(word, nth)| *word &= !objects_of(marks, nth));
    }

    /// The bits: bit `e % 64` of word `e / 64` is that of entry `e`.
    pub(super) const fn words(&self) -> &[u64] {
        self.bits.words()
    }

    /// How many entries there are, and their sum.
    pub(super) fn sum(&self) -> (u64, u64) {
        let next = |after: u32| self.bits.next(after + 1);
        let entries = core::iter::successors(self.bits.next(0), |&entry| next(entry));
        entries.fold((0, 0), |(count, sum), entry| {
            (count + 1, sum + u64::from(entry))
        })
    }
}

/// The bits of 64 entries, from entry `64 * nth` on: those whose objects are marked.
///
/// The object of entry `e` has number `2 * e + 2`. So these are the even bits of two words, without
/// the first one, and the first bit of the word after them.
fn objects_of(marks: &Marks<'_>, nth: usize) -> u64 {
    let words = marks.bits().words();
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let (low, high, next) = (word(2 * nth), word(2 * nth + 1), word(2 * nth + 2));
    if low | high == 0 {
        return next << 63;
    }
    even_bits(low) >> 1 | even_bits(high) << 31 | next << 63
}

/// The even bits of a word, packed: each step halves the gaps.
const fn even_bits(word: u64) -> u64 {
    let pairs = word & 0x5555_5555_5555_5555;
    let pairs = (pairs | pairs >> 1) & 0x3333_3333_3333_3333;
    let nibbles = (pairs | pairs >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    let bytes = (nibbles | nibbles >> 4) & 0x00ff_00ff_00ff_00ff;
    let halves = (bytes | bytes >> 8) & 0x0000_ffff_0000_ffff;
    (halves | halves >> 16) & 0xffff_ffff
}
