//! The heap that all free-list systems share: chunks with boundary tags, merged when the index says
//! so.
//!
//! This module describes merging at once; `policy` describes the other policies.
//!
//! ```text
//! region  | lead | table of the index | chunk | chunk | ... | chunk | end | tail |
//!
//! allocate(n): c = a free chunk of the index that fits; cut(c, n)
//! free(c):     merge c with the chunk after it and the chunk before it, if free -> index
//! resize(c):   cut, if c and a free chunk after it are large enough
//!              slide down and cut, if they are large enough with a free chunk before c
//!              allocate, copy, free
//!              if that is refused but merged free chunks: slide down once more
//! cut(c, n):   the granules of c after n become a free chunk, if they are enough for one; else
//!              they stay in c
//! ```
//! `end` is only a header: a chunk in use of zero granules, so that every chunk has a chunk after
//! it. No chunk before the first is ever free.
//!
//! # Invariants
//! - H1: chunks of at least two granules tile the region from the first chunk to `end`, whose
//!   header has size 0.
//! - H2: a header says that the chunk before is free if and only if it is.
//! - H3: the footer of a free chunk is its size.
//! - H4: no two free chunks are neighbours, if the index says that they are merged at once.
//! - H5: `live` is the number of chunks in use.
//! - H6, of a merge in parts, is described in `coalesce`; H7, of what a second free reads, in
//!   `chunk`.
//! - The index adds L1-L4, T1-T3, E1, D1, N1, B1-B2, P1-P2, Q1-Q3, A1-A4. Large objects and growth
//!   add W1-W7.
//!
//! # Bounds
//! A request of `s` bytes takes `max(16, s + 4 rounded up to 8)` bytes. The index determines the
//! time of `allocate`. `free` is O(1), except for the work of the index. `resize` copies at most
//! the smaller size. Regions have at most 8 GiB.
//!
//! # Departures
//! - Headers have four bytes, before payloads aligned to eight: half of what TLSF's boundary tags
//!   usually take.
//! - An aligned chunk is cut out of a larger one. What lies before it becomes a free chunk, never a
//!   hole without an owner.
//!
//! # Source
//! Knuth, The Art of Computer Programming 1, 2.5: boundary tags.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{Corruption, RawHeap, Refused, Usage};

use crate::chunk::{Chunk, Header, SMALLEST, granules_for, payload_bytes};
use crate::counters::{Counters, Tally};
use crate::floor::Large;
use crate::index::{Index, Need};
use crate::memory::{GRANULE, Memory, WORD};

/// The strictest alignment that a heap gives, in bytes.
const MOST_ALIGNED: usize = 1 << 30;

/// A free-list heap over one region, with the index `I` of its free chunks.
///
/// Objects have addresses that never change. Dropping the heap leaks its live objects.
#[derive(Debug)]
pub struct Heap<'m, I> {
    pub(crate) memory: Memory<'m>,
    pub(crate) index: I,
    pub(crate) first: Chunk,
    pub(crate) end: Chunk,
    pub(crate) live: usize,
    pub(crate) large: Large,
    /// The most granules of chunks, both ends together.
    pub(crate) limit: u32,
    largest_request: usize,
    pub(crate) counters: Tally,
}

