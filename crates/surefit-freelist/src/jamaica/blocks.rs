//! The blocks of a region: free ones, marks, and the words and bytes inside. Only this file touches
//! raw memory.
//!
//! # Invariants
//! - The first `opened` blocks and all marks are initialised: each of their bytes was written.
#![allow(unsafe_code, reason = "slices of bytes that were written")]

use core::mem::MaybeUninit;
use core::ops::Range;

use surefit_core::Refused;

/// Bytes of a link.
pub(super) const WORD: usize = 4;
/// The most blocks: a link is a block's number plus one, and 0 names no block.
const MOST_BLOCKS: usize = u32::MAX as usize - 1;

/// The region, as blocks of `B` bytes.
#[derive(Debug)]
pub struct Blocks<'m, const B: usize> {
    memory: &'m mut [MaybeUninit<u8>],
    /// A bit for each block: whether it belongs to a live object.
    pub(super) marks: &'m mut [u8],
    region_bytes: usize,
    /// Blocks that were taken at least once. All blocks after them are free too.
    pub(super) opened: u32,
    /// The link to the first free block among the opened ones.
    pub(super) free: u32,
    pub(super) free_count: usize,
}

impl<'m, const B: usize> Blocks<'m, B> {
    /// Divides a region into blocks, the first of which is aligned to its size, and their marks.
    pub(super) fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let region_bytes = region.len();
        let lead = region.as_ptr().align_offset(B).min(region_bytes);
        let room = region_bytes - lead;
        // Each block takes its bytes and one bit.
        let count = (8 * room as u64 / (8 * B as u64 + 1)) as usize;
        if count == 0 {
            return Err(Refused::Region { needed: 2 * B });
        }
        if count > MOST_BLOCKS {
            let limit = MOST_BLOCKS.saturating_mul(B);
            return Err(Refused::TooLarge { limit });
        }
        let (memory, marks) = region[lead..].split_at_mut(count * B);
        Ok(Self {
            memory,
            marks: cleared(&mut marks[..count.div_ceil(8)]),
            region_bytes,
            opened: 0,
            free: 0,
            free_count: 0,
        })
    }

    pub(super) const fn region_bytes(&self) -> usize {
        self.region_bytes
    }

    /// The number of blocks in the region.
    pub(super) const fn total(&self) -> usize {
        self.memory.len() / B
    }

    /// The number of blocks that can be taken.
    pub(super) const fn available(&self) -> usize {
        self.free_count + self.total() - self.opened as usize
    }

    const fn span(block: u32) -> Range<usize> {
        let start = block as usize * B;
        start..start + B
    }

    /// The bytes of an opened block.
    pub(super) fn bytes(&self, block: u32) -> &[u8] {
        assert!(block < self.opened, "the block was never opened");
        let bytes = &self.memory[Self::span(block)];
        // SAFETY: blocks below `opened` are initialised (the invariant); `u8` has the layout of
        // `MaybeUninit<u8>`.
        unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast(), B) }
    }

    /// As `bytes`, but mutable.
    pub(super) fn bytes_mut(&mut self, block: u32) -> &mut [u8] {
        assert!(block < self.opened, "the block was never opened");
        let bytes = &mut self.memory[Self::span(block)];
        // SAFETY: as in `bytes`, borrowed exclusively; only initialised bytes can be written
        // through the slice.
        unsafe { core::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), B) }
    }

    /// The nth link of a block: a block's number plus one, or 0.
    pub(super) fn link(&self, block: u32, nth: usize) -> u32 {
        let word = self.bytes(block)[nth * WORD..].first_chunk();
        word.map_or(0, |&word| u32::from_ne_bytes(word))
    }

    /// Makes the nth link of a block name a block.
    pub(super) fn set_link(&mut self, block: u32, nth: usize, link: u32) {
        self.bytes_mut(block)[nth * WORD..][..WORD].copy_from_slice(&link.to_ne_bytes());
    }

    /// The block that the nth link of a block names. The link must name one.
    pub(super) fn linked(&self, block: u32, nth: usize) -> u32 {
        let link = self.link(block, nth);
        debug_assert!(link != 0, "J4: the object has another block");
        link.wrapping_sub(1)
    }

    /// Takes a free block and zeroes it. At least one must be available.
    pub(super) fn take(&mut self) -> u32 {
        let block = if self.free == 0 {
            self.opened += 1;
            self.opened - 1
        } else {
            let block = self.free - 1;
            self.free = self.link(block, 0);
            self.free_count -= 1;
            block
        };
        self.memory[Self::span(block)].fill(MaybeUninit::new(0));
        self.marks[block as usize / 8] |= 1 << (block % 8);
        block
    }

    /// Frees a block of a live object.
    pub(super) fn give(&mut self, block: u32) {
        debug_assert!(self.is_marked(block), "J2: the block is in use");
        self.marks[block as usize / 8] &= !(1 << (block % 8));
        self.set_link(block, 0, self.free);
        self.free = block + 1;
        self.free_count += 1;
    }

    /// Whether the mark of a block says that it belongs to a live object.
    pub(super) fn is_marked(&self, block: u32) -> bool {
        self.marks[block as usize / 8] & 1 << (block % 8) != 0
    }
}

/// Clears bytes, which initialises them.
fn cleared(bytes: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    bytes.fill(MaybeUninit::new(0));
    let (first, len) = (bytes.as_mut_ptr().cast(), bytes.len());
    // SAFETY: all bytes were just written, and stay borrowed exclusively by the result.
    unsafe { core::slice::from_raw_parts_mut(first, len) }
}
