//! Heaps of raw pointers as the memory of a flight. They have no instances: quotas are counted, and
//! a table says which objects are a process's, so that it can be destroyed.

use core::alloc::Layout;
use core::ptr::NonNull;

use surefit::{Corruption, RawHeap, Refused};

use crate::load::{Load, PROCESSES};
use crate::memory::{Memory, layout};

/// A heap of raw pointers.
///
/// # Invariants
/// - N1 `objects[process]` are live objects of the heap, of their layouts. A name that is not
///   dropped is among them, until its process is destroyed; after that nobody uses it.
#[derive(Debug)]
pub struct Pointers<H> {
    heap: H,
    objects: [Vec<(NonNull<u8>, Layout)>; PROCESSES],
    quotas: [usize; PROCESSES],
    held: [usize; PROCESSES],
}

/// An object, by its address and length.
#[derive(Debug)]
pub struct Pointer {
    first: NonNull<u8>,
    len: usize,
}

impl Pointer {
    /// The address of the byte at `at`, from which `len` bytes belong to the object.
    fn inside(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at + len <= self.len, "inside the object");
        // SAFETY: N1, and the range lies inside the object.
        unsafe { self.first.as_ptr().add(at) }
    }
}

impl<H: RawHeap> Pointers<H> {
    /// A heap with the quotas of a load.
    pub fn new(heap: H, load: &Load) -> Self {
        Self {
            heap,
            objects: [const { Vec::new() }; PROCESSES],
            quotas: load.processes.map(|process| process.quota as usize),
            held: [0; PROCESSES],
        }
    }
}

impl<H: RawHeap> Memory for Pointers<H> {
    type Name = Pointer;

    fn allocate(&mut self, process: usize, len: usize) -> Result<Pointer, Refused> {
        let layout = layout(len)?;
        if self.held[process].saturating_add(len) > self.quotas[process] {
            return Err(Refused::Quota);
        }
        let first = self.heap.allocate(layout)?;
        self.objects[process].push((first, layout));
        self.held[process] += len;
        Ok(Pointer { first, len })
    }

    fn free(&mut self, process: usize, name: Pointer) {
        let objects = &mut self.objects[process];
        let place = objects.iter().position(|object| object.0 == name.first);
        let (first, layout) = objects.swap_remove(place.expect("a live object"));
        // SAFETY: N1; it is no longer among the live ones, and its name is consumed.
        unsafe { self.heap.free(first, layout) };
        self.held[process] -= name.len;
    }

    fn read(&self, name: &Pointer, at: usize, target: &mut [u8]) {
        let first = name.inside(at, target.len());
        // SAFETY: N1: as many bytes of the object follow. Processes write before they read.
        unsafe {
            target
                .as_mut_ptr()
                .copy_from_nonoverlapping(first, target.len());
        }
    }

    fn write(&mut self, name: &mut Pointer, at: usize, source: &[u8]) {
        let first = name.inside(at, source.len());
        // SAFETY: N1: as many bytes of the object follow; the name is borrowed exclusively.
        unsafe { first.copy_from_nonoverlapping(source.as_ptr(), source.len()) };
    }

    fn destroy(&mut self, process: usize) {
        for (first, layout) in self.objects[process].drain(..) {
            // SAFETY: N1; its process's names are used no more.
            unsafe { self.heap.free(first, layout) };
        }
        self.held[process] = 0;
    }

    fn held(&self, process: usize) -> usize {
        self.held[process]
    }

    fn unlimit(&mut self, process: usize) {
        self.quotas[process] = usize::MAX;
    }

    fn place(&self, name: &Pointer) -> usize {
        name.first.addr().get() % 1024
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }
}
