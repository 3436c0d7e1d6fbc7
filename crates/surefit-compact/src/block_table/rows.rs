//! Rows of the block table: the consecutive entries of one object, each of which names a frame.
//!
//! A row is a byte object of the table's heap. So rows have size-classes and live in abstract
//! pages. The automaton moves them like any page-block. Rows beyond a quarter of a page are in
//! pieces.
//!
//! ```text
//! a row of k entries in a page-block of K ≥ k words:
//! | frame 0 | frame 1 | … | frame k−1 | none | … | none |
//! a word:   | 1 | frame number |      none: all ones      a spine's words (entries) begin with 0
//! ```
//! # Invariants
//! - B3 A row's words are k frames, then *none* up to the end of its page-block. No other row names
//!   these frames.
#![deny(unsafe_code)]

use core::alloc::Layout;
use core::mem::MaybeUninit;

use surefit_core::Refused;

use super::heap::BlockTableHeap;
use super::words::{get, row, set, tag};
use crate::demand::BlockDemand;
use crate::handle::{Bytes, Name};
use crate::width::{Width, Word};

impl<W: Width> BlockTableHeap<'_, W> {
    /// The frame that an entry of a row names. Two loads if the row is in one piece.
    #[inline]
    pub(super) fn frame(&self, row: &Bytes<u8>, entry: usize) -> u32 {
        get::<W>(self.table.chunk(row, entry * W::WORD_BYTES)) & !tag::<W>()
    }

    /// All frames of a row, in order.
    fn frames<'a>(&'a self, row: &'a Bytes<u8>) -> impl Iterator<Item = u32> + 'a {
        let chunks = self.table.chunks(row);
        let words = chunks.flat_map(|chunk| chunk.chunks_exact(W::WORD_BYTES));
        words.map(|word| get::<W>(word) & !tag::<W>())
    }

    /// Bytes of the page-blocks that hold a row's words, without spines.
    pub(super) fn row_bytes(&self, frames: usize) -> Result<usize, Refused> {
        let bytes = frames * W::WORD_BYTES;
        let last = bytes % self.config.piece_bytes();
        if last == 0 {
            return Ok(bytes);
        }
        let class = self.table.class_of(last, W::WORD_BYTES)?;
        let block = self.config.table.geometry().layout(class).block_bytes;
        Ok(bytes - last + block as usize)
    }

    /// Takes a new row of `frames` entries: first those of `kept`, then free frames.
    ///
    /// Takes at most `missing` frames. If it refuses, the heap is unchanged.
    pub(super) fn take_row(
        &self,
        frames: usize,
        missing: usize,
        kept: impl Iterator<Item = u32>,
    ) -> Result<Name, Refused> {
        let bytes = self.row_bytes(frames)?;
        if missing > self.frames.available() as usize {
            self.can_serve(Some(bytes), missing)?;
        }
        let layout = Layout::from_size_align(bytes, W::WORD_BYTES);
        let layout = layout.map_err(|_| self.too_large())?;
        let mut row = self.table.alloc(layout)?;
        self.fill(&mut row, frames, kept);
        Ok(row.name)
    }

    /// Writes every word of a row.
    fn fill(
        &self,
        row: &mut Bytes<MaybeUninit<u8>>,
        frames: usize,
        mut kept: impl Iterator<Item = u32>,
    ) {
        let mut left = frames;
        let mut next = || {
            if left == 0 {
                return W::Word::NIL.get();
            }
            left -= 1;
            kept.next().unwrap_or_else(|| self.take_frame()) | tag::<W>()
        };
        for chunk in self.table.chunks_mut(row) {
            for word in chunk.chunks_exact_mut(W::WORD_BYTES) {
                set::<W>(word, next());
            }
        }
    }

    /// Gives a row and all its frames back. Moves at most two rows per page-block of the row.
    #[inline]
    pub(super) fn give_row(&self, name: Name, frames: usize) {
        let row = row::<W>(name, frames);
        for frame in self.frames(&row) {
            self.frames.give(self.memory(), frame);
        }
        self.release(name, row.len());
    }

    /// Frees the page-blocks of a row, or of a spine, of `bytes` bytes.
    ///
    /// A free may move any row, even this one's spine. So each word is looked up anew.
    pub(super) fn release(&self, name: Name, bytes: usize) {
        if !self.table.is_in_pieces(bytes) {
            return self.table.engine.free(name.index());
        }
        let pieces = self.table.pieces(bytes);
        let spine = Bytes::<u8>::new(name, pieces * W::WORD_BYTES);
        for piece in 0..pieces {
            let entry = get::<W>(self.table.chunk(&spine, piece * W::WORD_BYTES));
            self.table.engine.free(entry);
        }
        self.release(name, spine.len());
    }

    /// Changes the number of a row's entries. Returns the row's name, which is new unless the
    /// page-block stays.
    ///
    /// The frames of the common part stay with the object. If it refuses, the heap is unchanged.
    pub(super) fn resize_row(&self, name: Name, old: usize, new: usize) -> Result<Name, Refused> {
        if old == new {
            return Ok(name);
        }
        let former = row::<W>(name, old);
        if self.row_bytes(old)? == self.row_bytes(new)? {
            self.resize_in_place(name, old, new)?;
            return Ok(name);
        }
        let kept = self.frames(&former).take(new);
        let fresh = self.take_row(new, new.saturating_sub(old), kept)?;
        for frame in self.frames(&former).skip(new) {
            self.frames.give(self.memory(), frame);
        }
        self.release(name, former.len());
        Ok(fresh)
    }

    /// Resizes a row whose page-blocks also serve the new number of entries.
    fn resize_in_place(&self, name: Name, old: usize, new: usize) -> Result<(), Refused> {
        if new > old && new - old > self.frames.available() as usize {
            self.can_serve(None, new - old)?;
        }
        let mut words = Bytes::<MaybeUninit<u8>>::new(name, old.max(new) * W::WORD_BYTES);
        for entry in old..new {
            let word = self.take_frame() | tag::<W>();
            self.set_word(&mut words, entry, word);
        }
        for entry in new..old {
            let frame = self.frame(&row::<W>(name, old), entry);
            self.frames.give(self.memory(), frame);
            self.set_word(&mut words, entry, W::Word::NIL.get());
        }
        Ok(())
    }

    fn set_word(&self, row: &mut Bytes<MaybeUninit<u8>>, entry: usize, word: u32) {
        let chunk = self.table.chunk_mut(row, entry * W::WORD_BYTES);
        set::<W>(&mut chunk[..W::WORD_BYTES], word);
    }

    /// Whether the page-blocks of a row and `frames` frames can be taken, one after the other.
    pub(super) fn can_serve(&self, row_bytes: Option<usize>, frames: usize) -> Result<(), Refused> {
        let mut demand = BlockDemand::new();
        if let Some(bytes) = row_bytes {
            self.table.add_object(&mut demand, bytes, W::WORD_BYTES)?;
        }
        let missing = frames.saturating_sub(self.frames.available() as usize);
        let pages = missing.div_ceil(self.config.frames_per_page());
        let pages = u32::try_from(pages).map_err(|_| self.too_large())?;
        demand.add(self.page_class(), pages);
        self.table.engine.can_serve(&demand)
    }

    /// Takes a frame. The caller has verified that the heap can serve it.
    #[inline]
    fn take_frame(&self) -> u32 {
        if self.frames.is_empty() {
            self.add_frame_page();
        }
        self.frames.take(self.memory())
    }

    #[cold]
    fn add_frame_page(&self) {
        let page = self.table.allocate_block(self.page_class());
        let page = page.expect("the heap was asked whether it has the page");
        let offset = self.table.engine.object_offset(page);
        self.frames.add_page(offset, self.config.page_bytes());
    }
}
