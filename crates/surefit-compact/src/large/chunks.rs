//! The bytes of an object, piece by piece.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use core::ops::Range;
use core::ptr::NonNull;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::place::Spine;
use crate::handle::{Byte, Bytes};
use crate::heap::Heap;
use crate::width::Width;

impl<W: Width> Heap<'_, W> {
    /// The bytes from `offset` to the end of their piece or of the object; empty at the end of the
    /// object.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` is above the length.
    ///
    /// # Complexity
    /// O(levels of spines). In an object of one level, two loads more than in a contiguous object;
    /// a [`Cursor`](crate::Cursor) needs one of them only once.
    #[inline]
    #[must_use]
    pub fn chunk<'a, B: Byte>(&'a self, bytes: &'a Bytes<B>, offset: usize) -> &'a [B] {
        self.view().chunk(bytes, offset)
    }

    /// Where [`Heap::chunk`] begins, and its bytes: a pointer that was no reference, for what may
    /// change although it is shared.
    ///
    /// # Panics
    /// As [`Heap::chunk`].
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn chunk_start<B: Byte>(&self, bytes: &Bytes<B>, offset: usize) -> (NonNull<B>, usize) {
        let view = self.view();
        view.chunk_at_once(view.own_number(bytes.name), bytes.len(), offset)
    }

    /// Where an object begins that is one block; `None` if it is in pieces. The pointer is as that
    /// of [`Heap::chunk_start`].
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn block_start<B: Byte>(&self, bytes: &Bytes<B>) -> Option<NonNull<B>> {
        let view = self.view();
        view.block_of(view.own_number(bytes.name), bytes.len())
    }

    /// As [`Heap::chunk`], but mutable.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` is above the length.
    #[inline]
    #[must_use]
    pub fn chunk_mut<'a, B: Byte>(&'a self, bytes: &'a mut Bytes<B>, offset: usize) -> &'a mut [B] {
        self.view().chunk_mut(bytes, offset)
    }

    /// All bytes in order, one contiguous piece at a time; nothing for an object of no bytes. The
    /// large pieces come first, then the small ones; the last may be shorter.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    ///
    /// # Complexity
    /// A step is O(1): two loads. Where the spine is itself in pieces, the first step in each of
    /// its pieces is O(levels).
    #[inline]
    pub fn chunks<'a, B: Byte>(&'a self, bytes: &'a Bytes<B>) -> Chunks<'a, W, B> {
        Chunks::new(self.spine(bytes))
    }

    /// All bytes in order, one contiguous piece at a time, mutable.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    ///
    /// # Complexity
    /// As [`Heap::chunks`].
    #[inline]
    pub fn chunks_mut<'a, B: Byte>(&'a self, bytes: &'a mut Bytes<B>) -> ChunksMut<'a, W, B> {
        ChunksMut::new(self.spine(bytes))
    }

    /// Copies bytes from the object, from `offset` on.
    ///
    /// # Panics
    /// If the range is not empty and the handle belongs to another heap, or if the range ends after
    /// the object.
    ///
    /// # Complexity
    /// O(bytes).
    pub fn read_at<B: Byte>(&self, bytes: &Bytes<B>, offset: usize, target: &mut [B]) {
        if target.is_empty() {
            return;
        }
        assert_inside(bytes.len(), offset, target.len());
        let mut spine = self.spine(bytes);
        let mut done = 0;
        while done < target.len() {
            let (first, len) = spine.run(offset + done, target.len() - done);
            // SAFETY: `len` bytes of the object, which is borrowed; for `u8` they are initialised.
            let chunk = unsafe { NonNull::slice_from_raw_parts(first.cast(), len).as_ref() };
            let count = len.min(target.len() - done);
            target[done..done + count].copy_from_slice(&chunk[..count]);
            done += count;
        }
    }

    /// Copies bytes to the object, from `offset` on.
    ///
    /// # Panics
    /// If the range is not empty and the handle belongs to another heap, or if the range ends after
    /// the object.
    ///
    /// # Complexity
    /// O(bytes).
    pub fn write_at<B: Byte>(&self, bytes: &mut Bytes<B>, offset: usize, source: &[B]) {
        if source.is_empty() {
            return;
        }
        assert_inside(bytes.len(), offset, source.len());
        let mut spine = self.spine(bytes);
        let mut done = 0;
        while done < source.len() {
            let (first, len) = spine.run(offset + done, source.len() - done);
            // SAFETY: as in `read_at`, and the handle is borrowed exclusively (O2).
            let chunk = unsafe { NonNull::slice_from_raw_parts(first.cast(), len).as_mut() };
            let count = len.min(source.len() - done);
            chunk[..count].copy_from_slice(&source[done..done + count]);
            done += count;
        }
    }

    /// The pieces of an object, by number.
    #[inline]
    pub(super) fn spine<B: Byte>(&self, bytes: &Bytes<B>) -> Spine<'_, W> {
        assert!(
            self.own(bytes.name).is_ok(),
            "the handle belongs to another heap"
        );
        Spine::new(self, bytes.name.index(), bytes.len())
    }
}

fn assert_inside(len: usize, offset: usize, count: usize) {
    assert!(
        offset <= len && count <= len - offset,
        "the range goes beyond the object"
    );
}

