//! The binary buddy system: blocks whose sizes are powers of two, which are halved and merged
//! again.
//!
//! A block's size and position determine the only block with which it may be merged. So a merge
//! needs no search.
//!
//! ```text
//! allocate(n): k = the order of max(n, alignment)
//!              the first order >= k with a free block: one look at `filled`
//!              halve the block until it has order k; each upper half becomes free
//! free(b):     k = order(b); while the buddy, b xor 2^k, is free and of order k: merge, k + 1
//! resize(b):   smaller: halve; the upper halves become free
//!              larger: merge with the upper buddies, if all that are needed are free; else move
//!
//! region  | lead | 2 words of nobody | heads of orders | map: byte per unit | gap | unit | ... |
//! map:    first unit of a block in use: 1 + order; of a free block: 128 + 1 + order; others: 0
//! free block: | next | back | ... |          a block of order k: 2^k units of SMALLEST bytes
//! ```
//! Units are numbered from an address that is a multiple of 64 KiB, at or before the region. Blocks
//! of order `k` start at multiples of `2^k` in these numbers. So every block is aligned to its
//! size, up to 64 KiB, wherever the region starts. The size of the region need not be a power of
//! two: at first, the fewest aligned blocks that tile the region are free. A block whose buddy lies
//! outside the region, in whole or in part, is never merged, because the map has no free block of
//! its order there.
//!
//! # Invariants
//! - K1: blocks tile the units from `first` to `last`, each at a multiple of its size. The map is 0
//!   inside blocks.
//! - K2: no free block has a free buddy of its own order.
//! - K3: the list of an order holds exactly the free blocks of that order, and each `back` names
//!   the word that names the block.
//! - K4: bit `k` of `filled` is set if and only if the list of order `k` holds a block.
//! - K5: `live` is the number of blocks in use.
//!
//! # Bounds
//! With `U` units, `allocate` halves at most `log2 U` blocks and `free` merges at most as many
//! pairs; neither searches. A request of `s` bytes takes the next power of two: less than twice
//! `s`. On average a quarter of the block is unused if sizes are uniform between powers of two; at
//! worst, just under a half. The map takes one byte in `SMALLEST + 1`.
//!
//! # Departures
//! - The map, not a header, stores the order of a block in use: a header would spoil the powers of
//!   two.
//! - An object that grows stays where it is if its upper buddies are free. The original has no
//!   resize.
//!
//! # Drawbacks
//! Internal fragmentation, as above. Free neighbours that are not buddies never merge. Alignments
//! over 64 KiB are refused.
//!
//! # Source
//! Knowlton, A Fast Storage Allocator (1965); Knuth, The Art of Computer Programming 1, 2.5,
//! algorithms R and S; Peterson, Norman, Buddy Systems (1977).

mod check;
mod map;
#[cfg(test)]
mod tests;

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{Corruption, RawHeap, Refused, Usage};

use crate::memory::GRANULE;

use map::{Block, MOST_ALIGNED, Map};

/// What a buddy system has done since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BuddyCounters {
    /// The number of blocks that were halved.
    pub splits: u64,
    /// The number of pairs of buddies that were merged.
    pub merges: u64,
    /// The most blocks that one call halved, or the most pairs that it merged.
    pub most_per_call: u32,
}

/// A binary buddy system over one region. The smallest block has `SMALLEST` bytes: a power of two
/// from 8 to 4096.
///
/// Objects have addresses that never change. Dropping the heap leaks its live objects.
///
/// # Examples
/// ```
/// use core::{alloc::Layout, mem::MaybeUninit};
/// use surefit_core::RawHeap;
/// use surefit_freelist::Buddy;
///
/// let mut memory = [MaybeUninit::uninit(); 100_000];
/// let mut heap = <Buddy>::new(&mut memory)?;
/// let layout = Layout::new::<[u8; 100]>();
/// let object = heap.allocate(layout)?;
/// assert_eq!(object.addr().get() % 128, 0);
/// assert_eq!(heap.usage().block_bytes, 128);
/// // SAFETY: the object is live and has this layout.
/// unsafe { heap.free(object, layout) };
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[derive(Debug)]
pub struct Buddy<'m, const SMALLEST: usize = 16> {
    map: Map<'m, SMALLEST>,
    /// Bit `k` says whether a block of order `k` is free.
    filled: u32,
    live: usize,
    largest_request: usize,
    counters: BuddyCounters,
}

impl<'m, const SMALLEST: usize> Buddy<'m, SMALLEST> {
    const VALID: () = assert!(
        SMALLEST.is_power_of_two() && SMALLEST >= GRANULE && SMALLEST <= 4096,
        "the smallest block is a power of two from 8 to 4096 bytes"
    );

