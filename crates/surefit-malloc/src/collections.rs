//! The allocator for single collections, whatever the program's global allocator is.

use core::alloc::Layout;
use core::ptr::NonNull;

use allocator_api2::alloc::{AllocError, Allocator};

use crate::global::SurefitMalloc;
use crate::serve;

/// What was allocated, with its length.
fn slice(object: Option<NonNull<u8>>, bytes: usize) -> Result<NonNull<[u8]>, AllocError> {
    let object = object.ok_or(AllocError)?;
    Ok(NonNull::slice_from_raw_parts(object, bytes))
}

impl SurefitMalloc {
    /// # Safety
    /// As for `grow` and `shrink` of [`Allocator`].
    unsafe fn change(
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // An object at 16 bytes and one at less are the same to the heap. What lies where the new
        // alignment allows it may stay.
        if object.addr().get() % new.align() == 0 && new.align() >= old.align() {
            // SAFETY: the caller's promise.
            return slice(
                unsafe { serve::resize(object, new.size(), new.align()) },
                new.size(),
            );
        }
        let moved = slice(serve::allocate(new.size(), new.align()), new.size())?;
        let bytes = old.size().min(new.size());
        // SAFETY: two live objects of so many bytes at least.
        unsafe { object.copy_to_nonoverlapping(moved.cast(), bytes) };
        // SAFETY: the caller's promise.
        unsafe { serve::free(object.as_ptr()) };
        Ok(moved)
    }
}

// SAFETY: objects are disjoint, stay until they are freed, and belong to the one heap of the
// process, whichever value they came by.
unsafe impl Allocator for &SurefitMalloc {
    fn allocate(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        slice(
            serve::allocate(layout.size(), layout.align()),
            layout.size(),
        )
    }

    fn allocate_zeroed(&self, layout: Layout) -> Result<NonNull<[u8]>, AllocError> {
        let object = serve::allocate_zeroed(layout.size(), layout.align());
        slice(object, layout.size())
    }

    unsafe fn deallocate(&self, object: NonNull<u8>, _layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { serve::free(object.as_ptr()) };
    }

    unsafe fn grow(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { SurefitMalloc::change(object, old, new) }
    }

    unsafe fn shrink(
        &self,
        object: NonNull<u8>,
        old: Layout,
        new: Layout,
    ) -> Result<NonNull<[u8]>, AllocError> {
        // SAFETY: the caller's promise.
        unsafe { SurefitMalloc::change(object, old, new) }
    }
}
