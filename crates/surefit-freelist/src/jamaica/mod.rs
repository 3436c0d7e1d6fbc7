//! Jamaica's fixed-size blocks: objects as lists of blocks, arrays as trees of blocks, and no
//! external fragmentation.
//!
//! Every object consists of blocks of one size, which may lie anywhere. So any free block serves
//! any object: all free space can be allocated, whatever was allocated and freed before, and
//! nothing ever moves. The price is paid on access.
//!
//! ```text
//! alloc(n):        k = blocks(n); refuse if fewer are free; take, zero and link k blocks      O(k)
//! free(object):    every block becomes the first of the free list                             O(k)
//! access(x):       Object: follow x / (B - 4) links     Array: from the root, a link per level
//! resize(object):  take or free the difference, at the end                                   O(k)
//!
//! region           | lead | block 0 | block 1 | ... | marks: a bit per block | tail |
//! Object's block   | next | B - 4 bytes |
//! Array's leaf     | B bytes            |      inner node   | child | child | ... |   B / 4 links
//! free block       | next |
//! ```
//! A link is a block's number plus one, or 0 for none. The last block of a list and the nodes at
//! the right edge of a tree may not be full; nothing else is lost.
//!
//! # Invariants
//! - J1: the free list names blocks below `opened` whose mark is clear, each once; it has
//!   `free_count` entries.
//! - J2: the mark of a block is set if and only if it belongs to a live object; `opened` = marked +
//!   free.
//! - J3: there are as many marked blocks as the counts of links, leaves and nodes say.
//! - J4: an object's blocks are marked, are as many as its length says, belong to no other object,
//!   and appear once. The heap does not know its objects, so only [`Jamaica::check_objects`]
//!   verifies this, for the objects that it is given.
//!
//! # Bounds
//! With blocks of `B` bytes, an Object of `n` bytes has `k = max(1, ⌈n / (B - 4)⌉)` blocks. An
//! Array has `⌈n / B⌉` leaves (at least one). Each level above a level of `m` blocks has
//! `⌈m / (B / 4)⌉` nodes, up to a single root.
//! - Space is exact: free blocks = all blocks - the sum of `k` over the live objects, whatever the
//!   order of operations. An allocation fails if and only if fewer than `k` blocks are free.
//! - Access to byte `x` follows `⌊x / (B - 4)⌋` links in an Object, `⌈log(leaves) / log(B / 4)⌉` in
//!   an Array.
//! - Overhead: 4 / B of an Object, about 4 / (B - 4) of an Array, one bit per block, and the unused
//!   end of the last block.
//!
//! # Departures
//! - The original is the heap of a Java virtual machine with a collector. Here the program frees
//!   objects explicitly. Objects have no header, because the handle holds the length. Each block
//!   has one mark, which [`check`](Jamaica::check) needs.
//! - Sequential reads and writes of an Object follow each link once, instead of starting at the
//!   first block for each block.
//! - There is no contiguous storage for objects whose blocks happen to be adjacent.
//!
//! # Drawbacks
//! No object above `B` bytes is contiguous: there is no `&[u8]` over an object, and there are no
//! typed values, alignments or raw pointers.
//!
//! # Source
//! Siebert, Eliminating External Fragmentation in a Non-Moving Garbage Collector for Java (CASES
//! 2000).
#![deny(unsafe_code)]

mod access;
mod blocks;
mod check;
mod handle;
mod shape;
#[cfg(test)]
mod tests;

use core::cell::Cell;
use core::mem::MaybeUninit;

use surefit_core::{Refused, Usage};

pub use handle::Bytes;
pub use shape::{Array, Object, Shape};

use blocks::{Blocks, WORD};
use handle::HeapId;
use shape::Count;

