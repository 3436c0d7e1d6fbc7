//! A position in a byte object that moves on without starting at the spine's top.

use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::place::Spine;
use crate::handle::{Byte, Bytes};
use crate::heap::Heap;
use crate::width::Width;

impl<W: Width> Heap<'_, W> {
    /// A cursor at the beginning of an object.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    ///
    /// # Examples
    /// ```
    /// use core::alloc::Layout;
    /// use surefit_compact::{Config, Heap};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    /// let heap: Heap = Heap::new(&mut memory, &CONFIG)?;
    /// let mut bytes = heap.alloc_zeroed(Layout::new::<[u8; 10_000]>())?;
    /// let mut writer = heap.cursor_mut(&mut bytes);
    /// writer.set_position(4095);
    /// assert_eq!(writer.write_from(b"over two pieces"), 15);
    /// let mut reader = heap.cursor(&bytes);
    /// reader.advance(4095);
    /// let mut read = [0; 15];
    /// assert_eq!(reader.read_into(&mut read), 15);
    /// assert_eq!(&read, b"over two pieces");
    /// assert_eq!(reader.remaining(), 10_000 - 4095 - 15);
    /// # Ok::<(), surefit_core::Refused>(())
    /// ```
    #[inline]
    pub fn cursor<'a, B: Byte>(&'a self, bytes: &'a Bytes<B>) -> Cursor<'a, W, B> {
        Cursor::new(self.spine(bytes), bytes.len())
    }

    /// A cursor at the beginning of an object, which reads and writes.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    pub fn cursor_mut<'a, B: Byte>(&'a self, bytes: &'a mut Bytes<B>) -> CursorMut<'a, W, B> {
        CursorMut::new(self.spine(bytes), bytes.len())
    }
}

/// A position in a byte object, and the rest of the piece in which it lies.
struct Place<'a, W: Width> {
    spine: Spine<'a, W>,
    len: usize,
    position: usize,
    /// The byte at the position; dangling if `left` is zero.
    first: NonNull<u8>,
    /// Bytes from the position to the end of the piece; zero if the piece was not looked up yet.
    left: usize,
}

impl<W: Width> Clone for Place<'_, W> {
    fn clone(&self) -> Self {
        Self {
            spine: self.spine.clone(),
            ..*self
        }
    }
}

impl<'a, W: Width> Place<'a, W> {
    #[inline]
    fn new(spine: Spine<'a, W>, len: usize) -> Self {
        Self {
            spine,
            len,
            position: 0,
            first: NonNull::dangling(),
            left: 0,
        }
    }

    /// The bytes from the position to the end of its piece; none at the end of the object.
    #[inline]
    fn rest(&mut self) -> (NonNull<u8>, usize) {
        if self.left == 0 && self.position < self.len {
            (self.first, self.left) = self.spine.rest(self.position);
        }
        (self.first, self.left)
    }

    /// As `rest`, but goes on over the pieces that follow in memory, until it has at least `most`
    /// bytes.
    #[inline]
    fn run(&mut self, most: usize) -> (NonNull<u8>, usize) {
        let (first, left) = self.rest();
        if left >= most {
            return (first, left);
        }
        let position = self.position;
        (first, self.spine.extended(first, left, position, most))
    }

    #[inline]
    fn advance(&mut self, count: usize) {
        if count > self.left {
            assert!(
                count <= self.len - self.position,
                "the position is beyond the object"
            );
            self.position += count;
            self.left = 0;
            return;
        }
        // SAFETY: `count` bytes from `first` on belong to the piece.
        self.first = unsafe { self.first.add(count) };
        self.left -= count;
        self.position += count;
    }

    #[inline]
    fn set_position(&mut self, position: usize) {
        assert!(position <= self.len, "the position is beyond the object");
        self.position = position;
        self.left = 0;
    }
}

/// A cursor over a byte object that reads: [`Heap::cursor`]. [`CursorMut`] also writes.
///
/// It knows the address of its position, and that of the spine. So a step inside a piece reads
/// nothing but the bytes, and a step to another piece costs two loads, wherever that piece is.
/// With the feature `std` it is a `std::io::Read` and a `std::io::Seek`, and a `std::io::BufRead`
/// if it only reads.
///
/// `A` is how the object is borrowed: `&[B]`, or `&mut [B]`.
pub struct Cursor<'a, W: Width, B: Byte = u8, A = &'a [B]> {
    place: Place<'a, W>,
    object: PhantomData<(A, B)>,
}

