//! The interface of heaps that hand out raw pointers.

use core::alloc::Layout;
use core::ptr::NonNull;

use crate::{Corruption, Refused, Usage};

/// A heap over one region. The addresses of its objects never change.
///
/// A request of size zero is served like one of size one: every live object has its own address.
///
/// # Safety
/// Until an object is freed, its memory lies inside the region, is aligned as requested, is at
/// least as long as requested, and is disjoint from all other live objects.
pub unsafe trait RawHeap {
    /// Allocates an object; its bytes are not initialised.
    ///
    /// # Errors
    /// What was exhausted. The heap is unchanged.
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused>;

    /// Frees an object.
    ///
    /// # Safety
    /// S1: `object` came from this heap and is live. S2: `layout` is the one with which the object
    /// was allocated or last resized.
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout);

    /// As [`RawHeap::free`], but refuses an object that the heap finds not to be live: for callers
    /// that must not panic.
    ///
    /// What a heap finds is documented with it. What it does not find is undefined behaviour, as
    /// for [`RawHeap::free`]; a heap may find nothing.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] if the address is outside the heap, [`Refused::StaleHandle`] if
    /// no live object is there. The heap is unchanged.
    ///
    /// # Safety
    /// As for [`RawHeap::free`], except for what the heap finds.
    unsafe fn try_free(&mut self, object: NonNull<u8>, layout: Layout) -> Result<(), Refused> {
        // SAFETY: S1 and S2 are the caller's promise.
        unsafe { self.free(object, layout) };
        Ok(())
    }

    /// Changes the size of an object, in place where possible. The bytes that both sizes share are
    /// kept.
    ///
    /// # Errors
    /// What was exhausted. The object is unchanged and still live.
    ///
    /// # Safety
    /// As for [`RawHeap::free`]. In addition, `new_size`, rounded up to the alignment, does not
    /// overflow `isize`.
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: the caller promises a size that does not overflow (the function's contract).
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let moved = self.allocate(new_layout)?;
        // SAFETY: both objects are live and disjoint, and at least the smaller size long (trait
        // contract).
        unsafe {
            core::ptr::copy_nonoverlapping(
                object.as_ptr(),
                moved.as_ptr(),
                layout.size().min(new_size),
            )
        };
        // SAFETY: S1 and S2 are the caller's promise.
        unsafe { self.free(object, layout) };
        Ok(moved)
    }

    /// Accounts for every byte of the region. Linear in the heap.
    fn usage(&self) -> Usage;

    /// Verifies every numbered invariant of the system. Linear in the heap.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    fn check(&self) -> Result<(), Corruption>;
}
