//! Byte objects for `std::io`: cursors that read, write and seek, and vectors for `writev`.

extern crate std;

use core::iter::FusedIterator;
use std::io::{self, BufRead, IoSlice, IoSliceMut, Read, Seek, SeekFrom, Write};

use super::chunks::{Chunks, ChunksMut};
use super::cursor::{Cursor, CursorMut};
use crate::width::Width;

impl<'a, W: Width> Chunks<'a, W> {
    /// The pieces as vectors for [`Write::write_vectored`].
    ///
    /// # Examples
    /// ```
    /// use core::alloc::Layout;
    /// use std::io::{IoSlice, Write};
    /// use surefit_compact::{Config, Heap};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    /// let heap: Heap = Heap::new(&mut memory, &CONFIG)?;
    /// let bytes = heap.alloc_zeroed(Layout::new::<[u8; 10_000]>())?;
    /// let vectors: Vec<IoSlice> = heap.chunks(&bytes).io_slices().collect();
    /// assert_eq!(vectors.len(), 3);
    /// assert_eq!(Vec::new().write_vectored(&vectors)?, 10_000);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn io_slices(
        self,
    ) -> impl ExactSizeIterator<Item = IoSlice<'a>> + DoubleEndedIterator + FusedIterator {
        self.map(IoSlice::new)
    }
}

impl<'a, W: Width> ChunksMut<'a, W> {
    /// The pieces as vectors for [`Read::read_vectored`].
    #[must_use]
    pub fn io_slices(
        self,
    ) -> impl ExactSizeIterator<Item = IoSliceMut<'a>> + DoubleEndedIterator + FusedIterator {
        self.map(IoSliceMut::new)
    }
}

impl<W: Width, A> Read for Cursor<'_, W, u8, A> {
    #[inline]
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        Ok(self.read_into(target))
    }
}

impl<W: Width> BufRead for Cursor<'_, W> {
    #[inline]
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        Ok(self.chunk())
    }

    #[inline]
    fn consume(&mut self, count: usize) {
        self.advance(count);
    }
}

/// Writes up to the object's end; from there on, zero bytes.
impl<W: Width> Write for CursorMut<'_, W> {
    #[inline]
    fn write(&mut self, source: &[u8]) -> io::Result<usize> {
        Ok(self.write_from(source))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The position that a seek asks for, if it lies in an object of `len` bytes or at its end.
fn target(from: SeekFrom, position: usize, len: usize) -> io::Result<usize> {
    let at = match from {
        SeekFrom::Start(at) => usize::try_from(at).ok(),
        SeekFrom::End(by) => offset(len, by),
        SeekFrom::Current(by) => offset(position, by),
    };
    at.filter(|&at| at <= len).ok_or_else(|| {
        let kind = io::ErrorKind::InvalidInput;
        io::Error::new(kind, "a position outside the object")
    })
}

fn offset(base: usize, by: i64) -> Option<usize> {
    base.checked_add_signed(isize::try_from(by).ok()?)
}

/// A position outside the object is an error, and the cursor stays.
impl<W: Width, A> Seek for Cursor<'_, W, u8, A> {
    fn seek(&mut self, from: SeekFrom) -> io::Result<u64> {
        let len = self.position() + self.remaining();
        let at = target(from, self.position(), len)?;
        self.set_position(at);
        Ok(at as u64)
    }
}
