//! Byte objects: contiguous up to the piece size, in pieces (arraylets) above it.
//!
//! ```text
//! len ≤ q    one page-block
//! len > q    the handle names a spine: a byte object of one word per piece; each word is the number
//!            of an entry
//!            piece 0 … piece k−1 of q bytes each, then the remainder in the size-class that fits it
//! ```
//! A spine longer than q is itself kept in pieces, so an access walks a few levels: five look-ups
//! for 1 MiB in pieces of 64 bytes, two for 1 MiB in pieces of 4 KiB. Pieces move one by one, like
//! every other block, because the spine names entries, not addresses.
//!
//! # Bounds
//! `alloc`, `free_bytes` and `resize` are linear in the number of pieces. Each piece is freed by
//! its own event, with at most two moves. An access is O(levels); levels ≤ ⌈log(len / q) / log(q /
//! word)⌉ + 1.
//!
//! # Source
//! Arraylets: Bacon, Cheng, Rajan (2003). Pieces under handles are ours.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::Refused;

use crate::demand::BlockDemand;
use crate::handle::{Byte, Bytes, Name};
use crate::heap::Heap;
use crate::pieces::Pieces;
use crate::width::{Width, Word};

impl<W: Width> Heap<'_, W> {
    /// Allocates a byte object whose bytes are not initialised. Never moves an object.
    ///
    /// The alignment applies to the object or, if it is in pieces, to each piece. A size of zero is
    /// served like a size of one.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged.
    #[inline]
    pub fn alloc(&self, layout: Layout) -> Result<Bytes<MaybeUninit<u8>>, Refused> {
        let index = self.allocate_bytes(layout.size(), layout.align())?;
        Ok(Bytes::new(Name::new(index, self.id), layout.size()))
    }

    /// Allocates a byte object of zeros. Never moves an object.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged.
    pub fn alloc_zeroed(&self, layout: Layout) -> Result<Bytes<u8>, Refused> {
        let mut bytes = self.alloc(layout)?;
        self.zero(&mut bytes, 0);
        // SAFETY: all bytes were just zeroed.
        Ok(unsafe { bytes.assume_init() })
    }

    /// Frees a byte object. May move up to two objects per piece.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    pub fn free_bytes<B: Byte>(&mut self, bytes: Bytes<B>) {
        assert!(
            self.own(bytes.name).is_ok(),
            "the handle belongs to another heap"
        );
        self.free_index(bytes.name.index(), bytes.len());
    }

    /// Changes the length of a byte object, and its alignment if the layout requires a stricter
    /// one. The bytes up to the smaller length are kept; added bytes are zeroed if `B` is `u8`.
    /// Whole pieces stay where they are if the alignment does not change.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; the object is unchanged. For a moment,
    /// old and new page-blocks are live at once: for an object in pieces those of the last piece
    /// and the spine, or those of the whole object if its alignment changes. So even a shorter
    /// length may be refused.
    pub fn resize<B: Byte>(&mut self, bytes: &mut Bytes<B>, layout: Layout) -> Result<(), Refused> {
        self.own(bytes.name)?;
        let (old, new) = (bytes.len(), layout.size());
        match (self.is_in_pieces(old), self.is_in_pieces(new)) {
            (false, false) if self.fits_in_place(bytes.name.index(), layout) => {}
            (true, true) if self.keeps_pieces(bytes.name.index(), old, layout.align()) => {
                let index = self.resize_pieces(bytes.name.index(), old, layout)?;
                bytes.name = Name::new(index, self.id);
            }
            _ => self.replace(bytes, layout)?,
        }
        *bytes = Bytes::new(bytes.name, new);
        if B::ZEROED && new > old {
            self.zero(bytes, old);
        }
        Ok(())
    }

    /// The bytes from `offset` to the end of their piece or of the object; empty at the end of the
    /// object.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` is above the length.
    #[inline]
    #[must_use]
    pub fn chunk<'a, B: Byte>(&'a self, bytes: &'a Bytes<B>, offset: usize) -> &'a [B] {
        let (first, len) = self.chunk_at(bytes, offset);
        // SAFETY: `len` bytes from `first` belong to the object, which is borrowed; for `u8` they
        // are initialised.
        unsafe { NonNull::slice_from_raw_parts(first, len).as_ref() }
    }

    /// As [`Heap::chunk`], but mutable.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` is above the length.
    #[inline]
    #[must_use]
    pub fn chunk_mut<'a, B: Byte>(&'a self, bytes: &'a mut Bytes<B>, offset: usize) -> &'a mut [B] {
        let (first, len) = self.chunk_at(bytes, offset);
        // SAFETY: as in `chunk`, and the handle is borrowed exclusively (O2).
        unsafe { NonNull::slice_from_raw_parts(first, len).as_mut() }
    }

    /// All bytes in order, one contiguous piece at a time: an I/O vector.
    ///
    /// # Panics
    /// In the first step, if the handle belongs to another heap.
    pub fn chunks<'a, B: Byte>(&'a self, bytes: &'a Bytes<B>) -> impl Iterator<Item = &'a [B]> {
        let mut at = 0;
        core::iter::from_fn(move || {
            let chunk = self.chunk(bytes, at);
            at += chunk.len();
            (!chunk.is_empty()).then_some(chunk)
        })
    }

    /// All bytes in order, one contiguous piece at a time, mutable.
    ///
    /// # Panics
    /// In the first step, if the handle belongs to another heap.
    pub fn chunks_mut<'a, B: Byte>(
        &'a self,
        bytes: &'a mut Bytes<B>,
    ) -> impl Iterator<Item = &'a mut [B]> {
        let mut at = 0;
        core::iter::from_fn(move || {
            let (first, len) = self.chunk_at(bytes, at);
            at += len;
            // SAFETY: as in `chunk_mut`; each step yields another piece, so the slices are
            // disjoint.
            (len > 0).then(|| unsafe { NonNull::slice_from_raw_parts(first, len).as_mut() })
        })
    }

    /// Copies bytes from the object, from `offset` on.
    ///
    /// # Panics
    /// If the range is not empty and the handle belongs to another heap, or if the range ends after
    /// the object.
    pub fn read_at<B: Byte>(&self, bytes: &Bytes<B>, offset: usize, target: &mut [B]) {
        let mut done = 0;
        while done < target.len() {
            let chunk = self.chunk(bytes, offset + done);
            assert!(!chunk.is_empty(), "the range goes beyond the object");
            let n = chunk.len().min(target.len() - done);
            target[done..done + n].copy_from_slice(&chunk[..n]);
            done += n;
        }
    }

    /// Copies bytes to the object, from `offset` on.
    ///
    /// # Panics
    /// If the range is not empty and the handle belongs to another heap, or if the range ends after
    /// the object.
    pub fn write_at<B: Byte>(&self, bytes: &mut Bytes<B>, offset: usize, source: &[B]) {
        let mut done = 0;
        while done < source.len() {
            let chunk = self.chunk_mut(bytes, offset + done);
            assert!(!chunk.is_empty(), "the range goes beyond the object");
            let n = chunk.len().min(source.len() - done);
            chunk[..n].copy_from_slice(&source[done..done + n]);
            done += n;
        }
    }

    // ---- where the bytes are -------------------------------------------------------------------

    #[inline]
    fn chunk_at<B: Byte>(&self, bytes: &Bytes<B>, offset: usize) -> (NonNull<B>, usize) {
        assert!(
            self.own(bytes.name).is_ok(),
            "the handle belongs to another heap"
        );
        let len = bytes.len();
        if self.is_in_pieces(len) {
            let (first, len) = self.chunk_in_pieces(bytes.name.index(), len, offset);
            return (first.cast(), len);
        }
        assert!(offset <= len, "the offset is beyond the object");
        // SAFETY: `offset` lies inside the object, which is a live block of at least `len` bytes.
        let first = unsafe { self.object::<B>(bytes.name.index()).add(offset) };
        (first, len - offset)
    }

    #[inline(never)]
    pub(crate) fn chunk_in_pieces(
        &self,
        index: u32,
        len: usize,
        offset: usize,
    ) -> (NonNull<u8>, usize) {
        assert!(offset <= len, "the offset is beyond the object");
        if offset == len {
            return (NonNull::dangling(), 0);
        }
        let (index, within, len) = self.locate_piece(index, len, offset);
        // SAFETY: `within` lies inside the piece, which is a live block of at least `len` bytes.
        let first = unsafe { self.object::<u8>(index).add(within) };
        (first, len - within)
    }

    /// The entry of the piece that holds `offset`, the offset within it, and the piece's length.
    #[inline]
    fn locate(&self, index: u32, len: usize, offset: usize) -> (u32, usize, usize) {
        if !self.is_in_pieces(len) {
            return (index, offset, len);
        }
        self.locate_piece(index, len, offset)
    }

    fn locate_piece(&self, index: u32, len: usize, offset: usize) -> (u32, usize, usize) {
        let number = offset / self.piece_bytes;
        let entry = self.piece(index, len, number);
        (
            entry,
            offset % self.piece_bytes,
            self.piece_len(len, number),
        )
    }

    /// The entry of a piece.
    pub(crate) fn piece(&self, index: u32, len: usize, number: usize) -> u32 {
        // SAFETY: a spine's words were written when the object was allocated.
        unsafe { self.spine_word(index, len, number).read() }.get()
    }

    fn set_piece(&self, index: u32, len: usize, number: usize, entry: u32) {
        // SAFETY: the spine is a live object of this heap, and no reference points into it: it is
        // never handed out.
        unsafe {
            self.spine_word(index, len, number)
                .write(W::Word::new(entry))
        };
    }

    /// The location of a spine's word, as many levels down as the spine has.
    fn spine_word(&self, index: u32, len: usize, number: usize) -> NonNull<W::Word> {
        let (entry, within, _) = self.locate(index, self.spine_bytes(len), number * W::WORD_BYTES);
        // SAFETY: the word lies inside the spine's piece, whose length is a multiple of the word's.
        unsafe { self.object::<u8>(entry).add(within) }.cast()
    }

    #[inline]
    pub(crate) fn is_in_pieces(&self, len: usize) -> bool {
        len > self.piece_bytes
    }

    /// The number of pieces of an object in pieces.
    pub(crate) fn pieces(&self, len: usize) -> usize {
        len.div_ceil(self.piece_bytes)
    }

    pub(crate) fn spine_bytes(&self, len: usize) -> usize {
        self.pieces(len) * W::WORD_BYTES
    }

    /// The bytes of piece `number`.
    pub(crate) fn piece_len(&self, len: usize, number: usize) -> usize {
        self.piece_bytes.min(len - number * self.piece_bytes)
    }

    // ---- allocate and free ---------------------------------------------------------------------

    #[inline]
    pub(crate) fn allocate_bytes(&self, len: usize, align: usize) -> Result<u32, Refused> {
        match self.allocate_whole(len, align) {
            Some(index) => Ok(index),
            None => self.allocate_otherwise(len, align),
        }
    }

    /// Allocates an object in one block: the common case, in registers throughout.
    #[inline]
    fn allocate_whole(&self, len: usize, align: usize) -> Option<u32> {
        if self.is_in_pieces(len) {
            return None;
        }
        self.engine
            .allocate(self.config.geometry().class_for(len, align)?)
    }

    /// Allocates an object in pieces, or returns why that is not possible.
    #[inline(never)]
    fn allocate_otherwise(&self, len: usize, align: usize) -> Result<u32, Refused> {
        if self.is_in_pieces(len) {
            return self.allocate_in_pieces(len, align);
        }
        Err(self.engine.refusal(self.class_of(len, align)?))
    }

    fn allocate_in_pieces(&self, len: usize, align: usize) -> Result<u32, Refused> {
        let mut demand = BlockDemand::new();
        self.add_object(&mut demand, len, align)?;
        self.engine.can_serve(&demand)?;
        let index = self.allocate_bytes(self.spine_bytes(len), W::WORD_BYTES)?;
        self.allocate_pieces(index, len, align, 0)?;
        Ok(index)
    }

    /// Allocates the pieces from `first` on. The engine has agreed before, so nothing is refused.
    fn allocate_pieces(
        &self,
        index: u32,
        len: usize,
        align: usize,
        first: usize,
    ) -> Result<(), Refused> {
        for number in first..self.pieces(len) {
            let class = self.class_of(self.piece_len(len, number), align)?;
            self.set_piece(index, len, number, self.allocate_block(class)?);
        }
        Ok(())
    }

    /// Adds the blocks of a byte object, spines included, to a demand.
    pub(crate) fn add_object(
        &self,
        demand: &mut BlockDemand,
        len: usize,
        align: usize,
    ) -> Result<(), Refused> {
        self.add_runs(demand, self.runs(len, align))
    }

    /// Adds the blocks of the pieces from `first` on, without the spine.
    fn add_pieces(
        &self,
        demand: &mut BlockDemand,
        len: usize,
        align: usize,
        first: usize,
    ) -> Result<(), Refused> {
        let rest = len - first * self.piece_bytes;
        self.add_runs(demand, self.runs(rest, align).without_spine())
    }

    fn runs(&self, len: usize, align: usize) -> Pieces {
        Pieces::new(len, align, self.config.piece_bytes(), W::WORD_BYTES)
    }

    fn add_runs(&self, demand: &mut BlockDemand, runs: Pieces) -> Result<(), Refused> {
        for run in runs {
            let blocks = u32::try_from(run.count);
            let blocks = blocks.map_err(|_| Refused::TooLarge {
                limit: self.engine.pages.memory.len(),
            })?;
            demand.add(self.class_of(run.bytes, run.align)?, blocks);
        }
        Ok(())
    }

    /// Frees a byte object of length `len`.
    #[inline]
    fn free_index(&mut self, index: u32, len: usize) {
        if self.is_in_pieces(len) {
            self.free_in_pieces(index, len);
        } else {
            self.engine.free(index);
        }
    }

    #[inline(never)]
    fn free_in_pieces(&mut self, index: u32, len: usize) {
        self.free_pieces(index, len, 0);
        self.free_index(index, self.spine_bytes(len));
    }

    /// Frees the pieces from `first` on, but not the spine.
    fn free_pieces(&mut self, index: u32, len: usize, first: usize) {
        for number in first..self.pieces(len) {
            let entry = self.piece(index, len, number);
            self.engine.free(entry);
        }
    }

    // ---- resize --------------------------------------------------------------------------------

    /// Whether a contiguous object's block is also the right one for the new layout.
    fn fits_in_place(&self, index: u32, layout: Layout) -> bool {
        self.has_class(index, layout.size(), layout.align())
    }

    /// Whether the whole pieces of an object are aligned enough to stay.
    fn keeps_pieces(&self, index: u32, len: usize, align: usize) -> bool {
        self.has_class(self.piece(index, len, 0), self.piece_len(len, 0), align)
    }

    fn has_class(&self, index: u32, size: usize, align: usize) -> bool {
        let class = self.engine.block_of(index).page.record.class.get();
        self.config.geometry().class_for(size, align) == Some(class)
    }

    /// Allocates a new object, copies the bytes, and frees the old one.
    fn replace<B: Byte>(&mut self, bytes: &mut Bytes<B>, layout: Layout) -> Result<(), Refused> {
        let index = self.allocate_bytes(layout.size(), layout.align())?;
        let mut fresh = Bytes::<B>::new(Name::new(index, self.id), layout.size());
        self.copy_prefix(bytes, &mut fresh);
        self.free_index(bytes.name.index(), bytes.len());
        bytes.name = fresh.name;
        Ok(())
    }

    fn copy_prefix<B: Byte>(&self, from: &Bytes<B>, to: &mut Bytes<B>) {
        let len = from.len().min(to.len());
        let mut done = 0;
        while done < len {
            let source = self.chunk(from, done);
            let target = self.chunk_mut(to, done);
            let n = source.len().min(target.len()).min(len - done);
            target[..n].copy_from_slice(&source[..n]);
            done += n;
        }
    }

    /// Resizes an object that stays in pieces: whole pieces stay; the piece in which the shorter
    /// object ends is replaced, and so is the spine if its length changes. Returns the spine.
    fn resize_pieces(&mut self, index: u32, old: usize, layout: Layout) -> Result<u32, Refused> {
        let (new, align) = (layout.size(), layout.align());
        let kept = self.kept_pieces(index, old, layout);
        if kept == self.pieces(old) && kept == self.pieces(new) {
            return Ok(index);
        }
        let same_spine = self.pieces(old) == self.pieces(new);
        let mut demand = BlockDemand::new();
        if kept < self.pieces(new) {
            self.add_pieces(&mut demand, new, align, kept)?;
        }
        if !same_spine {
            self.add_object(&mut demand, self.spine_bytes(new), W::WORD_BYTES)?;
        }
        self.engine.can_serve(&demand)?;
        if same_spine {
            self.replace_last(index, old, layout)?;
            return Ok(index);
        }
        let spine = self.allocate_bytes(self.spine_bytes(new), W::WORD_BYTES)?;
        for number in 0..kept {
            self.set_piece(spine, new, number, self.piece(index, old, number));
        }
        self.allocate_pieces(spine, new, align, kept)?;
        if kept < self.pieces(old) && kept < self.pieces(new) {
            let from = (self.piece(index, old, kept), self.piece_len(old, kept));
            let to = (self.piece(spine, new, kept), self.piece_len(new, kept));
            self.copy_piece(from, to);
        }
        self.free_pieces(index, old, kept);
        self.free_index(index, self.spine_bytes(old));
        Ok(spine)
    }

    /// The leading pieces whose blocks also serve the new length.
    fn kept_pieces(&self, index: u32, old: usize, layout: Layout) -> usize {
        let last = self.pieces(old).min(self.pieces(layout.size())) - 1;
        let entry = self.piece(index, old, last);
        let len = self.piece_len(layout.size(), last);
        last + usize::from(self.has_class(entry, len, layout.align()))
    }

    /// Replaces the last piece by one of another size-class; the number of pieces does not change.
    fn replace_last(&mut self, index: u32, old: usize, layout: Layout) -> Result<(), Refused> {
        let number = self.pieces(old) - 1;
        let former = self.piece(index, old, number);
        self.allocate_pieces(index, layout.size(), layout.align(), number)?;
        let to = self.piece(index, old, number);
        let len = self.piece_len(layout.size(), number);
        self.copy_piece((former, self.piece_len(old, number)), (to, len));
        self.engine.free(former);
        Ok(())
    }

    fn copy_piece(&self, from: (u32, usize), to: (u32, usize)) {
        let source = self.object::<MaybeUninit<u8>>(from.0);
        let target = self.object::<MaybeUninit<u8>>(to.0);
        // SAFETY: two live blocks of this heap, so disjoint, each at least as long as its piece; no
        // references are held.
        unsafe { source.copy_to_nonoverlapping(target, from.1.min(to.1)) };
    }

    fn zero<B: Byte>(&self, bytes: &mut Bytes<B>, from: usize) {
        let mut at = from;
        while at < bytes.len() {
            let (first, len) = self.chunk_at(bytes, at);
            // SAFETY: the bytes belong to the object, whose handle is borrowed exclusively; zero is
            // a value of `B`.
            unsafe { first.write_bytes(0, len) };
            at += len;
        }
    }
}
