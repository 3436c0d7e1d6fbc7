//! The region as words of four bytes, and the payloads in it. Only this file touches raw memory.
//!
//! ```text
//! region  | lead | word 0 | word 1 | word 2 | word 3 | ...      | tail |
//!                 \---- granule 0 -/\---- granule 1 -/
//! ```
//! Word 0 is aligned to a granule (8 bytes). Alignment leaves `lead` and `tail` over.
//!
//! # Invariants
//! - M1: the `2 * granules` words from `words` on lie inside the region, which is exclusively
//!   borrowed for `'m`.
//! - M2: a [`Slot`] that reaches `get` or `set` is less than `2 * granules`. It is a word of the
//!   table, which lies inside (`Heap::new` compares); or a word of a chunk, which lies inside by
//!   H1; or a link, which is one of these by L1 (A1 of the balanced tree; K1 and K3 of the buddy
//!   system). The checker relies on none of these and compares first.
//! - M3: a word is read only after it was written, by this file or by the owner of the payload to
//!   which it belonged.
//! - M4: a word that `get` or `set` accesses is not part of a live payload.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::Refused;

/// Bytes of a granule: the unit of chunk sizes, and the alignment of every payload.
pub(crate) const GRANULE: usize = 8;
/// Bytes of a word: a header, a footer or a link.
pub(crate) const WORD: usize = 4;
/// The most granules in a region: sizes take 30 bits of a header. This limits a region to 8 GiB.
pub(crate) const MOST_GRANULES: usize = (1 << 30) - 1;

/// The place of one word, counted in words from word 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(usize);

impl Slot {
    /// The `word`-th word; see M2.
    #[inline]
    pub(crate) const fn new(word: usize) -> Self {
        Self(word)
    }

    /// The number of the word. It fits in a word, because there are fewer than 2^31 words.
    #[inline]
    pub(crate) const fn number(self) -> u32 {
        self.0 as u32
    }
}

/// A region, borrowed for as long as the heap over it lives.
#[derive(Debug)]
pub struct Memory<'m> {
    words: NonNull<u32>,
    granules: u32,
    region_bytes: usize,
    region: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

// SAFETY: by M1 only this value accesses the region, like the exclusive borrow that it stands for.
unsafe impl Send for Memory<'_> {}

