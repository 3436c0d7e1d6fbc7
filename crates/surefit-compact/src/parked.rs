//! Parked pairs: page-blocks that were freed together with their entries, and are taken together
//! again.
//!
//! A freed page-block and its entry may stay bound to each other: *parked*. For its page the block
//! is used, its back-reference names the entry, and the entry says where the block is. Only the
//! class knows that nobody has it. So parking and taking touch neither page, nor bitmap, nor the
//! list of free entries. A parked block moves like any other: what is parked is the entry, and the
//! copy takes the link along.
//!
//! ```text
//! class state: | top | left | cap |      parked = cap − left
//!                 │
//!                 └─ entry ─→ block | next entry | … |      next entry ─→ block | NIL | … |
//! ```
//! The first word of a parked block names the entry that was parked before it. So the stack needs
//! no memory of its own.
//!
//! # Invariants
//! - T1 The stack of a class from `top` has `cap − left` entries, at most [`MOST_PARKED`]. Each
//!   names a used block of the class, and none is in the stack twice. Nobody has these blocks.
//! - T2 Parked blocks count as holes, and not as live: the class keeps its bound (H4) with them.
//!   It keeps it for `left + credit` more frees, whichever they are (H5).
//! - T3 The pages of a class are no more than its live blocks, also after `left + credit` more
//!   frees. So a class without live blocks has nothing parked.
//!
//! [The bounds, 2.5](crate::bounds#25-parked-pairs) shows that no certificate grows by this.
//!
//! # Bounds
//! Parking and taking are O(1). Giving everything back is O(classes · [`MOST_PARKED`]) and moves
//! nothing.

use core::cell::Cell;

use surefit_classes::automaton::{self, ClassCounts};

use crate::class::{ClassState, PARKS};
use crate::engine::Engine;
use crate::memory::Slot;
use crate::width::{Width, Word};

/// The most pairs that a class may park.
pub(crate) const MOST_PARKED: u8 = 31;

fn change(cell: &Cell<u8>, by: i8) {
    debug_assert!(cell.get().checked_add_signed(by).is_some());
    cell.set(cell.get().wrapping_add_signed(by));
}

impl<W: Width> ClassState<W> {
    /// Counts down one of the frees for which the bound need not be checked (H5); returns whether
    /// there was one.
    #[inline]
    pub(crate) fn take_free(&self) -> bool {
        self.take_credit() || self.forgo()
    }

    /// Whether there is a free for which the bound need not be checked.
    #[inline]
    pub(crate) fn has_free(&self) -> bool {
        self.credit() > 0 || self.left.get() > 0
    }

    /// Leaves no free for which the bound need not be checked. What is parked stays.
    pub(crate) fn forgo_all(&self) {
        self.cap.set(self.cap.get() - self.left.replace(0));
        self.set_credit(0);
    }

    /// Uses up the room of one pair.
    fn forgo(&self) -> bool {
        let some = self.left.get() > 0;
        if some {
            change(&self.left, -1);
            change(&self.cap, -1);
        }
        some
    }
}

impl<W: Width> Engine<'_, W> {
    /// The word of a parked block that names the next parked entry.
    #[inline]
    pub(crate) fn link(&self, entry: u32) -> Slot<'_, W::Count> {
        let offset = self.object_offset(entry);
        // SAFETY: the entry names a used block (T1), which is inside the region, aligned to 8, and
        // has at least 8 bytes. Nobody has the block (T1), so no reference into it exists. `park`
        // wrote the word before it is read; a move copies it.
        unsafe { self.pages.memory.slot(offset) }
    }

    /// Parks a live block and its entry if there is room; returns whether it did.
    #[inline]
    pub(crate) fn park(&self, state: &ClassState<W>, entry: u32) -> bool {
        if !PARKS || state.left.get() == 0 || !self.addresses.renew(&self.pages.memory, entry) {
            return false;
        }
        change(&state.left, -1);
        self.link(entry).set(state.top.get());
        state.top.set(W::Count::new(entry));
        true
    }

    /// Takes the pair that was parked last.
    #[inline]
    pub(crate) fn take_parked(&self, state: &ClassState<W>) -> Option<u32> {
        let top = state.top.get();
        if !PARKS || top == W::Count::NIL {
            return None;
        }
        state.top.set(self.link(top.get()).get());
        change(&state.left, 1);
        Some(top.get())
    }

    /// Whether an entry of a class is parked. O(parked).
    pub(crate) fn is_parked(&self, state: &ClassState<W>, entry: u32) -> bool {
        self.parked(state).any(|parked| parked == entry)
    }

    /// The parked entries of a class, the one that will be taken next first.
    pub(crate) fn parked(&self, state: &ClassState<W>) -> impl Iterator<Item = u32> {
        let (mut next, mut count) = (state.top.get(), state.parked());
        core::iter::from_fn(move || {
            count = count.checked_sub(1)?;
            let entry = (next != W::Count::NIL).then(|| next.get())?;
            next = self.link(entry).get();
            Some(entry)
        })
    }

    /// Gives everything that is parked back to its pages and to the address table; returns whether
    /// there was anything. Moves nothing.
    #[cold]
    #[inline(never)]
    pub(crate) fn unpark_all(&self) -> bool {
        let mut any = false;
        if !PARKS || self.is_bound_in_pages() {
            return any;
        }
        for state in self.classes.all() {
            any |= state.parked() > 0;
            self.unpark_class(state);
        }
        any
    }

    /// Gives what a class has parked back to its pages and to the address table. As many more frees
    /// may park as before.
    pub(crate) fn unpark_class(&self, state: &ClassState<W>) {
        while self.unpark(state) {}
    }

    /// Gives the pair that was parked last back to its page and to the address table; returns
    /// whether there was one. The class breaks its bound no further than before
    /// ([the bounds, 2.5](crate::bounds#25-parked-pairs)).
    pub(crate) fn unpark(&self, state: &ClassState<W>) -> bool {
        let Some(entry) = self.take_parked(state) else {
            return false;
        };
        change(&state.left, -1);
        change(&state.cap, -1);
        let block = self.block_of(entry);
        self.addresses.link(&self.pages.memory, entry);
        let page = block.page;
        let was_full = page.free_blocks() == 0;
        self.pages.clear(block);
        state.remove_live();
        if page.used() == 0 {
            self.release(state, page.id);
        } else if was_full {
            self.pages.push_front(state, page);
        }
        true
    }

    /// Sets anew how many frees need no check of the bound (H5), and how many of them may park.
    /// The class keeps its bound; `counts` are its numbers now.
    #[inline]
    pub(crate) fn renew_credit(&self, state: &ClassState<W>, counts: ClassCounts) {
        if self.is_bound_in_pages() {
            return;
        }
        let run = automaton::frees_in_a_row(self.bound_of(state), counts);
        // T3 holds, so live blocks are at least as many as pages.
        let frees = run.min(counts.live - state.pages());
        let parked = state.parked();
        let left = frees.min(u32::from(MOST_PARKED) - parked);
        #[expect(clippy::cast_possible_truncation, reason = "at most MOST_PARKED")]
        {
            state.left.set(left as u8);
            state.cap.set((parked + left) as u8);
        }
        state.set_credit(frees - left);
    }
}