impl<'m, I: Index> Heap<'m, I> {
    /// Makes a heap over a region, whatever the contents of the region.
    ///
    /// # Errors
    /// [`Refused::Region`] if the region is too small for the table of the index and one chunk;
    /// [`Refused::TooLarge`] if it is larger than 8 GiB.
    ///
    /// # Complexity
    /// O(table of the index), whatever the size of the region.
    pub fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let mut memory = Memory::new(region)?;
        let granules = memory.granules();
        let (first, end) = (first_chunk::<I>(granules), Chunk::at(granules));
        if granules < first.granule() + SMALLEST {
            return Err(Refused::Region {
                needed: smallest_region::<I>(),
            });
        }
        let mut index = I::new(&mut memory);
        let size = granules - first.granule();
        memory.set_header(end, Header::in_use(0, true));
        memory.tag_free(first, size);
        index.insert(&mut memory, first, size);
        Ok(Self {
            memory,
            index,
            first,
            end,
            live: 0,
            large: Large::none(granules),
            limit: size,
            largest_request: payload_bytes(I::largest(size)),
            counters: Tally::default(),
        })
    }

    /// What the heap has done since it was made.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut counters = self.counters.counters();
        self.index.count(&mut counters);
        counters
    }

    /// The size of the index's table in bytes: the heads of the lists, and the structure that finds
    /// a list with a chunk.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        I::table_words(self.memory.granules()) as usize * WORD
    }

    /// The number of live objects.
    #[must_use]
    pub const fn live_objects(&self) -> usize {
        self.live + self.large.objects
    }

    /// The largest request, in bytes, that a new heap serves.
    #[must_use]
    pub const fn largest_request(&self) -> usize {
        self.largest_request
    }

    /// The bytes of a live object's chunk, all of which the program may use: at least the size of
    /// its request. O(1).
    ///
    /// 0 if the heap finds that no live object is there, as [`try_free`](RawHeap::try_free) does.
    ///
    /// # Safety
    /// S1 of [`RawHeap::free`], except for what the heap finds.
    #[must_use]
    pub unsafe fn usable_bytes(&self, object: NonNull<u8>) -> usize {
        let granule = self.memory.granule_inside(object);
        let chunk = granule
            .map(Chunk::at)
            .filter(|chunk| *chunk >= self.first && *chunk < self.end);
        let used = chunk.filter(|chunk| !self.memory.header(*chunk).is_free());
        used.map_or(0, |chunk| {
            // Inside an object any word may stand where a header is expected: no chunk has such a
            // size (H1).
            let granules = self.memory.header(chunk).granules();
            let room = self.end.granule() - chunk.granule();
            match (SMALLEST..=room).contains(&granules) {
                true => payload_bytes(granules),
                false => 0,
            }
        })
    }

    /// Takes a chunk that the index finds without a search.
    #[inline]
    fn take_at_once(&mut self, layout: Layout) -> Option<Chunk> {
        if layout.size() > self.largest_request || layout.align() > GRANULE {
            return None;
        }
        let needed = I::rounded(granules_for(layout.size()));
        self.index.take(&mut self.memory, needed)
    }

    /// Allocates if the index found no chunk at once.
    #[cold]
    #[inline(never)]
    fn allocate_slowly(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let chunk = self.take_slowly(layout)?;
        let needed = I::rounded(granules_for(layout.size()));
        Ok(self.serve(chunk, needed))
    }

    /// Takes a chunk if the index found none at once. A program whose alignments the compiler knows
    /// has the code of one of the two alone.
    #[inline]
    fn take_slowly(&mut self, layout: Layout) -> Result<Chunk, Refused> {
        if I::IS_SHORT && layout.align() <= GRANULE {
            let granules = self.admit(layout)?;
            return self.take_unaligned(granules).ok_or(Refused::NoChunk);
        }
        self.take_any(layout)
    }

    /// The granules of a request, if a heap of this size can serve it.
    #[inline]
    fn admit(&self, layout: Layout) -> Result<u32, Refused> {
        if layout.size() > self.largest_request {
            let limit = self.largest_request;
            return Err(Refused::TooLarge { limit });
        }
        if layout.align() > MOST_ALIGNED {
            let limit = MOST_ALIGNED;
            return Err(Refused::TooAligned { limit });
        }
        Ok(I::rounded(granules_for(layout.size())))
    }

    /// Searches of lists, and last attempts, for an object that may start at any granule.
    #[cold]
    #[inline(never)]
    fn take_unaligned(&mut self, granules: u32) -> Option<Chunk> {
        self.take_fitting(&Need::unaligned(granules))
    }

    /// Aligned objects, searches of lists, last attempts, refusals.
    #[cfg_attr(target_pointer_width = "64", inline)]
    #[cfg_attr(not(target_pointer_width = "64"), cold, inline(never))]
    fn take_any(&mut self, layout: Layout) -> Result<Chunk, Refused> {
        let need = Need {
            granules: self.admit(layout)?,
            align: layout.align().div_ceil(GRANULE) as u32,
            phase: self.memory.phase(),
        };
        let taken = self.take_fitting(&need);
        let taken = taken.or_else(|| self.take_by_walk(&need));
        let chunk = taken.ok_or(Refused::NoChunk)?;
        Ok(self.split_lead(chunk, need.lead(chunk)))
    }

    /// Searches the index. If that finds nothing and chunks are merged on demand, merges them all
    /// and searches again.
    #[cfg_attr(not(target_pointer_width = "64"), inline(always))]
    fn take_fitting(&mut self, need: &Need) -> Option<Chunk> {
        let visits = &mut self.counters.visits;
        let taken = self.index.take_fitting(&mut self.memory, need, visits);
        if taken.is_some() || !I::COALESCING.is_deferred() || self.coalesce() == 0 {
            return taken;
        }
        if need.align == 1 {
            let taken = self.index.take(&mut self.memory, need.granules);
            if taken.is_some() {
                return taken;
            }
        }
        let visits = &mut self.counters.visits;
        self.index.take_fitting(&mut self.memory, need, visits)
    }

    /// The first chunk of the region that fits an aligned need: the last attempt before a refusal.
    fn take_by_walk(&mut self, need: &Need) -> Option<Chunk> {
        if need.align == 1 || !I::IS_WALKED {
            return None;
        }
        let mut visits = 0;
        let free = self.walk().filter(|(_, header)| header.is_free());
        let found = free
            .inspect(|_| visits += 1)
            .find(|&(chunk, header)| need.fits(chunk, header.granules()));
        self.counters.visits += visits;
        let (chunk, _) = found?;
        self.index.remove(&mut self.memory, chunk);
        Some(chunk)
    }

    /// Cuts a chunk that has left the index to the needed size, and hands it out.
    #[inline]
    pub(crate) fn serve(&mut self, chunk: Chunk, needed: u32) -> NonNull<u8> {
        let header = self.memory.header(chunk);
        self.cut(chunk, header, header.granules(), needed);
        self.live += 1;
        self.memory.payload(chunk.granule())
    }

    /// Makes the first `lead` granules of a taken chunk a free chunk; returns the rest, in use.
    fn split_lead(&mut self, chunk: Chunk, lead: u32) -> Chunk {
        if lead == 0 {
            return chunk;
        }
        self.counters.split();
        let aligned = chunk.after(lead);
        let header = self.memory.header(chunk);
        let rest = header.granules() - lead;
        let before_free = !I::COALESCING.is_immediate() && header.is_before_free();
        self.memory.tag_free_behind(chunk, lead, before_free);
        self.index.insert(&mut self.memory, chunk, lead);
        self.memory.set_header(aligned, Header::in_use(rest, true));
        aligned
    }

    /// Cuts a chunk of `room` granules to the needed size. The chunk is in use, and no part of it
    /// is in the index. `header` tells whether the chunk before it is free. The header of the chunk
    /// after the room says that the chunk before it is free.
    #[inline]
    fn cut(&mut self, chunk: Chunk, header: Header, room: u32, needed: u32) {
        let rest = room - needed;
        if rest < SMALLEST {
            self.memory.set_header(chunk, header.resized(room));
            self.memory.tag_before_in_use(chunk.after(room));
            return;
        }
        let free = chunk.after(needed);
        self.memory.set_header(chunk, header.resized(needed));
        self.memory.tag_free(free, rest);
        self.index.insert(&mut self.memory, free, rest);
        self.counters.split();
    }

    /// Makes a chunk free, and merges it with its free neighbours if the policy merges at once.
    #[inline]
    pub(crate) fn make_free(&mut self, chunk: Chunk) {
        self.make_free_of(chunk, self.memory.header(chunk));
    }

    /// As `make_free`, for who has the header.
    #[inline]
    fn make_free_of(&mut self, chunk: Chunk, header: Header) {
        debug_assert!(!header.is_free(), "S1: the object is not live");
        debug_assert!(
            chunk < self.end,
            "S1: a large object is freed by its number"
        );
        if I::COALESCING.is_immediate() {
            self.make_free_merged(chunk, header);
        } else {
            let granules = header.granules();
            self.memory.tag_before_free(chunk.after(granules));
            self.memory
                .tag_free_behind(chunk, granules, header.is_before_free());
            self.index.insert(&mut self.memory, chunk, granules);
        }
        self.live -= 1;
    }

    #[inline]
    fn make_free_merged(&mut self, chunk: Chunk, header: Header) {
        let (mut start, mut granules) = (chunk, header.granules());
        let after = chunk.after(granules);
        let header_after = self.memory.header(after);
        if header_after.is_free() {
            self.counters.merged(1);
            self.index.remove(&mut self.memory, after);
            granules += header_after.granules();
        } else {
            self.memory.tag_before_free(after);
        }
        if header.is_before_free() {
            self.counters.merged(1);
            let before = self.memory.granules_before(chunk);
            start = chunk.before(before);
            self.index.remove(&mut self.memory, start);
            granules += before;
        }
        self.memory.tag_free(start, granules);
        self.index.insert(&mut self.memory, start, granules);
    }

    /// The granules of a chunk in use plus those of a free chunk after it, if they reach `wanted`.
    /// The free chunk leaves the index. The header of the chunk after it then says that the chunk
    /// before is free, as `cut` expects.
    fn absorb_after(&mut self, chunk: Chunk, wanted: u32) -> Option<u32> {
        let own = self.memory.header(chunk).granules();
        if !I::COALESCING.is_immediate() {
            return self.absorb_as_needed(chunk, wanted);
        }
        let after = chunk.after(own);
        let header_after = self.memory.header(after);
        let room = match header_after.is_free() {
            true => own + header_after.granules(),
            false => own,
        };
        if room < wanted {
            return None;
        }
        if header_after.is_free() {
            self.counters.merged(1);
            self.index.remove(&mut self.memory, after);
        } else {
            self.memory.tag_before_free(after);
        }
        Some(room)
    }

    /// Changes the size of a chunk in place, if the chunk and a free chunk after it have the room.
    fn resize_in_place(&mut self, chunk: Chunk, needed: u32) -> bool {
        let header = self.memory.header(chunk);
        if header.granules() == needed {
            return true;
        }
        let Some(room) = self.absorb_after(chunk, needed) else {
            return false;
        };
        self.cut(chunk, header, room, needed);
        true
    }

    /// Moves a chunk down into a free chunk before it, if that one is aligned and both together
    /// have the room.
    ///
    /// # Safety
    /// S1: the chunk is in use. Its payload holds the `kept` bytes, and so does a payload of
    /// `needed` granules.
    unsafe fn slide_down(
        &mut self,
        chunk: Chunk,
        needed: u32,
        align: usize,
        kept: usize,
    ) -> Option<Chunk> {
        if !self.memory.header(chunk).is_before_free() {
            return None;
        }
        let size_before = self.memory.granules_before(chunk);
        let before = chunk.before(size_before);
        let payload = self.memory.payload(before.granule());
        if payload.addr().get() % align != 0 {
            return None;
        }
        let wanted = needed.saturating_sub(size_before);
        let room = self.absorb_after(chunk, wanted)? + size_before;
        self.counters.merged(1);
        self.index.remove(&mut self.memory, before);
        let header = self.memory.header(before);
        let before_free = !I::COALESCING.is_immediate() && header.is_before_free();
        // H7: the object may end before its old place.
        self.memory
            .set_header(chunk, self.memory.header(chunk).freed());
        // SAFETY: S1, and the chunk before is free, has left the index and is followed by this one
        // (H1, H2).
        unsafe { self.memory.slide(chunk.granule(), before.granule(), kept) };
        self.cut(before, Header::in_use(room, before_free), room, needed);
        Some(before)
    }

    /// The chunk in use whose payload begins at an address, as far as its header shows it, and the
    /// header.
    #[inline]
    fn find_in_use(&self, object: NonNull<u8>) -> Result<(Chunk, Header), Refused> {
        let granule = self.memory.granule_inside(object);
        let chunk = Chunk::at(granule.ok_or(Refused::ForeignHandle)?);
        if chunk < self.first {
            return Err(Refused::ForeignHandle);
        }
        if chunk >= self.end {
            return Err(Refused::StaleHandle);
        }
        let header = self.memory.header(chunk);
        if header.is_free() {
            return Err(Refused::StaleHandle);
        }
        Ok((chunk, header))
    }

    /// Allocates, copies and frees: the last resort of `resize`.
    ///
    /// # Safety
    /// As [`RawHeap::resize`].
    unsafe fn move_elsewhere(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: the caller promises a size that does not overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let moved = self.allocate(new_layout)?;
        // SAFETY: both objects are live and disjoint, and at least the smaller size long (H1).
        unsafe { object.copy_to_nonoverlapping(moved, layout.size().min(new_size)) };
        // SAFETY: S1 and S2 are the caller's promise. `try_free` finds a second free of the object.
        let freed = unsafe { self.try_free(object, layout) };
        debug_assert!(freed.is_ok(), "S1: the object was live");
        Ok(moved)
    }
}

