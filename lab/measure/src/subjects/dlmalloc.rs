//! Peer: the `dlmalloc` crate, confined to one region. Its "system" gives the whole region once,
//! and nothing later.

use std::alloc::Layout;
use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use surefit_core::Refused;

use super::pointer::{InRegion, not_empty};
use crate::pointer_heap::PointerHeap;

type Heap = dlmalloc::Dlmalloc<Once>;

/// The flag of a segment that must not be trimmed or returned.
const EXTERN_BIT: u32 = 1;

/// The smallest unit of memory requests: the region is not rounded to a larger unit.
const GRANULARITY: usize = 64;

/// A source of memory that gives one region, once.
#[derive(Debug)]
pub struct Once {
    base: NonNull<u8>,
    bytes: usize,
    given: Cell<bool>,
}

// SAFETY: the region that `base` names is borrowed exclusively for as long as the heap lives;
// nothing in it is tied to a thread.
unsafe impl Send for Once {}

// SAFETY: `alloc` returns the region's address and true size, at most once; no other function gives
// or takes anything.
unsafe impl dlmalloc::Allocator for Once {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        if size > self.bytes || self.given.replace(true) {
            return (std::ptr::null_mut(), 0, 0);
        }
        (self.base.as_ptr(), self.bytes, EXTERN_BIT)
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        std::ptr::null_mut()
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false
    }

    fn free(&self, _: *mut u8, _: usize) -> bool {
        false
    }

    fn can_release_part(&self, _: u32) -> bool {
        false
    }

    fn allocates_zeros(&self) -> bool {
        false
    }

    fn page_size(&self) -> usize {
        GRANULARITY
    }
}

/// The dlmalloc crate.
#[derive(Debug)]
pub struct Dlmalloc;

impl InRegion for Dlmalloc {
    type Heap<'m> = Heap;

    unsafe fn over(memory: &mut [MaybeUninit<u8>]) -> Result<Self::Heap<'_>, Refused> {
        let bytes = memory.len() / GRANULARITY * GRANULARITY;
        let base = NonNull::from(memory).cast();
        let mut heap = Heap::new_with_allocator(Once {
            base,
            bytes,
            given: Cell::new(false),
        });
        heap.set_granularity(GRANULARITY);
        Ok(heap)
    }
}

// SAFETY: dlmalloc allocates inside the segment it was given, aligned and as long as asked.
unsafe impl PointerHeap for Heap {
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let layout = not_empty(layout);
        // SAFETY: any size and any power of two will do.
        NonNull::new(unsafe { self.malloc(layout.size(), layout.align()) }).ok_or(Refused::NoChunk)
    }

    #[inline]
    fn allocate_zeroed(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let layout = not_empty(layout);
        // SAFETY: any size and any power of two will do.
        NonNull::new(unsafe { self.calloc(layout.size(), layout.align()) }).ok_or(Refused::NoChunk)
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        let layout = not_empty(layout);
        // SAFETY: S1 and S2: the object is this heap's and was allocated with this layout, made not
        // empty.
        unsafe { Heap::free(self, object.as_ptr(), layout.size(), layout.align()) };
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
        let moved = unsafe { self.realloc(object.as_ptr(), old.size(), old.align(), new.size()) };
        NonNull::new(moved).ok_or(Refused::NoChunk)
    }
}
