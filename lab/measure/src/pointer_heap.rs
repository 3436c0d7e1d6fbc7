//! The interface of allocators that hand out raw pointers.

use std::alloc::Layout;
use std::ptr::NonNull;

use surefit_core::{Corruption, Refused, Usage};
use surefit_freelist::Counters;

/// An allocator that hands out raw pointers.
///
/// # Safety
/// An implementation returns memory with the requested alignment and at least the requested length
/// (zero bytes count as one). The memory is disjoint from all other live objects until it is freed.
pub unsafe trait PointerHeap {
    /// Allocates an object.
    ///
    /// # Errors
    /// The heap has no room.
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused>;

    /// Allocates an object whose bytes are zero.
    ///
    /// # Errors
    /// The heap has no room.
    #[inline(always)]
    fn allocate_zeroed(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let object = self.allocate(layout)?;
        // SAFETY: the object is fresh and as long as asked (trait contract).
        unsafe { object.as_ptr().write_bytes(0, layout.size()) };
        Ok(object)
    }

    /// Frees an object.
    ///
    /// # Safety
    /// S1 and S2 of [`Subject`](crate::subject::Subject).
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout);

    /// Changes an object's size and keeps the bytes common to both; on an error the object is
    /// unchanged.
    ///
    /// # Errors
    /// The heap has no room.
    ///
    /// # Safety
    /// S1 and S2 of [`Subject`](crate::subject::Subject).
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_layout: Layout,
    ) -> Result<NonNull<u8>, Refused>;

    /// As [`Subject::usage`](crate::subject::Subject::usage).
    fn usage(&self) -> Option<Usage> {
        None
    }

    /// As [`Subject::check`](crate::subject::Subject::check).
    ///
    /// # Errors
    /// The first invariant that does not hold.
    fn check(&self) -> Result<(), Corruption> {
        Ok(())
    }

    /// What the free lists did so far; `None` if the heap has no free lists of surefit.
    fn counters(&self) -> Option<Counters> {
        None
    }
}
