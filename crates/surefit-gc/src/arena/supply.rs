//! Where an arena's objects come from: a heap, and the run that is open in it.
//!
//! ```text
//! allocate(n):  cut n from the front of the run                             the fast path, in `allocator`
//!               else close the run; open one in a chunk of the index that is large enough; cut
//!               an index that does not merge at once, or strict alignment: from the lists
//! ```
//! What a run leaves returns to the index, whence smaller objects get it: chunks are tried as best fit has them.

use core::alloc::Layout;
use core::ptr::NonNull;

use surefit_core::{RawHeap, Refused};
use surefit_freelist::{Heap, Index, Run, Swept};

use super::place::Place;

/// The alignment that every payload has.
pub(super) const ALIGNED: usize = 8;
/// Bytes of a chunk's header.
const HEADER: usize = 4;

/// What mutations ask for memory, whatever the index.
pub(super) trait Supply {
    /// Closes the run and allocates from the heap; leaves the run that is open then.
    ///
    /// # Safety
    /// S1: the run is the one that this left the last time, but for what was cut from it since; or it is empty.
    unsafe fn allocate(&mut self, run: &mut Run, layout: Layout) -> Result<Place, Refused>;

    /// Bytes of free chunks, headers included; the run's are not among them.
    fn free_bytes(&self) -> usize;
}

/// A heap that is asked for runs.
#[derive(Debug)]
pub(super) struct Source<'m, I> {
    pub(super) heap: Heap<'m, I>,
    free_bytes: usize,
    /// Objects that were allocated and whose run was closed.
    pub(super) allocations: u64,
}

impl<'m, I: Index> Source<'m, I> {
    pub(super) fn new(heap: Heap<'m, I>) -> Self {
        Self {
            free_bytes: free_bytes(&heap),
            heap,
            allocations: 0,
        }
    }

    /// Raises the limit of the heap, of which no run is open, by `step` bytes, or as much as a request of `bytes` needs, if it
    /// was not served; returns whether there was anything to raise it by.
    pub(super) fn grow(&mut self, bytes: usize, step: usize) -> bool {
        let has_grown = self.heap.grow(bytes, step);
        if has_grown {
            self.free_bytes = free_bytes(&self.heap);
        }
        has_grown
    }

    /// Frees what is left of the run.
    ///
    /// # Safety
    /// As [`Supply::allocate`].
    pub(super) unsafe fn close(&mut self, run: &mut Run) {
        let closed = core::mem::replace(run, Run::EMPTY);
        self.free_bytes += closed.bytes();
        self.allocations += u64::from(closed.taken());
        // SAFETY: S1; only `allocate` opens runs and nothing here frees or resizes; a sweep closes the run before.
        unsafe { self.heap.close_run(closed) };
    }

    /// Takes note of what a sweep left.
    pub(super) fn swept(&mut self, swept: &Swept) {
        self.free_bytes = (swept.free_bytes + HEADER as u64 * swept.free_chunks) as usize;
    }

    /// Opens a run and cuts an object of so many granules from it.
    fn allocate_from_new_run(&mut self, run: &mut Run, granules: u32) -> Option<NonNull<u8>> {
        *run = self.heap.open_run(granules)?;
        self.free_bytes -= run.bytes();
        // SAFETY: S1: opened just now. S2: a chunk has at least two granules. S3: there are no copies.
        let cut = unsafe { run.take(granules) };
        cut.or_else(|| {
            self.allocations += 1;
            // SAFETY: as above.
            unsafe { run.take_all(granules) }
        })
    }
}

/// Bytes of a heap's free chunks, headers included.
fn free_bytes<I: Index>(heap: &Heap<'_, I>) -> usize {
    heap.free_sizes().map(|payload| payload + HEADER).sum()
}

impl<I: Index> Supply for Source<'_, I> {
    unsafe fn allocate(&mut self, run: &mut Run, layout: Layout) -> Result<Place, Refused> {
        // SAFETY: S1 is the caller's.
        unsafe { self.close(run) };
        let limit = self.heap.largest_request();
        if layout.size() > limit {
            return Err(Refused::TooLarge { limit });
        }
        if layout.align() <= ALIGNED {
            let granules = Run::granules_for(layout.size());
            let cut = self.allocate_from_new_run(run, granules);
            if let Some(object) = cut {
                // SAFETY: S1: allocated just now.
                return Ok(unsafe { Place::of(&self.heap, self.heap.granule_of(object)) });
            }
        }
        let object = self.heap.allocate(layout)?;
        // SAFETY: S1: allocated just now.
        let place = unsafe { Place::of(&self.heap, self.heap.granule_of(object)) };
        self.free_bytes -= place.bytes + HEADER;
        self.allocations += 1;
        Ok(place)
    }

    fn free_bytes(&self) -> usize {
        self.free_bytes
    }
}