    /// Makes a heap over a region, whatever the contents of the region.
    ///
    /// # Errors
    /// [`Refused::Region`] if the region is too small for the map and one block;
    /// [`Refused::TooLarge`] if it is larger than 8 GiB.
    ///
    /// # Complexity
    /// Linear in the number of units: the map is cleared.
    pub fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let () = Self::VALID;
        let mut heap = Self {
            map: Map::new(region)?,
            filled: 0,
            live: 0,
            largest_request: 0,
            counters: BuddyCounters::default(),
        };
        let mut at = heap.map.first();
        while let Some(block) = heap.map.largest_at(at) {
            heap.insert(block);
            heap.largest_request = heap.largest_request.max(Self::bytes(block.order));
            at = block.end();
        }
        Ok(heap)
    }

    /// What the heap has done since it was made.
    #[must_use]
    pub const fn counters(&self) -> BuddyCounters {
        self.counters
    }

    /// The number of live objects.
    #[must_use]
    pub const fn live_objects(&self) -> usize {
        self.live
    }

    /// The largest request, in bytes, that an empty heap serves.
    #[must_use]
    pub const fn largest_request(&self) -> usize {
        self.largest_request
    }

    /// As [`Map::region_bytes`].
    pub(crate) fn region_bytes(units: usize) -> Option<usize> {
        Map::<SMALLEST>::region_bytes(units)
    }

    /// The size of the blocks of an order.
    const fn bytes(order: u32) -> usize {
        SMALLEST << order
    }

    /// The order of the blocks that serve a request of `bytes` bytes.
    const fn order_for(bytes: usize) -> u32 {
        let units = bytes.div_ceil(SMALLEST);
        usize::BITS - units.saturating_sub(1).leading_zeros()
    }

    /// Makes a block free. Its buddy must be in use or divided.
    fn insert(&mut self, block: Block) {
        self.map.set_free(block);
        self.map.link(block);
        self.filled |= 1 << block.order;
    }

    /// Takes a free block out of its list.
    fn remove(&mut self, block: Block) {
        self.map.unlink(block);
        if self.map.first_free(block.order).is_none() {
            self.filled &= !(1 << block.order);
        }
    }

    /// Makes the first `2^order` units of a block a block in use, and the rest free. The block must
    /// be in no list.
    fn halve_to(&mut self, mut block: Block, order: u32) -> Block {
        self.note(block.order - order, true);
        while block.order > order {
            block.order -= 1;
            self.insert(block.buddy());
        }
        self.map.set_used(block);
        block
    }

    fn note(&mut self, times: u32, is_split: bool) {
        let counters = &mut self.counters;
        let total = if is_split {
            &mut counters.splits
        } else {
            &mut counters.merges
        };
        *total += u64::from(times);
        counters.most_per_call = counters.most_per_call.max(times);
    }

    /// Makes a block in use free, merged with its free buddies.
    fn make_free(&mut self, block: Block) {
        self.map.clear(block);
        let mut merged = block;
        while self.map.is_free(merged.buddy()) {
            let buddy = merged.buddy();
            self.remove(buddy);
            self.map.clear(buddy);
            merged = merged.parent();
        }
        self.note(merged.order - block.order, false);
        self.insert(merged);
        self.live -= 1;
    }

    /// Changes the order of a block in use without moving it, if the buddies above it are free.
    fn resize_in_place(&mut self, block: Block, order: u32) -> bool {
        if order <= block.order {
            self.halve_to(block, order);
            return true;
        }
        let absorbed = || (block.order..order).map(|order| Block { order, ..block }.buddy());
        let is_upper = |buddy: &Block| buddy.unit > block.unit;
        if !absorbed().all(|buddy| is_upper(&buddy) && self.map.is_free(buddy)) {
            return false;
        }
        for buddy in absorbed() {
            self.remove(buddy);
            self.map.clear(buddy);
        }
        self.note(order - block.order, false);
        self.map.set_used(Block { order, ..block });
        true
    }

    /// The order of the blocks that serve a layout.
    ///
    /// # Errors
    /// If an empty heap could not serve it either.
    fn order_of(&self, layout: Layout) -> Result<u32, Refused> {
        if layout.align() > MOST_ALIGNED {
            let limit = MOST_ALIGNED;
            return Err(Refused::TooAligned { limit });
        }
        let bytes = layout.size().max(layout.align());
        if bytes > self.largest_request {
            let limit = self.largest_request;
            return Err(Refused::TooLarge { limit });
        }
        Ok(Self::order_for(bytes))
    }
}

// SAFETY: a block that leaves its list was free, hence part of no live object (K1, K3), and is
// marked as used before it is handed out. It lies inside the region, is at least as long as
// requested (`order_for`), and is aligned to its size up to 64 KiB (K1, and unit 0 has that
// alignment).
unsafe impl<const SMALLEST: usize> RawHeap for Buddy<'_, SMALLEST> {
    #[inline]
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        let order = self.order_of(layout)?;
        // `order` is below 32: it is at most that of the largest request.
        let large_enough = self.filled >> order << order;
        if large_enough == 0 {
            return Err(Refused::NoChunk);
        }
        let found = large_enough.trailing_zeros();
        let block = self.map.first_free(found).ok_or(Refused::NoChunk)?;
        self.remove(block);
        let block = self.halve_to(block, order);
        self.live += 1;
        Ok(self.map.address(block))
    }

    #[inline]
    unsafe fn free(&mut self, object: NonNull<u8>, _layout: Layout) {
        let block = self.map.block_in_use(object);
        self.make_free(block);
    }

    /// As `free`. Finds every address at which no live object begins.
    #[inline]
    unsafe fn try_free(&mut self, object: NonNull<u8>, _layout: Layout) -> Result<(), Refused> {
        let block = self.map.find_in_use(object)?;
        self.make_free(block);
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
        // SAFETY: the caller promises a size that does not overflow.
        let new_layout = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        let block = self.map.find_in_use(object)?;
        let order = self.order_of(new_layout)?;
        if self.resize_in_place(block, order) {
            return Ok(object);
        }
        let moved = self.allocate(new_layout)?;
        // SAFETY: both objects are live and disjoint, and at least the smaller size long (K1).
        unsafe { object.copy_to_nonoverlapping(moved, layout.size().min(new_size)) };
        // SAFETY: S1 and S2 are the caller's promise.
        unsafe { self.free(object, layout) };
        Ok(moved)
    }

    fn usage(&self) -> Usage {
        self.account()
    }

    fn check(&self) -> Result<(), Corruption> {
        self.check_all()
    }
}
