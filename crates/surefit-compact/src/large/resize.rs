//! Changing the length of an object in pieces.
//!
//! Whole pieces stay where they are. The piece in which the shorter object ends is replaced if the
//! longer object needs a page-block of another size-class there: a longer remainder, or one large
//! piece for the shorter object's small ones. A spine is itself a byte object
//! and is resized by the same rules: its whole pieces stay, and so does a spine whose page-block
//! serves both lengths.
//!
//! # Bounds
//! A resize copies at most Q bytes per level of spines, and allocates or frees the pieces by which
//! the lengths differ. Because size-classes grow geometrically, a spine that grows word by word is
//! copied a constant number of times per word, in the mean.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use surefit_core::Refused;

use super::place::Spine;
use crate::demand::BlockDemand;
use crate::heap::Heap;
use crate::width::Width;

/// Two lengths of one object, and its alignment.
#[derive(Clone, Copy)]
struct Change {
    old: usize,
    new: usize,
    align: usize,
}

impl<W: Width> Heap<'_, W> {
    /// Resizes an object; returns its entry. Nothing changes if the result is an error.
    pub(super) fn resize_index(
        &mut self,
        index: u32,
        old: usize,
        layout: Layout,
    ) -> Result<u32, Refused> {
        let change = Change {
            old,
            new: layout.size(),
            align: layout.align(),
        };
        if !self.is_in_pieces(change.old) && !self.is_in_pieces(change.new) {
            return self.resize_block(index, change);
        }
        if let Some(index) = self.stays_in_place(index, change) {
            return Ok(index);
        }
        let mut demand = BlockDemand::new();
        self.add_resize(&mut demand, index, change)?;
        let served = self.engine.can_serve(&demand);
        served.map_err(|why| self.now_or_ever(change.new, why))?;
        self.change(index, change)
    }

    /// Resizes a contiguous object to a contiguous one: one block is allocated, or nothing changes.
    fn resize_block(&mut self, index: u32, change: Change) -> Result<u32, Refused> {
        let class = self.class_of(change.new, change.align)?;
        let former = self.engine.class_of(index);
        if class == former {
            return Ok(index);
        }
        let fresh = self.allocate_block(class)?;
        let (from, to) = (self.object::<u8>(index), self.object::<u8>(fresh));
        // SAFETY: two live blocks, so disjoint, with at least the bytes of the shorter object; no
        // references are held, because the heap is borrowed exclusively.
        unsafe { from.copy_to_nonoverlapping(to, change.old.min(change.new)) };
        self.engine.free_of_class(former, index);
        Ok(fresh)
    }

    /// The entry of an object that no block must be allocated or freed for.
    fn stays_in_place(&self, index: u32, change: Change) -> Option<u32> {
        let Change { old, new, align } = change;
        let stays = match (self.is_in_pieces(old), self.is_in_pieces(new)) {
            // A spine.
            (false, false) => self.has_class(index, new, align),
            (true, true) => {
                let (before, after) = (self.pieces(old), self.pieces(new));
                before == after && self.kept_pieces(index, change) == Some(after)
            }
            _ => false,
        };
        stays.then_some(index)
    }

    /// The leading pieces whose blocks also serve the new length; `None` if the blocks of whole
    /// pieces do not serve the new alignment, or one of the lengths is not in pieces.
    fn kept_pieces(&self, index: u32, change: Change) -> Option<usize> {
        let Change { old, new, align } = change;
        self.division.kept(old, new, |number, len| {
            let entry = self.piece(index, old, number);
            self.has_class(entry, self.piece_len(len, number), align)
        })
    }

    fn has_class(&self, index: u32, size: usize, align: usize) -> bool {
        self.config.geometry().class_for(size, align) == Some(self.engine.class_of(index))
    }

    /// The resize of the spine that a resize in pieces causes.
    fn of_spine(&self, change: Change) -> Change {
        Change {
            old: self.spine_bytes(change.old),
            new: self.spine_bytes(change.new),
            align: W::SPINE_WORD_BYTES,
        }
    }

    /// Adds the blocks that a resize allocates to a demand.
    fn add_resize(
        &self,
        demand: &mut BlockDemand,
        index: u32,
        change: Change,
    ) -> Result<(), Refused> {
        if self.stays_in_place(index, change).is_some() {
            return Ok(());
        }
        let Some(kept) = self.kept_pieces(index, change) else {
            return self.add_object(demand, change.new, change.align);
        };
        if kept < self.pieces(change.new) {
            self.add_pieces(demand, change.new, change.align, kept)?;
        }
        self.add_resize(demand, index, self.of_spine(change))
    }

    /// Resizes an object. The engine has agreed before, so nothing is refused.
    fn change(&mut self, index: u32, change: Change) -> Result<u32, Refused> {
        if self.stays_in_place(index, change).is_some() {
            return Ok(index);
        }
        let Some(kept) = self.kept_pieces(index, change) else {
            return self.replace(index, change);
        };
        let is_gathered = kept >= self.division.large_pieces(change.old)
            && kept < self.division.large_pieces(change.new)
            && kept < self.pieces(change.old);
        if is_gathered {
            self.gather(index, kept, change)
        } else {
            self.change_rest(index, kept, change)
        }
    }

    /// Lengthens an object by large pieces, the first of which takes what its small pieces held.
    fn gather(&mut self, index: u32, kept: usize, change: Change) -> Result<u32, Refused> {
        let Change { old, new, align } = change;
        let start = self.division.start(new, kept);
        let large = self.division.piece_len(new, kept);
        let entry = self.allocate_block(self.class_of(large, align)?)?;
        let mut target = Spine::of_block(self, entry, large);
        copy(
            &mut Spine::new(self, index, old),
            start,
            &mut target,
            0,
            old - start,
        );
        self.free_pieces(index, old, kept);
        let index = self.change(index, self.of_spine(change))?;
        self.set_piece(index, new, kept, entry);
        if kept + 1 < self.pieces(new) {
            self.allocate_pieces(index, new, align, kept + 1)?;
        }
        Ok(index)
    }

    /// Changes an object that gets no more large pieces: of the old pieces from `kept` on, only the
    /// first has bytes of the new ones.
    fn change_rest(&mut self, index: u32, kept: usize, change: Change) -> Result<u32, Refused> {
        let Change { old, new, align } = change;
        let (before, after) = (self.pieces(old), self.pieces(new));
        let former = (kept < before.min(after)).then(|| self.piece(index, old, kept));
        self.free_pieces(index, old, kept + usize::from(former.is_some()));
        let index = self.change(index, self.of_spine(change))?;
        if kept < after {
            self.allocate_pieces(index, new, align, kept)?;
        }
        if let Some(entry) = former {
            let (len, start) = (self.piece_len(old, kept), self.division.start(new, kept));
            let mut source = Spine::of_block(self, entry, len);
            let mut target = Spine::new(self, index, new);
            copy(&mut source, 0, &mut target, start, len.min(new - start));
            self.free_piece(entry);
        }
        Ok(index)
    }

    /// Allocates a new object, copies the bytes, and frees the old one.
    fn replace(&mut self, index: u32, change: Change) -> Result<u32, Refused> {
        let fresh = self.allocate_bytes(change.new, change.align)?;
        let len = change.old.min(change.new);
        let mut source = Spine::new(self, index, change.old);
        copy(
            &mut source,
            0,
            &mut Spine::new(self, fresh, change.new),
            0,
            len,
        );
        self.free_index(index, change.old);
        Ok(fresh)
    }

    /// Writes the word of a piece into the spine of an object of `len` bytes.
    fn set_piece(&mut self, index: u32, len: usize, number: usize, entry: u32) {
        let mut spine = Spine::new(self, index, len);
        // SAFETY: the spine is a live object of this heap, and no reference points into it: it is
        // never handed out.
        unsafe { spine.set_word(number, entry) };
    }
}

/// Copies `len` bytes of one object, from an offset on, to another object of its heap.
fn copy<W: Width>(
    source: &mut Spine<'_, W>,
    at: usize,
    target: &mut Spine<'_, W>,
    to: usize,
    len: usize,
) {
    let mut done = 0;
    while done < len {
        let (from, from_len) = source.run(at + done, len - done);
        let (to, to_len) = target.run(to + done, len - done);
        let count = from_len.min(to_len).min(len - done);
        let (from, to) = (from.cast::<MaybeUninit<u8>>(), to.cast::<MaybeUninit<u8>>());
        // SAFETY: two live blocks of this heap, so disjoint, each with `count` bytes from here; the
        // heap is borrowed exclusively by the callers, so no references are held.
        unsafe { from.copy_to_nonoverlapping(to, count) };
        done += count;
    }
}
