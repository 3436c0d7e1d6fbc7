//! A bump chunk: a whole free chunk taken from the index. Cutting an object from its front takes a
//! comparison and an addition.
//!
//! ```text
//! open    | header | the rest                                          |    one chunk in use
//! take    | header | object | header | the rest                        |    two
//! take    | header | object | header | object | header | the rest      |    three
//! close   | header | object | header | object | header | free chunk    |    the rest is freed
//! ```
//! The rest of a bump chunk is a chunk in use at every moment. So the heap can be walked, and can
//! allocate, while a bump chunk is open. This costs one more store per object, beside the header
//! that each object needs anyway. It saves the index, which otherwise updates two lists per object.
//!
//! # Invariants
//! - R1: `payload` and `granules` are those of a chunk in use whose header has no flag; or
//!   `granules` is 0.
//!
//! # Bounds
//! `take`: one comparison, two stores. `open_bump_chunk` and `close_bump_chunk`: the work of the
//! index for one chunk.
//!
//! # Drawbacks
//! Only indexes that merge at once have bump chunks. Otherwise the chunk before a bump chunk could
//! be free, and every header would have to be read.

use core::ptr::NonNull;

use crate::chunk::{Chunk, Header, SMALLEST, granules_for};
use crate::heap::Heap;
use crate::index::Index;
use crate::memory::{GRANULE, MOST_GRANULES, WORD};

/// The most bytes of a payload: some granules of every region belong to no chunk.
const MOST_PAYLOAD: usize = MOST_GRANULES.saturating_mul(GRANULE) - 2 * GRANULE;

/// The rest of a chunk from which objects are cut.
#[derive(Clone, Copy, Debug)]
pub struct BumpChunk {
    payload: NonNull<u8>,
    granules: u32,
    taken: u32,
}

impl BumpChunk {
    /// A bump chunk that is used up.
    pub const EMPTY: Self = Self {
        payload: NonNull::dangling(),
        granules: 0,
        taken: 0,
    };

    /// The bytes that are left, headers included.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.granules as usize * GRANULE
    }

    /// The number of objects that `take` has cut from its front.
    #[inline]
    #[must_use]
    pub const fn taken(&self) -> u32 {
        self.taken
    }

    /// The granules of a chunk whose payload has at least `bytes` bytes; `u32::MAX`, more than any
    /// region has, if no chunk is that long.
    #[inline]
    #[must_use]
    pub const fn granules_for(bytes: usize) -> u32 {
        if bytes > MOST_PAYLOAD {
            return u32::MAX;
        }
        granules_for(bytes)
    }

    /// Cuts an object of `granules` granules, its header included, from the front. Returns `None`
    /// unless at least a whole chunk is left after it. The payload has all these bytes but four,
    /// and is aligned to eight.
    ///
    /// # Safety
    /// S1: the heap that opened the bump chunk still exists, has not closed it, and has freed,
    /// resized and swept nothing since. S2: `granules` is at least 2, and less than 2^30. S3: no
    /// copy of the bump chunk has cut anything that this one has not.
    #[inline]
    pub unsafe fn take(&mut self, granules: u32) -> Option<NonNull<u8>> {
        if self.granules < granules + SMALLEST {
            return None;
        }
        let (payload, rest) = (self.payload, self.granules - granules);
        // SAFETY: the rest is longer than that (compared), and lies in the region (R1, S1).
        let next = unsafe { payload.add(granules as usize * GRANULE) };
        // SAFETY: R1, S1, S3: both are payloads of chunks in the rest of the bump chunk, which
        // belongs to nobody else.
        unsafe { set_header(payload, granules) };
        // SAFETY: as above.
        unsafe { set_header(next, rest) };
        (self.payload, self.granules) = (next, rest);
        self.taken += 1;
        Some(payload)
    }

    /// Hands out the whole rest as one object, if it has at least `granules` granules.
    ///
    /// # Safety
    /// As [`BumpChunk::take`].
    #[inline]
    pub unsafe fn take_all(&mut self, granules: u32) -> Option<NonNull<u8>> {
        if self.granules < granules {
            return None;
        }
        self.granules = 0;
        Some(self.payload)
    }
}

/// Writes the header of a chunk in use that follows a chunk in use.
///
/// # Safety
/// S1: `payload` is that of a chunk of `granules` granules in the region of a heap, and belongs to
/// nobody else.
#[inline]
unsafe fn set_header(payload: NonNull<u8>, granules: u32) {
    // SAFETY: every payload has a header before it, in the region (H1).
    let header = unsafe { payload.sub(WORD) }.cast::<u32>();
    // SAFETY: inside the region, aligned to four since payloads are aligned to eight, and nobody
    // else's (S1).
    unsafe { header.write(Header::in_use(granules, false).word()) }
}

impl<I: Index> Heap<'_, I> {
    /// Takes a free chunk of at least `granules` granules for a bump chunk. Returns `None` if there
    /// is none, or if the index does not merge at once. Any number is allowed: no chunk has fewer
    /// than two.
    ///
    /// [`Heap::live_objects`] counts the bump chunk's objects only once the bump chunk is closed.
    /// Until then, `check` may report H5.
    ///
    /// # Complexity
    /// That of an allocation in the index.
    pub fn open_bump_chunk(&mut self, granules: u32) -> Option<BumpChunk> {
        if !I::COALESCING.is_immediate() {
            return None;
        }
        // An index can search only for sizes that its lists can hold.
        let most = self.memory.granules();
        if granules > most {
            return None;
        }
        let needed = I::rounded(granules.max(SMALLEST));
        if needed > most {
            return None;
        }
        let chunk = self.take_as_is(needed)?;
        let header = self.memory.header(chunk);
        debug_assert!(!header.is_before_free(), "H4");
        let payload = self.serve(chunk, header.granules());
        Some(BumpChunk {
            payload,
            granules: header.granules(),
            taken: 0,
        })
    }

    /// Frees the rest of a bump chunk.
    ///
    /// # Safety
    /// S1: this heap opened the bump chunk, has not closed it, and has freed, resized and swept
    /// nothing since. S2: no copy of the bump chunk has cut anything that this one has not.
    pub unsafe fn close_bump_chunk(&mut self, bump: BumpChunk) {
        self.live += bump.taken as usize;
        if bump.granules > 0 {
            let rest = Chunk::at(self.memory.granule_of(bump.payload));
            self.make_free(rest);
        }
    }

    /// The address of granule 0. An object's address is 8 bytes times its number higher.
    #[must_use]
    pub fn origin(&self) -> usize {
        self.memory.payload(0).addr().get()
    }
}
