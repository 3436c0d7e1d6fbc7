//! Byte objects of a shared heap: contiguous up to the piece size, in pieces above it (arraylets).
//!
//! ```text
//! len ≤ q    one page-block
//! len > q    the handle names a spine: a byte object of one word per piece: its entry's number
//! ```
//! As in [`crate::Heap`]. A spine is written before any other thread learns of it, and never
//! changes. So any thread that has pinned it may read it. Each piece moves, and is pinned, by
//! itself.
//!
//! # Bounds
//! Allocation, free and resize are linear in the number of pieces. An access pins one spine per
//! level on its way.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use lock_api::RawMutex;
use surefit_classes::SizeClass;
use surefit_core::Refused;

use super::guard::{Pinned, PinnedMut};
use super::objects::Objects;
use super::pool::{NO_SLOT, Slot};
use crate::handle::{Byte, Bytes, Name};
use crate::pieces::Division;
use crate::shared::lock::Granularity;

/// Bytes of a spine's word.
const WORD: usize = size_of::<u32>();

/// A byte object during an access: the pinned entry of its block or spine, and its length.
#[derive(Clone, Copy)]
struct Part {
    index: u32,
    /// The number that the names of its instance carry.
    heap: u32,
    len: usize,
    location: u32,
}

// ---- where the bytes are ------------------------------------------------------------------------

impl<'m, R: RawMutex, G: Granularity> Objects<'m, R, G> {
    /// The largest byte object that is contiguous.
    pub(crate) fn piece_bytes(&self) -> usize {
        let pieces = self.engine.config.config.piece_bytes();
        pieces.unwrap_or(usize::MAX)
    }

    fn division(&self) -> Division {
        self.engine.config.config.division()
    }

    fn pieces(&self, len: usize) -> usize {
        self.division().count(len)
    }

    fn piece_len(&self, len: usize, number: usize) -> usize {
        self.division().piece_len(len, number)
    }

    /// Pins a part of an object of `heap`, for writing if `writes`.
    fn pin_index(&self, index: u32, heap: u32, writes: bool) -> Result<u32, Refused> {
        let (_, state, location) = self.pin_entry(index, heap)?;
        if writes && state.is_moving() {
            self.engine.revoke(NO_SLOT, state.group(), index);
        }
        Ok(location)
    }

    /// Finds the block that holds the byte at `offset` of a pinned part. Returns that block, pinned
    /// instead of the part, with its length, and the offset in it.
    fn descend(&self, part: Part, offset: usize, writes: bool) -> Result<(Part, usize), Refused> {
        if part.len <= self.piece_bytes() {
            return Ok((part, offset));
        }
        let (number, within) = self.division().find(part.len, offset);
        let piece = self.piece_of(part, number);
        let location =
            piece.and_then(|index| Ok((index, self.pin_index(index, part.heap, writes)?)));
        self.unpin(self.engine.entry(part.index), part.index);
        let (index, location) = location?;
        let len = self.piece_len(part.len, number);
        let block = Part {
            index,
            heap: part.heap,
            len,
            location,
        };
        Ok((block, within))
    }

    /// The entry of piece `number` of a pinned part in pieces; the part stays pinned.
    fn piece_of(&self, part: Part, number: usize) -> Result<u32, Refused> {
        let spine = Part {
            len: self.pieces(part.len) * WORD,
            ..part
        };
        if self.engine.entry(part.index).pin().is_err() {
            return Err(Refused::TooManyPins);
        }
        let (block, within) = self.descend(spine, number * WORD, false)?;
        // SAFETY: the word lies in the pinned block, aligned; it was written before the object was
        // known (module doc).
        let word = unsafe {
            self.address::<u8>(block.location)
                .add(within)
                .cast::<u32>()
                .read()
        };
        self.unpin(self.engine.entry(block.index), block.index);
        Ok(word)
    }

