//! A run: a free chunk that left the index whole, from whose front objects are cut by comparing and adding.
//!
//! ```text
//! open    | header | the rest                                          |    one chunk in use
//! take    | header | object | header | the rest                        |    two
//! take    | header | object | header | object | header | the rest      |    three
//! close   | header | object | header | object | header | free chunk    |    the rest is freed
//! ```
//! The rest of a run is a chunk in use at every moment, so the heap can be walked, and allocated from, meanwhile. That costs
//! one store an object, beside the header that it needs anyway, and saves the index: two lists for every object elsewhere.
//!
//! # Invariants
//! - R1: `payload` and `granules` are those of a chunk in use, whose header has no flag; or `granules` is 0.
//!
//! # Bounds
//! `take`: a comparison, two stores. `open_run` and `close_run`: the index's for one chunk.
//!
//! # Drawbacks
//! Only for indexes that merge at once: else the chunk before a run may be free, and every header would have to be read.

use core::ptr::NonNull;

use crate::chunk::{Chunk, Header, SMALLEST, granules_for};
use crate::heap::Heap;
use crate::index::Index;
use crate::memory::{GRANULE, MOST_GRANULES, WORD};

/// No payload has more bytes: some granules of every region are no chunk's.
const MOST_PAYLOAD: usize = MOST_GRANULES.saturating_mul(GRANULE) - 2 * GRANULE;

/// What is left of a chunk that objects are cut from.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    payload: NonNull<u8>,
    granules: u32,
    taken: u32,
}

impl Run {
    /// A run that is used up.
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

    /// Objects that were cut from its front, while something was left.
    #[inline]
    #[must_use]
    pub const fn taken(&self) -> u32 {
        self.taken
    }

    /// The granules of the chunk of an object with a payload of so many bytes; `u32::MAX`, more than a region can have, if
    /// none holds them.
    #[inline]
    #[must_use]
    pub const fn granules_for(bytes: usize) -> u32 {
        if bytes > MOST_PAYLOAD {
            return u32::MAX;
        }
        granules_for(bytes)
    }

    /// Cuts an object of so many granules, its header included, from the front; `None` unless a whole chunk is left behind
    /// it. Its payload is all of that but four bytes, and aligned to eight.
    ///
    /// # Safety
    /// S1: the heap that opened the run still exists and did not close it, and has freed, resized and swept nothing since.
    /// S2: `granules` is at least 2, and less than 2^30. S3: no copy of the run has cut anything that this one has not.
    #[inline]
    pub unsafe fn take(&mut self, granules: u32) -> Option<NonNull<u8>> {
        if self.granules < granules + SMALLEST {
            return None;
        }
        let (payload, rest) = (self.payload, self.granules - granules);
        // SAFETY: the rest is longer than that (compared), and lies in the region (R1, S1).
        let next = unsafe { payload.add(granules as usize * GRANULE) };
        // SAFETY: R1, S1, S3: both are payloads of chunks in the rest of the run, which is nobody else's.
        unsafe { set_header(payload, granules) };
        // SAFETY: as above.
        unsafe { set_header(next, rest) };
        (self.payload, self.granules) = (next, rest);
        self.taken += 1;
        Some(payload)
    }

    /// Hands out all that is left as one object, if it is at least so many granules.
    ///
    /// # Safety
    /// As [`Run::take`].
    #[inline]
    pub unsafe fn take_all(&mut self, granules: u32) -> Option<NonNull<u8>> {
        if self.granules < granules {
            return None;
        }
        self.granules = 0;
        Some(self.payload)
    }
}

/// Writes the header of a chunk in use, behind one in use.
///
/// # Safety
/// S1: `payload` is that of a chunk of so many granules in the region of a heap, and nobody else's.
#[inline]
unsafe fn set_header(payload: NonNull<u8>, granules: u32) {
    // SAFETY: every payload has a header before it, in the region (H1).
    let header = unsafe { payload.sub(WORD) }.cast::<u32>();
    // SAFETY: inside the region, aligned to four since payloads are to eight, and nobody else's (S1).
    unsafe { header.write(Header::in_use(granules, false).word()) }
}

impl<I: Index> Heap<'_, I> {
    /// Takes a free chunk of at least so many granules for a run; `None` if there is none, or if the index does not merge at
    /// once. Any number will do: no chunk has fewer than two.
    ///
    /// What the run's objects add to [`Heap::live_objects`], and so to what `check` compares, is known when it is closed.
    ///
    /// # Complexity
    /// That of the index for an allocation.
    pub fn open_run(&mut self, granules: u32) -> Option<Run> {
        if !I::COALESCING.is_immediate() {
            return None;
        }
        // An index looks for chunks as long as its lists have them, no shorter and no longer.
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
        Some(Run {
            payload,
            granules: header.granules(),
            taken: 0,
        })
    }

    /// Frees what is left of a run.
    ///
    /// # Safety
    /// S1: this heap opened the run and did not close it, and has freed, resized and swept nothing since. S2: no copy of the
    /// run has cut anything that this one has not.
    pub unsafe fn close_run(&mut self, run: Run) {
        self.live += run.taken as usize;
        if run.granules > 0 {
            let rest = Chunk::at(self.memory.granule_of(run.payload));
            self.release(rest);
        }
    }

    /// The address of granule 0: an object's is 8 bytes times its number more.
    #[must_use]
    pub fn origin(&self) -> usize {
        self.memory.payload(0).addr().get()
    }
}
