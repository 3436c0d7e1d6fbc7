//! A locked heap as an allocator of collections.

use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};
use lock_api::RawMutex;
use surefit_core::RawHeap;

use crate::Locked;

/// The place of objects without bytes.
fn dangling(layout: Layout) -> NonNull<[u8]> {
    let place = core::ptr::without_provenance_mut(layout.align());
    // An alignment is not zero.
    let place = NonNull::new(place).unwrap_or(NonNull::dangling());
    NonNull::slice_from_raw_parts(place, 0)
}

impl<L: RawMutex, H: RawHeap> Locked<L, H> {
    fn serve(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        if layout.size() == 0 {
            return Ok(dangling(layout));
        }
        let object = self.with(|heap| heap.allocate(layout));
        let object = object.map_err(|_| AllocError)?;
        Ok(NonNull::slice_from_raw_parts(object, layout.size()))
    }

    /// Moves an object to a block of another layout. The bytes that both have are kept.
    ///
    /// # Safety
    /// As for `grow` and `shrink` of [`Allocator`].
    unsafe fn change(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        if old.align() == new.align() && old.size() > 0 && new.size() > 0 {
            // SAFETY: S1 and S2 are the caller's promise; a layout's size does not overflow.
            let moved = self.with(|heap| unsafe { heap.resize(object, old, new.size()) });
            let moved = moved.map_err(|_| AllocError)?;
            return Ok(NonNull::slice_from_raw_parts(moved, new.size()));
        }
        let moved = self.serve(new)?;
        // SAFETY: both are live and disjoint, or no byte is copied; each has at least the smaller
        // size.
        unsafe {
            core::ptr::copy_nonoverlapping(
                object.as_ptr(),
                moved.cast::<u8>().as_ptr(),
                old.size().min(new.size()),
            );
        }
        // SAFETY: the caller's promise.
        unsafe { self.deallocate(object, old) };
        Ok(moved)
    }
}

// SAFETY: as for `GlobalAlloc`. A collection holds a reference to the locked heap, so the heap
// outlives it and stays where it is; copies of the reference are the same allocator.
unsafe impl<L: RawMutex, H: RawHeap> Allocator for &Locked<L, H> {
    #[inline]
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        self.serve(layout)
    }

    #[inline]
    unsafe fn deallocate(&self, object: NonNull<u8>, layout: Layout) {
        if layout.size() > 0 {
            // SAFETY: S1 and S2 are the caller's promise. What the heap refuses ends the program.
            let _ = self.with(|heap| unsafe { heap.try_free(object, layout) });
        }
    }

    unsafe fn grow(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { self.change(object, old, new) }
    }

    unsafe fn grow_zeroed(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise.
        let moved = unsafe { self.change(object, old, new)? };
        // SAFETY: the object has `new.size()` bytes, which are no fewer than before.
        unsafe {
            let more = moved.cast::<u8>().add(old.size());
            more.write_bytes(0, new.size() - old.size());
        }
        Ok(moved)
    }

    unsafe fn shrink(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { self.change(object, old, new) }
    }
}
