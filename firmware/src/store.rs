//! One interface for all heaps under test: byte objects by owned names.

use core::alloc::Layout;

use surefit::compact::{Bytes, Heap, Width};
use surefit::{Corruption, Refused};

/// A heap of byte objects.
pub trait Store {
    /// An owning name of an object.
    type Name;

    /// Whether the heap sets bytes to zero that were never written.
    const ZEROED: bool;

    /// Allocates an object.
    ///
    /// # Errors
    /// What was exhausted; the heap is unchanged.
    fn allocate(&mut self, layout: Layout) -> Result<Self::Name, Refused>;

    /// Frees an object.
    fn free(&mut self, name: Self::Name);

    /// Changes the length of an object. The layout has the alignment of the object.
    ///
    /// # Errors
    /// What was exhausted; the object is unchanged.
    fn resize(&mut self, name: &mut Self::Name, layout: Layout) -> Result<(), Refused>;

    /// Copies bytes from the object, from `at` on.
    fn read(&self, name: &Self::Name, at: usize, target: &mut [u8]);

    /// Copies bytes to the object, from `at` on.
    fn write(&mut self, name: &mut Self::Name, at: usize, source: &[u8]);

    /// Verifies every numbered invariant of the heap.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    fn check(&self) -> Result<(), Corruption>;

    /// How many objects the heap moved.
    fn moves(&self) -> u64;
}

impl<W: Width> Store for Heap<'_, W> {
    type Name = Bytes;

    const ZEROED: bool = true;

    fn allocate(&mut self, layout: Layout) -> Result<Bytes, Refused> {
        self.alloc_zeroed(layout)
    }

    fn free(&mut self, name: Bytes) {
        self.free_bytes(name);
    }

    fn resize(&mut self, name: &mut Bytes, layout: Layout) -> Result<(), Refused> {
        Heap::resize(self, name, layout)
    }

    fn read(&self, name: &Bytes, at: usize, target: &mut [u8]) {
        self.read_at(name, at, target);
    }

    fn write(&mut self, name: &mut Bytes, at: usize, source: &[u8]) {
        self.write_at(name, at, source);
    }

    fn check(&self) -> Result<(), Corruption> {
        Heap::check(self)
    }

    fn moves(&self) -> u64 {
        self.stats().moves_total
    }
}