    /// Pins the block that holds the byte at `offset` of an object, for writing if `writes`.
    fn chunk_at<B: Byte>(
        &self,
        bytes: &Bytes<B>,
        offset: usize,
        writes: bool,
    ) -> Result<(NonNull<[B]>, u32), Refused> {
        assert!(offset <= bytes.len(), "the offset is beyond the object");
        // At the end: an empty chunk of the last piece.
        let at = if offset == bytes.len() {
            offset.saturating_sub(1)
        } else {
            offset
        };
        let whole = bytes.len() <= self.piece_bytes();
        let (_, state, location) = self.pin(bytes.name)?;
        if whole && writes && state.is_moving() {
            self.engine
                .revoke(NO_SLOT, state.group(), bytes.name.index());
        }
        let part = Part {
            index: bytes.name.index(),
            heap: bytes.name.heap_number(),
            len: bytes.len(),
            location,
        };
        let (block, within) = self.descend(part, at, writes)?;
        let within = within + (offset - at);
        // SAFETY: `within` is at most the block's length.
        let first = unsafe { self.address::<B>(block.location).add(within) };
        let chunk = NonNull::slice_from_raw_parts(first, block.len - within);
        Ok((chunk, block.index))
    }

    /// The bytes from `offset` to the end of their piece.
    pub(crate) fn chunk<B: Byte>(
        &self,
        bytes: &Bytes<B>,
        offset: usize,
    ) -> Result<Pinned<'m, [B]>, Refused> {
        let (chunk, index) = self.chunk_at(bytes, offset, false)?;
        // SAFETY: pinned; the bytes belong to the object, whose handle the caller has borrowed;
        // they are initialised if `B` requires it.
        Ok(unsafe { Pinned::new(chunk, self.engine.entry(index)) })
    }

    /// As `chunk`, to change the bytes.
    pub(crate) fn chunk_mut<B: Byte>(
        &self,
        bytes: &Bytes<B>,
        offset: usize,
    ) -> Result<PinnedMut<'m, [B]>, Refused> {
        let (chunk, index) = self.chunk_at(bytes, offset, true)?;
        // SAFETY: as in `chunk`; the caller has borrowed the handle exclusively, and no move copies
        // the block.
        Ok(unsafe { PinnedMut::new(chunk, self.engine.entry(index)) })
    }
}

// ---- allocate, free, resize ---------------------------------------------------------------------

