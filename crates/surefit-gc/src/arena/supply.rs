//! Where an arena's objects come from: a heap, and the bump chunk that is open in it.
//!
//! ```text
//! allocate(n):  cut n from the front of the bump chunk              the fast path, in `allocator`
//!               else close it; open another in a chunk of the index that is large enough; cut
//!               an index that does not merge at once, or strict alignment: from the lists
//! ```
//! The rest of a closed bump chunk returns to the index, which serves smaller objects from it:
//! chunks are tried in the order of best fit.

use core::alloc::Layout;
use core::ptr::NonNull;

use surefit_core::{RawHeap, Refused};
use surefit_freelist::{BumpChunk, Heap, Index, Swept};

use super::place::Place;

/// The alignment that every payload has.
pub(super) const ALIGNED: usize = 8;
/// Bytes of a chunk's header.
const HEADER: usize = 4;

/// Where mutations get memory, whatever the index.
pub(super) trait Supply {
    /// Closes the bump chunk and allocates from the heap. `bump` is then the bump chunk that is
    /// open.
    ///
    /// # Safety
    /// S1: the bump chunk is empty, or it is the one that the last call left, less what was cut
    /// from it since.
    unsafe fn allocate(&mut self, bump: &mut BumpChunk, layout: Layout) -> Result<Place, Refused>;

    /// Bytes of free chunks, headers included, without those of the bump chunk.
    fn free_bytes(&self) -> usize;
}

/// A heap that supplies bump chunks.
#[derive(Debug)]
pub(super) struct Source<'m, I> {
    pub(super) heap: Heap<'m, I>,
    free_bytes: usize,
    /// Objects that were allocated from bump chunks that are closed now.
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

    /// Raises the limit of the heap by `step` bytes, or by what a refused request of `bytes` bytes
    /// needs. No bump chunk is open. Returns whether the limit could be raised.
    pub(super) fn grow(&mut self, bytes: usize, step: usize) -> bool {
        let has_grown = self.heap.grow(bytes, step);
        if has_grown {
            self.free_bytes = free_bytes(&self.heap);
        }
        has_grown
    }

    /// Frees the rest of the bump chunk.
    ///
    /// # Safety
    /// As [`Supply::allocate`].
    pub(super) unsafe fn close(&mut self, bump: &mut BumpChunk) {
        let closed = core::mem::replace(bump, BumpChunk::EMPTY);
        self.free_bytes += closed.bytes();
        self.allocations += u64::from(closed.taken());
        // SAFETY: S1; only `allocate` opens bump chunks and nothing here frees or resizes; a sweep
        // closes the bump chunk before.
        unsafe { self.heap.close_bump_chunk(closed) };
    }

    /// Frees an object. Returns how many bytes that makes free.
    ///
    /// # Safety
    /// S1: no bump chunk is open. S2: a live object of the heap has the number, and is not used
    /// again.
    pub(super) unsafe fn free(&mut self, number: u32) -> usize {
        // SAFETY: S2.
        let bytes = unsafe { self.heap.payload_bytes(number) } + HEADER;
        // SAFETY: S2; and nothing is freed while a bump chunk is open (S1).
        unsafe { self.heap.free_numbered(number) };
        self.free_bytes += bytes;
        bytes
    }

    /// Whether the count of free bytes is right. No bump chunk is open.
    pub(super) fn counts_right(&self) -> bool {
        self.free_bytes == free_bytes(&self.heap)
    }

    /// Records what a sweep left.
    pub(super) fn swept(&mut self, swept: &Swept) {
        self.free_bytes = swept.free_bytes + HEADER * swept.free_chunks as usize;
    }

    /// Opens a bump chunk and cuts an object of `granules` granules from it.
    fn allocate_from_new_chunk(
        &mut self,
        bump: &mut BumpChunk,
        granules: u32,
    ) -> Option<NonNull<u8>> {
        *bump = self.heap.open_bump_chunk(granules)?;
        self.free_bytes -= bump.bytes();
        // SAFETY: S1: opened just now. S2: a chunk has at least two granules. S3: there are no
        // copies.
        let cut = unsafe { bump.take(granules) };
        cut.or_else(|| {
            self.allocations += 1;
            // SAFETY: as above.
            unsafe { bump.take_all(granules) }
        })
    }
}

/// Bytes of a heap's free chunks, headers included.
fn free_bytes<I: Index>(heap: &Heap<'_, I>) -> usize {
    heap.free_sizes().map(|payload| payload + HEADER).sum()
}

impl<I: Index> Supply for Source<'_, I> {
    unsafe fn allocate(&mut self, bump: &mut BumpChunk, layout: Layout) -> Result<Place, Refused> {
        // SAFETY: S1 is the caller's.
        unsafe { self.close(bump) };
        let limit = self.heap.largest_request();
        if layout.size() > limit {
            return Err(Refused::TooLarge { limit });
        }
        if layout.align() <= ALIGNED {
            let granules = BumpChunk::granules_for(layout.size());
            let cut = self.allocate_from_new_chunk(bump, granules);
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