impl<'m> Memory<'m> {
    /// Takes a region, and cuts off what alignment leaves over.
    ///
    /// # Errors
    /// [`Refused::TooLarge`] if a header could not hold every size in the region.
    pub(crate) fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let region_bytes = region.len();
        let first: NonNull<MaybeUninit<u8>> = NonNull::from(region).cast();
        let lead = first.align_offset(GRANULE).min(region_bytes);
        let granules = (region_bytes - lead) / GRANULE;
        if granules > MOST_GRANULES {
            let limit = MOST_GRANULES.saturating_mul(GRANULE);
            return Err(Refused::TooLarge { limit });
        }
        // SAFETY: `lead` is at most the length of the region, so the sum stays inside it or one
        // past its end.
        let words = unsafe { first.add(lead) }.cast();
        Ok(Self {
            words,
            granules: granules as u32,
            region_bytes,
            region: PhantomData,
        })
    }

    /// The size of the region, alignment included, in bytes.
    pub(crate) const fn region_bytes(&self) -> usize {
        self.region_bytes
    }

    /// The number of whole granules.
    pub(crate) const fn granules(&self) -> u32 {
        self.granules
    }

    /// The address of word 0 in granules, modulo 2^32: used to align payloads.
    #[inline]
    pub(crate) fn phase(&self) -> u32 {
        (self.words.addr().get() / GRANULE) as u32
    }

    /// Reads a word.
    #[inline]
    pub(crate) fn get(&self, slot: Slot) -> u32 {
        debug_assert!(slot.0 < 2 * self.granules as usize, "M2");
        // SAFETY: the word lies inside the region (M1, M2).
        let word = unsafe { self.words.add(slot.0) };
        // SAFETY: inside the region, aligned (word 0 is), written before (M3) and nobody else's
        // (M4).
        unsafe { word.read() }
    }

    /// Writes a word.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, value: u32) {
        debug_assert!(slot.0 < 2 * self.granules as usize, "M2");
        // SAFETY: the word lies inside the region (M1, M2).
        let word = unsafe { self.words.add(slot.0) };
        // SAFETY: inside the region, aligned (word 0 is), exclusively borrowed (M1) and nobody
        // else's (M4).
        unsafe { word.write(value) }
    }

    /// Reads a byte of the table, counted from word 0. The rules are those of `get`, for the word
    /// that contains it.
    #[inline]
    pub(crate) fn get_byte(&self, byte: usize) -> u8 {
        debug_assert!(byte < GRANULE * self.granules as usize, "M2");
        // SAFETY: the byte's word lies inside the region (M1, M2).
        let place = unsafe { self.words.cast::<u8>().add(byte) };
        // SAFETY: inside the region, written before (M3) and nobody else's (M4).
        unsafe { place.read() }
    }

    /// Writes a byte of the table; see `get_byte`.
    #[inline]
    pub(crate) fn set_byte(&mut self, byte: usize, value: u8) {
        debug_assert!(byte < GRANULE * self.granules as usize, "M2");
        // SAFETY: the byte's word lies inside the region (M1, M2).
        let place = unsafe { self.words.cast::<u8>().add(byte) };
        // SAFETY: inside the region, exclusively borrowed (M1) and nobody else's (M4).
        unsafe { place.write(value) }
    }

    /// Reads half a word of the table, counted in halves from word 0; see `get_byte`.
    #[inline]
    pub(crate) fn get_half(&self, half: usize) -> u16 {
        debug_assert!(half < GRANULE / 2 * self.granules as usize, "M2");
        // SAFETY: the half's word lies inside the region (M1, M2).
        let place = unsafe { self.words.cast::<u16>().add(half) };
        // SAFETY: inside the region, aligned (word 0 is), written before (M3) and nobody else's
        // (M4).
        unsafe { place.read() }
    }

    /// Writes half a word of the table; see `get_half`.
    #[inline]
    pub(crate) fn set_half(&mut self, half: usize, value: u16) {
        debug_assert!(half < GRANULE / 2 * self.granules as usize, "M2");
        // SAFETY: the half's word lies inside the region (M1, M2).
        let place = unsafe { self.words.cast::<u16>().add(half) };
        // SAFETY: inside the region, aligned (word 0 is), exclusively borrowed (M1) and nobody
        // else's (M4).
        unsafe { place.write(value) }
    }

    /// Reads the two words of a granule of the table as one number; see `get_byte`.
    #[inline]
    pub(crate) fn get_granule(&self, granule: usize) -> u64 {
        debug_assert!(granule < self.granules as usize, "M2");
        // SAFETY: both words lie inside the region (M1, M2).
        let place = unsafe { self.words.cast::<u64>().add(granule) };
        // SAFETY: inside the region, aligned (word 0 is, to a granule), written before (M3) and
        // nobody else's (M4).
        unsafe { place.read() }
    }

    /// Writes the two words of a granule of the table; see `get_granule`.
    #[inline]
    pub(crate) fn set_granule(&mut self, granule: usize, value: u64) {
        debug_assert!(granule < self.granules as usize, "M2");
        // SAFETY: both words lie inside the region (M1, M2).
        let place = unsafe { self.words.cast::<u64>().add(granule) };
        // SAFETY: inside the region, aligned (word 0 is, to a granule), exclusively borrowed (M1),
        // nobody else's (M4).
        unsafe { place.write(value) }
    }

    /// A pointer to the first byte of a granule.
    #[inline]
    pub(crate) fn payload(&self, granule: u32) -> NonNull<u8> {
        debug_assert!(granule < self.granules, "M2");
        // SAFETY: the granule is a chunk's, so it lies inside the region (H1, M1).
        unsafe { self.words.cast::<u8>().add(granule as usize * GRANULE) }
    }

    /// The granule at which a payload starts.
    #[inline]
    pub(crate) fn granule_of(&self, payload: NonNull<u8>) -> u32 {
        let offset = payload.addr().get().wrapping_sub(self.words.addr().get());
        debug_assert!(
            offset / GRANULE < self.granules as usize,
            "a foreign pointer"
        );
        debug_assert!(offset % GRANULE == 0, "a pointer into a payload");
        (offset / GRANULE) as u32
    }

    /// The granule at which a payload would start; `None` for an address outside the region, or
    /// between granules.
    #[inline]
    pub(crate) fn granule_inside(&self, payload: NonNull<u8>) -> Option<u32> {
        let offset = payload.addr().get().wrapping_sub(self.words.addr().get());
        let inside = offset / GRANULE < self.granules as usize && offset % GRANULE == 0;
        inside.then_some((offset / GRANULE) as u32)
    }

    /// Copies `bytes` bytes between payloads that may overlap.
    ///
    /// # Safety
    /// S1: both granules start payloads of this heap, at least `bytes` bytes long. S2: every byte
    /// from the first of the lower payload to the last of the higher one belongs to these two
    /// chunks.
    pub(crate) unsafe fn slide(&mut self, from: u32, to: u32, bytes: usize) {
        let (source, target) = (self.payload(from), self.payload(to));
        // SAFETY: both ranges lie inside the region and may be overwritten (S1, S2); `copy` allows
        // overlap.
        unsafe { source.copy_to(target, bytes) }
    }
}
