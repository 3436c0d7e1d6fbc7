//! Peer: `rlsf`, two-level segregated fit, confined to one region.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use surefit_core::Refused;

use super::pointer::InRegion;
use crate::pointer_heap::PointerHeap;

/// 28 first-level lists (chunks to 8 GiB) of 32 second-level lists each.
type Tlsf<'m> = rlsf::Tlsf<'m, u32, u32, 28, 32>;

/// The rlsf crate.
#[derive(Debug)]
pub struct Rlsf;

impl InRegion for Rlsf {
    type Heap<'m> = Tlsf<'m>;

    unsafe fn over(memory: &mut [MaybeUninit<u8>]) -> Result<Self::Heap<'_>, Refused> {
        let mut tlsf = Tlsf::new();
        tlsf.insert_free_block(memory);
        Ok(tlsf)
    }
}

// SAFETY: rlsf allocates inside the block it was given, aligned and as long as asked.
unsafe impl PointerHeap for Tlsf<'_> {
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        Tlsf::allocate(self, layout).ok_or(Refused::NoChunk)
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: S1 and S2: the object is this heap's and has this alignment.
        unsafe { self.deallocate(object, layout.align()) };
    }

    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        _layout: Layout,
        new_layout: Layout,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: S1 and S2: the object is this heap's; the alignment stays.
        unsafe { self.reallocate(object, new_layout) }.ok_or(Refused::NoChunk)
    }
}
