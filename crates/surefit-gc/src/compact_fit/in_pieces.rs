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

use super::CompactFit;
use super::stub::{STUB, WORD, entry, object, read_stub};
use crate::marks::Marks;
use crate::object::Object;
use crate::space::Space;

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
    pub(super) fn spine_of(&self, stub: u32) -> (u32, usize) {
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
        if let Some(dying) = self.dying {
            ensure(
                self.stubs().any(|stub| stub == dying.stub),
                "C1",
                "what is being freed in parts is no object in pieces; its entry",
                dying.stub as usize,
            )?;
        }
        for stub in self.stubs() {
            let (spine, bytes) = self.spine_of(stub);
            if let Some(dying) = self.dying.filter(|dying| dying.stub == stub) {
                for part in self.parts_left(dying) {
                    ensure(
                        self.pieces.contains(part),
                        "C1",
                        "a part that is left of an object has no bit; its entry",
                        part as usize,
                    )?;
                    (count, sum) = (count + 1, sum + u64::from(part));
                }
                continue;
            }
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
