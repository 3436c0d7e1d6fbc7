//! The positions of the blocks: units, the map of orders, and the lists of free blocks.
//!
//! # Invariants
//! - The units from `first` to `last` lie inside the region, behind the table. A [`Block`] that a
//!   method here receives lies among them. The exception is [`Map::is_free`], which checks this
//!   itself.
#![deny(unsafe_code)]

use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::Refused;

use crate::chunk::{Chunk, NOBODYS_WORDS};
use crate::memory::{GRANULE, MOST_GRANULES, Memory, Slot, WORD};

/// The strictest alignment, in bytes. With a stricter one, the tiling would depend on where the
/// operating system places the region.
pub(super) const MOST_ALIGNED: usize = 1 << 16;
/// Granules between two addresses at which unit 0 may be.
const ALIGNED_GRANULES: u32 = (MOST_ALIGNED / GRANULE) as u32;
/// The flag of a free block in the map's byte.
const FREE: u8 = 0x80;
const _: () = assert!(WORD == 4 && u32::BITS < FREE as u32);

/// A block: its first unit, and its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) unit: u32,
    pub(super) order: u32,
}

impl Block {
    /// The only block with which this one may be merged.
    pub(super) const fn buddy(self) -> Self {
        Self {
            unit: self.unit ^ 1 << self.order,
            order: self.order,
        }
    }

    /// The block whose halves are this one and its buddy.
    pub(super) const fn parent(self) -> Self {
        Self {
            unit: self.unit & !(1 << self.order),
            order: self.order + 1,
        }
    }

    /// One after the last unit.
    pub(super) const fn end(self) -> u32 {
        self.unit + (1 << self.order)
    }
}

/// The units of a region, and the table at the region's start that describes them.
#[derive(Debug)]
pub(super) struct Map<'m, const SMALLEST: usize> {
    pub(super) memory: Memory<'m>,
    first: u32,
    last: u32,
    /// Granules from unit 0 to the region: fewer than 64 KiB of them.
    before: u32,
    /// The number of lists: one more than the largest order.
    orders: u32,
}

impl<'m, const SMALLEST: usize> Map<'m, SMALLEST> {
    /// Granules of a unit.
    const UNIT: u32 = (SMALLEST / GRANULE) as u32;