/// The pieces of a byte object in order: [`Heap::chunks`].
pub struct Chunks<'a, W: Width, B: Byte = u8> {
    spine: Spine<'a, W>,
    numbers: Range<usize>,
    object: PhantomData<&'a [B]>,
}

/// The pieces of a byte object in order, mutable: [`Heap::chunks_mut`].
pub struct ChunksMut<'a, W: Width, B: Byte = u8> {
    spine: Spine<'a, W>,
    numbers: Range<usize>,
    object: PhantomData<&'a mut [B]>,
}

impl<'a, W: Width, B: Byte> Chunks<'a, W, B> {
    /// The pieces of an object that is borrowed for `'a`.
    #[inline]
    pub(super) fn new(spine: Spine<'a, W>) -> Self {
        Self {
            numbers: 0..spine.pieces(),
            spine,
            object: PhantomData,
        }
    }

    #[inline]
    fn slice(&mut self, number: usize) -> &'a [B] {
        let (first, len) = self.spine.piece(number);
        // SAFETY: a piece of the object, which is borrowed for `'a`; for `u8` its bytes are
        // initialised.
        unsafe { NonNull::slice_from_raw_parts(first.cast(), len).as_ref() }
    }
}

impl<'a, W: Width, B: Byte> ChunksMut<'a, W, B> {
    /// The pieces of an object that is borrowed exclusively for `'a`.
    #[inline]
    pub(super) fn new(spine: Spine<'a, W>) -> Self {
        Self {
            numbers: 0..spine.pieces(),
            spine,
            object: PhantomData,
        }
    }

    /// A piece whose number was just taken from `numbers`.
    #[inline]
    fn slice(&mut self, number: usize) -> &'a mut [B] {
        let (first, len) = self.spine.piece(number);
        // SAFETY: as in `Chunks`; the object is borrowed exclusively for `'a`, and every number is
        // taken once, so the slices are disjoint.
        unsafe { NonNull::slice_from_raw_parts(first.cast(), len).as_mut() }
    }
}

impl<'a, W: Width> Chunks<'a, W> {
    /// The pieces as slices of a type without padding and without invalid values.
    ///
    /// # Panics
    /// In a step, if the bytes of the piece are not whole elements or not aligned for `T`: the size
    /// of `T` must divide the length and the piece size, and the object must have been allocated
    /// with the alignment of `T`.
    #[must_use]
    pub fn slices<T: FromBytes + Immutable + 'a>(
        self,
    ) -> impl ExactSizeIterator<Item = &'a [T]> + DoubleEndedIterator + FusedIterator {
        self.map(|chunk| {
            let slice = <[T]>::ref_from_bytes(chunk).ok();
            slice.expect("a piece has whole elements, aligned")
        })
    }
}

impl<'a, W: Width> ChunksMut<'a, W> {
    /// As [`Chunks::slices`], mutable.
    ///
    /// # Panics
    /// As [`Chunks::slices`].
    #[must_use]
    pub fn slices<T: FromBytes + IntoBytes + 'a>(
        self,
    ) -> impl ExactSizeIterator<Item = &'a mut [T]> + DoubleEndedIterator + FusedIterator {
        self.map(|chunk| {
            let slice = <[T]>::mut_from_bytes(chunk).ok();
            slice.expect("a piece has whole elements, aligned")
        })
    }
}

impl<W: Width, B: Byte> Clone for Chunks<'_, W, B> {
    fn clone(&self) -> Self {
        Self {
            spine: self.spine.clone(),
            numbers: self.numbers.clone(),
            object: PhantomData,
        }
    }
}

macro_rules! piece_iterator {
    ($name:ident, $item:ty) => {
        impl<'a, W: Width, B: Byte> Iterator for $name<'a, W, B> {
            type Item = $item;

            #[inline]
            fn next(&mut self) -> Option<$item> {
                self.numbers.next().map(|number| self.slice(number))
            }

            #[inline]
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.numbers.size_hint()
            }

            #[inline]
            fn nth(&mut self, n: usize) -> Option<$item> {
                self.numbers.nth(n).map(|number| self.slice(number))
            }

            #[inline]
            fn count(self) -> usize {
                self.numbers.len()
            }

            #[inline]
            fn last(mut self) -> Option<$item> {
                self.next_back()
            }
        }

        impl<'a, W: Width, B: Byte> DoubleEndedIterator for $name<'a, W, B> {
            #[inline]
            fn next_back(&mut self) -> Option<$item> {
                self.numbers.next_back().map(|number| self.slice(number))
            }

            #[inline]
            fn nth_back(&mut self, n: usize) -> Option<$item> {
                self.numbers.nth_back(n).map(|number| self.slice(number))
            }
        }

        impl<W: Width, B: Byte> ExactSizeIterator for $name<'_, W, B> {}
        impl<W: Width, B: Byte> FusedIterator for $name<'_, W, B> {}

        impl<W: Width, B: Byte> fmt::Debug for $name<'_, W, B> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:?})"), self.numbers)
            }
        }
    };
}

piece_iterator!(Chunks, &'a [B]);
piece_iterator!(ChunksMut, &'a mut [B]);
