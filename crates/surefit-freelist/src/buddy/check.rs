//! Verifies the numbered invariants of the buddy system, and accounts for every byte of a region.
//!
//! The checker compares each value before it relies on it: a corrupted heap must not lead the
//! checker out of the region.
#![deny(unsafe_code)]

use surefit_core::{Corruption, Usage, ensure};

use super::Buddy;
use super::map::{Block, Map};
use crate::chunk::Chunk;

impl<const SMALLEST: usize> Buddy<'_, SMALLEST> {
    /// Accounts for every byte. All bytes outside the blocks are administrative: the table,
    /// alignment, the remainder of a unit.
    pub(super) fn account(&self) -> Usage {
        let mut usage = Usage::default();
        let mut unit = self.map.first();
        while let Some((block, is_free)) = self.map.sound_block_at(unit) {
            if is_free {
                usage.free_chunk_bytes += Self::bytes(block.order);
            } else {
                usage.block_bytes += Self::bytes(block.order);
            }
            unit = block.end();
        }
        let blocks = usage.block_bytes + usage.free_chunk_bytes;
        usage.administrative_bytes = self.map.memory.region_bytes() - blocks;
        usage
    }

    /// Verifies K1 to K5.
    pub(super) fn check_all(&self) -> Result<(), Corruption> {
        let found = self.check_tiling()?;
        let mut filled = 0;
        for order in 0..self.map.orders_count() {
            ensure(
                self.map.check_list(order)? == found.free[order as usize],
                "K3",
                "the list of an order does not hold all its free blocks; order",
                order as usize,
            )?;
            filled |= u32::from(found.free[order as usize] > 0) << order;
        }
        ensure(
            filled == self.filled,
            "K4",
            "the bits do not show which orders have free blocks; bits that differ",
            (filled ^ self.filled) as usize,
        )?;
        ensure(
            found.used == self.live,
            "K5",
            "the number of live objects is not that of blocks in use; blocks in use",
            found.used,
        )
    }

    /// Verifies K1 and K2; counts the blocks.
    fn check_tiling(&self) -> Result<Found, Corruption> {
        let mut found = Found::default();
        let mut unit = self.map.first();
        while let Some((block, is_free)) = self.map.sound_block_at(unit) {
            if !is_free {
                found.used += 1;
            } else {
                let what = "a free block has a free buddy of its order; unit";
                ensure(!self.map.is_free(block.buddy()), "K2", what, unit as usize)?;
                found.free[block.order as usize] += 1;
            }
            unit = block.end();
            let mut inside = block.unit + 1..unit;
            if let Some(wrong) = inside.find(|&unit| self.map.byte(unit) != 0) {
                let what = "the map has a block inside another; unit";
                return Err(Corruption::new("K1", what, wrong as usize));
            }
        }
        ensure(
            unit >= self.map.last() && self.map.is_padded(),
            "K1",
            "no block starts where the one before ends, or the map goes on after the last; unit",
            unit as usize,
        )?;
        Ok(found)
    }
}

/// Blocks that a walk over the map found.
#[derive(Default)]
struct Found {
    used: usize,
    /// Free blocks by order.
    free: [usize; u32::BITS as usize],
}

impl<const SMALLEST: usize> Map<'_, SMALLEST> {
    /// The block at a unit, and whether it is free; `None` unless the map says that a block starts
    /// there and such a block is possible.
    fn sound_block_at(&self, unit: u32) -> Option<(Block, bool)> {
        if unit >= self.last() {
            return None;
        }
        let (block, is_free) = self.block_at(unit)?;
        let can = block.order < self.orders_count()
            && unit.trailing_zeros() >= block.order
            && self.last() - unit >= 1 << block.order;
        can.then_some((block, is_free))
    }

    /// Verifies the links of one list (K3); returns how many blocks it holds. Every block names the
    /// word that names it, so the list cannot return to an earlier block.
    fn check_list(&self, order: u32) -> Result<usize, Corruption> {
        let (mut link, mut listed) = (Self::head(order), 0);
        while self.memory.get(link) != 0 {
            let at = link.number() as usize;
            let links = self.listed(self.memory.get(link), order);
            let links = links.ok_or(Corruption::new(
                "K3",
                "the word names no free block of the order",
                at,
            ))?;
            ensure(
                self.memory.raw_back(links) == link.number(),
                "K3",
                "the block that the word names does not name it",
                at,
            )?;
            listed += 1;
            link = links.next();
        }
        Ok(listed)
    }

    /// The free block of an order that a word read from memory names; `None` if it names none.
    fn listed(&self, granule: u32, order: u32) -> Option<Chunk> {
        let links = (granule < self.memory.granules()).then_some(Chunk::at(granule))?;
        let unit = self.unit_of(links);
        let block = Block { unit, order };
        (self.is_free(block) && self.links(block) == links).then_some(links)
    }
}