    /// Divides a region into a table and units, and clears the table.
    pub(super) fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let memory = Memory::new(region)?;
        let (granules, before) = (memory.granules(), memory.phase() % ALIGNED_GRANULES);
        if granules < Self::least_granules() {
            // Alignment may lose up to seven bytes before the first granule.
            let needed = Self::least_granules() as usize * GRANULE + GRANULE - 1;
            return Err(Refused::Region { needed });
        }
        let (last, orders) = ((before + granules) / Self::UNIT, Self::orders(granules));
        // Words up to the end of the last unit. Every unit takes its own words and a quarter of a
        // word in the map.
        let words = 2 * u64::from(last * Self::UNIT - before) - u64::from(Self::fixed(orders));
        let units = 4 * words / u64::from(8 * Self::UNIT + 1);
        let mut map = Self {
            memory,
            first: last - units as u32,
            last,
            before,
            orders,
        };
        for word in NOBODYS_WORDS..map.table_words() as usize {
            map.memory.set(Slot::new(word), 0);
        }
        Ok(map)
    }

    /// The number of orders that blocks in this many granules may have.
    fn orders(granules: u32) -> u32 {
        (granules / Self::UNIT).max(1).ilog2() + 1
    }

    /// Words of the table without the map.
    const fn fixed(orders: u32) -> u32 {
        NOBODYS_WORDS as u32 + orders
    }

    /// The fewest granules that hold a table and one unit, whatever address they start at.
    fn least_granules() -> u32 {
        let table = |granules| (Self::fixed(Self::orders(granules)) + 1).div_ceil(2);
        let suffices = |granules: &u32| *granules > table(*granules) + 2 * (Self::UNIT - 1);
        (1..).find(suffices).unwrap_or(u32::MAX)
    }

    /// The bytes of a region, wherever it begins, with room for so many units; also any larger one
    /// has it. `None` if there is no such region.
    pub(super) fn region_bytes(units: usize) -> Option<usize> {
        let units = u64::try_from(units).ok()?;
        let unit = u64::from(Self::UNIT);
        // As `new` divides the words: 8 · UNIT quarters of a word are a unit's own.
        let words = units.checked_mul(8 * unit + 1)?.div_ceil(4);
        let mut granules = words.div_ceil(2);
        loop {
            if granules > MOST_GRANULES as u64 {
                return None;
            }
            // The last granules may be no whole unit; a larger region may have one more order.
            let orders = Self::orders(granules as u32) + 1;
            let all = (words + u64::from(Self::fixed(orders))).div_ceil(2) + unit - 1;
            if all == granules {
                return (granules as usize)
                    .checked_mul(GRANULE)?
                    .checked_add(GRANULE - 1);
            }
            granules = all;
        }
    }

    /// Words of the table: nobody's words, the heads, the map.
    pub(super) fn table_words(&self) -> u32 {
        Self::fixed(self.orders) + (self.last - self.first).div_ceil(4)
    }

    /// The first unit.
    pub(super) const fn first(&self) -> u32 {
        self.first
    }

    /// One after the last unit.
    pub(super) const fn last(&self) -> u32 {
        self.last
    }

    /// One more than the largest order.
    pub(super) const fn orders_count(&self) -> u32 {
        self.orders
    }

    /// The largest block that may start at a unit; `None` at the end.
    pub(super) fn largest_at(&self, unit: u32) -> Option<Block> {
        let room = (self.last - unit).checked_ilog2()?;
        let order = room.min(unit.trailing_zeros());
        Some(Block { unit, order })
    }

    /// The map's byte of a unit: the word, and the bit at which it starts.
    fn place(&self, unit: u32) -> (Slot, u32) {
        let byte = unit - self.first;
        let word = Self::fixed(self.orders) + byte / 4;
        (Slot::new(word as usize), 8 * (byte % 4))
    }

    /// The map's byte of a unit.
    pub(super) fn byte(&self, unit: u32) -> u8 {
        let (word, bit) = self.place(unit);
        (self.memory.get(word) >> bit) as u8
    }

    fn set_byte(&mut self, unit: u32, byte: u8) {
        let (word, bit) = self.place(unit);
        let others = self.memory.get(word) & !(0xFF << bit);
        self.memory.set(word, others | u32::from(byte) << bit);
    }

    /// Whether the bytes of the map after that of the last unit are 0.
    pub(super) fn is_padded(&self) -> bool {
        let (word, bit) = self.place(self.last);
        bit == 0 || self.memory.get(word) >> bit == 0
    }

    /// Marks a block as free.
    pub(super) fn set_free(&mut self, block: Block) {
        self.set_byte(block.unit, FREE | (block.order as u8 + 1));
    }

    /// Marks a block as used.
    pub(super) fn set_used(&mut self, block: Block) {
        self.set_byte(block.unit, block.order as u8 + 1);
    }

    /// Records in the map that no block starts at the first unit of this one.
    pub(super) fn clear(&mut self, block: Block) {
        self.set_byte(block.unit, 0);
    }

    /// Whether exactly this block is free: not a part of a larger block, not divided, and not
    /// outside the region.
    pub(super) fn is_free(&self, block: Block) -> bool {
        let inside = block.unit >= self.first && block.unit < self.last;
        inside && self.byte(block.unit) == FREE | (block.order as u8 + 1)
    }

    /// The block that starts at a unit according to the map, and whether it is free; not yet
    /// trusted.
    pub(super) fn block_at(&self, unit: u32) -> Option<(Block, bool)> {
        let byte = self.byte(unit);
        let order = u32::from(byte & !FREE).checked_sub(1)?;
        Some((Block { unit, order }, byte & FREE != 0))
    }

    /// The block of a live object.
    pub(super) fn block_in_use(&self, object: NonNull<u8>) -> Block {
        let granule = self.memory.granule_of(object) + self.before;
        debug_assert!(granule % Self::UNIT == 0, "a pointer into a block");
        let unit = granule / Self::UNIT;
        let byte = self.byte(unit);
        debug_assert!(byte != 0 && byte & FREE == 0, "S1: the object is not live");
        let order = u32::from(byte).wrapping_sub(1);
        Block { unit, order }
    }

    /// The block of a live object, if an address is that of one.
    pub(super) fn find_in_use(&self, object: NonNull<u8>) -> Result<Block, Refused> {
        let granule = self.memory.granule_inside(object);
        let granule = granule.ok_or(Refused::ForeignHandle)? + self.before;
        let unit = granule / Self::UNIT;
        if granule % Self::UNIT != 0 || unit < self.first || unit >= self.last {
            return Err(Refused::ForeignHandle);
        }
        match self.block_at(unit) {
            Some((block, false)) => Ok(block),
            _ => Err(Refused::StaleHandle),
        }
    }

    /// The address of a block.
    pub(super) fn address(&self, block: Block) -> NonNull<u8> {
        self.memory.payload(self.links(block).granule())
    }

    /// The first words of a block, as links of a list.
    pub(super) const fn links(&self, block: Block) -> Chunk {
        Chunk::at(block.unit * Self::UNIT - self.before)
    }

    /// The unit that starts at a granule that a link names.
    pub(super) const fn unit_of(&self, links: Chunk) -> u32 {
        (links.granule() + self.before) / Self::UNIT
    }

    /// The word that names the first free block of an order.
    pub(super) const fn head(order: u32) -> Slot {
        Slot::new(NOBODYS_WORDS + order as usize)
    }

    /// The first free block of an order, if there is one.
    pub(super) fn first_free(&self, order: u32) -> Option<Block> {
        let links = self.memory.linked(Self::head(order))?;
        let unit = self.unit_of(links);
        Some(Block { unit, order })
    }

    /// Puts a free block at the front of the list of its order.
    pub(super) fn link(&mut self, block: Block) {
        let links = self.links(block);
        self.memory.link(Self::head(block.order), links);
    }

    /// Takes a free block out of its list.
    pub(super) fn unlink(&mut self, block: Block) {
        let links = self.links(block);
        self.memory.unlink(links);
    }
}
