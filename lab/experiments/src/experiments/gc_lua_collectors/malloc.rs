//! The platform's malloc as a heap of the machine, as any Lua runs on it.

use std::alloc::Layout;
use std::ptr::NonNull;

use surefit_core::{Corruption, RawHeap, Refused, Usage};
use surefit_os::platform;

/// Malloc. If `COUNTS`, it keeps the sum of its live chunks; the runs that are timed do not.
#[derive(Debug, Default)]
pub(super) struct Malloc<const COUNTS: bool> {
    live_bytes: usize,
    peak_bytes: usize,
}

impl<const COUNTS: bool> Malloc<COUNTS> {
    /// The most bytes of its live chunks at any time: what fragmentation wastes is not in them.
    pub(super) const fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    fn add(&mut self, object: NonNull<u8>) {
        if COUNTS {
            // SAFETY: M1 the object is live and malloc's.
            self.live_bytes += unsafe { platform::chunk_bytes(object) };
            self.peak_bytes = self.peak_bytes.max(self.live_bytes);
        }
    }

    /// # Safety
    /// S1: the object is live and malloc's.
    unsafe fn subtract(&mut self, object: NonNull<u8>) {
        if COUNTS {
            // SAFETY: S1.
            self.live_bytes -= unsafe { platform::chunk_bytes(object) };
        }
    }
}

// SAFETY: malloc's objects are its own, as long as asked, and aligned (`platform`).
unsafe impl<const COUNTS: bool> RawHeap for Malloc<COUNTS> {
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let object = platform::allocate(layout).ok_or(Refused::NoChunk)?;
        self.add(object);
        Ok(object)
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, _layout: Layout) {
        // SAFETY: the caller's S1.
        unsafe { self.subtract(object) };
        // SAFETY: the caller's S1: the object is live and malloc's.
        unsafe { platform::free(object) };
    }

    #[inline]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<NonNull<u8>, Refused> {
        let old_bytes = self.live_bytes;
        // SAFETY: the caller's S1.
        unsafe { self.subtract(object) };
        // SAFETY: the caller's S1 and S2: the object is live, malloc's, and has this layout.
        let resized = unsafe { platform::resize(object, layout, new_size) };
        match resized {
            Some(resized) => {
                self.add(resized);
                Ok(resized)
            }
            None => {
                self.live_bytes = old_bytes;
                Err(Refused::NoChunk)
            }
        }
    }

    fn usage(&self) -> Usage {
        Usage::default()
    }

    fn check(&self) -> Result<(), Corruption> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Malloc;
    use std::alloc::Layout;
    use surefit_core::RawHeap;

    #[test]
    fn the_peak_is_that_of_all_live_chunks() {
        let mut heap = Malloc::<true>::default();
        let layout = |bytes| Layout::from_size_align(bytes, 8).expect("valid");
        let one = heap.allocate(layout(24)).expect("memory");
        let other = heap.allocate(layout(1000)).expect("memory");
        // SAFETY: the object is live and has this layout.
        let one = unsafe { heap.resize(one, layout(24), 5000) }.expect("memory");
        // SAFETY: as before.
        unsafe { heap.free(one, layout(5000)) };
        // SAFETY: as before.
        unsafe { heap.free(other, layout(1000)) };
        assert_eq!(heap.live_bytes, 0);
        assert!((6016..6300).contains(&heap.peak_bytes()), "{heap:?}");
        let again = heap.allocate(layout(100)).expect("memory");
        // SAFETY: as before.
        unsafe { heap.free(again, layout(100)) };
        assert!((6016..6300).contains(&heap.peak_bytes()), "{heap:?}");
    }
}
