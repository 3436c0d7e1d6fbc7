//! What a collector needs of a heap: objects by number, allocation without a last chance, and the sweep, which frees all
//! that is not kept in one pass.
//!
//! ```text
//! sweep(keep):          large objects first: what they give back is a free chunk, or a part of one, before the end
//!                       forget all lists
//!                       for every chunk, from the first to the end of the region:
//!                           in use and kept: stays; its header is told whether the chunk before is free now
//!                           else Immediate: joins the run of free chunks before it, which becomes one chunk at its end
//!                                Deferred, Never: a free chunk of its own
//!                       make the table of the lists anew, once
//! sweep_leaping(next):  the same for Immediate alone, from kept object to kept object: all between two is one free chunk
//! ```
//! A sweep leaves the chunks that freeing the same objects one by one would leave; of lists that keep the order in which
//! chunks came, that order is the order of addresses. The invariants are those of the heap.
//!
//! # Bounds
//! `sweep`: a read of every header, and an insertion of every free chunk. `sweep_leaping`: the same for kept objects and
//! the free chunks between them; nothing of a dead object is read but its first words are written, if a free chunk
//! starts there. Both: the lists' heads and their table once.
//!
//! # Source
//! The thesis on free-list organisation: the sweep links or merges dead chunks as its coalescing strategy says, and builds
//! the Next Hit Table once at its end.

use core::ptr::NonNull;

use surefit_core::Refused;

use crate::chunk::{Chunk, Header, granules_for, payload_bytes};
use crate::heap::Heap;
use crate::index::{Index, Need};

/// What a sweep found and left. All bytes are those of payloads, headers not included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Objects that were kept.
    pub live_objects: u64,
    /// Bytes of their payloads, chunk-internal fragmentation included.
    pub live_bytes: u64,
    /// Objects that were freed.
    pub freed_objects: u64,
    /// Free chunks that were left.
    pub free_chunks: u64,
    /// Bytes of their payloads.
    pub free_bytes: u64,
    /// Bytes of the largest of them.
    pub largest_free_bytes: u64,
    /// Headers that were read.
    pub visited: u64,
}

impl Swept {
    /// Counts an object that is kept.
    #[inline]
    pub(crate) fn count_live(&mut self, header: Header) {
        self.live_objects += 1;
        self.live_bytes += payload_bytes(header.granules()) as u64;
    }

    /// Counts a free chunk that is left.
    #[inline]
    pub(crate) fn count_free(&mut self, granules: u32) {
        let bytes = payload_bytes(granules) as u64;
        self.free_chunks += 1;
        self.free_bytes += bytes;
        self.largest_free_bytes = self.largest_free_bytes.max(bytes);
    }

    /// What two sweeps of different chunks found and left.
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
    /// As [`allocate`](surefit_core::RawHeap::allocate) with alignment 8, but from the free chunks as they are: merging
    /// them all on demand is left to [`Heap::coalesce`].
    ///
    /// That is the thesis's order: collect first, and merge only if the request cannot be served even then.
    ///
    /// # Errors
    /// As `allocate`; [`Refused::NoChunk`] may become success by [`Heap::coalesce`].
    ///
    /// # Complexity
    /// As the index says.
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

    /// Finds and forgets a free chunk of at least so many granules, from those that there are.
    #[inline]
    pub(crate) fn take_as_is(&mut self, granules: u32) -> Option<Chunk> {
        let taken = self.index.take(&mut self.memory, granules);
        taken.or_else(|| self.search(granules))
    }

    /// What `take` did not find at once.
    #[cold]
    fn search(&mut self, granules: u32) -> Option<Chunk> {
        let (need, visits) = (Need::unaligned(granules), &mut self.counters.visits);
        self.index.take_fitting(&mut self.memory, &need, visits)
    }

    /// Granules of 8 bytes in the region: numbers of objects are less, and at least 1.
    #[must_use]
    pub const fn granules(&self) -> u32 {
        self.memory.granules()
    }

    /// The number of an object: the granule at which it starts. Numbers of two objects differ by at least two.
    ///
    /// The number of another pointer is that of no object, or of one that is not meant.
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

    /// The length of the payload of an object, in bytes, from its header: what was requested or more.
    ///
    /// # Safety
    /// S1: a live object of this heap has the number.
    #[inline]
    #[must_use]
    pub unsafe fn payload_bytes(&self, granule: u32) -> usize {
        payload_bytes(self.memory.header(Chunk::at(granule)).granules())
    }

    /// The numbers of all live objects, in ascending order. A pass over the headers of the region.
    pub fn objects(&self) -> impl Iterator<Item = u32> {
        let chunks = self.walk().chain(self.walk_large());
        let in_use = chunks.filter(|(_, header)| !header.is_free());
        in_use.map(|(chunk, _)| chunk.granule())
    }

    /// The sizes of all free chunks, gaps between large objects among them, as bytes of payload, in the order of addresses. A
    /// pass over the headers of the region.
    pub fn free_sizes(&self) -> impl Iterator<Item = usize> {
        let chunks = self.walk().chain(self.walk_large());
        let free = chunks.filter(|(_, header)| header.is_free());
        free.map(|(_, header)| payload_bytes(header.granules()))
    }

    /// Frees every object that `keep`, asked once for each, refuses: large ones first, then others, in ascending order.
    ///
    /// # Safety
    /// S1: no object that is refused is used again. S2: `keep` does not unwind.
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
        self.counters.merges += swept.visited - swept.live_objects - swept.free_chunks;
        swept.and(&large)
    }

    /// As [`Heap::sweep`], but reads the headers of kept objects and of large ones alone; merges are not counted, since it cannot know them.
    ///
    /// `next_kept` is asked for the least number of a kept object that is not less than the one it is given; it answers
    /// `u32::MAX` if there is none.
    ///
    /// # Panics
    /// Unless the index merges at once: only then is all between two kept objects one chunk.
    ///
    /// # Safety
    /// S1: no object that was left out is used again. S2: `next_kept` does not unwind, and answers as is said above.
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

    /// Makes what lies between two chunks, if anything, one free chunk of the index; returns whether the chunk before
    /// `end` is free, if that before `start` is as `before_free` says.
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

    /// Counts a kept object, and tells its header whether the chunk before is free; most know already.
    #[inline]
    fn keep(&mut self, chunk: Chunk, header: Header, before_free: bool, swept: &mut Swept) {
        swept.count_live(header);
        if header.is_before_free() != before_free {
            let header = Header::in_use(header.granules(), before_free);
            self.memory.set_header(chunk, header);
        }
    }

    /// Frees what lies before the end, and makes the table anew.
    fn end_sweep(&mut self, run: Chunk, before_free: bool, swept: &mut Swept) {
        let before_free = self.free_run(run, self.end, before_free, swept);
        self.memory
            .set_header(self.end, Header::in_use(0, before_free));
        self.index.rebuild(&mut self.memory);
        swept.freed_objects = self.live as u64 - swept.live_objects;
        self.live = swept.live_objects as usize;
    }
}
