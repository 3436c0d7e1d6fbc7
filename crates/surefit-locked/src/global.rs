//! A locked heap as the global allocator.

use core::alloc::{GlobalAlloc, Layout};
use core::ptr::{NonNull, null_mut};

use lock_api::RawMutex;
use surefit_core::{RawHeap, Refused};

use crate::Locked;

/// What callers of the global allocator get.
#[inline]
fn pointer(result: Result<NonNull<u8>, Refused>) -> *mut u8 {
    result.map_or(null_mut(), NonNull::as_ptr)
}

// SAFETY: a heap's objects are aligned, long enough and disjoint (contract of `RawHeap`), and the
// heap stays where its objects are: what is handed out is never given back before it is freed. No
// call unwinds (`Locked::with`).
unsafe impl<L: RawMutex, H: RawHeap> GlobalAlloc for Locked<L, H> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        pointer(self.with(|heap| heap.allocate(layout)))
    }

    #[inline]
    unsafe fn dealloc(&self, object: *mut u8, layout: Layout) {
        let Some(object) = NonNull::new(object) else {
            return;
        };
        // SAFETY: S1 and S2 are the caller's promise. The heap that allocated is the one that is
        // there: nothing replaces it. What it refuses ends the program.
        let _ = self.with(|heap| unsafe { heap.try_free(object, layout) });
    }

    #[inline]
    unsafe fn realloc(&self, object: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let Some(object) = NonNull::new(object) else {
            return null_mut();
        };
        // SAFETY: as for `dealloc`; that the new size does not overflow is promised to this
        // function as well.
        pointer(self.with(|heap| unsafe { heap.resize(object, layout, new_size) }))
    }
}
