//! Where the bytes of an object are.
//!
//! ```text
//! position → number of the piece (shifts) → word of the spine → entry of the piece → page-block
//! ```
//! A spine of at most q bytes is one page-block, which `Spine` finds once. From then on a position
//! costs one load more than a small object: the word of the spine. A longer spine is found again
//! whenever a word of another of its pieces is needed.

use core::ptr::NonNull;

use crate::handle::Number;
use crate::heap::Heap;
use crate::pieces::Division;
use crate::width::{Width, Word};

impl<W: Width> Heap<'_, W> {
    /// As `View::chunk_at`, of an object in pieces. The common case needs no stack: everything else
    /// is a jump.
    ///
    /// It is cold, so that a loop over objects of any length saves its registers only here.
    #[cold]
    #[inline(never)]
    pub(crate) fn chunk_in_pieces(
        &self,
        spine: Number,
        len: usize,
        offset: usize,
    ) -> (NonNull<u8>, usize) {
        let Some((piece, within, room)) = self.division.find_in_few(len, offset) else {
            return self.chunk_of_many(spine.index(), len, offset);
        };
        let view = self.view();
        // SAFETY: the number is below those of the object's pieces, and the spine is one block.
        let entry = unsafe { view.spine_word(spine, piece * W::SPINE_WORD_BYTES) };
        // SAFETY: `within` lies inside the piece, which is a live block with `room` bytes more.
        (unsafe { view.named::<u8>(entry).add(within) }, room)
    }

    /// As `chunk_in_pieces`, of an object whose spine may be in pieces, or at the object's end.
    #[inline(never)]
    fn chunk_of_many(&self, index: u32, len: usize, offset: usize) -> (NonNull<u8>, usize) {
        if offset >= len {
            return chunk_at_end(len, offset);
        }
        let (number, within) = self.division.find(len, offset);
        let entry = self.piece(index, len, number);
        self.rest_of_piece(entry, self.piece_len(len, number), within)
    }

    /// The byte at `within` of a piece of `len` bytes, and the bytes up to its end.
    #[inline]
    fn rest_of_piece(&self, entry: u32, len: usize, within: usize) -> (NonNull<u8>, usize) {
        // SAFETY: `within` lies inside the piece, which is a live block of at least its length.
        let first = unsafe { self.object::<u8>(entry).add(within) };
        (first, len - within)
    }

    /// The entry of a piece. O(levels).
    #[inline]
    pub(super) fn piece(&self, index: u32, len: usize, number: usize) -> u32 {
        let spine_bytes = self.spine_bytes(len);
        let at = number * W::SPINE_WORD_BYTES;
        if self.is_in_pieces(spine_bytes) {
            return self.word_of_many(index, spine_bytes, at);
        }
        self.spine_word(index, at)
    }

    /// The word at byte `at` of a spine in pieces.
    #[inline(never)]
    fn word_of_many(&self, index: u32, spine_bytes: usize, at: usize) -> u32 {
        let (number, within) = self.division.find(spine_bytes, at);
        let entry = self.piece(index, spine_bytes, number);
        self.spine_word(entry, within)
    }

    /// The word at byte `at` of a block of a spine.
    #[inline]
    fn spine_word(&self, entry: u32, at: usize) -> u32 {
        // SAFETY: the callers found the word in this block.
        unsafe { self.view().spine_word(Number::of(entry), at) }.index()
    }

    #[inline]
    pub(crate) fn is_in_pieces(&self, len: usize) -> bool {
        self.division.divides(len)
    }

    /// The number of pieces of an object in pieces.
    #[inline]
    pub(crate) fn pieces(&self, len: usize) -> usize {
        debug_assert!(self.is_in_pieces(len));
        self.division.count(len)
    }

    #[inline]
    pub(crate) fn spine_bytes(&self, len: usize) -> usize {
        self.pieces(len) * W::SPINE_WORD_BYTES
    }

    /// The bytes of piece `number` of an object in pieces.
    #[inline]
    pub(crate) fn piece_len(&self, len: usize, number: usize) -> usize {
        self.division.piece_len(len, number)
    }
}

/// Nothing, at the end of an object.
#[cold]
#[inline(never)]
fn chunk_at_end(len: usize, offset: usize) -> (NonNull<u8>, usize) {
    assert!(offset == len, "the offset is beyond the object");
    (NonNull::dangling(), 0)
}

/// The pieces of an object, by number. It keeps the block of the spine that it found last.
///
/// The heap is borrowed, so nothing moves, and the block stays where it is (O3).
#[derive(Debug)]
pub(super) struct Spine<'a, W: Width> {
    heap: &'a Heap<'a, W>,
    division: Division,
    index: u32,
    /// The length by which the object is divided.
    len: usize,
    /// The bytes that are used, at most `len`.
    end: usize,
    /// The words of the pieces from `first` on, `count` of them, `SPINE_WORD_BYTES` apart.
    words: NonNull<u8>,
    first: usize,
    count: usize,
}

impl<W: Width> Clone for Spine<'_, W> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, W: Width> Spine<'a, W> {
    /// The pieces of the object of `len` bytes that an entry of the heap names.
    #[inline]
    pub(super) fn new(heap: &'a Heap<'a, W>, index: u32, len: usize) -> Self {
        Self::divided(heap, heap.division, index, len)
    }

