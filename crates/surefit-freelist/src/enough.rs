//! How many bytes are enough for a program: proven upper bounds of systems that never move an
//! object.
//!
//! ```text
//! | live | free < f | live | live | free < f | live | free < f |      refused: every free chunk is short
//! ```
//! Let a program have at most N live objects at once, and let M be the most granules of their
//! chunks together. An index that *finds* f granules for a request never misses a free chunk of f
//! granules or more ([`Index::found`]). Let a request of r granules, for the N-th object, be
//! refused after all free neighbours were merged. Then
//! - at most N − 1 objects are live. Their chunks have at most M − r granules, and one more each:
//!   what is left of a chunk stays with its object if it is too short for a chunk of its own;
//! - each free chunk has at most f − 1 granules, and between two of them lies a live one: so there
//!   are at most N.
//!
//! So the heap has at most M − r + (N − 1) + N·(f − 1) granules, which is less than **M + N·f**. A
//! heap of so many never refuses.
//!
//! In a buddy system requests of up to 2ᵏ bytes are refused only if no area of 2ᵏ bytes at a
//! multiple of 2ᵏ is free: if it were, its blocks would have been merged into one. A region of
//! **(N + 1)·2ᵏ** bytes has at least N such areas, wherever it begins, and N − 1 live objects lie
//! in at most N − 1 of them.
//!
//! # Conditions
//! Alignments are at most eight bytes, except in buddy systems, where a block is as long as the
//! alignment. A resize that moves its object has both objects live: the numbers count both.
//!
//! # Source
//! The two arguments are elementary. Robson, Worst case fragmentation of first fit and best fit
//! storage allocation strategies (1977): best fit can need nearly M·g, so the term N·f is not
//! generous.
#![deny(unsafe_code, clippy::arithmetic_side_effects)]

use crate::buddy::Buddy;
use crate::chunk::{SMALLEST, granules_for};
use crate::heap::{Heap, first_chunk};
use crate::index::Index;
use crate::memory::{GRANULE, MOST_GRANULES, WORD};

impl<I: Index> Heap<'_, I> {
    /// Bytes that are enough, wherever the region begins: a heap in so many, or in more, never
    /// refuses a program that has at most `objects` live objects at once, of up to `largest` bytes
    /// each and `bytes` together, aligned to at most eight bytes. A resize that moves its object
    /// counts both.
    ///
    /// `None` if no region is enough: for a system that never merges, and for more than 8 GiB.
    ///
    /// # Examples
    /// ```
    /// use surefit_freelist::{BestFit, HalfFit, Never, Bitmap, SegregatedFit, Tlsf};
    ///
    /// // At most 100 objects of up to 1000 bytes, and 10,000 bytes of all at once.
    /// let demand = (100, 10_000, 1000);
    /// let bytes = |(objects, bytes, largest)| BestFit::enough_bytes(objects, bytes, largest);
    /// assert!(bytes(demand) < HalfFit::enough_bytes(100, 10_000, 1000));
    /// assert!(Tlsf::enough_bytes(100, 10_000, 1000).is_some_and(|enough| enough < 120_000));
    /// assert_eq!(SegregatedFit::<Bitmap, Never>::enough_bytes(100, 10_000, 1000), None);
    /// ```
    #[must_use]
    pub fn enough_bytes(objects: usize, bytes: usize, largest: usize) -> Option<usize> {
        if largest.checked_add(WORD + GRANULE)? / GRANULE > MOST_GRANULES {
            return None;
        }
        let request = I::rounded(granules_for(largest));
        let found = usize::try_from(I::found(request)?).ok()?;
        // A request of b bytes takes at most b and so many bytes: its header, and what it is
        // rounded up by; at least a smallest chunk.
        let step = GRANULE.checked_mul(I::rounded(1) as usize)?;
        let rounded_up = (WORD.checked_add(step)?).max((SMALLEST as usize).checked_mul(GRANULE)?);
        let sum = objects.checked_mul(rounded_up)?.checked_add(bytes)?;
        let all_largest = objects.checked_mul(request as usize)?;
        let chunks = all_largest.min(sum.div_ceil(GRANULE));
        let holes = objects.checked_mul(found)?;
        let needed = chunks.checked_add(holes)?.max(SMALLEST as usize);
        region_bytes::<I>(needed)
    }
}

/// The bytes of a region, wherever it begins, whose chunks have so many granules; also any larger
/// one has so many.
fn region_bytes<I: Index>(needed: usize) -> Option<usize> {
    let mut granules = needed;
    loop {
        if granules > MOST_GRANULES {
            return None;
        }
        // A larger region has a larger table: as much larger as a region of twice the length has.
        let most = u32::try_from(granules.checked_mul(2)?.min(MOST_GRANULES)).ok()?;
        let all = needed.checked_add(first_chunk::<I>(most).granule() as usize)?;
        if all == granules {
            return granules.checked_mul(GRANULE)?.checked_add(GRANULE - 1);
        }
        granules = all;
    }
}

impl<const SMALLEST: usize> Buddy<'_, SMALLEST> {
    /// Bytes that are enough, wherever the region begins: a heap in so many, or in more, never
    /// refuses a program that has at most `objects` live objects at once, of up to `largest` bytes
    /// and aligned to no more than that. A resize that moves its object counts both.
    ///
    /// `None` if no region is enough: for more than 8 GiB.
    ///
    /// # Examples
    /// ```
    /// use core::{alloc::Layout, mem::MaybeUninit};
    /// use surefit_core::RawHeap;
    /// use surefit_freelist::Buddy;
    ///
    /// let bytes = <Buddy>::enough_bytes(3, 1000).expect("a small heap");
    /// let mut memory = vec![MaybeUninit::uninit(); bytes];
    /// let mut heap = <Buddy>::new(&mut memory)?;
    /// for _ in 0..3 {
    ///     heap.allocate(Layout::new::<[u8; 1000]>())?;
    /// }
    /// # Ok::<(), surefit_core::Refused>(())
    /// ```
    #[must_use]
    pub fn enough_bytes(objects: usize, largest: usize) -> Option<usize> {
        let block = largest.max(SMALLEST).checked_next_power_of_two()?;
        let bytes = objects.checked_add(1)?.checked_mul(block)?;
        Self::region_bytes(bytes.checked_div(SMALLEST)?)
    }
}
