//! The region of a heap as raw memory: one base address; everything else is an offset from it.
//!
//! # Invariants
//! - M1 The region `base .. base + len` belongs to this heap alone for its lifetime.
//! - M2 The region is divided into pages from the front and a fixed area at the end. An offset in a
//!   page's payload is accessed only as a page-block ([`Memory::address`]), every other offset only
//!   as table words ([`Memory::slot`]).

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use core::sync::atomic::{Ordering, compiler_fence};

/// One word of a table in the region.
#[derive(Debug)]
pub(crate) struct Slot<'a, T> {
    place: NonNull<T>,
    memory: PhantomData<&'a Memory<'a>>,
}

impl<T: Copy> Slot<'_, T> {
    /// The word.
    #[inline]
    pub(crate) fn get(&self) -> T {
        // SAFETY: `Memory::slot`'s S1 and S2: in range, aligned, written before, and no reference
        // to it exists.
        unsafe { self.place.read() }
    }

    /// Stores a word.
    #[inline]
    pub(crate) fn set(&self, value: T) {
        // SAFETY: `Memory::slot`'s S1 and S2: in range, aligned, and no reference to it exists.
        unsafe { self.place.write(value) }
    }
}

/// An address from which offsets are counted, inside a heap's region or not.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin(*mut u8);

// SAFETY: M1: it is used only together with its `Memory`, which is `Send`.
unsafe impl Send for Origin {}

/// A heap's region by value, for as long as the heap is borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Borrowed<'a> {
    base: NonNull<u8>,
    origin: Origin,
    memory: PhantomData<&'a Memory<'a>>,
}

impl<'a> Borrowed<'a> {
    /// As [`Memory::address`].
    ///
    /// # Safety
    /// S1: as there.
    #[inline]
    pub(crate) unsafe fn address(self, offset: usize) -> NonNull<u8> {
        // SAFETY: S1 and M1: the result lies inside the region or one byte after it.
        unsafe { self.base.add(offset) }
    }

    /// The table word that is `count` entries of `bytes` bytes behind the origin, an offset that
    /// wraps.
    ///
    /// # Safety
    /// S1, S2: as [`Memory::slot`], for the sum of the two offsets.
    #[inline]
    pub(crate) unsafe fn slot_behind<T: Copy>(self, count: usize, bytes: usize) -> Slot<'a, T> {
        // The compiler scales the number in the load's own address only if it counts words.
        let place = if bytes == size_of::<T>() {
            self.origin.0.cast::<T>().wrapping_add(count)
        } else {
            self.origin.0.wrapping_add(count.wrapping_mul(bytes)).cast()
        };
        Slot {
            // SAFETY: S1: the place lies inside the region.
            place: unsafe { NonNull::new_unchecked(place) },
            memory: PhantomData,
        }
    }
}

/// A heap's region, aligned.
#[derive(Debug)]
pub(crate) struct Memory<'m> {
    base: NonNull<u8>,
    len: usize,
    owner: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

// SAFETY: M1: the memory is owned like a `&mut [MaybeUninit<u8>]`, which is `Send`.
unsafe impl Send for Memory<'_> {}

impl<'m> Memory<'m> {
    /// The part of `region` that begins at the first multiple of `align`, and the bytes skipped
    /// before it.
    pub(crate) fn aligned(region: &'m mut [MaybeUninit<u8>], align: usize) -> (Self, usize) {
        let skipped = region.as_ptr().align_offset(align).min(region.len());
        let memory = &mut region[skipped..];
        let len = memory.len();
        let base = NonNull::from(memory).cast();
        (
            Self {
                base,
                len,
                owner: PhantomData,
            },
            skipped,
        )
    }