impl<R: RawMutex, G: Granularity> Objects<'_, R, G> {
    /// Allocates a byte object. Returns the entry of its block, or of its spine.
    pub(crate) fn allocate_bytes<B: Byte>(
        &self,
        slot: Slot,
        instance: u32,
        layout: Layout,
    ) -> Result<Bytes<B>, Refused> {
        let index = self.allocate_parts(slot, instance, layout, B::ZEROED)?;
        Ok(Bytes::new(
            Name::new(index, self.id_of(instance)),
            layout.size(),
        ))
    }

    fn allocate_parts(
        &self,
        slot: Slot,
        instance: u32,
        layout: Layout,
        zeroed: bool,
    ) -> Result<u32, Refused> {
        if layout.size() <= self.piece_bytes() {
            return self.allocate_block(slot, instance, layout, zeroed);
        }
        let limit = self.engine.pages.memory.len();
        if layout.size() > limit {
            return Err(Refused::TooLarge { limit });
        }
        self.allocate_in_pieces(slot, instance, layout, zeroed)
    }

    /// Allocates one page-block, for a contiguous object or for a piece.
    fn allocate_block(
        &self,
        slot: Slot,
        instance: u32,
        layout: Layout,
        zeroed: bool,
    ) -> Result<u32, Refused> {
        let group = self.engine.group_of(instance, self.class_of(layout)?);
        let (index, location) = self.allocate(slot, group)?;
        if zeroed {
            // SAFETY: the page-block under construction has `size` bytes, and nobody else refers to
            // it.
            unsafe { self.address::<u8>(location).write_bytes(0, layout.size()) };
        }
        self.engine.end_construction(index);
        Ok(index)
    }

    #[inline(never)]
    fn allocate_in_pieces(
        &self,
        slot: Slot,
        instance: u32,
        layout: Layout,
        zeroed: bool,
    ) -> Result<u32, Refused> {
        let (len, align) = (layout.size(), layout.align());
        let aligned = |bytes, align| {
            Layout::from_size_align(bytes, align).map_err(|_| Refused::TooLarge { limit: bytes })
        };
        let spine_bytes = self.pieces(len) * WORD;
        let heap = self.id_of(instance).get();
        let spine = self.allocate_parts(slot, instance, aligned(spine_bytes, WORD)?, true)?;
        for number in 0..self.pieces(len) {
            let piece = aligned(self.piece_len(len, number), align)
                .and_then(|piece| self.allocate_block(slot, instance, piece, zeroed))
                .and_then(|piece| {
                    self.set_piece(spine, heap, spine_bytes, number, piece)
                        .inspect_err(|_| self.engine.free(slot, piece))
                });
            if let Err(refused) = piece {
                self.free_pieces(
                    slot,
                    instance,
                    Name::new(spine, self.id_of(instance)),
                    len,
                    number,
                )?;
                return Err(refused);
            }
        }
        Ok(spine)
    }

    /// Writes a word of a spine that no other thread knows yet.
    fn set_piece(
        &self,
        spine: u32,
        heap: u32,
        spine_bytes: usize,
        number: usize,
        piece: u32,
    ) -> Result<(), Refused> {
        let location = self.pin_index(spine, heap, true)?;
        let part = Part {
            index: spine,
            heap,
            len: spine_bytes,
            location,
        };
        let (block, within) = self.descend(part, number * WORD, true)?;
        // SAFETY: the word lies in the pinned block, aligned, and no move copies it; nobody else
        // knows the spine.
        unsafe {
            let word = self.address::<u8>(block.location).add(within).cast::<u32>();
            word.write(piece);
        }
        self.unpin(self.engine.entry(block.index), block.index);
        Ok(())
    }

    /// Frees the first pieces of a spine, and the spine. If its instance is destroyed meanwhile,
    /// the destruction frees the rest.
    fn free_pieces(
        &self,
        slot: Slot,
        instance: u32,
        name: Name,
        len: usize,
        pieces: usize,
    ) -> Result<(), Refused> {
        let (spine, heap) = (name.index(), name.heap_number());
        for number in 0..pieces {
            // The owner frees the object, so nobody else has pinned its spine.
            let location = self.pin_index(spine, heap, false)?;
            let part = Part {
                index: spine,
                heap,
                len,
                location,
            };
            let piece = self.piece_of(part, number);
            self.unpin(self.engine.entry(spine), spine);
            self.free_entry(slot, instance, piece?, heap)?;
        }
        let spine_bytes = self.pieces(len) * WORD;
        if spine_bytes > self.piece_bytes() {
            let pieces = self.pieces(spine_bytes);
            return self.free_pieces(slot, instance, name, spine_bytes, pieces);
        }
        self.free_entry(slot, instance, spine, heap)
    }

    /// Frees a byte object.
    pub(crate) fn free_bytes<B: Byte>(
        &self,
        slot: Slot,
        instance: u32,
        bytes: Bytes<B>,
    ) -> Result<(), Refused> {
        let len = bytes.len();
        if len <= self.piece_bytes() {
            return self.free_name(slot, instance, bytes.name);
        }
        let (entry, ..) = self.pin(bytes.name)?;
        self.unpin(entry, bytes.name.index());
        self.free_pieces(slot, instance, bytes.name, len, self.pieces(len))
    }

    /// Changes length and alignment: in place if the size-class stays the same, otherwise by a new
    /// object and a copy.
    pub(crate) fn resize<B: Byte>(
        &self,
        slot: Slot,
        instance: u32,
        bytes: &mut Bytes<B>,
        layout: Layout,
    ) -> Result<(), Refused> {
        let (old, new) = (bytes.len(), layout.size());
        let (entry, state, _) = self.pin(bytes.name)?;
        self.unpin(entry, bytes.name.index());
        if self.stays_in_place(old, layout, self.engine.class_of(state.group()))? {
            let resized = Bytes::new(bytes.name, new);
            self.zero(&resized, old)?;
            *bytes = resized;
            return Ok(());
        }
        let fresh = self.allocate_bytes::<MaybeUninit<u8>>(slot, instance, layout)?;
        let mut fresh = Bytes::<B>::new(fresh.name, new);
        let filled = self.copy_prefix(bytes, &mut fresh);
        if let Err(refused) = filled.and_then(|()| self.zero(&fresh, old)) {
            self.free_bytes(slot, instance, fresh)?;
            return Err(refused);
        }
        let former = core::mem::replace(bytes, fresh);
        // Refused only if the instance of the former object was destroyed meanwhile. Then its
        // memory is free already.
        let _ = self.free_bytes(slot, instance, former);
        Ok(())
    }

    /// Whether an object of `old` bytes in a page-block of `class` also serves a layout.
    fn stays_in_place(
        &self,
        old: usize,
        layout: Layout,
        class: SizeClass,
    ) -> Result<bool, Refused> {
        let contiguous = old.max(layout.size()) <= self.piece_bytes();
        Ok(contiguous && self.class_of(layout)? == class)
    }

    fn copy_prefix<B: Byte>(&self, from: &Bytes<B>, to: &mut Bytes<B>) -> Result<(), Refused> {
        let len = from.len().min(to.len());
        let mut done = 0;
        while done < len {
            let (source, from_index) = self.chunk_at(from, done, false)?;
            let target = self.chunk_at(to, done, true);
            let (target, to_index) = target.inspect_err(|_| {
                self.unpin(self.engine.entry(from_index), from_index);
            })?;
            let n = source.len().min(target.len()).min(len - done);
            // SAFETY: two pinned blocks of different objects, each with `n` bytes from here; the
            // new one need not be initialised, so no reference to its bytes is made.
            unsafe { source.cast::<B>().copy_to_nonoverlapping(target.cast(), n) };
            self.unpin(self.engine.entry(from_index), from_index);
            self.unpin(self.engine.entry(to_index), to_index);
            done += n;
        }
        Ok(())
    }

    /// Zeroes the bytes from `from` on, if `B` requires initialised bytes.
    fn zero<B: Byte>(&self, bytes: &Bytes<B>, from: usize) -> Result<(), Refused> {
        let mut at = if B::ZEROED { from } else { bytes.len() };
        while at < bytes.len() {
            let (chunk, index) = self.chunk_at(bytes, at, true)?;
            // SAFETY: the bytes belong to the object, whose handle is borrowed exclusively, pinned
            // and not in motion; zero is a value of `B`.
            unsafe { chunk.cast::<B>().write_bytes(0, chunk.len()) };
            self.unpin(self.engine.entry(index), index);
            at += chunk.len();
        }
        Ok(())
    }
}

