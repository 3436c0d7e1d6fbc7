//! Operations for a collector: objects by number, allocation without a last attempt, and the sweep,
//! which frees everything that is not kept in one pass.
//!
//! ```text
//! sweep(keep):          large objects first: this frees a chunk, or a part of one, before the end
//!                       forget all lists
//!                       for every chunk, from the first to the end of the region:
//!                           in use and kept: stays; its header says whether the one before is free
//!                           else Immediate: joins the run of free chunks before it, which becomes
//!                                           one chunk at its end
//!                                Deferred, Never: a free chunk of its own
//!                       rebuild the table of the lists, once
//! sweep_leaping(next):  the same for Immediate alone, from kept object to kept object: everything
//!                       between two is one free chunk
//! ```
//! A sweep leaves the same chunks as freeing the same objects one by one. In lists that keep the
//! order in which chunks became free, this order is that of addresses. The invariants are those of
//! the heap.
//!
//! # Bounds
//! `sweep` reads every header and inserts every free chunk. `sweep_leaping` does the same for kept
//! objects and the free chunks between them: it reads nothing of a dead object, and writes its
//! first words only if a free chunk starts there. Both write the heads of the lists and their table
//! once.
//!
//! # Source
//! The thesis on free-list organisation: the sweep links or merges dead chunks as its coalescing
//! strategy says, and builds the Next Hit Table once at the end.

use core::ptr::NonNull;

use surefit_core::Refused;

use crate::chunk::{Chunk, Header, granules_for, payload_bytes};
use crate::heap::Heap;
use crate::index::{Index, Need};
use crate::memory::GRANULE;

/// What a sweep found and left. All bytes are bytes of payloads, without headers. As in
/// [`Usage`](surefit_core::Usage), what a heap holds at one time is a `usize`; what adds up is a
/// `u64`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Objects that were kept.
    pub live_objects: u64,
    /// Bytes of their payloads, chunk-internal fragmentation included.
    pub live_bytes: usize,
    /// Objects that were freed.
    pub freed_objects: u64,
    /// Free chunks that were left.
    pub free_chunks: u64,
    /// Bytes of the payloads of the free chunks.
    pub free_bytes: usize,
    /// Bytes of the payload of the largest free chunk.
    pub largest_free_bytes: usize,
    /// Headers that were read.
    pub visited: u64,
}

impl Swept {
    /// Counts an object that is kept.
    #[inline]
    pub(crate) fn count_live(&mut self, header: Header) {
        self.live_objects += 1;
        self.live_bytes += payload_bytes(header.granules());
    }

    /// Counts a free chunk that is left.
    #[inline]
    pub(crate) fn count_free(&mut self, granules: u32) {
        let bytes = payload_bytes(granules);
        self.free_chunks += 1;
        self.free_bytes += bytes;
        self.largest_free_bytes = self.largest_free_bytes.max(bytes);
    }

    /// The sum of two sweeps over different chunks.
    fn and(self, other: &Self) -> Self {
        Self {
            live_objects: self.live_objects + other.live_objects,
            live_bytes: self.live_bytes + other.live_bytes,
            freed_objects: self.freed_objects + other.freed_objects,
            free_chunks: self.free_chunks + other.free_chunks,
            free_bytes: self.free_bytes + other.free_bytes,
            largest_free_bytes: self.largest_free_bytes.max(other.largest_free_bytes),
            visited: self.visited + other.visited,
        }
    }
}

