//! Heaps of raw pointers as the memory of a flight. They have no instances: quotas are counted, and
//! a table says which objects are a process's, so that it can be destroyed.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit::{RawHeap, Refused};

use crate::load::{Load, PAGE, PROCESSES};
use crate::memory::Memory;
use crate::plan::layout;

/// A heap of raw pointers.
///
/// # Invariants
/// - N1 `objects` has the live objects of the heap, with their layouts. A name that is not dropped
///   is of one of them, at its `number`, until its process is destroyed; after that nobody uses it.
#[derive(Debug)]
pub struct Pointers<'t, H> {
    heap: H,
    objects: &'t mut [Slot],
    /// The first vacant place, after which the others follow.
    vacant: usize,
    quotas: [usize; PROCESSES],
    held: [usize; PROCESSES],
}

/// A place of the table.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// The next vacant place.
    Vacant(usize),
    /// An object of a process.
    Live(usize, NonNull<u8>, Layout),
}

/// An object, by its address and length, and where the table has it.
#[derive(Debug)]
pub struct Pointer {
    first: NonNull<u8>,
    len: usize,
    number: usize,
}

impl Pointer {
    /// The address of the byte at `at`, from which `len` bytes belong to the object.
    fn inside(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at + len <= self.len, "inside the object");
        // SAFETY: N1, and the range lies inside the object.
        unsafe { self.first.as_ptr().add(at) }
    }
}

impl<'t, H: RawHeap> Pointers<'t, H> {
    /// A heap with the quotas of a load. The table fills its memory.
    pub fn new(heap: H, table: &'t mut [MaybeUninit<u8>], load: &Load) -> Self {
        // SAFETY: any bytes are an uninitialised place.
        let (_, places, _) = unsafe { table.align_to_mut::<MaybeUninit<Slot>>() };
        for (place, next) in places.iter_mut().zip(1..) {
            place.write(Slot::Vacant(next));
        }
        let places: *mut [MaybeUninit<Slot>] = places;
        Self {
            heap,
            // SAFETY: each was written.
            objects: unsafe { &mut *(places as *mut [Slot]) },
            vacant: 0,
            quotas: load.processes.map(|process| process.quota as usize),
            held: [0; PROCESSES],
        }
    }

    /// Frees the object of a place, if it is a process's.
    fn vacate(&mut self, number: usize, of: usize) {
        match self.objects[number] {
            Slot::Live(process, first, layout) if process == of => {
                self.objects[number] = Slot::Vacant(self.vacant);
                self.vacant = number;
                self.held[process] -= layout.size();
                // SAFETY: N1; it is no longer in the table, and its name is used no more.
                unsafe { self.heap.free(first, layout) };
            }
            _ => {}
        }
    }
}

impl<H: RawHeap> Memory for Pointers<'_, H> {
    type Name = Pointer;

    fn allocate(&mut self, process: usize, len: usize) -> Result<Pointer, Refused> {
        let layout = layout(len)?;
        if self.held[process].saturating_add(len) > self.quotas[process] {
            return Err(Refused::Quota);
        }
        let number = self.vacant;
        let Some(&Slot::Vacant(next)) = self.objects.get(number) else {
            return Err(Refused::Quota);
        };
        let first = self.heap.allocate(layout)?;
        // SAFETY: so many bytes are its own. (All heaps of a flight give zeroed bytes.)
        unsafe { first.write_bytes(0, len) };
        self.objects[number] = Slot::Live(process, first, layout);
        self.vacant = next;
        self.held[process] += len;
        Ok(Pointer { first, len, number })
    }

    fn free(&mut self, process: usize, name: Pointer) {
        self.vacate(name.number, process);
    }

    fn read(&self, name: &Pointer, at: usize, target: &mut [u8]) {
        let (first, len) = (name.inside(at, target.len()), target.len());
        // SAFETY: N1: as many bytes of the object follow.
        unsafe { target.as_mut_ptr().copy_from_nonoverlapping(first, len) };
    }

    fn write(&mut self, name: &mut Pointer, at: usize, source: &[u8]) {
        let first = name.inside(at, source.len());
        // SAFETY: N1: as many bytes of the object follow; the name is borrowed exclusively.
        unsafe { first.copy_from_nonoverlapping(source.as_ptr(), source.len()) };
    }

    fn destroy(&mut self, process: usize) {
        for number in 0..self.objects.len() {
            self.vacate(number, process);
        }
    }

    fn held(&self, process: usize) -> usize {
        self.held[process]
    }

    #[cfg(not(target_os = "none"))]
    fn unlimit(&mut self, process: usize) {
        self.quotas[process] = usize::MAX;
    }

    fn place(&self, name: &Pointer) -> usize {
        name.first.addr().get() % PAGE as usize
    }

    fn fault(&self) -> Option<&'static str> {
        let broken = self.heap.check().is_err();
        broken.then_some("an invariant of the heap does not hold")
    }
}
