//! The numbered invariants of the blocks, verified. Nothing that was read is trusted before it was compared.
#![deny(unsafe_code)]

use surefit_core::Corruption;

use super::Jamaica;
use super::blocks::Blocks;
use super::handle::Bytes;
use super::shape::{Array, Object, Shape};

impl<const B: usize> Jamaica<'_, B> {
    /// Verifies J1, J2 and J3: the free list, the marks, and the counts. Linear in the blocks that were ever used.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        self.blocks.check_free_list()?;
        let marked = self.blocks.check_marks()?;
        if marked != self.count.total() {
            let what = "the blocks in use are not as many as the objects have; so many are";
            return Err(broken("J3", what, marked));
        }
        Ok(())
    }

    /// Verifies J4 for these objects and arrays: the blocks of each are in use and as many as its length says, and none
    /// is there twice or in two of them. Linear in their blocks.
    ///
    /// # Errors
    /// If it does not hold: the number of the first block of the one that was looked at.
    ///
    /// # Panics
    /// If a handle belongs to another heap.
    pub fn check_objects<'b, I, J>(&mut self, objects: I, arrays: J) -> Result<(), Corruption>
    where
        I: Iterator<Item = &'b Bytes<Object>> + Clone,
        J: Iterator<Item = &'b Bytes<Array>> + Clone,
    {
        objects.clone().for_each(|bytes| self.assert_own(bytes));
        arrays.clone().for_each(|bytes| self.assert_own(bytes));
        let mut visited = 0;
        let mut unmarks = |marks: &mut [u8], block: u32| {
            let was_marked = flip(marks, block, false);
            visited += usize::from(was_marked);
            was_marked
        };
        let result = match self.blocks.walk_all(objects.clone(), &mut unmarks) {
            Ok(()) => self.blocks.walk_all(arrays.clone(), &mut unmarks),
            wrong => wrong,
        };
        // The same way again, as far as the first time.
        let mut marks_again = |marks: &mut [u8], block: u32| {
            let is_left = visited > 0;
            if is_left {
                flip(marks, block, true);
                visited -= 1;
            }
            is_left
        };
        let _ = self.blocks.walk_all(objects, &mut marks_again);
        let _ = self.blocks.walk_all(arrays, &mut marks_again);
        result
    }
}

/// Sets or clears the mark of a block; returns what it was.
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
            if block >= self.opened || self.is_marked(block) {
                let what = "the free list names a block that is not free; link";
                return Err(broken("J1", what, link as usize));
            }
            listed += 1;
            if listed > self.free_count {
                break;
            }
            link = self.link(block, 0);
        }
        if listed != self.free_count {
            let what = "the free list has more or fewer blocks than are counted, which are";
            return Err(broken("J1", what, self.free_count));
        }
        Ok(())
    }

    /// Walks over objects, one after the other; `visit` may change the marks and says whether to go on.
    fn walk_all<'b, S: Shape + 'b>(
        &mut self,
        mut objects: impl Iterator<Item = &'b Bytes<S>>,
        visit: &mut impl FnMut(&mut [u8], u32) -> bool,
    ) -> Result<(), Corruption> {
        let marks = core::mem::take(&mut self.marks);
        let mut visit = |block| block < self.opened && visit(marks, block);
        let wrong = objects.find(|bytes| !S::walk(self, bytes.first, bytes.len(), &mut visit));
        self.marks = marks;
        let what = "the links of an object do not name as many blocks of its own; block";
        wrong.map_or(Ok(()), |bytes| {
            Err(broken("J4", what, bytes.first as usize))
        })
    }

    /// Verifies J2; returns the number of marked blocks.
    fn check_marks(&self) -> Result<usize, Corruption> {
        let bits = self.marks.iter().map(|byte| byte.count_ones() as usize);
        let marked: usize = bits.sum();
        let below = (0..self.opened).filter(|&block| self.is_marked(block));
        let below = below.count();
        if below != marked || marked + self.free_count != self.opened as usize {
            let what = "the blocks in use and the free ones are not those that were opened; in use";
            return Err(broken("J2", what, below));
        }
        Ok(marked)
    }
}

const fn broken(invariant: &'static str, what: &'static str, at: usize) -> Corruption {
    Corruption {
        invariant,
        what,
        at,
    }
}