/// A cursor over a byte object that reads and writes: [`Heap::cursor_mut`].
///
/// It does not change the object's length. It costs what [`Cursor`] costs. With the feature `std`
/// it is also a `std::io::Write`.
pub type CursorMut<'a, W, B = u8> = Cursor<'a, W, B, &'a mut [B]>;

impl<'a, W: Width, B: Byte, A> Cursor<'a, W, B, A> {
    /// A cursor over the first `len` bytes of an object that is borrowed for `'a`, exclusively if
    /// `A` is.
    #[inline]
    pub(super) fn new(spine: Spine<'a, W>, len: usize) -> Self {
        Self {
            place: Place::new(spine, len),
            object: PhantomData,
        }
    }

    /// The position, in bytes from the beginning of the object.
    #[inline]
    #[must_use]
    pub fn position(&self) -> usize {
        self.place.position
    }

    /// Bytes from the position to the end of the object.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.place.len - self.place.position
    }

    /// Moves to a position. O(1); the next access finds its piece.
    ///
    /// # Panics
    /// If the position is above the object's length.
    #[inline]
    pub fn set_position(&mut self, position: usize) {
        self.place.set_position(position);
    }

    /// Moves `count` bytes on. O(1).
    ///
    /// # Panics
    /// If the object ends before.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        self.place.advance(count);
    }

    /// Reads as many bytes as there are from the position on, or until `target` is full; returns
    /// how many. The position moves behind them.
    ///
    /// # Complexity
    /// O(bytes).
    #[inline]
    pub fn read_into(&mut self, target: &mut [B]) -> usize {
        let mut done = 0;
        while done < target.len() {
            let (first, len) = self.place.run(target.len() - done);
            let count = len.min(target.len() - done);
            if count == 0 {
                break;
            }
            // SAFETY: `count` bytes of the object, which is borrowed for `'a`; for `u8` they are
            // initialised. They are read before the cursor is used again.
            let chunk: &[B] =
                unsafe { NonNull::slice_from_raw_parts(first.cast(), count).as_ref() };
            target[done..done + count].copy_from_slice(chunk);
            self.advance(count);
            done += count;
        }
        done
    }
}

impl<'a, W: Width, B: Byte> Cursor<'a, W, B> {
    /// The bytes from the position to the end of its piece; empty at the end of the object. The
    /// position does not change.
    #[inline]
    pub fn chunk(&mut self) -> &'a [B] {
        let (first, len) = self.place.rest();
        // SAFETY: these bytes of the object, which is borrowed for `'a`; for `u8` they are
        // initialised.
        unsafe { NonNull::slice_from_raw_parts(first.cast(), len).as_ref() }
    }
}

impl<W: Width, B: Byte> Clone for Cursor<'_, W, B> {
    fn clone(&self) -> Self {
        Self {
            place: self.place.clone(),
            object: PhantomData,
        }
    }
}

impl<W: Width, B: Byte> CursorMut<'_, W, B> {
    /// The bytes from the position to the end of its piece; empty at the end of the object. The
    /// position does not change.
    #[inline]
    pub fn chunk(&mut self) -> &[B] {
        self.chunk_mut()
    }

    /// As [`CursorMut::chunk`], mutable.
    #[inline]
    pub fn chunk_mut(&mut self) -> &mut [B] {
        let (first, len) = self.place.rest();
        // SAFETY: these bytes of the object, which is borrowed exclusively by the cursor, and the
        // cursor by the result; for `u8` they are initialised.
        unsafe { NonNull::slice_from_raw_parts(first.cast(), len).as_mut() }
    }

    /// Writes as many bytes as there are from the position on, or all of `source`; returns how
    /// many. The position moves behind them.
    ///
    /// # Complexity
    /// O(bytes).
    #[inline]
    pub fn write_from(&mut self, source: &[B]) -> usize {
        let mut done = 0;
        while done < source.len() {
            let (first, len) = self.place.run(source.len() - done);
            let count = len.min(source.len() - done);
            if count == 0 {
                break;
            }
            // SAFETY: as in `chunk_mut`.
            let chunk: &mut [B] =
                unsafe { NonNull::slice_from_raw_parts(first.cast(), count).as_mut() };
            chunk.copy_from_slice(&source[done..done + count]);
            self.advance(count);
            done += count;
        }
        done
    }
}

impl<W: Width> Place<'_, W> {
    /// Writes what a cursor of this name is at.
    fn write(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        write!(f, "{name}({} of {} bytes)", self.position, self.len)
    }
}

impl<W: Width, B: Byte> fmt::Debug for Cursor<'_, W, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.write(f, "Cursor")
    }
}

impl<W: Width, B: Byte> fmt::Debug for CursorMut<'_, W, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.place.write(f, "CursorMut")
    }
}
