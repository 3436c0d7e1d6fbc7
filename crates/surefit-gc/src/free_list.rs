//! The space over a free-list heap: every system with boundary tags, with any index and any
//! coalescing.
//!
//! ```text
//!          | header | word 0 | word 1 |  ...  | word 2n - 2 |   a chunk of n granules of 8 bytes
//!                   8 bytes * number
//! ```
//! An object's number is the granule at which its payload starts. The smallest chunk has two
//! granules, so the numbers of two objects differ by at least two. The header lies outside the
//! payload and belongs to the heap; it holds the length.
//!
//! Large objects are allocated from the other end of the region:
//! ```text
//! allocate(n)   n is small: from the lists;
//!                   else, if a collection did not help a request of at most n: from the other end
//!               n is large: from the other end; else from the lists
//! ```
//! Live small objects are soon everywhere in the lists, a few words apart, even if few of them
//! live: they would leave no room for a large object. So the lists end early: they leave a
//! *reserve* to large objects. The reserve is twice the largest large request so far, because a
//! growing object is usually copied to twice its size; it is at most an eighth of the limit. A
//! program without large objects has no reserve.
//!
//! If a collection did not help a request of n bytes, this says nothing about shorter requests: a
//! free chunk, or the next collection, may serve them. So until the next collection the other end
//! is open to requests of at least n bytes only, or to all requests if its gaps have more room than
//! the lists.
//!
//! A heap may begin with a part of its region, its *limit*, and grow. A heap is *crowded* if the
//! last collection left less free than half of the live bytes. When a request cannot be served, a
//! crowded heap grows by that half. Any other heap is collected, and grows only if neither this nor
//! merging helped. So between two collections the heap serves about half as many bytes as live, or
//! more. Hence the time for marking is proportional to allocation, and the heap is at most about
//! twice what lives. A heap that has its whole region from the beginning follows the thesis: it
//! collects whenever a request cannot be served.
//!
//! # Invariants
//! - F1: Every chunk in use is an object of the collector, and all bytes of its payload were
//!   written.
//! - The invariants of the heap, its large objects and its end.
//!
//! # Drawbacks
//! A new object is cleared up to the end of its chunk, even if its owner writes all of it at once.

#[cfg(test)]
extern crate alloc;

use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::NonNull;

use surefit_core::{Corruption, RawHeap, Refused, Usage, ensure, zero};
use surefit_freelist::{Heap, Index, Swept, When};

use crate::chunks::{HEADER, chunk_bytes, with_rests};
use crate::collector::Collector;
use crate::marks::Marks;
use crate::object::Object;
use crate::schedule::Amount;
use crate::settings::{Settings, Sweep};
use crate::space::{Place, Space};
use crate::stepwise::{Freed, NOT_DYING, OneByOne, Stepwise};
use crate::tables;

/// Bytes of a word of an object.
const WORD: usize = 4;

/// The limit is at least this many times the reserve. If the heap is twice what lives, an unused
/// reserve makes collections at most a third more frequent.
const MOST_RESERVED: usize = 8;

/// The space of a free-list heap with the index `I`.
#[derive(Debug)]
pub struct FreeList<'m, I> {
    heap: Heap<'m, I>,
    leaps: bool,
    /// Objects of at least this many bytes are large.
    large_from: usize,
    /// Small objects of at least this many bytes may lie among large ones: a request that the last
    /// collection did not help.
    displaced_from: usize,
    /// Bytes that the lists leave to large objects: twice the largest large request so far, 0
    /// before the first.
    reserve: usize,
    /// Live bytes after the last collection.
    live_bytes: usize,
    /// Free bytes after it, at both ends.
    free_bytes: usize,
    /// Whether fewer than half as many were free as lived.
    is_crowded: bool,
    displaced: Displaced,
}

/// Counts of all objects that were ever allocated at the end of the region that is not theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Displaced {
    /// Large objects that the lists served.
    pub large_in_lists: u64,
    /// Small objects that a gap between large ones, or their reserve, served.
    pub small_in_gaps: u64,
}

