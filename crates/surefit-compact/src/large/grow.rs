//! Byte objects that grow at their end.

use core::alloc::Layout;
use core::fmt;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::Refused;

use super::chunks::{Chunks, ChunksMut};
use super::cursor::{Cursor, CursorMut};
use super::place::Spine;
use crate::handle::{Bytes, Full};
use crate::heap::Heap;
use crate::width::Width;

/// The smallest capacity that growing asks for, in bytes.
const LEAST: usize = 32;

/// Bytes of a heap that grow at their end: what `Vec<u8>` is to `Box<[u8]>`.
///
/// Up to the piece size the capacity doubles, and the bytes are copied as those of a `Vec`. Above
/// it, pieces are added and nothing is copied: each piece stays where it is. So a vector has at
/// most one small piece of unused capacity, and no moment needs twice its memory. With
/// [large pieces](crate::Config::with_large_pieces) the small ones are copied into a large one
/// whenever they fill it: each byte once.
///
/// It is an owning name, as [`Bytes`] is: it does not borrow the heap, which every method takes.
///
/// # Complexity
/// Growing by n bytes is O(n) in the mean. One call copies at most one piece of bytes in all, when
/// the vector first exceeds a piece or small pieces become a large one, or one page-block of every
/// level of spines.
///
/// # Examples
/// ```
/// use surefit_compact::{ByteVec, Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let mut log = ByteVec::with_capacity(&heap, 0)?;
/// for line in 0..1000 {
///     log.extend(&mut heap, format!("line {line}\n").as_bytes())?;
/// }
/// assert_eq!(log.len(), 8890);
/// assert!(log.chunks(&heap).flatten().copied().eq((0..1000).flat_map(|line| {
///     format!("line {line}\n").into_bytes()
/// })));
/// log.free(&mut heap);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[must_use = "dropping a handle leaks its object"]
pub struct ByteVec {
    /// The capacity; the first `len` bytes are initialised.
    bytes: Bytes<MaybeUninit<u8>>,
    len: usize,
}

const _: () = assert!(
    size_of::<ByteVec>()
        == (size_of::<Bytes>() + size_of::<usize>()).next_multiple_of(align_of::<Bytes>())
);

impl ByteVec {
    /// An empty vector that can hold `capacity` bytes before it grows. It has a page-block even if
    /// the capacity is zero.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged.
    pub fn with_capacity<W: Width>(heap: &Heap<'_, W>, capacity: usize) -> Result<Self, Refused> {
        let capacity = round_up(capacity, heap.division.small_bytes());
        let bytes = heap.alloc(layout(capacity)?)?;
        Ok(Self { bytes, len: 0 })
    }

    /// The length in bytes.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether the vector has no bytes.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes that the vector can hold before it grows.
    #[inline]
    #[must_use]
    pub const fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// Makes room for at least `additional` more bytes. May move objects.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; the vector is unchanged.
    pub fn reserve<W: Width>(
        &mut self,
        heap: &mut Heap<'_, W>,
        additional: usize,
    ) -> Result<(), Refused> {
        heap.own(self.bytes.name)?;
        if additional <= self.capacity() - self.len {
            return Ok(());
        }
        let piece = heap.division.small_bytes();
        let needed = self.len.checked_add(additional);
        let needed = needed.ok_or(Refused::TooLarge {
            limit: isize::MAX as usize,
        })?;
        let doubled = self.capacity().saturating_mul(2).max(LEAST).min(piece);
        let capacity = round_up(needed.max(doubled), piece);
        // Without pieces an object is at most a page, and twice the capacity may be too much.
        let grown = heap.resize(&mut self.bytes, layout(capacity)?);
        if grown.is_err() && capacity > needed {
            return heap.resize(&mut self.bytes, layout(needed)?);
        }
        grown
    }

