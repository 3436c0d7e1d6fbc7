//! Our heaps of raw pointers.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit::RawHeap;
use surefit::direct::{DirectDemand, Tiny};
use surefit::direct::{DirectHeap, PooledHeap};
use surefit::freelist::{SegregatedFit, Tlsf};

use crate::subject::{Kind, Subject};

/// The longest object: also longer than a page of `Tiny`.
pub const LARGEST: usize = 1000;

/// A heap of raw pointers that serves one stage.
///
/// # Invariants
/// - N1 An `Object` names a live object of the heap that made it; a stage has one heap and gives
///   the layout of the allocation.
pub struct Raw<H>(H);

/// An object: nobody else has its address.
pub struct Object(NonNull<u8>);

impl<H: RawHeap> Subject for Raw<H> {
    type Name = Object;

    fn allocate(&mut self, layout: Layout) -> Option<Object> {
        self.0.allocate(layout).ok().map(Object)
    }

    fn free(&mut self, name: Object, layout: Layout) {
        // SAFETY: N1; the name is consumed.
        unsafe { self.0.free(name.0, layout) };
    }

    fn access(&self, _: &Object) -> Option<usize> {
        None
    }

    fn resize(&mut self, _: &mut Object, _: Layout) -> Option<bool> {
        None
    }
}

/// Declares a kind: its type, its name, its heap, how to make one, and its smallest region.
macro_rules! kind {
    ($(#[$doc:meta])* $kind:ident, $name:literal, $heap:ident $(<$argument:ty>)?, $over:expr, $smallest:expr) => {
        $(#[$doc])*
        pub struct $kind;

        impl Kind for $kind {
            const NAME: &'static str = $name;
            const HANDLES: bool = false;
            const LARGEST: usize = LARGEST;
            const SMALLEST: usize = $smallest;
            type Heap<'m> = Raw<$heap<'m $(, $argument)?>>;

            fn over(memory: &mut [MaybeUninit<u8>]) -> Option<Self::Heap<'_>> {
                $over(memory).ok().map(Raw)
            }
        }
    };
}

kind!(
    /// `DirectHeap`.
    Direct, "DirectHeap", DirectHeap, DirectHeap::new, 64 << 10
);
kind!(
    /// `DirectHeap<Tiny>`.
    DirectTiny, "DirectHeap<Tiny>", DirectHeap<Tiny>, DirectHeap::with, 0
);
kind!(
    /// `PooledHeap<Tiny>`.
    PooledTiny, "PooledHeap<Tiny>", PooledHeap<Tiny>, pooled, 512 << 10
);
kind!(
    /// `Tlsf`.
    OurTlsf, "Tlsf", Tlsf, Tlsf::new, 0
);
kind!(
    /// `SegregatedFit`.
    Segregated, "SegregatedFit", SegregatedFit, SegregatedFit::new, 0
);

/// Every size-class up to 128 bytes, and runs of three lengths.
const DEMAND: [DirectDemand; 19] = {
    let mut demand = [DirectDemand::new(8, 5000); 19];
    demand[1] = DirectDemand::new(16, 5000);
    let mut line = 2;
    while line < 16 {
        demand[line] = DirectDemand::new(8 * (line + 1), 100);
        line += 1;
    }
    demand[16] = DirectDemand::new(256, 20);
    demand[17] = DirectDemand::new(512, 20);
    demand[18] = DirectDemand::new(1000, 20);
    demand
};

fn pooled(memory: &mut [MaybeUninit<u8>]) -> Result<PooledHeap<'_, Tiny>, surefit::Refused> {
    PooledHeap::certified(memory, &DEMAND)
}