    /// The one piece of an object in a single block, whatever its length.
    pub(super) fn of_block(heap: &'a Heap<'a, W>, index: u32, len: usize) -> Self {
        Self::divided(heap, Division::NONE, index, len)
    }

    #[inline]
    fn divided(heap: &'a Heap<'a, W>, division: Division, index: u32, len: usize) -> Self {
        Self {
            heap,
            division,
            index,
            len,
            end: len,
            words: NonNull::dangling(),
            first: 0,
            count: 0,
        }
    }

    /// The same pieces as if the object ended at `end`, which is at most its length.
    #[inline]
    pub(super) fn up_to(self, end: usize) -> Self {
        debug_assert!(end <= self.len);
        Self { end, ..self }
    }

    /// The number of pieces that have used bytes: zero for no bytes, one for a contiguous object.
    #[inline]
    pub(super) fn pieces(&self) -> usize {
        if self.end > 0 && self.division.divides(self.len) {
            return self.find(self.end - 1).0 + 1;
        }
        usize::from(self.end > 0)
    }

    /// The piece that holds a byte of the object, and the place of the byte in it.
    #[inline]
    pub(super) fn find(&self, offset: usize) -> (usize, usize) {
        debug_assert!(offset < self.end);
        if self.division.divides(self.len) {
            return self.division.find(self.len, offset);
        }
        (0, offset)
    }

    /// The first byte and the used length of a piece; its number is below `pieces()`.
    #[inline]
    pub(super) fn piece(&mut self, number: usize) -> (NonNull<u8>, usize) {
        debug_assert!(number < self.pieces());
        if !self.division.divides(self.len) {
            return (self.heap.object(self.index), self.end);
        }
        // SAFETY: a spine's words were written when the object was allocated.
        let entry = unsafe { self.word(number).read() }.get();
        let used = self.end - self.division.start(self.len, number);
        let len = self.division.piece_len(self.len, number).min(used);
        (self.heap.object(entry), len)
    }

    /// The first byte from `offset` on, which lies before the end, and the bytes up to the end of
    /// its piece.
    #[inline]
    pub(super) fn rest(&mut self, offset: usize) -> (NonNull<u8>, usize) {
        let (number, within) = self.find(offset);
        let (first, len) = self.piece(number);
        // SAFETY: `within` lies inside the piece.
        (unsafe { first.add(within) }, len - within)
    }

    /// As `rest`, but goes on over the pieces that follow in memory, until it has at least `most`
    /// bytes: pieces that were allocated together often follow each other, and one long copy is
    /// faster than many short ones.
    #[inline]
    pub(super) fn run(&mut self, offset: usize, most: usize) -> (NonNull<u8>, usize) {
        let (first, len) = self.rest(offset);
        (first, self.extended(first, len, offset, most))
    }

    /// The length of a run that begins at `first`, the byte at `offset`, and has at least `len`
    /// bytes, those to the end of the first piece.
    #[inline]
    pub(super) fn extended(
        &mut self,
        first: NonNull<u8>,
        mut len: usize,
        offset: usize,
        most: usize,
    ) -> usize {
        while len < most && offset + len < self.end {
            let (next, more) = self.rest(offset + len);
            if next.addr().get() != first.addr().get() + len {
                break;
            }
            len += more;
        }
        len
    }

    /// The word of a piece of an object in pieces.
    #[inline]
    pub(super) fn word(&mut self, number: usize) -> NonNull<W::Word> {
        if number.wrapping_sub(self.first) >= self.count {
            self.fetch(number);
        }
        // SAFETY: the word is one of those at hand.
        let word = unsafe { self.words.add((number - self.first) * W::SPINE_WORD_BYTES) };
        word.cast()
    }

    /// Writes the word of a piece: an entry.
    ///
    /// # Safety
    /// S1: the spine is a live object, and no reference points into it.
    #[inline]
    pub(super) unsafe fn set_word(&mut self, number: usize, entry: u32) {
        let word = self.word(number);
        // SAFETY: S1; a word of a spine lies inside its block.
        unsafe { word.write(W::Word::new(entry)) };
        if W::SPINE_WORD_BYTES > W::WORD_BYTES {
            // SAFETY: S1. All bytes of spines are written: a collector may read any page-block.
            unsafe { word.add(1).cast::<u8>().write(0) };
        }
    }

    /// Finds the block of the spine that holds the word of a piece. O(levels).
    #[inline(never)]
    fn fetch(&mut self, number: usize) {
        let (heap, bytes) = (self.heap, self.heap.spine_bytes(self.len));
        let (first, entry, len) = if heap.is_in_pieces(bytes) {
            let (part, _) = heap.division.find(bytes, number * W::SPINE_WORD_BYTES);
            let entry = heap.piece(self.index, bytes, part);
            let first = heap.division.start(bytes, part);
            (first, entry, heap.piece_len(bytes, part))
        } else {
            (0, self.index, bytes)
        };
        self.words = heap.object(entry);
        self.first = first / W::SPINE_WORD_BYTES;
        self.count = len / W::SPINE_WORD_BYTES;
    }
}
