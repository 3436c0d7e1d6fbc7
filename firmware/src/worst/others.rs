//! Heaps of other crates: `rlsf`, `talc`, and the two of `embedded-alloc`.

use core::alloc::{GlobalAlloc, Layout};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use embedded_alloc::{LlffHeap, TlsfHeap};
use talc::DefaultBinning;
use talc::base::Talc;
use talc::source::Manual;

use crate::pointers::LARGEST;
use crate::subject::{Kind, Subject};

/// An object: nobody else has its address.
///
/// # Invariants
/// - N1 It is live in the heap that made it; a stage has one heap and gives the layout of the
///   allocation.
pub struct Object(NonNull<u8>);

/// `rlsf::Tlsf`, with 16 lists of 16 lengths.
pub struct Rlsf;

type RlsfHeap<'m> = rlsf::Tlsf<'m, u16, u16, 16, 16>;

impl Kind for Rlsf {
    const NAME: &'static str = "rlsf";
    const HANDLES: bool = false;
    const LARGEST: usize = LARGEST;
    type Heap<'m> = RlsfHeap<'m>;

    fn over(memory: &mut [MaybeUninit<u8>]) -> Option<RlsfHeap<'_>> {
        let mut heap = RlsfHeap::new();
        heap.insert_free_block(memory);
        Some(heap)
    }
}

impl Subject for RlsfHeap<'_> {
    type Name = Object;

    fn allocate(&mut self, layout: Layout) -> Option<Object> {
        rlsf::Tlsf::allocate(self, layout).map(Object)
    }

    fn free(&mut self, name: Object, layout: Layout) {
        // SAFETY: N1; the name is consumed.
        unsafe { self.deallocate(name.0, layout.align()) };
    }

    fn access(&self, _: &Object) -> Option<usize> {
        None
    }

    fn resize(&mut self, _: &mut Object, _: Layout) -> Option<bool> {
        None
    }
}

/// `talc::base::Talc`, with its default bins.
pub struct TalcKind;

/// A `Talc` that serves one region.
pub struct TalcHeap<'m>(
    Talc<Manual, DefaultBinning>,
    PhantomData<&'m mut [MaybeUninit<u8>]>,
);

impl Kind for TalcKind {
    const NAME: &'static str = "talc";
    const HANDLES: bool = false;
    const LARGEST: usize = LARGEST;
    type Heap<'m> = TalcHeap<'m>;

    fn over(memory: &mut [MaybeUninit<u8>]) -> Option<TalcHeap<'_>> {
        let mut heap = Talc::new(Manual);
        // SAFETY: the region is this heap's for as long as it lives.
        unsafe { heap.claim(memory.as_mut_ptr().cast(), memory.len())? };
        Some(TalcHeap(heap, PhantomData))
    }
}

impl Subject for TalcHeap<'_> {
    type Name = Object;

    fn allocate(&mut self, layout: Layout) -> Option<Object> {
        // SAFETY: a stage asks for at least one byte.
        unsafe { self.0.allocate(layout) }.map(Object)
    }

    fn free(&mut self, name: Object, layout: Layout) {
        // SAFETY: N1; the name is consumed.
        unsafe { self.0.deallocate(name.0.as_ptr(), layout) };
    }

    fn access(&self, _: &Object) -> Option<usize> {
        None
    }

    fn resize(&mut self, _: &mut Object, _: Layout) -> Option<bool> {
        None
    }
}

/// The crate `talc` asks for a global allocator, and calls none here.
struct Nobody;

// SAFETY: it has no object.
unsafe impl GlobalAlloc for Nobody {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static NOBODY: Nobody = Nobody;

/// A global allocator that serves one region.
pub struct Global<'m, A>(A, PhantomData<&'m mut [MaybeUninit<u8>]>);

impl<A: GlobalAlloc> Subject for Global<'_, A> {
    type Name = Object;

    fn allocate(&mut self, layout: Layout) -> Option<Object> {
        // SAFETY: a stage asks for at least one byte.
        NonNull::new(unsafe { self.0.alloc(layout) }).map(Object)
    }

    fn free(&mut self, name: Object, layout: Layout) {
        // SAFETY: N1; the name is consumed.
        unsafe { self.0.dealloc(name.0.as_ptr(), layout) };
    }

    fn access(&self, _: &Object) -> Option<usize> {
        None
    }

    fn resize(&mut self, _: &mut Object, _: Layout) -> Option<bool> {
        None
    }
}

/// `embedded_alloc::TlsfHeap`.
pub struct EmbeddedTlsf;

impl Kind for EmbeddedTlsf {
    const NAME: &'static str = "embedded-alloc tlsf";
    const HANDLES: bool = false;
    const LARGEST: usize = LARGEST;
    type Heap<'m> = Global<'m, TlsfHeap>;

    fn over(memory: &mut [MaybeUninit<u8>]) -> Option<Self::Heap<'_>> {
        let heap = TlsfHeap::empty();
        // SAFETY: the region is this heap's for as long as it lives.
        unsafe { heap.init(memory.as_mut_ptr().expose_provenance(), memory.len()) };
        Some(Global(heap, PhantomData))
    }
}

/// `embedded_alloc::LlffHeap`: a linked list, first fit.
pub struct EmbeddedLlff;

impl Kind for EmbeddedLlff {
    const NAME: &'static str = "embedded-alloc llff";
    const HANDLES: bool = false;
    const LARGEST: usize = LARGEST;
    type Heap<'m> = Global<'m, LlffHeap>;

    fn over(memory: &mut [MaybeUninit<u8>]) -> Option<Self::Heap<'_>> {
        let heap = LlffHeap::empty();
        // SAFETY: the region is this heap's for as long as it lives.
        unsafe { heap.init(memory.as_mut_ptr().expose_provenance(), memory.len()) };
        Some(Global(heap, PhantomData))
    }
}