impl<'m, I: Index> FreeList<'m, I> {
    /// A space over a region, whose bytes may hold anything. It uses the whole region from the
    /// beginning; objects of [`Settings::LARGE`] bytes and more are large.
    ///
    /// # Errors
    /// As [`Heap::new`].
    pub fn new(region: &'m mut [MaybeUninit<u8>], sweep: Sweep) -> Result<Self, Refused> {
        let merges_at_once = matches!(I::COALESCING, When::Immediate);
        Ok(Self {
            heap: Heap::new(region)?,
            leaps: sweep == Sweep::Leap && merges_at_once,
            large_from: Settings::LARGE,
            displaced_from: usize::MAX,
            reserve: 0,
            live_bytes: 0,
            free_bytes: 0,
            is_crowded: false,
            displaced: Displaced::default(),
        })
    }

    /// The same new space, in which objects of at least `bytes` bytes are large; none is with
    /// `usize::MAX`.
    #[must_use]
    pub const fn with_large_from(mut self, bytes: usize) -> Self {
        self.large_from = bytes;
        self
    }

    /// The same new space, with a limit of `bytes` bytes of chunks: it uses the rest of its region
    /// only when it grows.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> Self {
        self.heap.limit_to(bytes);
        self
    }

    /// The largest request, in bytes, that the space serves when nothing lives and it has grown to
    /// its region.
    #[must_use]
    pub fn largest_request(&self) -> usize {
        let of_lists = self.heap.largest_request();
        let large = self.heap.largest_large_request();
        of_lists.max(if large < self.large_from { 0 } else { large })
    }

    /// Counts of the objects that lie at the end that is not theirs.
    #[must_use]
    pub const fn displaced(&self) -> Displaced {
        self.displaced
    }

    /// Allocates a large object from the other end, and keeps a reserve there for later ones.
    #[cold]
    fn allocate_large(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        let payload = self.heap.allocate_large(bytes).ok()?;
        self.reserve = self.reserve.max(bytes.saturating_mul(2));
        self.keep_reserve();
        Some(payload)
    }

    /// Keeps the reserve from the lists, as far as it is free and not too large.
    fn keep_reserve(&mut self) {
        let most = self.heap.limit() / MOST_RESERVED;
        self.heap.reserve_large(self.reserve.min(most));
    }

    /// Begins to count anew after a collection: so many bytes live, and so many are free.
    fn begin_anew(&mut self, live: usize, free: usize) {
        self.keep_reserve();
        self.displaced_from = usize::MAX;
        (self.live_bytes, self.free_bytes) = (live, free);
        self.is_crowded = free < live / 2;
    }

    /// Opens the other end to small objects of `bytes` bytes, which a collection did not help.
    /// Returns whether it was closed.
    fn open(&mut self, bytes: usize) -> bool {
        let opens = self.reserve > 0 && bytes < self.displaced_from.min(self.large_from);
        if opens {
            let in_gaps = self.heap.gap_bytes();
            let is_wide = in_gaps > self.free_bytes / 2;
            self.displaced_from = if is_wide { 0 } else { bytes };
        }
        opens
    }

    /// Serves what the lists did not serve: a small object from the other end, if that is open.
    /// Otherwise refuses.
    #[cold]
    fn allocate_elsewhere(
        &mut self,
        bytes: usize,
        refused: Refused,
    ) -> Result<NonNull<u8>, Refused> {
        let limit = self.largest_request();
        if bytes > limit {
            return Err(Refused::TooLarge { limit });
        }
        if bytes >= self.large_from {
            // The lists may never have room for it. The other end has room when enough has died.
            return Err(Refused::NoChunk);
        }
        if bytes < self.displaced_from {
            return Err(refused);
        }
        let payload = self.heap.allocate_displaced(bytes)?;
        self.displaced.small_in_gaps += 1;
        Ok(payload)
    }

    /// The heap, with its counters, the size of its table and the sizes of its free chunks.
    #[must_use]
    pub const fn heap(&self) -> &Heap<'m, I> {
        &self.heap
    }
}

