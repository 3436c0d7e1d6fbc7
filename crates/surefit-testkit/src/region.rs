//! Memory for a heap under test.

use std::mem::MaybeUninit;
use std::ops::Range;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Memory that is filled with junk, aligned as asked: a heap must not rely on zeroes.
#[derive(Debug)]
pub struct JunkRegion {
    backing: Vec<MaybeUninit<u8>>,
    start: usize,
    bytes: usize,
}

impl JunkRegion {
    /// `bytes` bytes of seeded junk, of which the first is aligned to `align`.
    ///
    /// # Panics
    /// If `align` is not a power of two.
    #[must_use]
    pub fn new(bytes: usize, align: usize, seed: u64) -> Self {
        Self::misaligned(bytes, align, 0, seed)
    }

    /// As [`JunkRegion::new`], but the first byte lies `offset` bytes behind an aligned address.
    ///
    /// # Panics
    /// If `align` is not a power of two.
    #[must_use]
    pub fn misaligned(bytes: usize, align: usize, offset: usize, seed: u64) -> Self {
        assert!(align.is_power_of_two(), "an alignment is a power of two");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let backing: Vec<_> = (0..bytes + align + offset)
            .map(|_| MaybeUninit::new(random.random()))
            .collect();
        let address = backing.as_ptr().addr();
        let start = address.next_multiple_of(align) - address + offset;
        Self {
            backing,
            start,
            bytes,
        }
    }

    /// The memory, to be handed to a heap.
    pub fn memory(&mut self) -> &mut [MaybeUninit<u8>] {
        &mut self.backing[self.start..][..self.bytes]
    }

    /// The addresses of the memory, for [`ShadowHeap`](crate::ShadowHeap) to compare with.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        let first = self.backing[self.start..].as_ptr().addr();
        first..first + self.bytes
    }
}