/// The first chunk of a region: its header is the first word after the table with an aligned
/// payload behind it.
pub(crate) fn first_chunk<I: Index>(granules: u32) -> Chunk {
    Chunk::at(I::table_words(granules) / 2 + 1)
}

/// The size in bytes of the smallest region that is large enough wherever it starts.
fn smallest_region<I: Index>() -> usize {
    let suffices = |granules: &u32| *granules >= first_chunk::<I>(*granules).granule() + SMALLEST;
    let granules = (1..).find(suffices).unwrap_or(u32::MAX);
    granules as usize * GRANULE + GRANULE - 1
}

// SAFETY: a chunk that the index finds was free, hence in no live object's chunk (H1; by L1 or A1,
// links name only free chunks), and it leaves the index before it is handed out. Its payload starts
// at a granule inside the region, has the size (`cut` leaves at least the granules of the request)
// and the alignment (granules for up to 8 bytes, `Need::lead` for more).
unsafe impl<I: Index> RawHeap for Heap<'_, I> {
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let chunk = match self.take_at_once(layout) {
            Some(chunk) => chunk,
            // Twenty instructions less than below, and a second copy of `serve`.
            None if cfg!(target_pointer_width = "64") => return self.allocate_slowly(layout),
            None => self.take_slowly(layout)?,
        };
        Ok(self.serve(chunk, I::rounded(granules_for(layout.size()))))
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, _layout: Layout) {
        self.make_free(Chunk::at(self.memory.granule_of(object)));
    }

    /// As `free`. Finds addresses outside the chunks, and chunks whose header says that they are
    /// free: also those that `try_free` freed and that were merged with the one before them, until
    /// their bytes are used again.
    #[inline]
    unsafe fn try_free(&mut self, object: NonNull<u8>, _layout: Layout) -> Result<(), Refused> {
        let (chunk, header) = self.find_in_use(object)?;
        // If the chunk is merged with the one before it, nothing else writes its header.
        self.memory.set_header(chunk, header.freed());
        self.make_free_of(chunk, header);
        Ok(())
    }

    /// # Errors
    /// Also what [`try_free`](RawHeap::try_free) finds.
    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<NonNull<u8>, Refused> {
        if new_size > self.largest_request {
            let limit = self.largest_request;
            return Err(Refused::TooLarge { limit });
        }
        let (chunk, _) = self.find_in_use(object)?;
        let needed = I::rounded(granules_for(new_size));
        if self.resize_in_place(chunk, needed) {
            return Ok(object);
        }
        // SAFETY: the object is live (the caller's S1) and its chunk is not to shrink, so the old
        // size fits in both.
        let slid = unsafe { self.slide_down(chunk, needed, layout.align(), layout.size()) };
        if let Some(chunk) = slid {
            return Ok(self.memory.payload(chunk.granule()));
        }
        // SAFETY: the caller makes the same promises.
        let moved = unsafe { self.move_elsewhere(object, layout, new_size) };
        if moved.is_ok() || !I::COALESCING.is_deferred() {
            return moved;
        }
        // That refusal merged the free chunks before this one.
        // SAFETY: as above; the object stayed where it was.
        let slid = unsafe { self.slide_down(chunk, needed, layout.align(), layout.size()) };
        slid.map(|chunk| self.memory.payload(chunk.granule()))
            .ok_or(Refused::NoChunk)
    }

    fn usage(&self) -> Usage {
        self.account()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.check_large()?;
        let free_chunks = self.check_tiling()?;
        self.index.check(&self.memory, free_chunks)
    }
}
