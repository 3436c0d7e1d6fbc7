//! `n-cf-direct`: Compact-fit without moves for many threads, as one thread uses it.

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use parking_lot::RawMutex;
use surefit_core::{Corruption, Refused};
use surefit_direct::shared::{Local, Settings, SharedDirect};

use super::pointer::InRegion;
use crate::pointer_heap::PointerHeap;

/// The direct heap for threads, with one instance.
#[derive(Debug)]
pub struct NCfDirect;

/// The heap, and its one instance as an address: both in one value.
#[derive(Debug)]
pub struct Heap<'m> {
    heap: SharedDirect<'m, RawMutex>,
    own: NonNull<u8>,
}

impl Heap<'_> {
    #[inline(always)]
    fn local(&self) -> impl core::ops::Deref<Target = Local<'_, RawMutex>> {
        // SAFETY: from `into_raw` of this heap; nobody else has the instance.
        unsafe { Local::from_raw(&self.heap, self.own) }
    }
}

impl InRegion for NCfDirect {
    type Heap<'m> = Heap<'m>;

    unsafe fn over(memory: &mut [MaybeUninit<u8>]) -> Result<Self::Heap<'_>, Refused> {
        let settings = Settings {
            threads: 1,
            checks: false,
            delay: u32::MAX,
        };
        let heap = SharedDirect::new(memory, settings)?;
        let own = heap.join()?.into_raw();
        Ok(Heap { heap, own })
    }
}

// SAFETY: the heap gives memory of its region, aligned and as long as asked.
unsafe impl PointerHeap for Heap<'_> {
    #[inline(always)]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let object = self.local().allocate(layout.size(), layout.align());
        object.ok_or(Refused::NoPage)
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: NonNull<u8>, _layout: Layout) {
        // SAFETY: S1 of `Subject`.
        unsafe { self.local().free(object) };
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_layout: Layout,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: S1 of `Subject`.
        let resized = unsafe {
            self.local()
                .resize(object, new_layout.size(), layout.align())
        };
        resized.ok().flatten().ok_or(Refused::NoPage)
    }

    fn check(&self) -> Result<(), Corruption> {
        // SAFETY: this thread alone uses the heap.
        unsafe { self.heap.check_between_calls() }
    }
}
