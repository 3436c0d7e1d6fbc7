//! The header of a page: its place in a list, and which of its page-blocks are used.

use std::num::NonZeroU32;

/// Bytes of a page's header.
pub(super) const HEADER_BYTES: usize = 184;
/// Words of the bitmap's lower level.
const LEAVES: usize = 16;
/// The most page-blocks of a page.
pub(super) const MOST_BLOCKS: usize = 64 * LEAVES;

/// The number of a page, plus one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Page(NonZeroU32);

impl Page {
    /// The page with this number, which is at most `u32::MAX - 1`.
    #[inline]
    pub(super) fn new(number: u32) -> Self {
        Self(NonZeroU32::MIN.saturating_add(number))
    }

    /// The page's number.
    #[inline]
    pub(super) fn number(self) -> u32 {
        self.0.get() - 1
    }
}

/// A page's header. It lies behind the page's payload.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(super) struct Header {
    pub(super) newer: Option<Page>,
    pub(super) older: Option<Page>,
    /// u: used page-blocks; 0 if the page is free.
    pub(super) used: u16,
    pub(super) class: u8,
    /// A bit is set iff its leaf has a clear bit.
    not_full: u16,
    /// A bit is clear iff its page-block exists and is free.
    leaves: [u64; LEAVES],
}

const _: () = assert!(size_of::<Header>() <= HEADER_BYTES, "as large as published");

impl Header {
    /// The header of a page of `blocks` free page-blocks.
    pub(super) fn of_class(class: u8, blocks: u16) -> Self {
        let mut header = Self {
            class,
            ..Self::default()
        };
        for (number, leaf) in header.leaves.iter_mut().enumerate() {
            let here = usize::from(blocks).saturating_sub(64 * number).min(64);
            *leaf = u64::MAX.checked_shl(here as u32).unwrap_or(0);
            header.not_full |= u16::from(here > 0) << number;
        }
        header
    }

    /// Takes the first free page-block; there is one.
    #[inline]
    pub(super) fn take(&mut self) -> u16 {
        let number = self.not_full.trailing_zeros() as usize % LEAVES;
        let leaf = &mut self.leaves[number];
        let bit = leaf.trailing_ones();
        *leaf |= 1 << (bit % 64);
        self.not_full &= !(u16::from(*leaf == u64::MAX) << number);
        self.used += 1;
        number as u16 * 64 + bit as u16
    }

    /// Frees a used page-block.
    #[inline]
    pub(super) fn put_back(&mut self, block: u16) {
        let (number, bit) = (usize::from(block / 64) % LEAVES, block % 64);
        debug_assert!(self.is_used(block), "S1: a foreign or double free");
        self.leaves[number] &= !(1 << bit);
        self.not_full |= 1 << number;
        self.used -= 1;
    }

    /// Whether a page-block is used, or does not exist.
    pub(super) fn is_used(&self, block: u16) -> bool {
        self.leaves[usize::from(block / 64) % LEAVES] >> (block % 64) & 1 == 1
    }

    /// Whether both levels of the bitmap and the count agree, for a page of `blocks` page-blocks.
    pub(super) fn is_sound(&self, blocks: u16) -> bool {
        let taken: u32 = self.leaves.iter().map(|leaf| leaf.count_ones()).sum();
        let missing = (MOST_BLOCKS - usize::from(blocks)) as u32;
        let mut leaves = self.leaves.iter().enumerate();
        taken == u32::from(self.used) + missing
            && (blocks..MOST_BLOCKS as u16).all(|block| self.is_used(block))
            && leaves
                .all(|(number, leaf)| (self.not_full >> number & 1 == 0) == (*leaf == u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::Header;

    #[test]
    fn page_blocks_are_taken_in_order_and_reused() {
        for blocks in [1, 2, 63, 64, 65, 1012] {
            let mut header = Header::of_class(3, blocks);
            for block in 0..blocks {
                assert!(header.is_sound(blocks) && header.take() == block);
            }
            let middle = blocks / 2;
            header.put_back(middle);
            assert!(header.is_sound(blocks) && !header.is_used(middle));
            assert_eq!((header.take(), header.used), (middle, blocks));
            assert!(header.is_sound(blocks));
            header.used -= 1;
            assert!(!header.is_sound(blocks), "a wrong count is found");
        }
    }
}