// ---- copies -------------------------------------------------------------------------------------

/// Panics if a range of `count` bytes, which are not none, exceeds an object of `len` bytes.
fn within(len: usize, offset: usize, count: usize) {
    let room = len.saturating_sub(offset);
    assert!(count <= room, "the range goes beyond the object");
}

/// Copies bytes out of an object of `len` bytes, chunk by chunk.
///
/// # Panics
/// If the range exceeds the object, and then nothing is copied.
pub(crate) fn copy_out<B: Byte, C: Deref<Target = [B]>>(
    len: usize,
    offset: usize,
    target: &mut [B],
    mut chunk: impl FnMut(usize) -> Result<C, Refused>,
) -> Result<(), Refused> {
    within(len, offset, target.len());
    let mut done = 0;
    while done < target.len() {
        let chunk = chunk(offset + done)?;
        debug_assert!(!chunk.is_empty(), "the range is within the object");
        let n = chunk.len().min(target.len() - done);
        target[done..done + n].copy_from_slice(&chunk[..n]);
        done += n;
    }
    Ok(())
}

/// Copies bytes into an object of `len` bytes, chunk by chunk.
///
/// # Panics
/// As [`copy_out`].
pub(crate) fn copy_in<B: Byte, C: DerefMut<Target = [B]>>(
    len: usize,
    offset: usize,
    source: &[B],
    mut chunk: impl FnMut(usize) -> Result<C, Refused>,
) -> Result<(), Refused> {
    within(len, offset, source.len());
    let mut done = 0;
    while done < source.len() {
        let mut chunk = chunk(offset + done)?;
        debug_assert!(!chunk.is_empty(), "the range is within the object");
        let n = chunk.len().min(source.len() - done);
        chunk[..n].copy_from_slice(&source[done..done + n]);
        done += n;
    }
    Ok(())
}