impl<'m, I: Index> Collector<'m, FreeList<'m, I>> {
    /// Makes a collector over a region. Its bits (1/32 of the region) and its mark stack come
    /// first; the rest is the heap's.
    ///
    /// # Errors
    /// [`Refused::Region`] if the region is too small; [`Refused::TooLarge`] if the rest is larger
    /// than 8 GiB.
    pub fn new(region: &'m mut [MaybeUninit<u8>], settings: Settings) -> Result<Self, Refused> {
        let bit_words = region.len() / MARKED_BYTES + 1;
        let stack_words = settings.mark_stack.max(1);
        let region_bytes = region.len();
        let Some((table, rest)) =
            tables::split(region, (2 * bit_words).saturating_add(stack_words))
        else {
            let nothing = FreeList::<I>::new(&mut [], settings.sweep).map(|_| ());
            let refused = nothing.err().unwrap_or(Refused::NoChunk);
            return Err(with_tables(refused, stack_words));
        };
        let table_bytes = region_bytes - rest.len();
        let space = FreeList::new(rest, settings.sweep);
        let space = space.map_err(|refused| with_tables(refused, stack_words))?;
        let space = space.with_large_from(settings.large_from);
        let space = space.with_limit(settings.limit);
        let (bits, stack) = tables::zeroed(table).split_at_mut(2 * bit_words);
        Ok(Self::over(space, bits, stack).with_table_bytes(table_bytes))
    }
}

/// Bytes of a heap that one word of bits covers: 64 granules.
pub(crate) const MARKED_BYTES: usize = 64 * 8;

/// Turns a refusal of the heap into one of the collector: the size that is needed is that of the
/// whole region, with tables and alignment.
fn with_tables(refused: Refused, stack_words: usize) -> Refused {
    match refused {
        Refused::Region { needed } => {
            let stack = stack_words.saturating_add(5).saturating_mul(tables::WORD);
            let fixed = needed.saturating_add(stack);
            let bits = fixed / (MARKED_BYTES / tables::WORD / 2 - 1);
            Refused::Region {
                needed: fixed.saturating_add(bits),
            }
        }
        other => other,
    }
}

// SAFETY: I1: a chunk's number is at least 1 and less than the granules, and chunks have at least
// two granules (H1, W2). I2: the heap hands out chunks that overlap no live one, and only `sweep`
// gives any back; nothing moves, and payloads are aligned to 8; F1 says the rest. I3: the heap's
// granules are set once; a chunk's length is in its header, outside the payload; `objects` walks
// all chunks of both ends (H1, W2), between which lies what is not used (W1).
unsafe impl<I: Index> Space for FreeList<'_, I> {
    fn places(&self) -> u32 {
        self.heap.granules()
    }

    fn unused(&self) -> Range<u32> {
        self.heap.unused()
    }

    #[inline]
    fn allocate(&mut self, bytes: usize) -> Result<Object, Refused> {
        let is_large = bytes >= self.large_from;
        let at_its_end = match is_large {
            true => self.allocate_large(bytes),
            false => None,
        };
        let payload = match at_its_end {
            Some(payload) => payload,
            None => match self.heap.allocate_as_is(bytes) {
                Ok(payload) => {
                    self.displaced.large_in_lists += u64::from(is_large);
                    payload
                }
                Err(refused) => self.allocate_elsewhere(bytes, refused)?,
            },
        };
        let number = self.heap.granule_of(payload);
        // SAFETY: S1: allocated just now.
        let length = unsafe { self.heap.payload_bytes(number) };
        // SAFETY: the payload is live and so many bytes long, at least twelve.
        unsafe { zero(payload, length) };
        Object::of(number).ok_or(Refused::NoChunk)
    }

    /// Grows a crowded heap, if it can grow: another collection would soon follow.
    fn relieve(&mut self) -> bool {
        core::mem::take(&mut self.is_crowded) && self.heap.grow(0, self.live_bytes / 2)
    }

    /// As in the thesis: merges only if a collection did not help.
    fn merge(&mut self) -> bool {
        matches!(I::COALESCING, When::Deferred) && self.heap.coalesce() > 0
    }

    /// Before the heap uses more of its region, small objects may lie among large ones. Before a
    /// refusal, the lists get the reserve.
    fn grow(&mut self, bytes: usize) -> bool {
        self.open(bytes) || self.heap.grow(bytes, self.live_bytes / 2) || self.heap.reserve_large(0)
    }

    #[inline]
    unsafe fn place(&self, object: Object) -> Place {
        // SAFETY: S1 is the caller's.
        let first = unsafe { self.heap.payload(object.number()) }.cast();
        // SAFETY: S1 is the caller's.
        let bytes = unsafe { self.heap.payload_bytes(object.number()) };
        Place::whole(first, (bytes / WORD) as u32)
    }

    unsafe fn word_in_pieces(&self, object: Object, _word: u32) -> NonNull<u32> {
        unreachable!("{object:?} is in one piece")
    }

    unsafe fn sweep(&mut self, marks: &Marks<'_>) -> Swept {
        let swept = if self.leaps {
            let next = |number| marks.next(number).map_or(u32::MAX, Object::number);
            // SAFETY: S1 is the caller's. S2: marks are those of live objects, and reading them
            // does not panic.
            unsafe { self.heap.sweep_leaping(next) }
        } else {
            let keep = |number| Object::of(number).is_some_and(|object| marks.contains(object));
            // SAFETY: S1 is the caller's. S2: reading marks does not panic.
            unsafe { self.heap.sweep(keep) }
        };
        self.begin_anew(swept.live_bytes, swept.free_bytes);
        swept
    }

    fn objects(&self) -> impl Iterator<Item = Object> {
        self.heap.objects().filter_map(Object::of)
    }

    fn usage(&self) -> Usage {
        self.heap.usage()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.heap.check()
    }
}

