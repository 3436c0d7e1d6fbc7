//! Verifies the numbered invariants of the blocks. The checker compares each value before it relies
//! on it.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::Jamaica;
use super::blocks::Blocks;
use super::handle::{Bytes, HeapId};
use super::shape::{Array, Object, Shape};

impl<const B: usize> Jamaica<'_, B> {
    /// Verifies J1, J2 and J3: the free list, the marks, and the counts. Linear in the blocks that
    /// were ever used.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        self.blocks.check_free_list()?;
        let marked = self.blocks.check_marks()?;
        ensure(
            marked == self.count.total(),
            "J3",
            "the number of marked blocks is not that of the objects; marked blocks",
            marked,
        )
    }

    /// Verifies J1 to J3, and J4 for the given objects and arrays: the blocks of each are in use
    /// and as many as its length says, and no block appears twice or in two of them. Linear in the
    /// blocks that were ever used.
    ///
    /// # Errors
    /// The first invariant that does not hold. For J4: the number of the first block of the object
    /// that violates it.
    ///
    /// # Panics
    /// If a handle belongs to another heap, or an iterator unwinds. The heap is unchanged.
    pub fn check_objects<'b, I, J>(&mut self, objects: I, arrays: J) -> Result<(), Corruption>
    where
        I: Iterator<Item = &'b Bytes<Object>>,
        J: Iterator<Item = &'b Bytes<Array>>,
    {
        self.check()?;
        let own = self.id;
        let mut unmarking = Unmarking::of(&mut self.blocks);
        unmarking.walk_all(own, objects)?;
        unmarking.walk_all(own, arrays)
    }
}

/// Clears the marks of blocks as they are visited; sets them again when dropped, even while
/// unwinding.
///
/// The iterators run only once. The free list determines which marks are set again.
struct Unmarking<'b, 'm, const B: usize> {
    blocks: &'b mut Blocks<'m, B>,
    /// Taken from the blocks, which are only read meanwhile.
    marks: &'m mut [u8],
}

impl<'b, 'm, const B: usize> Unmarking<'b, 'm, B> {
    /// J1 and J2 must have been verified.
    fn of(blocks: &'b mut Blocks<'m, B>) -> Self {
        let marks = core::mem::take(&mut blocks.marks);
        Self { blocks, marks }
    }

    /// Walks over the objects and clears the marks of their blocks.
    fn walk_all<'h, S: Shape + 'h>(
        &mut self,
        own: HeapId,
        mut objects: impl Iterator<Item = &'h Bytes<S>>,
    ) -> Result<(), Corruption> {
        let (blocks, marks) = (&*self.blocks, &mut *self.marks);
        let mut visit = |block| block < blocks.opened && flip(marks, block, false);
        let wrong = objects.find(|bytes| {
            assert!(bytes.heap == own, "the handle belongs to another heap");
            !S::walk(blocks, bytes.first, bytes.len(), &mut visit)
        });
        let what = "the links of an object do not name the right number of own blocks; first block";
        wrong.map_or(Ok(()), |bytes| {
            Err(Corruption::new("J4", what, bytes.first as usize))
        })
    }
}

impl<const B: usize> Drop for Unmarking<'_, '_, B> {
    fn drop(&mut self) {
        (0..self.blocks.opened).for_each(|block| _ = flip(self.marks, block, true));
        let mut link = self.blocks.free;
        while let Some(block) = link.checked_sub(1) {
            flip(self.marks, block, false);
            link = self.blocks.link(block, 0);
        }
        self.blocks.marks = core::mem::take(&mut self.marks);
    }
}

/// Sets or clears the mark of a block; returns its old value.
fn flip(marks: &mut [u8], block: u32, is_set: bool) -> bool {
    let (byte, bit) = (block as usize / 8, 1 << (block % 8));
    let was_set = marks[byte] & bit != 0;
    marks[byte] = marks[byte] & !bit | if is_set { bit } else { 0 };
    was_set
}

impl<const B: usize> Blocks<'_, B> {
    /// Verifies J1.
    fn check_free_list(&self) -> Result<(), Corruption> {
        let (mut link, mut listed) = (self.free, 0);
        while let Some(block) = link.checked_sub(1) {
            ensure(
                block < self.opened && !self.is_marked(block),
                "J1",
                "the free list names a block that is not free; link",
                link as usize,
            )?;
            listed += 1;
            if listed > self.free_count {
                break;
            }
            link = self.link(block, 0);
        }
        ensure(
            listed == self.free_count,
            "J1",
            "the free list has more or fewer blocks than were counted; blocks counted",
            self.free_count,
        )
    }

    /// Verifies J2; returns the number of marked blocks.
    fn check_marks(&self) -> Result<usize, Corruption> {
        let bits = self.marks.iter().map(|byte| byte.count_ones() as usize);
        let marked: usize = bits.sum();
        let below = (0..self.opened).filter(|&block| self.is_marked(block));
        let below = below.count();
        ensure(
            below == marked && marked + self.free_count == self.opened as usize,
            "J2",
            "the marked and the free blocks are not those that were opened; marked blocks",
            below,
        )?;
        Ok(marked)
    }
}
