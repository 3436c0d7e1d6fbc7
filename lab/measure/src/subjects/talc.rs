//! Peer: `talc`, confined to one region. It claims the region once and has no other source of
//! memory.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use surefit_core::Refused;
use talc::DefaultBinning;
use talc::source::Manual;

use super::pointer::{InRegion, not_empty};
use crate::pointer_heap::PointerHeap;

type Heap = talc::base::Talc<Manual, DefaultBinning>;

/// The talc crate.
#[derive(Debug)]
pub struct Talc;

impl InRegion for Talc {
    type Heap<'m> = Heap;

    unsafe fn over(memory: &mut [MaybeUninit<u8>]) -> Result<Self::Heap<'_>, Refused> {
        let mut heap = Heap::new(Manual);
        // SAFETY: the region is valid for writes, and only this heap uses it (S3).
        let claimed = unsafe { heap.claim(memory.as_mut_ptr().cast(), memory.len()) };
        let needed = talc::min_first_heap_size::<DefaultBinning>();
        claimed.ok_or(Refused::Region { needed })?;
        Ok(heap)
    }
}

// SAFETY: talc allocates inside what it claimed, aligned and as long as asked.
unsafe impl PointerHeap for Heap {
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        // SAFETY: the size is not zero.
        unsafe { Heap::allocate(self, not_empty(layout)) }.ok_or(Refused::NoChunk)
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: S1 and S2: the object is this heap's and was allocated with this layout, made not
        // empty.
        unsafe { self.deallocate(object.as_ptr(), not_empty(layout)) };
    }

    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_layout: Layout,
    ) -> Result<NonNull<u8>, Refused> {
        let (old, new) = (not_empty(layout), not_empty(new_layout));
        // SAFETY: S1 and S2 as in `free`; the new size is not zero.
        if unsafe { self.try_realloc_in_place(object.as_ptr(), old, new.size()) } {
            return Ok(object);
        }
        let moved = PointerHeap::allocate(self, new)?;
        let common = old.size().min(new.size());
        // SAFETY: both objects are live, disjoint and at least `common` bytes long.
        unsafe { std::ptr::copy_nonoverlapping(object.as_ptr(), moved.as_ptr(), common) };
        // SAFETY: as in `free`.
        unsafe { self.deallocate(object.as_ptr(), old) };
        Ok(moved)
    }
}
