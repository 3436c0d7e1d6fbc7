//! Rows of the block table: the consecutive entries of one object, each of which names a frame.
//!
//! A row is a page-block of the table's heap, so rows have size-classes and live in abstract pages,
//! and the automaton moves them like any page-block. Rows beyond a quarter of a page are in pieces,
//! and a spine, itself a row of words, has the entries of the pieces.
//!
//! ```text
//! a row of k entries in a page-block of K ≥ k words:
//! | frame 0 | frame 1 | … | frame k−1 | none | … | none |
//! a word:   | 1 | frame number |      none: all ones      a spine's words (entries) begin with 0
//! ```
//! # Invariants
//! - B3 A row's words are k frames, then *none* up to the end of its page-block. No other row names
//!   these frames.

use core::ops::Range;

use surefit_compact::{Width, Word};
use surefit_core::Refused;

use super::heap::BlockTableHeap;
use super::words::{Row, tag};

impl<W: Width<Generation = ()>> BlockTableHeap<'_, W> {
    /// The words of a piece.
    #[inline]
    fn piece_words(&self) -> usize {
        self.config.piece_bytes() / W::WORD_BYTES
    }

    /// The page-block that holds a word of a row, and the word's position in it. One page-block, or
    /// one more word per level of spines.
    #[inline]
    fn find(&self, row: Row, at: usize) -> (u32, usize) {
        if row.words <= self.piece_words() {
            return (row.entry, at);
        }
        self.find_in_pieces(row, at)
    }

    #[inline(never)]
    fn find_in_pieces(&self, row: Row, at: usize) -> (u32, usize) {
        let piece = self.piece_words();
        (self.word(self.spine(row), at / piece), at % piece)
    }

    /// The spine of a row in pieces.
    fn spine(&self, row: Row) -> Row {
        let words = row.words.div_ceil(self.piece_words());
        Row { words, ..row }
    }

    /// A word of a row.
    #[inline]
    fn word(&self, row: Row, at: usize) -> u32 {
        let (entry, at) = self.find(row, at);
        // SAFETY: the word lies in its piece; every word of a row was written (B3).
        unsafe { self.table.word(entry, at) }
    }

    #[inline]
    fn set_word(&self, row: Row, at: usize, word: u32) {
        let (entry, at) = self.find(row, at);
        // SAFETY: the word lies in its piece.
        unsafe { self.table.set_word(entry, at, word) };
    }

    /// The frame that an entry of a row names. Two loads if the row is in one piece.
    #[inline]
    pub(super) fn frame(&self, row: Row, entry: usize) -> u32 {
        self.word(row, entry) & !tag::<W>()
    }

    /// The words of the page-blocks that hold a row of so many frames, without spines.
    #[inline]
    pub(super) fn row_words(&self, frames: usize) -> Result<usize, Refused> {
        let last = frames % self.piece_words();
        if last == 0 {
            return Ok(frames);
        }
        let geometry = self.config.table.geometry();
        let class = geometry.class_for(last * W::WORD_BYTES, W::WORD_BYTES);
        let class = class.ok_or_else(|| self.too_large())?;
        let block_bytes = geometry.layout(class).block_bytes as usize;
        Ok(frames - last + block_bytes / W::WORD_BYTES)
    }

    /// Takes a new row of `frames` entries: first those of `kept`, then free frames.
    ///
    /// Takes at most `missing` frames. If it refuses, the heap is unchanged.
    #[inline]
    pub(super) fn take_row(
        &self,
        frames: usize,
        missing: usize,
        kept: impl Iterator<Item = u32>,
    ) -> Result<u32, Refused> {
        let words = self.row_words(frames)?;
        if missing > self.frames.available() as usize {
            self.can_serve(Some(words), missing)?;
        }
        let entry = self.allocate(words)?;
        self.fill(Row { entry, words }, frames, kept);
        Ok(entry)
    }

    /// Allocates the page-blocks of a row, or of a spine.
    #[inline]
    fn allocate(&self, words: usize) -> Result<u32, Refused> {
        if words <= self.piece_words() {
            return self.table.allocate(words * W::WORD_BYTES);
        }
        self.can_serve(Some(words), 0)?;
        self.allocate_in_pieces(words)
    }

    /// Allocates a row in pieces, or one in one piece. The heap has agreed before.
    #[inline(never)]
    fn allocate_in_pieces(&self, words: usize) -> Result<u32, Refused> {
        let piece = self.piece_words();
        if words <= piece {
            return self.table.allocate(words * W::WORD_BYTES);
        }
        let spine = Row {
            entry: self.allocate_in_pieces(words.div_ceil(piece))?,
            words: words.div_ceil(piece),
        };
        for number in 0..spine.words {
            let len = piece.min(words - number * piece);
            let entry = self.table.allocate(len * W::WORD_BYTES)?;
            self.set_word(spine, number, entry);
        }
        Ok(spine.entry)
    }

    /// Writes every word of a row.
    #[inline]
    fn fill(&self, row: Row, frames: usize, mut kept: impl Iterator<Item = u32>) {
        for at in 0..frames {
            let frame = kept.next().unwrap_or_else(|| self.take_frame());
            self.set_word(row, at, frame | tag::<W>());
        }
        for at in frames..row.words {
            self.set_word(row, at, W::Word::NIL.get());
        }
    }

    /// Gives frames of a row back.
    #[inline]
    fn give_frames(&self, row: Row, entries: Range<usize>) {
        for entry in entries {
            self.frames.give(self.frame(row, entry));
        }
    }

    /// Gives a row and all its frames back. Moves at most two rows per page-block of the row.
    #[inline]
    pub(super) fn give_row(&self, entry: u32, frames: usize) {
        let row = Row {
            entry,
            words: frames,
        };
        self.give_frames(row, 0..frames);
        self.release(row);
    }

    /// Frees the page-blocks of a row, or of a spine.
    ///
    /// A free may move any row, even this one's spine. So each word is looked up anew.
    #[inline]
    fn release(&self, row: Row) {
        if row.words <= self.piece_words() {
            return self.table.free(row.entry);
        }
        self.release_pieces(row);
    }

    #[inline(never)]
    fn release_pieces(&self, row: Row) {
        let spine = self.spine(row);
        for piece in 0..spine.words {
            self.table.free(self.word(spine, piece));
        }
        self.release(spine);
    }

    /// Changes the number of a row's entries. Returns the row's entry, which is new unless the
    /// page-block stays.
    ///
    /// The frames of the common part stay with the object. If it refuses, the heap is unchanged.
    pub(super) fn resize_row(&self, entry: u32, old: usize, new: usize) -> Result<u32, Refused> {
        if old == new {
            return Ok(entry);
        }
        if self.row_words(old)? == self.row_words(new)? {
            self.resize_in_place(entry, old, new)?;
            return Ok(entry);
        }
        let former = Row { entry, words: old };
        let kept = (0..old.min(new)).map(|entry| self.frame(former, entry));
        let fresh = self.take_row(new, new.saturating_sub(old), kept)?;
        self.give_frames(former, old.min(new)..old);
        self.release(former);
        Ok(fresh)
    }

    /// Resizes a row whose page-blocks also serve the new number of entries.
    fn resize_in_place(&self, entry: u32, old: usize, new: usize) -> Result<(), Refused> {
        if new > old && new - old > self.frames.available() as usize {
            self.can_serve(None, new - old)?;
        }
        let row = Row {
            entry,
            words: old.max(new),
        };
        for entry in old..new {
            let word = self.take_frame() | tag::<W>();
            self.set_word(row, entry, word);
        }
        for entry in new..old {
            self.frames.give(self.frame(row, entry));
            self.set_word(row, entry, W::Word::NIL.get());
        }
        Ok(())
    }

    /// Whether the page-blocks of a row of so many words and `frames` frames can be taken, one
    /// after the other. Linear in these page-blocks.
    #[cold]
    pub(super) fn can_serve(&self, words: Option<usize>, frames: usize) -> Result<(), Refused> {
        let missing = frames.saturating_sub(self.frames.available() as usize);
        let pages = missing.div_ceil(self.config.frames_per_page());
        // No heap has as many page-blocks: one more than it has room for is refused, too.
        let most = self.bytes / self.config.piece_bytes() + 1;
        let mut lens = vec![self.config.page_bytes(); pages.min(most)];
        let row = words.map(|words| self.config.row_blocks::<W>(words));
        for run in row.into_iter().flatten() {
            lens.resize(lens.len() + run.count.min(most), run.bytes);
        }
        self.table.look(|heap| heap.can_serve(&lens))
    }

    /// Takes a frame. The caller has verified that the heap can serve it.
    #[inline]
    fn take_frame(&self) -> u32 {
        if self.frames.is_empty() {
            self.add_frame_page();
        }
        self.frames.take()
    }

    #[cold]
    fn add_frame_page(&self) {
        let bytes = self.config.page_bytes();
        let page = self.table.allocate(bytes);
        let page = page.expect("the heap was asked whether it has the page");
        self.frames.add_page(self.table.place(page), bytes);
    }
}
