//! Heaps of raw pointers as stores.

use core::alloc::Layout;
use core::ptr::NonNull;

use surefit::{Corruption, RawHeap, Refused};

use crate::store::Store;

/// A heap of raw pointers that serves one bench.
///
/// # Invariants
/// - N1 A `Pointer` names a live object of the store that made it, of its layout. The bench gives
///   it to no other store.
#[derive(Debug)]
pub struct Pointers<H>(pub H);

/// An object: nobody else has its address.
#[derive(Debug)]
pub struct Pointer {
    first: NonNull<u8>,
    layout: Layout,
}

impl Pointer {
    /// The address of the byte at `at`, from which `len` bytes belong to the object.
    fn inside(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at + len <= self.layout.size(), "inside the object");
        // SAFETY: N1, and the range lies inside the object.
        unsafe { self.first.as_ptr().add(at) }
    }
}

impl<H: RawHeap> Store for Pointers<H> {
    type Name = Pointer;

    const ZEROED: bool = false;

    fn allocate(&mut self, layout: Layout) -> Result<Pointer, Refused> {
        let first = self.0.allocate(layout)?;
        if first.addr().get() % layout.align() != 0 {
            panic!("an object is not aligned as requested");
        }
        Ok(Pointer { first, layout })
    }

    fn free(&mut self, name: Pointer) {
        // SAFETY: N1; the name is consumed.
        unsafe { self.0.free(name.first, name.layout) };
    }

    fn resize(&mut self, name: &mut Pointer, layout: Layout) -> Result<(), Refused> {
        // SAFETY: N1; a layout's size does not overflow if it is rounded up.
        name.first = unsafe { self.0.resize(name.first, name.layout, layout.size()) }?;
        name.layout = layout;
        Ok(())
    }

    fn read(&self, name: &Pointer, at: usize, target: &mut [u8]) {
        let first = name.inside(at, target.len());
        // SAFETY: as many bytes of the object follow, and the bench wrote them.
        unsafe {
            target
                .as_mut_ptr()
                .copy_from_nonoverlapping(first, target.len())
        };
    }

    fn write(&mut self, name: &mut Pointer, at: usize, source: &[u8]) {
        let first = name.inside(at, source.len());
        // SAFETY: as many bytes of the object follow; the name is borrowed exclusively.
        unsafe { first.copy_from_nonoverlapping(source.as_ptr(), source.len()) };
    }

    fn check(&self) -> Result<(), Corruption> {
        self.0.check()
    }

    fn moves(&self) -> u64 {
        0
    }
}