impl<I: Index> Heap<'_, I> {
    /// As [`allocate`](surefit_core::RawHeap::allocate) with alignment 8, but uses the free chunks
    /// as they are: merging all of them on demand is left to [`Heap::coalesce`].
    ///
    /// This is the thesis's order: collect first, and merge only if the request still cannot be
    /// served.
    ///
    /// # Errors
    /// As `allocate`. After [`Refused::NoChunk`], the request may succeed once [`Heap::coalesce`]
    /// has run.
    ///
    /// # Complexity
    /// That of the index.
    #[inline]
    pub fn allocate_as_is(&mut self, bytes: usize) -> Result<NonNull<u8>, Refused> {
        if bytes > self.largest_request() {
            let limit = self.largest_request();
            return Err(Refused::TooLarge { limit });
        }
        let needed = I::rounded(granules_for(bytes));
        let chunk = self.take_as_is(needed).ok_or(Refused::NoChunk)?;
        Ok(self.serve(chunk, needed))
    }

    /// Finds and removes a free chunk of at least `granules` granules, without merging any.
    #[inline]
    pub(crate) fn take_as_is(&mut self, granules: u32) -> Option<Chunk> {
        let taken = self.index.take(&mut self.memory, granules);
        taken.or_else(|| self.search(granules))
    }

    /// The search for a chunk that `take` did not find at once.
    #[cold]
    fn search(&mut self, granules: u32) -> Option<Chunk> {
        let (need, visits) = (Need::unaligned(granules), &mut self.counters.visits);
        self.index.take_fitting(&mut self.memory, &need, visits)
    }

    /// The granules of 8 bytes in the region. Numbers of objects are at least 1 and less than this.
    #[must_use]
    pub const fn granules(&self) -> u32 {
        self.memory.granules()
    }

    /// The number of an object: the granule at which it starts. The numbers of two objects differ
    /// by at least two.
    ///
    /// For any other pointer, the number belongs to no object, or to an unrelated one.
    ///
    /// # Panics
    /// In debug builds, if the pointer is outside the region or not aligned to 8.
    #[inline]
    #[must_use]
    pub fn granule_of(&self, object: NonNull<u8>) -> u32 {
        self.memory.granule_of(object)
    }

    /// The object with a number.
    ///
    /// # Safety
    /// S1: a live object of this heap has the number.
    #[inline]
    #[must_use]
    pub unsafe fn payload(&self, granule: u32) -> NonNull<u8> {
        self.memory.payload(granule)
    }

    /// The payload length of an object in bytes, from its header: the requested length or more.
    ///
    /// # Safety
    /// S1: a live object of this heap has the number.
    #[inline]
    #[must_use]
    pub unsafe fn payload_bytes(&self, granule: u32) -> usize {
        payload_bytes(self.memory.header(Chunk::at(granule)).granules())
    }

    /// Frees one object, at whichever end it lies.
    ///
    /// # Safety
    /// S1: a live object of this heap has the number, and it is not used again.
    ///
    /// # Complexity
    /// That of the index, for at most two chunks that it removes and one that it inserts.
    #[inline]
    pub unsafe fn free_numbered(&mut self, granule: u32) {
        let chunk = Chunk::at(granule);
        match chunk < self.end {
            true => self.make_free(chunk),
            false => self.free_large(chunk),
        }
    }

    /// The bytes of all chunks at both ends, headers included.
    #[must_use]
    pub const fn chunk_bytes(&self) -> usize {
        let lists = self.end.granule() - self.first.granule();
        let large = self.memory.granules() - self.large.floor;
        (lists + large) as usize * GRANULE
    }

    /// The numbers of all live objects, in ascending order. One pass over the headers of the
    /// region.
    pub fn objects(&self) -> impl Iterator<Item = u32> {
        let chunks = self.walk().chain(self.walk_large());
        let in_use = chunks.filter(|(_, header)| !header.is_free());
        in_use.map(|(chunk, _)| chunk.granule())
    }

    /// The payload bytes of each free chunk and each gap between large objects, in the order of
    /// addresses. One pass over the headers of the region.
    pub fn free_sizes(&self) -> impl Iterator<Item = usize> {
        let chunks = self.walk().chain(self.walk_large());
        let free = chunks.filter(|(_, header)| header.is_free());
        free.map(|(_, header)| payload_bytes(header.granules()))
    }

    /// Frees every object that `keep` rejects. `keep` is called once per object: large objects
    /// first, then the others, in ascending order.
    ///
    /// # Safety
    /// S1: no rejected object is used again. S2: `keep` does not unwind.
    ///
    /// # Complexity
    /// O(chunks of the region + lists).
    pub unsafe fn sweep(&mut self, keep: impl Fn(u32) -> bool + Copy) -> Swept {
        let large = self.sweep_large(keep);
        self.index.clear(&mut self.memory);
        let mut swept = Swept::default();
        let (mut run, mut chunk, mut before_free) = (self.first, self.first, false);
        while chunk < self.end {
            let header = self.memory.header(chunk);
            let next = chunk.after(header.granules());
            swept.visited += 1;
            if !header.is_free() && keep(chunk.granule()) {
                before_free = self.free_run(run, chunk, before_free, &mut swept);
                self.keep(chunk, header, before_free, &mut swept);
                (run, before_free) = (next, false);
            } else if !I::COALESCING.is_immediate() {
                before_free = self.free_run(chunk, next, before_free, &mut swept);
                run = next;
            }
            chunk = next;
        }
        self.end_sweep(run, before_free, &mut swept);
        let merged = swept.visited - swept.live_objects - swept.free_chunks;
        self.counters.merged(merged as usize);
        swept.and(&large)
    }

    /// As [`Heap::sweep`], but reads only the headers of kept objects and of large ones. It cannot
    /// count merges.
    ///
    /// `next_kept` gets a number and returns the least number of a kept object that is not less, or
    /// `u32::MAX` if there is none.
    ///
    /// # Panics
    /// If the index does not merge at once. Only with merging at once is everything between two
    /// kept objects one chunk.
    ///
    /// # Safety
    /// S1: no object that was left out is used again. S2: `next_kept` does not unwind, and returns
    /// what is required above.
    ///
    /// # Complexity
    /// O(kept objects + lists), whatever died.
    pub unsafe fn sweep_leaping(&mut self, next_kept: impl Fn(u32) -> u32 + Copy) -> Swept {
        assert!(
            I::COALESCING.is_immediate(),
            "leaps are for indexes that merge at once"
        );
        let large = self.sweep_large(move |granule| next_kept(granule) == granule);
        self.index.clear(&mut self.memory);
        let mut swept = Swept::default();
        let mut run = self.first;
        loop {
            let chunk = Chunk::at(next_kept(run.granule()));
            if chunk >= self.end {
                break;
            }
            debug_assert!(chunk >= run, "S2: not less than asked for");
            let header = self.memory.header(chunk);
            swept.visited += 1;
            let before_free = self.free_run(run, chunk, false, &mut swept);
            self.keep(chunk, header, before_free, &mut swept);
            run = chunk.after(header.granules());
        }
        self.end_sweep(run, false, &mut swept);
        swept.and(&large)
    }

    /// Makes everything between two chunks, if anything, one free chunk of the index. `before_free`
    /// is whether the chunk before `start` is free. Returns whether the chunk before `end` is free.
    #[inline]
    fn free_run(&mut self, start: Chunk, end: Chunk, before_free: bool, swept: &mut Swept) -> bool {
        if start == end {
            return before_free;
        }
        let granules = end.granule() - start.granule();
        self.memory.tag_free_behind(start, granules, before_free);
        self.index.add(&mut self.memory, start, granules);
        swept.count_free(granules);
        true
    }

    /// Counts a kept object, and records in its header whether the chunk before it is free. Most
    /// headers say so already.
    #[inline]
    fn keep(&mut self, chunk: Chunk, header: Header, before_free: bool, swept: &mut Swept) {
        swept.count_live(header);
        if header.is_before_free() != before_free {
            let header = Header::in_use(header.granules(), before_free);
            self.memory.set_header(chunk, header);
        }
    }

    /// Frees what lies before the end, and rebuilds the table.
    fn end_sweep(&mut self, run: Chunk, before_free: bool, swept: &mut Swept) {
        let before_free = self.free_run(run, self.end, before_free, swept);
        self.memory
            .set_header(self.end, Header::in_use(0, before_free));
        self.index.rebuild(&mut self.memory);
        swept.freed_objects = self.live as u64 - swept.live_objects;
        self.live = swept.live_objects as usize;
    }
}