    /// Appends bytes. May move other objects, and this one unless it is in pieces.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; the vector is unchanged.
    pub fn extend<W: Width>(
        &mut self,
        heap: &mut Heap<'_, W>,
        source: &[u8],
    ) -> Result<(), Refused> {
        self.reserve(heap, source.len())?;
        let len = self.len + source.len();
        let mut spine = self.spine(heap, len);
        let mut rest = source;
        while !rest.is_empty() {
            let (first, room) = spine.run(len - rest.len(), rest.len());
            let (now, later) = rest.split_at(room.min(rest.len()));
            let (from, count) = (NonNull::from(now).cast(), now.len());
            // SAFETY: `room` bytes of the object, which is borrowed exclusively; so is the heap, so
            // that `source` lies elsewhere.
            unsafe { first.copy_from_nonoverlapping(from, count) };
            rest = later;
        }
        self.len = len;
        Ok(())
    }

    /// Appends a byte.
    ///
    /// # Errors
    /// As [`ByteVec::extend`].
    #[inline]
    pub fn push<W: Width>(&mut self, heap: &mut Heap<'_, W>, byte: u8) -> Result<(), Refused> {
        self.extend(heap, &[byte])
    }

    /// Shortens the vector to `len` bytes, if it is longer. The capacity stays.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// All bytes in order, one contiguous piece at a time, as [`Heap::chunks`].
    ///
    /// # Panics
    /// If the vector belongs to another heap.
    #[inline]
    pub fn chunks<'a, W: Width>(&'a self, heap: &'a Heap<'_, W>) -> Chunks<'a, W> {
        Chunks::new(self.spine(heap, self.len))
    }

    /// All bytes in order, one contiguous piece at a time, mutable.
    ///
    /// # Panics
    /// If the vector belongs to another heap.
    #[inline]
    pub fn chunks_mut<'a, W: Width>(&'a mut self, heap: &'a Heap<'_, W>) -> ChunksMut<'a, W> {
        ChunksMut::new(self.spine(heap, self.len))
    }

    /// A cursor at the beginning, as [`Heap::cursor`].
    ///
    /// # Panics
    /// If the vector belongs to another heap.
    #[inline]
    pub fn cursor<'a, W: Width>(&'a self, heap: &'a Heap<'_, W>) -> Cursor<'a, W> {
        Cursor::new(self.spine(heap, self.len), self.len)
    }

    /// A cursor at the beginning, which reads and writes, but does not append.
    ///
    /// # Panics
    /// If the vector belongs to another heap.
    #[inline]
    pub fn cursor_mut<'a, W: Width>(&'a mut self, heap: &'a Heap<'_, W>) -> CursorMut<'a, W> {
        CursorMut::new(self.spine(heap, self.len), self.len)
    }

    /// Gives unused capacity back; the vector becomes a byte object. May move objects.
    ///
    /// # Errors
    /// The vector, and what was exhausted, or [`Refused::ForeignHandle`]: even a shorter object may
    /// be refused ([`Heap::resize`]).
    pub fn into_bytes<W: Width>(mut self, heap: &mut Heap<'_, W>) -> Result<Bytes<u8>, Full<Self>> {
        let shrunk = layout(self.len).and_then(|layout| heap.resize(&mut self.bytes, layout));
        match shrunk {
            // SAFETY: the first `len` bytes are initialised, and no others are left.
            Ok(()) => Ok(unsafe { self.bytes.assume_init() }),
            Err(refused) => Err(Full {
                value: self,
                refused,
            }),
        }
    }

    /// Frees the vector. May move up to two objects per piece.
    ///
    /// # Panics
    /// If the vector belongs to another heap.
    pub fn free<W: Width>(self, heap: &mut Heap<'_, W>) {
        heap.free_bytes(self.bytes);
    }

    /// The pieces of the first `len` bytes, at most the capacity.
    fn spine<'a, W: Width>(&self, heap: &'a Heap<'_, W>, len: usize) -> Spine<'a, W> {
        heap.spine(&self.bytes).up_to(len)
    }
}

impl fmt::Debug for ByteVec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ByteVec({} of {:?})", self.len, self.bytes)
    }
}

/// A capacity of whole pieces, if it is more than one; a size that no heap holds stays one.
fn round_up(bytes: usize, piece: usize) -> usize {
    if bytes <= piece {
        return bytes;
    }
    bytes.checked_next_multiple_of(piece).unwrap_or(usize::MAX)
}

fn layout(bytes: usize) -> Result<Layout, Refused> {
    let limit = isize::MAX as usize;
    Layout::from_size_align(bytes, 1).map_err(|_| Refused::TooLarge { limit })
}
