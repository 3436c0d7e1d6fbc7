//! Memory for a heap under test.

use std::mem::MaybeUninit;
use std::ops::Range;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Aligned memory that is filled with junk: a heap must not rely on zeroes.
#[derive(Debug)]
pub struct JunkRegion {
    backing: Vec<MaybeUninit<u8>>,
    start: usize,
    bytes: usize,
}

impl JunkRegion {
    /// `bytes` bytes of seeded junk. The first byte is aligned to `align`.
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
        let mut backing = vec![MaybeUninit::uninit(); bytes + align + offset];
        if cfg!(miri) {
            // Random bytes would take Miri minutes.
            backing.fill(MaybeUninit::new(random.random()));
        } else {
            backing.fill_with(|| MaybeUninit::new(random.random()));
        }
        let address = backing.as_ptr().addr();
        let start = address.next_multiple_of(align) - address + offset;
        Self {
            backing,
            start,
            bytes,
        }
    }

    /// The memory, for a heap.
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

/// Memory that lends one region after another, each with an exact length and place. Certificates
/// are tested in it. A `vec!` begins anywhere, so a heap in it has bytes to spare: those that it
/// does not need to skip.
///
/// # Examples
/// ```
/// use surefit_testkit::ExactMemory;
/// let mut memory = ExactMemory::new();
/// let region = memory.region(1000, 4096, 1);
/// assert_eq!((region.len(), region.as_ptr().addr() % 4096), (1000, 1));
/// assert!(memory.is_intact());
/// ```
#[derive(Debug, Default)]
pub struct ExactMemory {
    backing: Vec<MaybeUninit<u8>>,
    lent: Range<usize>,
}

/// The byte that fills regions: neither zero nor another byte with a meaning.
const JUNK: MaybeUninit<u8> = MaybeUninit::new(0xa5);

/// Bytes on each side of a region that nobody may write to.
const FENCE: usize = 64;

impl ExactMemory {
    /// Memory that has lent no region yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            backing: Vec::new(),
            lent: 0..0,
        }
    }

    /// Lends `bytes` bytes of junk. The first byte lies `offset` bytes behind a multiple of
    /// `align`.
    ///
    /// # Panics
    /// If `align` is not a power of two.
    pub fn region(&mut self, bytes: usize, align: usize, offset: usize) -> &mut [MaybeUninit<u8>] {
        assert!(align.is_power_of_two(), "an alignment is a power of two");
        let room = 2 * FENCE + align + offset + bytes;
        if self.backing.len() < room {
            self.backing.resize(room, JUNK);
        }
        let address = self.backing.as_ptr().addr();
        let first = (address + FENCE).next_multiple_of(align) - address + offset;
        self.lent = first..first + bytes;
        self.backing[first - FENCE..first + bytes + FENCE].fill(JUNK);
        &mut self.backing[self.lent.clone()]
    }

    /// Whether nothing was written next to the last region, as far as the fences reach.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        let Range { start, end } = self.lent;
        if start == 0 {
            return true;
        }
        let before = &self.backing[start - FENCE..start];
        let behind = &self.backing[end..end + FENCE];
        before.iter().chain(behind).all(|byte| {
            // SAFETY: `region` filled the fences, and whoever wrote to them since wrote bytes.
            unsafe { byte.assume_init() == JUNK.assume_init() }
        })
    }
}
