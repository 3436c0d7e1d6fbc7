//! Byte objects of any length, in frames. They are read and written by position or chunk by chunk.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_compact::{Byte, Width};
use surefit_core::Refused;

use super::handle::{Bytes, Name};
use super::heap::BlockTableHeap;
use super::words::Row;

impl<W: Width<Generation = ()>> BlockTableHeap<'_, W> {
    /// Allocates a byte object whose bytes are not initialised.
    ///
    /// Each of its frames has the requested alignment. A size of zero is served like a size of one.
    ///
    /// # Errors
    /// The resource that is exhausted; [`Refused::TooAligned`] beyond a frame. The heap is
    /// unchanged then.
    ///
    /// # Complexity
    /// O(size / f).
    #[inline]
    pub fn alloc(&self, layout: Layout) -> Result<Bytes<MaybeUninit<u8>>, Refused> {
        let (size, align) = (layout.size(), layout.align());
        self.aligned_enough(align)?;
        let frames = self.config.frames_of(size);
        let entry = self.take_row(frames, frames, core::iter::empty())?;
        self.objects.set(self.objects.get() + 1);
        Ok(Bytes::new(Name::new(entry, self.id), size))
    }

    /// Allocates a byte object of zeros.
    ///
    /// # Errors
    /// As [`BlockTableHeap::alloc`].
    pub fn alloc_zeroed(&self, layout: Layout) -> Result<Bytes<u8>, Refused> {
        let mut bytes = self.alloc(layout)?;
        self.zero(&mut bytes, 0);
        // SAFETY: all bytes were just zeroed.
        Ok(unsafe { bytes.assume_init() })
    }

    /// Frees a byte object. It may move up to two rows of other objects per page-block of its own
    /// row, but never an object. So it needs no exclusive heap, and references into other objects
    /// stay valid.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    ///
    /// # Complexity
    /// O(length / f), plus the moves: at most two rows of a quarter of a page per page-block of the
    /// object's row.
    #[inline]
    pub fn free_bytes<B: Byte>(&self, bytes: Bytes<B>) {
        self.assert_own(bytes.name);
        self.objects.set(self.objects.get() - 1);
        self.give_row(bytes.name.entry(), self.config.frames_of(bytes.len()));
    }

    /// Changes the length of a byte object. Bytes up to the lesser length stay where they are; new
    /// bytes are zeroed if `B` is `u8`. No byte is copied: the frames of the common part change
    /// their row, not their place.
    ///
    /// # Errors
    /// The resource that is exhausted, [`Refused::TooAligned`], or [`Refused::ForeignHandle`]. The
    /// object is unchanged then.
    ///
    /// The old and the new row are both live for a moment, so even a shorter length may be refused.
    ///
    /// # Complexity
    /// O(the greater length / f), plus the zeroing.
    pub fn resize<B: Byte>(&self, bytes: &mut Bytes<B>, layout: Layout) -> Result<(), Refused> {
        self.own(bytes.name)?;
        self.aligned_enough(layout.align())?;
        let (old, new) = (bytes.len(), layout.size());
        let frames = |len| self.config.frames_of(len);
        let entry = self.resize_row(bytes.name.entry(), frames(old), frames(new))?;
        *bytes = Bytes::new(Name::new(entry, self.id), new);
        if B::ZEROED && new > old {
            self.zero(bytes, old);
        }
        Ok(())
    }

    /// The bytes from `offset` to the end of their frame, or of the object. The result is empty if
    /// `offset` is the length.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` exceeds the length.
    ///
    /// # Complexity
    /// Two loads for a row of up to a quarter of a page; for a longer row one more per level of
    /// spines.
    #[inline]
    #[must_use]
    pub fn chunk<'a, B: Byte>(&'a self, bytes: &'a Bytes<B>, offset: usize) -> &'a [B] {
        let (first, len) = self.chunk_at(bytes, offset);
        // SAFETY: `len` bytes from `first` belong to the object, which is borrowed; for `u8` they
        // are initialised.
        unsafe { NonNull::slice_from_raw_parts(first, len).as_ref() }
    }

    /// As [`BlockTableHeap::chunk`], mutably.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` exceeds the length.
    #[inline]
    #[must_use]
    pub fn chunk_mut<'a, B: Byte>(&'a self, bytes: &'a mut Bytes<B>, offset: usize) -> &'a mut [B] {
        let (first, len) = self.chunk_at(bytes, offset);
        // SAFETY: as in `chunk`, and the handle is borrowed exclusively: no other handle names
        // these frames (B1).
        unsafe { NonNull::slice_from_raw_parts(first, len).as_mut() }
    }

    /// All bytes in order, one frame at a time: an I/O vector.
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

    /// All bytes in order, one frame at a time, mutably.
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
            // SAFETY: as in `chunk_mut`; each step yields another frame, so the slices are
            // disjoint.
            (len > 0).then(|| unsafe { NonNull::slice_from_raw_parts(first, len).as_mut() })
        })
    }

    /// Copies the bytes from `offset` on to `target`.
    ///
    /// # Panics
    /// If the range is not empty and the handle belongs to another heap, or if the range exceeds
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

    /// Copies `source` into the object, from `offset` on.
    ///
    /// # Panics
    /// If the range is not empty and the handle belongs to another heap, or if the range exceeds
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

    /// The address of the byte at `offset`. It stays the same until the object is freed, or resized
    /// to end before it: no event in between moves it. The bytes up to the next multiple of f
    /// follow it.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or `offset` is not below the length.
    #[must_use]
    pub fn address<B: Byte>(&self, bytes: &Bytes<B>, offset: usize) -> NonNull<B> {
        assert!(offset < bytes.len(), "the offset is beyond the object");
        self.chunk_at(bytes, offset).0
    }

    #[inline]
    fn chunk_at<B: Byte>(&self, bytes: &Bytes<B>, offset: usize) -> (NonNull<B>, usize) {
        let len = bytes.len();
        self.assert_own(bytes.name);
        assert!(offset <= len, "the offset is beyond the object");
        if offset == len {
            return (NonNull::dangling(), 0);
        }
        let row = Row {
            entry: bytes.name.entry(),
            words: self.config.frames_of(len),
        };
        let frame = self.frame(row, offset >> self.frames.shift);
        let frame_bytes = 1 << self.frames.shift;
        let within = offset & (frame_bytes - 1);
        // SAFETY: `within` lies inside the frame, which is the object's (B1).
        let first = unsafe { self.frames.address(frame).add(within) };
        (first.cast(), (frame_bytes - within).min(len - offset))
    }

    #[inline]
    fn aligned_enough(&self, align: usize) -> Result<(), Refused> {
        let limit = self.config.frame_bytes();
        if align > limit {
            return Err(Refused::TooAligned { limit });
        }
        Ok(())
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
