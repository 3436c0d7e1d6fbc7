//! surefit's own heaps of raw pointers: every [`RawHeap`].

use std::alloc::Layout;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use surefit_core::{Corruption, RawHeap, Refused, Usage};
use surefit_freelist::{
    BestFit, BinnedFit, Buddy, Counters, FirstFit, HalfFit, Heap, Index, NextFit, Tlsf, TreeFit,
    WorstFit,
};

use super::pointer::InRegion;
use crate::pointer_heap::PointerHeap;

/// A [`RawHeap`] that may report what its free lists did.
pub trait Counted: RawHeap {
    /// As [`PointerHeap::counters`].
    fn counters(&self) -> Option<Counters> {
        None
    }
}

impl<I: Index> Counted for Heap<'_, I> {
    fn counters(&self) -> Option<Counters> {
        Some(Heap::counters(self))
    }
}

impl Counted for Buddy<'_> {}

/// A [`RawHeap`] as a [`PointerHeap`].
#[derive(Debug)]
pub struct Raw<H>(pub H);

// SAFETY: the contract of `RawHeap` is that of `PointerHeap`.
unsafe impl<H: Counted> PointerHeap for Raw<H> {
    #[inline(always)]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        self.0.allocate(layout)
    }

    #[inline(always)]
    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: S1 and S2 of `Subject` are those of `RawHeap::free`.
        unsafe { self.0.free(object, layout) };
    }

    #[inline(always)]
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_layout: Layout,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: S1 and S2 of `Subject` are those of `RawHeap::resize`; the new layout exists, so
        // nothing overflows.
        unsafe { self.0.resize(object, layout, new_layout.size()) }
    }

    fn usage(&self) -> Option<Usage> {
        let mut usage = self.0.usage();
        usage.administrative_bytes += size_of::<H>().next_multiple_of(8);
        Some(usage)
    }

    fn check(&self) -> Result<(), Corruption> {
        self.0.check()
    }

    fn counters(&self) -> Option<Counters> {
        self.0.counters()
    }
}

macro_rules! free_list {
    ($($(#[$doc:meta])* $name:ident $heap:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name;

        impl InRegion for $name {
            type Heap<'m> = Raw<$heap<'m>>;

            unsafe fn over(memory: &mut [MaybeUninit<u8>]) -> Result<Self::Heap<'_>, Refused> {
                Ok(Raw(<$heap>::new(memory)?))
            }
        }
    )*};
}

free_list! {
    /// Our two-level segregated fit.
    OurTlsf Tlsf;
    /// Our first fit.
    OurFirstFit FirstFit;
    /// Our best fit.
    OurBestFit BestFit;
    /// Our worst fit.
    OurWorstFit WorstFit;
    /// Our next fit.
    OurNextFit NextFit;
    /// Our best fit by a balanced tree.
    OurTreeFit TreeFit;
    /// Our bins of Doug Lea's malloc up to version 2.7.
    OurBinnedFit BinnedFit;
    /// Our Half-fit.
    OurHalfFit HalfFit;
    /// Our binary buddy system.
    OurBuddy Buddy;
}