/// What a heap has done since it was made, and what it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JamaicaStats {
    /// Live objects and arrays.
    pub live_objects: usize,
    /// Blocks of the region.
    pub blocks: usize,
    /// Blocks that can be allocated.
    pub free_blocks: usize,
    /// Blocks of live Objects.
    pub list_blocks: usize,
    /// Leaves of live Arrays.
    pub leaf_blocks: usize,
    /// Inner nodes of live Arrays.
    pub inner_blocks: usize,
    /// Look-ups of a position in an object.
    pub accesses: u64,
    /// Links that look-ups followed.
    pub hops: u64,
    /// The most links that one look-up followed.
    pub hops_max: u64,
}

/// A heap of blocks of `B` bytes: a power of two from 16 to 128.
///
/// Objects are zeroed when they are allocated. Programs access their bytes by position or by chunk.
/// Dropping the heap leaks its live objects.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_freelist::jamaica::{Array, Jamaica, Object};
///
/// let mut memory = [MaybeUninit::uninit(); 4096];
/// let mut heap = <Jamaica>::new(&mut memory)?;
/// let mut text = heap.alloc::<Object>(50)?; // two blocks of 28 bytes
/// heap.write_at(&mut text, 25, b"over the end");
/// assert_eq!(heap.chunk(&text, 25), b"ove");
///
/// let table = heap.alloc::<Array>(1000)?; // 32 leaves, 4 + 1 nodes above
/// assert_eq!(heap.stats().free_blocks, heap.stats().blocks - 2 - 37);
/// heap.free(text);
/// heap.free(table);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
///
/// A freed object cannot be used:
/// ```compile_fail
/// # use core::mem::MaybeUninit;
/// # use surefit_freelist::jamaica::{Jamaica, Object};
/// # let mut memory = [MaybeUninit::uninit(); 4096];
/// # let mut heap = <Jamaica>::new(&mut memory).unwrap();
/// let text = heap.alloc::<Object>(50).unwrap();
/// heap.free(text);
/// heap.chunk(&text, 0); // the handle is gone
/// ```
#[derive(Debug)]
pub struct Jamaica<'m, const B: usize = 32> {
    blocks: Blocks<'m, B>,
    live: usize,
    count: Count,
    id: HeapId,
    accesses: Cell<u64>,
    hops: Cell<u64>,
    hops_max: Cell<u64>,
}

impl<'m, const B: usize> Jamaica<'m, B> {
    const VALID: () = assert!(
        B.is_power_of_two() && B >= 16 && B <= 128,
        "a block is a power of two from 16 to 128 bytes"
    );

