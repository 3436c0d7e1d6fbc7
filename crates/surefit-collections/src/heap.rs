//! The heaps that containers can live in.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_compact::branded::BrandedHeap;
use surefit_compact::pieces::Division;
use surefit_compact::{Heap, Width};
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

    /// Whether an object belongs to this heap, and its page-blocks are live, hold its pieces, and
    /// are aligned.
    #[doc(hidden)]
    fn is_whole(&self, bytes: &BytesOf<Self>, align: usize) -> bool;

    /// Of the bytes from an offset to the end of their piece, the first one, and how many there
    /// are. Panics if the object belongs to another heap.
    #[doc(hidden)]
    fn chunk(&self, bytes: &BytesOf<Self>, offset: usize) -> (NonNull<MaybeUninit<u8>>, usize);

    /// The first byte of an object that is one block; `None` if it is in pieces. Panics if the
    /// object belongs to another heap.
    #[doc(hidden)]
    fn block(&self, bytes: &BytesOf<Self>) -> Option<NonNull<MaybeUninit<u8>>>;

    /// How byte objects are divided into pieces.
    #[doc(hidden)]
    fn division(&self) -> Division;

    /// The longest object that is contiguous, and the length of its small pieces if it is longer:
    /// a power of two, or `usize::MAX` where no object is in pieces.
    #[doc(hidden)]
    #[inline]
    fn piece_bytes(&self) -> usize {
        self.division().small_bytes()
    }
}

/// Implements the trait for a heap: its brand, its type and its names; who allocates, and the heap
/// in it.
macro_rules! byte_heap {
    ([$($brand:ident)?] $owner:ty, $names:ty, $alloc:path, $heap:path) => {
        impl<$($brand,)? W: Width> Sealed for $owner {}

        impl<$($brand,)? W: Width> ByteHeap for $owner {
            type Names = $names;

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

            fn is_whole(&self, bytes: &BytesOf<Self>, align: usize) -> bool {
                $heap(self).is_whole(bytes, align)
            }

            #[inline]
            fn chunk(&self, bytes: &BytesOf<Self>, at: usize) -> (NonNull<MaybeUninit<u8>>, usize) {
                $heap(self).chunk_start(bytes, at)
            }

            #[inline]
            fn block(&self, bytes: &BytesOf<Self>) -> Option<NonNull<MaybeUninit<u8>>> {
                $heap(self).block_start(bytes)
            }

            #[inline]
            fn division(&self) -> Division {
                $heap(self).division()
            }
        }
    };
}

/// A heap is its own.
#[inline]
const fn itself<T>(heap: &T) -> &T {
    heap
}

byte_heap!([] Heap<'_, W>, Checked, Heap::alloc, itself);
byte_heap!([B] BrandedHeap<'_, B, W>, Branded<B>, BrandedHeap::alloc, itself);
#[cfg(feature = "std")]
byte_heap!(
    [] surefit_compact::BoxedHeap<W>,
    Checked,
    Heap::alloc,
    core::ops::Deref::deref
);
#[cfg(feature = "os")]
byte_heap!(
    [] surefit_compact::os::OsHeap<'_, W>,
    Checked,
    surefit_compact::os::OsHeap::alloc,
    surefit_compact::os::OsHeap::heap
);