    /// The memory by value, with an origin of its own.
    #[inline]
    pub(crate) const fn borrowed(&self, origin: Origin) -> Borrowed<'_> {
        Borrowed {
            base: self.base,
            origin,
            memory: PhantomData,
        }
    }

    /// Bytes from the base to the end.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The address at an offset.
    ///
    /// # Safety
    /// S1: `offset <= len`.
    #[inline]
    pub(crate) unsafe fn address(&self, offset: usize) -> NonNull<u8> {
        debug_assert!(offset <= self.len);
        // SAFETY: S1 and M1: the result lies inside the region or one byte after it.
        unsafe { self.base.add(offset) }
    }

    /// The offset of a value in the region.
    pub(crate) fn offset_of<T>(&self, value: &T) -> usize {
        core::ptr::from_ref(value).addr() - self.base.as_ptr().addr()
    }

    /// The table word at an offset.
    ///
    /// # Safety
    /// S1: `offset + size_of::<T>() <= len` and `base + offset` is aligned for `T`. S2: the bytes
    /// are table words (M2), and are written as a `T` before they are read.
    #[inline]
    pub(crate) unsafe fn slot<T: Copy>(&self, offset: usize) -> Slot<'_, T> {
        // SAFETY: S1.
        let place = unsafe { self.address(offset) }.cast();
        Slot {
            place,
            memory: PhantomData,
        }
    }

    /// The address at an offset that wraps, and may lie outside the region.
    pub(crate) fn origin(&self, offset: usize) -> Origin {
        Origin(self.base.as_ptr().wrapping_add(offset))
    }

    /// The value at an offset, of a type that threads may share.
    ///
    /// # Safety
    /// S1: a `T` lies at `offset`, inside the region, aligned and initialised ([`Memory::table`]),
    /// for the rest of `'m`.
    #[inline]
    pub(crate) unsafe fn shared<T: Sync>(&self, offset: usize) -> &'m T {
        // SAFETY: S1.
        unsafe { self.address(offset).cast::<T>().as_ref() }
    }

    /// Makes the bytes at `offset` a table of `count` values that `value` makes.
    ///
    /// # Safety
    /// S1: `count` values of `T` from `offset` lie inside the region, aligned. S2: nothing else
    /// uses these bytes.
    pub(crate) unsafe fn table<T>(
        &self,
        offset: usize,
        count: usize,
        value: impl Fn() -> T,
    ) -> &'m [T] {
        // SAFETY: S1.
        let first = unsafe { self.address(offset) }.cast::<T>();
        for i in 0..count {
            // SAFETY: S1: value i lies inside the table.
            let place = unsafe { first.add(i) };
            // SAFETY: S1, S2: the place is inside the region, aligned, and nobody refers to it.
            unsafe { place.write(value()) };
        }
        // SAFETY: all `count` values were just written; M1 and S2 make them this table's for `'m`.
        unsafe { NonNull::slice_from_raw_parts(first, count).as_ref() }
    }

    /// The table of `count` values at `offset` whose bytes are all zero.
    ///
    /// # Safety
    /// S1: `count` values of `T` from `offset` lie inside the region, aligned. S2: nothing else
    /// uses these bytes. S3: they are zero, and zeroed bytes are a `T`.
    #[cfg(feature = "os")]
    pub(crate) unsafe fn zeroed_table<T>(&self, offset: usize, count: usize) -> &'m [T] {
        // SAFETY: S1.
        let first = unsafe { self.address(offset) }.cast::<T>();
        // SAFETY: S1, S3: the values are there; M1 and S2 make them this table's for `'m`.
        unsafe { NonNull::slice_from_raw_parts(first, count).as_ref() }
    }

    /// Copies a page-block; the two do not overlap.
    ///
    /// # Safety
    /// S1: `from + bytes` and `to + bytes` are at most `len`, and the ranges are disjoint. S2:
    /// nobody holds a reference into either.
    #[inline]
    pub(crate) unsafe fn copy(&self, from: usize, to: usize, bytes: usize) {
        // SAFETY: S1.
        let source = unsafe { self.address(from) }.cast::<MaybeUninit<u8>>();
        // SAFETY: S1.
        let target = unsafe { self.address(to) }.cast::<MaybeUninit<u8>>();
        // SAFETY: S1 and S2.
        unsafe { source.copy_to_nonoverlapping(target, bytes) };
    }

    /// As [`Memory::copy`], for whole granules of eight bytes: on a board, where no system's
    /// library copies, in as little code as a call of one. Tests copy so everywhere.
    ///
    /// # Safety
    /// S1, S2: as [`Memory::copy`]. S3: all three are multiples of eight, and so is the base.
    #[inline]
    pub(crate) unsafe fn copy_granules(&self, from: usize, to: usize, bytes: usize) {
        if cfg!(not(any(target_os = "none", test))) {
            // SAFETY: S1 and S2.
            return unsafe { self.copy(from, to, bytes) };
        }
        for done in (0..bytes).step_by(8) {
            // SAFETY: S1.
            let source = unsafe { self.address(from + done) }.cast::<MaybeUninit<u64>>();
            // SAFETY: S1.
            let target = unsafe { self.address(to + done) }.cast::<MaybeUninit<u64>>();
            // SAFETY: S1 to S3: both granules are inside the region and aligned, and nobody refers
            // to them.
            unsafe { target.write(source.read()) };
            // Without it the compiler makes a call of `memcpy` of the loop.
            compiler_fence(Ordering::SeqCst);
        }
    }
}
