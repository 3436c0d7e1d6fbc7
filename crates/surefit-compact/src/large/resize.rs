//! Changing the length of an object in pieces.
//!
//! Whole pieces stay where they are. The piece in which the shorter object ends is replaced if the
//! longer object needs a page-block of another size-class there. A spine is itself a byte object
//! and is resized by the same rules: its whole pieces stay, and so does a spine whose page-block
//! serves both lengths.
//!
//! # Bounds
//! A resize copies at most q bytes per level of spines, and allocates or frees the pieces by which
//! the lengths differ. Because size-classes grow geometrically, a spine that grows word by word is
//! copied a constant number of times per word, in the mean.

use core::alloc::Layout;
use core::mem::MaybeUninit;

use surefit_core::Refused;

use super::place::Spine;
use crate::demand::BlockDemand;
use crate::heap::Heap;
use crate::width::{Width, Word};

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
        if let Some(index) = self.stays_in_place(index, change) {
            return Ok(index);
        }
        let mut demand = BlockDemand::new();
        self.add_resize(&mut demand, index, change)?;
        self.engine.can_serve(&demand)?;
        self.change(index, change)
    }

    /// The entry of an object that no block must be allocated or freed for.
    fn stays_in_place(&self, index: u32, change: Change) -> Option<u32> {
        let Change { old, new, align } = change;
        let stays = match (self.is_in_pieces(old), self.is_in_pieces(new)) {
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
        if !self.is_in_pieces(old) || !self.is_in_pieces(new) {
            return None;
        }
        let serves = |number, len| {
            let entry = self.piece(index, old, number);
            self.has_class(entry, self.piece_len(len, number), align)
        };
        if !serves(0, old) {
            return None;
        }
        let last = self.pieces(old).min(self.pieces(new)) - 1;
        Some(last + usize::from(serves(last, new)))
    }

    fn has_class(&self, index: u32, size: usize, align: usize) -> bool {
        let class = self.engine.block_of(index).page.record.class.get();
        self.config.geometry().class_for(size, align) == Some(class)
    }

    /// The resize of the spine that a resize in pieces causes.
    fn of_spine(&self, change: Change) -> Change {
        Change {
            old: self.spine_bytes(change.old),
            new: self.spine_bytes(change.new),
            align: W::WORD_BYTES,
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
        let Change { old, new, align } = change;
        let (before, after) = (self.pieces(old), self.pieces(new));
        if after < before {
            self.free_pieces(index, old, after);
        }
        let index = self.change(index, self.of_spine(change))?;
        // From here the spine has `after` words, of which the first `before` are written.
        if kept < before.min(after) {
            self.replace_piece(index, kept, change)?;
        }
        if before < after {
            let whole = self.class_of(self.piece_bytes, align)?;
            self.allocate_pieces(index, new, align, before, whole)?;
        }
        Ok(index)
    }

    /// Allocates a new object, copies the bytes, and frees the old one.
    fn replace(&mut self, index: u32, change: Change) -> Result<u32, Refused> {
        let fresh = self.allocate_bytes(change.new, change.align)?;
        self.copy_prefix((index, change.old), (fresh, change.new));
        self.free_index(index, change.old);
        Ok(fresh)
    }

    /// Replaces piece `number` by one of the new length. The spine is already that of the new
    /// object.
    fn replace_piece(&mut self, index: u32, number: usize, change: Change) -> Result<(), Refused> {
        let (old, new) = (
            self.piece_len(change.old, number),
            self.piece_len(change.new, number),
        );
        let former = self.piece(index, change.new, number);
        let entry = self.allocate_block(self.class_of(new, change.align)?)?;
        self.copy_prefix((former, old), (entry, new));
        let mut spine = Spine::new(self, index, change.new);
        // SAFETY: the spine is a live object of this heap, and no reference points into it: it is
        // never handed out.
        unsafe { spine.word(number).write(W::Word::new(entry)) };
        self.engine.free(former);
        Ok(())
    }

    /// Copies the first bytes of one object, an entry and a length, to another.
    fn copy_prefix(&self, from: (u32, usize), to: (u32, usize)) {
        let len = from.1.min(to.1);
        let mut source = Spine::new(self, from.0, from.1);
        let mut target = Spine::new(self, to.0, to.1);
        let mut done = 0;
        while done < len {
            let (from, from_len) = source.run(done, len - done);
            let (to, to_len) = target.run(done, len - done);
            let count = from_len.min(to_len).min(len - done);
            let (from, to) = (from.cast::<MaybeUninit<u8>>(), to.cast::<MaybeUninit<u8>>());
            // SAFETY: two live blocks of this heap, so disjoint, each with `count` bytes from here;
            // the heap is borrowed exclusively by the callers, so no references are held.
            unsafe { from.copy_to_nonoverlapping(to, count) };
            done += count;
        }
    }
}