// SAFETY: I4: `free` frees all of an object at once, and nothing else; free chunks that are merged
// are no objects.
unsafe impl<I: Index> OneByOne for FreeList<'_, I> {
    unsafe fn free(&mut self, object: Object) -> Freed {
        // SAFETY: S1: nothing is ever left of an object, so it lives; S3.
        unsafe { self.heap.free_numbered(object.number()) };
        Freed {
            work: 1,
            done: true,
        }
    }

    /// What is free is what the chunks have beyond live objects and their headers: the headers of
    /// free chunks count as free.
    fn cycle_ended(&mut self, objects: u64, bytes: u64) {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let headers = count(objects).saturating_mul(HEADER);
        let in_use = count(bytes).saturating_add(headers);
        let free = self.heap.chunk_bytes().saturating_sub(in_use);
        self.begin_anew(count(bytes), free);
    }
}

// SAFETY: I5: what is merged is free.
unsafe impl<I: Index> Stepwise for FreeList<'_, I> {
    fn cost(&self, bytes: usize) -> Amount {
        Amount {
            objects: 1,
            bytes: chunk_bytes::<I>(bytes),
        }
    }

    fn most_cost(&self, bytes: usize) -> Amount {
        with_rests(self.cost(bytes))
    }

    /// The payload, and its header.
    unsafe fn held(&self, _object: Object, words: u32) -> Amount {
        Amount {
            objects: 1,
            bytes: u64::from(words) * WORD as u64 + HEADER as u64,
        }
    }

    fn most_work(&self) -> u64 {
        1
    }

    unsafe fn merge_part(&mut self, from: u32) -> Option<u32> {
        if !matches!(I::COALESCING, When::Deferred) {
            return None;
        }
        // SAFETY: S1: allocating, relieving and growing only allocate from the heap and move its
        // end.
        unsafe { self.heap.coalesce_part(from) }.0
    }

    fn check_part(&self, from: u32) -> Result<(), Corruption> {
        self.heap.check_part(from)
    }

    fn check_dying(&self, dying: Option<Object>) -> Result<(), Corruption> {
        let at = dying.map_or(0, Object::number) as usize;
        ensure(dying.is_none(), "F1", NOT_DYING, at)
    }
}

#[cfg(test)]
impl<I> crate::tests::flips::Words for FreeList<'_, I> {
    fn add_words(&mut self, words: &mut alloc::vec::Vec<crate::tests::flips::Word>) {
        use crate::tests::flips::Word;
        words.extend([
            Word::size("displaced_from", &mut self.displaced_from),
            Word::size("reserve", &mut self.reserve),
            Word::size("live_bytes", &mut self.live_bytes),
            Word::size("free_bytes", &mut self.free_bytes),
            Word::flag("is_crowded", &mut self.is_crowded),
        ]);
    }
}
