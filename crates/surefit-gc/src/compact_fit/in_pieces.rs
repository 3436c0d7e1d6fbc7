//! Objects longer than a piece: their stubs, and the bits that distinguish pieces and spines from
//! objects (C1, C2).
//!
//! ```text
//! allocate:      all page-blocks or none; the stub says how long the object is and where its
//!                spine is; every entry gets a bit
//! before sweep:  link all dead stubs; then, for every stub of the list, clear the bits of its
//!                entries
//! ```
//! These bits distinguish stubs from small pieces, so all dead stubs are found before the first bit
//! is cleared. The list is linked through the first words of the dead objects, which nobody reads
//! any more.

use core::ptr::NonNull;

use surefit_core::{Corruption, Refused, ensure};

use super::{CompactFit, STUB, WORD, entry, object};
use crate::bits::Bits;
use crate::marks::Marks;
use crate::space::{Object, Space};

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

    fn add(&mut self, entry: u32) -> bool {
        self.bits.set(entry);
        self.count += 1;
        true
    }

    fn remove(&mut self, entry: u32) -> bool {
        self.bits.reset(entry);
        self.count -= 1;
        true
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
    fn sum(&self) -> (u64, u64) {
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

/// How many words an object in pieces has, and the entry of its spine, as its stub says.
///
/// # Safety
/// S1: `stub` is the page-block of a live stub.
#[inline]
pub(super) unsafe fn read_stub(stub: NonNull<u8>) -> (u32, u32) {
    // SAFETY: S1: `allocate_in_pieces` wrote both, and page-blocks are aligned to 8.
    unsafe { stub.cast::<[u32; 2]>().read() }.into()
}

impl CompactFit<'_> {
    /// Allocates an object longer than a piece: all of its page-blocks or none.
    #[cold]
    pub(super) fn allocate_in_pieces(&mut self, bytes: usize) -> Result<u32, Refused> {
        let limit = self.most;
        if bytes > limit {
            return Err(Refused::TooLarge { limit });
        }
        let words = bytes.div_ceil(WORD);
        let bytes = words * WORD;
        self.heap.can_serve(&[bytes, STUB])?;
        let spine = self.heap.allocate_entry(bytes)?;
        let stub = self.heap.allocate_entry(STUB)?;
        // SAFETY: allocated just now.
        let (place, _) = unsafe { self.heap.entry_block(stub) };
        // SAFETY: a live page-block of eight bytes, aligned to eight, which nobody refers to.
        unsafe { place.cast::<[u32; 2]>().write([words as u32, spine]) };
        let pieces = &mut self.pieces;
        // SAFETY: S1: `allocate_entry` made all objects of this heap, which is nobody else's; S2:
        // no reference into one exists.
        unsafe {
            self.heap
                .entries_of(spine, bytes, &mut |entry| pieces.add(entry));
        }
        Ok(stub)
    }

    /// Where a word of an object in pieces is now.
    ///
    /// # Safety
    /// S1: `stub` is the page-block of a live stub. S2: `word` is less than the object's words.
    pub(super) unsafe fn word_behind_stub(&self, stub: NonNull<u8>, word: u32) -> NonNull<u32> {
        // SAFETY: S1.
        let (words, spine) = unsafe { read_stub(stub) };
        let (bytes, offset) = (words as usize * WORD, word as usize * WORD);
        // SAFETY: C2: the spine of a live stub belongs to a live object of this length; S2.
        unsafe { self.heap.byte_in_pieces(spine, bytes, offset) }.cast()
    }

    /// Clears the bits of the pieces of all objects that are not marked.
    pub(super) fn forget_dead_pieces(&mut self, marks: &Marks<'_>) {
        let mut dead = None;
        for stub in self
            .stubs()
            .map(object)
            .filter(|&stub| !marks.contains(stub))
        {
            // SAFETY: S1: a live stub, whose object is in pieces; S2: it is longer than a word
            // (C2).
            let first = unsafe { self.word_in_pieces(stub, 0) };
            // SAFETY: a word of a live page-block, aligned; the space is exclusively borrowed.
            unsafe { first.write(dead.map_or(0, Object::number)) };
            dead = Some(stub);
        }
        while let Some(stub) = dead {
            // SAFETY: S1: as above: nothing of a dead object is freed before the heap's sweep; S2.
            let first = unsafe { self.word_in_pieces(stub, 0) };
            // SAFETY: written above.
            dead = Object::of(unsafe { first.read() });
            let (spine, bytes) = self.spine_of(entry(stub));
            let pieces = &mut self.pieces;
            // SAFETY: S1, S2: as in `allocate_in_pieces`.
            unsafe {
                self.heap
                    .entries_of(spine, bytes, &mut |entry| pieces.remove(entry));
            }
        }
    }

    /// The entry of the spine of a live stub, and the bytes of its object.
    fn spine_of(&self, stub: u32) -> (u32, usize) {
        // SAFETY: S1: the callers' entries come from `stubs`, and none was freed since.
        let (place, _) = unsafe { self.heap.entry_block(stub) };
        // SAFETY: S1.
        let (words, spine) = unsafe { read_stub(place) };
        // A corrupted stub may claim more words than 32 bits can count.
        (spine, (words as usize).saturating_mul(WORD))
    }

    /// The entries of all stubs: the entries of the smallest class that have no bit.
    fn stubs(&self) -> impl Iterator<Item = u32> {
        let smallest = self.heap.entries_in(self.stubs);
        smallest.filter(|&entry| !self.pieces.contains(entry))
    }

    /// Verifies C1 and C2. The sum of the entries shows whether some were exchanged.
    pub(super) fn check_pieces(&self) -> Result<(), Corruption> {
        let (mut count, mut sum) = (0, 0);
        for stub in self.stubs() {
            let (spine, bytes) = self.spine_of(stub);
            let mut visit = |entry| {
                (count, sum) = (count + 1, sum + u64::from(entry));
                self.pieces.contains(entry)
            };
            let is_known = self.heap.is_split(bytes)
                // SAFETY: S1, S2: as in `allocate_in_pieces`, even if this is not a stub.
                && unsafe { self.heap.entries_of(spine, bytes, &mut visit) };
            ensure(
                is_known,
                "C2",
                "a stub is not of a live object in pieces; its entry",
                stub as usize,
            )?;
        }
        ensure(
            (count, sum) == self.pieces.sum() && count == u64::from(self.pieces.count()),
            "C1",
            "bits are not those of the pieces of stubs; pieces",
            self.pieces.count() as usize,
        )
    }
}
