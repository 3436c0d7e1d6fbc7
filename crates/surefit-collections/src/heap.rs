//! The heaps that containers can live in.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_compact::branded::BrandedHeap;
use surefit_compact::{Config, Heap, Width};
use surefit_core::Refused;

use crate::names::sealed::Sealed;
use crate::names::{Branded, Checked, Names};

/// The name of a byte object of a heap.
pub(crate) type BytesOf<H> = <<H as ByteHeap>::Names as Names>::Bytes;

/// A heap of one owner that containers can live in: [`Heap`], [`BrandedHeap`], `BoxedHeap` (feature
/// `std`) and `OsHeap` (feature `os`).
///
/// Nobody else implements it: containers rely on what these heaps promise.
pub trait ByteHeap: Sealed {
    /// How containers name their objects.
    type Names: Names;

    /// Allocates an object whose bytes are not initialised.
    #[doc(hidden)]
    fn alloc(&self, layout: Layout) -> Result<BytesOf<Self>, Refused>;

    /// Changes the length of an object; its bytes up to the smaller length are kept.
    #[doc(hidden)]
    fn resize(&mut self, bytes: &mut BytesOf<Self>, layout: Layout) -> Result<(), Refused>;

    /// Frees an object. Panics if it belongs to another heap.
    #[doc(hidden)]
    fn free_bytes(&mut self, bytes: BytesOf<Self>);

    /// Whether an object belongs to this heap.
    #[doc(hidden)]
    fn owns(&self, bytes: &BytesOf<Self>) -> bool;

    /// Of the bytes from an offset to the end of their piece, the first one, and how many there
    /// are. Panics if the object belongs to another heap.
    #[doc(hidden)]
    fn chunk(&self, bytes: &BytesOf<Self>, offset: usize) -> (NonNull<MaybeUninit<u8>>, usize);

    /// As `chunk`, but mutable.
    #[doc(hidden)]
    fn chunk_mut<'a>(
        &'a self,
        bytes: &'a mut BytesOf<Self>,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>];

    /// The longest object that is contiguous, and the length of its pieces if it is longer:
    /// a power of two, or `usize::MAX` where no object is in pieces.
    #[doc(hidden)]
    fn piece_bytes(&self) -> usize;
}

/// Implements the trait for a heap of checked names: its type, who allocates, and the [`Heap`] in
/// it.
macro_rules! checked {
    ($owner:ty, $alloc:path, $heap:path) => {
        impl<W: Width> Sealed for $owner {}

        impl<W: Width> ByteHeap for $owner {
            type Names = Checked;

            #[inline]
            fn alloc(&self, layout: Layout) -> Result<BytesOf<Self>, Refused> {
                $alloc(self, layout)
            }

            #[inline]
            fn resize(&mut self, bytes: &mut BytesOf<Self>, layout: Layout) -> Result<(), Refused> {
                Self::resize(self, bytes, layout)
            }

            #[inline]
            fn free_bytes(&mut self, bytes: BytesOf<Self>) {
                Self::free_bytes(self, bytes);
            }

            #[inline]
            fn owns(&self, bytes: &BytesOf<Self>) -> bool {
                $heap(self).owns(bytes)
            }

            #[inline]
            fn chunk(&self, bytes: &BytesOf<Self>, at: usize) -> (NonNull<MaybeUninit<u8>>, usize) {
                $heap(self).chunk_start(bytes, at)
            }

            #[inline]
            fn chunk_mut<'a>(
                &'a self,
                bytes: &'a mut BytesOf<Self>,
                at: usize,
            ) -> &'a mut [MaybeUninit<u8>] {
                $heap(self).chunk_mut(bytes, at)
            }

            #[inline]
            fn piece_bytes(&self) -> usize {
                piece_bytes($heap(self).config())
            }
        }
    };
}

/// The bytes of a small piece: as `Division::small_bytes`, without its other numbers.
#[inline]
fn piece_bytes(config: &Config) -> usize {
    config.piece_bytes().unwrap_or(usize::MAX)
}

/// A heap is its own.
#[inline]
const fn itself<T>(heap: &T) -> &T {
    heap
}

checked!(Heap<'_, W>, Heap::alloc, itself);
#[cfg(feature = "std")]
checked!(
    surefit_compact::BoxedHeap<W>,
    Heap::alloc,
    core::ops::Deref::deref
);
#[cfg(feature = "os")]
checked!(
    surefit_compact::os::OsHeap<'_, W>,
    surefit_compact::os::OsHeap::alloc,
    surefit_compact::os::OsHeap::heap
);

impl<B, W: Width> Sealed for BrandedHeap<'_, B, W> {}

impl<B, W: Width> ByteHeap for BrandedHeap<'_, B, W> {
    type Names = Branded<B>;

    #[inline]
    fn alloc(&self, layout: Layout) -> Result<BytesOf<Self>, Refused> {
        Self::alloc(self, layout)
    }

    #[inline]
    fn resize(&mut self, bytes: &mut BytesOf<Self>, layout: Layout) -> Result<(), Refused> {
        Self::resize(self, bytes, layout)
    }

    #[inline]
    fn free_bytes(&mut self, bytes: BytesOf<Self>) {
        Self::free_bytes(self, bytes);
    }

    #[inline]
    fn owns(&self, _: &BytesOf<Self>) -> bool {
        true
    }

    #[inline]
    fn chunk(&self, bytes: &BytesOf<Self>, at: usize) -> (NonNull<MaybeUninit<u8>>, usize) {
        self.chunk_start(bytes, at)
    }

    #[inline]
    fn chunk_mut<'a>(
        &'a self,
        bytes: &'a mut BytesOf<Self>,
        at: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        Self::chunk_mut(self, bytes, at)
    }

    #[inline]
    fn piece_bytes(&self) -> usize {
        piece_bytes(self.as_heap().config())
    }
}
