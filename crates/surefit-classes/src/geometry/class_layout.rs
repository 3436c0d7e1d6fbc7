//! Where everything lies in a page of one size-class.
#![deny(
    unsafe_code,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::cast::{half, word};
use super::placement::Page;

/// Where everything lies in a page of one size-class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassLayout {
    /// β, bytes of a page-block.
    pub block_bytes: u32,
    /// π, page-blocks of a page.
    pub blocks: u16,
    /// Bitmap words of 64 bits in the page; 0 if π ≤
    /// [`INLINE_BLOCKS`](crate::geometry::INLINE_BLOCKS), because then the bits are in the page's
    /// record.
    pub leaves: u16,
    /// On smaller processors the table is to be small, and a product costs no more than a load.
    #[cfg(target_pointer_width = "64")]
    leaf_offset: u32,
    #[cfg(target_pointer_width = "64")]
    back_offset: u32,
    /// ⌈2³² / β⌉.
    pub reciprocal: u32,
}

impl ClassLayout {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the parts of a page, which is at most 64 KiB"
    )]
    pub(super) const fn new(page: Page, block_bytes: usize) -> Self {
        let blocks = page.room(block_bytes);
        let leaves = page.leaves(blocks);
        #[cfg(target_pointer_width = "64")]
        let leaf_offset = blocks * block_bytes;
        Self {
            block_bytes: word(block_bytes as u64),
            blocks: half(blocks),
            leaves: half(leaves),
            #[cfg(target_pointer_width = "64")]
            leaf_offset: word(leaf_offset as u64),
            #[cfg(target_pointer_width = "64")]
            back_offset: word((leaf_offset + 8 * leaves) as u64),
            reciprocal: word((1_u64 << 32).div_ceil(block_bytes as u64)),
        }
    }

    /// Where the leaves begin, in bytes from the start of the page; a multiple of 8.
    #[inline]
    #[must_use]
    pub const fn leaf_offset(&self) -> u32 {
        #[cfg(target_pointer_width = "64")]
        return self.leaf_offset;
        #[cfg(not(target_pointer_width = "64"))]
        return (self.blocks as u32).wrapping_mul(self.block_bytes);
    }

    /// Where the back-references begin, in bytes from the start of the page; a multiple of 8.
    /// Meaningless if π ≤ [`INLINE_BLOCKS`](crate::geometry::INLINE_BLOCKS) or with
    /// [`Tail::None`](crate::geometry::Tail::None).
    #[inline]
    #[must_use]
    pub const fn back_offset(&self) -> u32 {
        #[cfg(target_pointer_width = "64")]
        return self.back_offset;
        #[cfg(not(target_pointer_width = "64"))]
        return self.leaf_offset().wrapping_add(8 * self.leaves as u32);
    }

    /// The page-block to which the byte at `offset` from the start of the page belongs: ⌊`offset` /
    /// β⌋.
    ///
    /// Exact for every `offset` below 64 KiB (proof in the module's documentation). It multiplies
    /// instead of dividing.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "a product of 32 bits in 64 bits"
    )]
    #[inline]
    #[must_use]
    pub const fn block_at(&self, offset: u32) -> u32 {
        word((offset as u64 * self.reciprocal as u64) >> 32)
    }

    /// Where page-block `block` begins, in bytes from the start of the page; `block` must be below
    /// π.
    ///
    /// # Panics
    /// In debug builds, if the page has no such page-block; in release builds the result is then
    /// meaningless.
    #[inline]
    #[must_use]
    pub const fn offset_of(&self, block: u32) -> u32 {
        debug_assert!(block < self.blocks as u32, "a page-block of this page");
        block.wrapping_mul(self.block_bytes)
    }
}