    /// Makes a heap over a region, whatever the contents of the region.
    ///
    /// # Errors
    /// [`Refused::Region`] if not even one block fits; [`Refused::TooLarge`] if the region has more
    /// blocks than a link can name; [`Refused::NoHeapId`] after 2³² − 1 heaps.
    ///
    /// # Complexity
    /// Linear in the number of blocks: one bit per block is cleared.
    pub fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let () = Self::VALID;
        Ok(Self {
            blocks: Blocks::new(region)?,
            live: 0,
            count: Count::default(),
            id: HeapId::unique()?,
            accesses: Cell::new(0),
            hops: Cell::new(0),
            hops_max: Cell::new(0),
        })
    }

    /// Allocates an object of `len` bytes, all zero. An object of zero bytes also has a block.
    ///
    /// # Errors
    /// [`Refused::TooLarge`] if the region has too few blocks, [`Refused::NoChunk`] if too few of
    /// them are free. The heap is unchanged.
    ///
    /// # Complexity
    /// O(blocks of the object).
    pub fn alloc<S: Shape>(&mut self, len: usize) -> Result<Bytes<S>, Refused> {
        let count = self.affordable::<S>(Count::default(), len)?;
        let single = self.blocks.take();
        let first = S::grow(&mut self.blocks, single, 0, len);
        self.count.add(count);
        self.live += 1;
        Ok(Bytes::new(first, self.id, len))
    }

    /// Frees an object.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    ///
    /// # Complexity
    /// O(blocks of the object).
    pub fn free<S: Shape>(&mut self, bytes: Bytes<S>) {
        self.assert_own(&bytes);
        let single = S::shrink(&mut self.blocks, bytes.first, bytes.len(), 0);
        self.blocks.give(single);
        self.count.remove(S::count::<B>(bytes.len()));
        self.live -= 1;
    }

    /// Changes the length of an object. The bytes up to the smaller length stay where they are;
    /// added bytes are zero.
    ///
    /// # Errors
    /// As [`Jamaica::alloc`], or [`Refused::ForeignHandle`]; the object is unchanged. Only the
    /// added blocks need to be free.
    ///
    /// # Complexity
    /// O(blocks added or removed), and the look-up of the last block.
    pub fn resize<S: Shape>(&mut self, bytes: &mut Bytes<S>, len: usize) -> Result<(), Refused> {
        self.own(bytes)?;
        let old = bytes.len();
        let had = S::count::<B>(old);
        let has = self.affordable::<S>(had, len)?;
        if len < old {
            bytes.first = S::shrink(&mut self.blocks, bytes.first, old, len);
        } else {
            self.zero_rest(bytes);
            bytes.first = S::grow(&mut self.blocks, bytes.first, old, len);
        }
        bytes.set_len(len);
        self.count.remove(had);
        self.count.add(has);
        Ok(())
    }

    /// The blocks of an object of `len` bytes, if those that it lacks are free.
    fn affordable<S: Shape>(&self, had: Count, len: usize) -> Result<Count, Refused> {
        let count = S::count::<B>(len);
        if count.total() > self.blocks.total() {
            let limit = self.largest_request::<S>();
            return Err(Refused::TooLarge { limit });
        }
        if count.total().saturating_sub(had.total()) > self.blocks.available() {
            return Err(Refused::NoChunk);
        }
        Ok(count)
    }

    /// The largest object, in bytes, that an empty heap serves.
    #[must_use]
    pub fn largest_request<S: Shape>(&self) -> usize {
        let (mut fits, mut beyond) = (0, self.blocks.total() * B + 1);
        while fits + 1 < beyond {
            let middle = fits.midpoint(beyond);
            if S::count::<B>(middle).total() <= self.blocks.total() {
                fits = middle;
            } else {
                beyond = middle;
            }
        }
        fits
    }

    /// The number of blocks that an object of `len` bytes takes.
    ///
    /// A heap of blocks of four bytes is impossible, so this does not compile:
    /// ```compile_fail
    /// use surefit_freelist::jamaica::{Jamaica, Object};
    /// let _ = Jamaica::<4>::blocks_for::<Object>(9);
    /// ```
    #[must_use]
    pub fn blocks_for<S: Shape>(len: usize) -> usize {
        let () = Self::VALID;
        S::count::<B>(len).total()
    }

    /// Counters, and how the blocks are used.
    #[must_use]
    pub fn stats(&self) -> JamaicaStats {
        JamaicaStats {
            live_objects: self.live,
            blocks: self.blocks.total(),
            free_blocks: self.blocks.available(),
            list_blocks: self.count.listed,
            leaf_blocks: self.count.leaves,
            inner_blocks: self.count.inner,
            accesses: self.accesses.get(),
            hops: self.hops.get(),
            hops_max: self.hops_max.get(),
        }
    }

    /// Accounts for every byte of the region: the parts add up to its size. Links, inner nodes and
    /// marks are administrative.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let payload = self.count.listed * (B - WORD) + self.count.leaves * B;
        let free = self.blocks.available() * B;
        Usage {
            block_bytes: payload,
            free_chunk_bytes: free,
            administrative_bytes: self.blocks.region_bytes() - payload - free,
            ..Usage::default()
        }
    }

    fn own<S: Shape>(&self, bytes: &Bytes<S>) -> Result<(), Refused> {
        if bytes.heap == self.id {
            Ok(())
        } else {
            Err(Refused::ForeignHandle)
        }
    }

    fn assert_own<S: Shape>(&self, bytes: &Bytes<S>) {
        assert!(bytes.heap == self.id, "the handle belongs to another heap");
    }
}
