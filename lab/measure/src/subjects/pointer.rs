//! The common part of all allocators that hand out raw pointers: access to an object's bytes.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use surefit_core::{Corruption, Refused, Usage};
use surefit_freelist::Counters;

use crate::keys::Keys;
use crate::pointer_heap::PointerHeap;
use crate::subject::{Allocator, Pass, Subject, less_control};

/// An allocator of raw pointers in one region, without keys. An adapter of a peer implements only
/// this.
pub trait InRegion {
    /// The heap over a region.
    type Heap<'m>: PointerHeap;

    /// Makes the heap over a region from which the size of its control structure was subtracted.
    ///
    /// # Errors
    /// The region is too small for the heap's own tables, or too large for it.
    ///
    /// # Safety
    /// S3: the heap is dropped before anything else uses the region; its type may not borrow the
    /// region.
    unsafe fn over(memory: &mut [MaybeUninit<u8>]) -> Result<Self::Heap<'_>, Refused>;
}

impl<A: InRegion> Allocator for A {
    type Options = ();

    fn options(_keys: &Keys) -> anyhow::Result<()> {
        Ok(())
    }

    fn run<P: Pass>(
        (): &(),
        memory: &mut [MaybeUninit<u8>],
        pass: P,
    ) -> Result<P::Output, Refused> {
        let memory = less_control::<A::Heap<'_>>(memory)?;
        // SAFETY: S3: the pass ends before this borrow of the region does, and the heap with it.
        let heap = unsafe { A::over(memory) }?;
        Ok(pass.run(Pointers(heap)))
    }
}

/// A [`PointerHeap`] as the subject of a replay.
#[derive(Debug)]
pub struct Pointers<H>(pub H);

impl<H: PointerHeap> Subject for Pointers<H> {
    type Object = NonNull<u8>;

    #[inline(always)]
    fn allocate(&mut self, layout: Layout, zeroed: bool) -> Result<NonNull<u8>, Refused> {
        if zeroed {
            self.0.allocate_zeroed(layout)
        } else {
            self.0.allocate(layout)
        }
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: S1 and S2 are the caller's.
        unsafe { self.0.free(object, layout) };
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: &mut NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<(), Refused> {
        // SAFETY: the sizes of steps are below 2^32 and their alignments at most 2^30, far from
        // overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: S1 and S2 are the caller's.
        *object = unsafe { self.0.resize(*object, layout, new_layout) }?;
        Ok(())
    }

    #[inline(always)]
    unsafe fn chunk<'a>(
        &'a mut self,
        object: &'a mut NonNull<u8>,
        layout: Layout,
        offset: usize,
    ) -> &'a mut [MaybeUninit<u8>] {
        // SAFETY: a live object has `layout.size()` bytes of its own (the trait's contract, S1 and
        // S2); it is borrowed exclusively, and so is the heap.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(object.as_ptr().cast::<MaybeUninit<u8>>(), layout.size())
        };
        &mut bytes[offset..]
    }

    fn usage(&self) -> Option<Usage> {
        self.0.usage()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.0.check()
    }

    fn pointers(&mut self) -> Option<&mut dyn PointerHeap> {
        Some(&mut self.0)
    }
}

/// A [`PointerHeap`] that raises every request to a least number of bytes, as if its smallest
/// page-block or chunk were that large.
#[derive(Debug)]
pub struct AtLeast<H> {
    heap: H,
    bytes: usize,
}

impl<H> AtLeast<H> {
    /// The heap with every request raised to at least `bytes`, which is at most 1024.
    ///
    /// # Panics
    /// If `bytes` is more than that.
    pub fn new(heap: H, bytes: usize) -> Self {
        assert!(bytes <= 1024, "small, so that no layout overflows");
        Self { heap, bytes }
    }

    #[inline(always)]
    fn raised(&self, layout: Layout) -> Layout {
        if layout.size() >= self.bytes {
            return layout;
        }
        // SAFETY: at most 1024 bytes (`new`) rounded up to a valid alignment do not overflow
        // (alignments here are at most 2^30).
        unsafe { Layout::from_size_align_unchecked(self.bytes, layout.align()) }
    }
}

// SAFETY: what the inner heap returns for the raised layout is aligned, at least as long as asked,
// and disjoint; the inner heap is always told the raised layout of an object, the one it was
// allocated or last resized with.
unsafe impl<H: PointerHeap> PointerHeap for AtLeast<H> {
    #[inline(always)]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        self.heap.allocate(self.raised(layout))
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: S1 and S2 are the caller's, for the raised layout as for its own.
        unsafe { self.heap.free(object, self.raised(layout)) };
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_layout: Layout,
    ) -> Result<NonNull<u8>, Refused> {
        let (layout, new_layout) = (self.raised(layout), self.raised(new_layout));
        // SAFETY: S1 and S2 are the caller's, for the raised layouts as for its own.
        unsafe { self.heap.resize(object, layout, new_layout) }
    }

    fn usage(&self) -> Option<Usage> {
        self.heap.usage()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }

    fn counters(&self) -> Option<Counters> {
        self.heap.counters()
    }
}

/// A [`PointerHeap`] behind a function table, as a [`RawHeap`](surefit_core::RawHeap).
#[cfg(feature = "lua")]
pub struct Through<'h>(pub &'h mut dyn PointerHeap);

#[cfg(feature = "lua")]
impl std::fmt::Debug for Through<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Through").finish_non_exhaustive()
    }
}

// SAFETY: the contract of `PointerHeap` is that of `RawHeap`.
#[cfg(feature = "lua")]
unsafe impl surefit_core::RawHeap for Through<'_> {
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        self.0.allocate(layout)
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: S1 and S2 of `RawHeap::free` are those of `Subject`.
        unsafe { self.0.free(object, layout) };
    }

    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: the caller promises a size that does not overflow.
        let new = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: S1 and S2 of `RawHeap::resize` are those of `Subject`.
        unsafe { self.0.resize(object, layout, new) }
    }

    fn usage(&self) -> Usage {
        self.0.usage().unwrap_or_default()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.0.check()
    }
}

/// The layout with at least one byte, for allocators that do not accept zero bytes.
#[inline(always)]
#[must_use]
pub fn not_empty(layout: Layout) -> Layout {
    if layout.size() > 0 {
        return layout;
    }
    // SAFETY: one byte rounded up to a valid alignment does not overflow (alignments here are at
    // most 2^30).
    unsafe { Layout::from_size_align_unchecked(1, layout.align()) }
}
