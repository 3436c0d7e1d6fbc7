//! Finalizable objects need more than to be freed: their values are dropped, or they are weak
//! cells. They are in lists, so that all other objects cost nothing.
//!
//! ```text
//! process:     for every object of the list:
//!                  reached: it stays; a weak cell whose target was not reached is cleared
//!                  else: it leaves the list; if its value is to be dropped, it becomes a dying one
//! drop_dying:  while there is a dying object: it leaves the list; its value is dropped
//! ```
//! `process` runs no code of the program, and it clears weak cells before any value is dropped. A
//! value leaves the list before it is dropped, so a value whose `drop` unwinds is dropped only
//! once. The next collection drops and frees the others.
//!
//! Both go object by object, for collections in steps. What is allocated meanwhile enters `newest`,
//! which is another list than the one that is being processed.
//!
//! # Invariants
//! - A3: `newest`, `pending` and the links from them name all finalizable objects that no
//!   collection found dead, each once. `dying` and the links from it name those that are to be
//!   dropped, each once. 0 ends a list. In steps, objects are processed in Weak alone, and what is
//!   to be dropped is condemned.

use core::cell::Cell;
use core::ptr::NonNull;

use surefit_freelist::{Heap, Index};

use super::kinds::{End, Kinds};
use super::place::Place;
use super::weak::WeakCell;

/// The kind of an object without a value, or whose value was dropped. An arena registers it first.
pub(super) const UNFINISHED: u32 = 0;

/// The lists, as the numbers of their first objects.
#[derive(Debug)]
pub(super) struct Finalizable {
    newest: Cell<u32>,
    pending: Cell<u32>,
    dying: Cell<u32>,
    dropped: Cell<u64>,
}

impl Finalizable {
    pub(super) const fn new() -> Self {
        Self {
            newest: Cell::new(0),
            pending: Cell::new(0),
            dying: Cell::new(0),
            dropped: Cell::new(0),
        }
    }

    /// Adds an object to the list.
    ///
    /// # Safety
    /// S1: the place belongs to a live object with this number, which is of a finalizable kind and
    /// in no list.
    pub(super) unsafe fn add(&self, number: u32, place: &Place) {
        // SAFETY: S1.
        unsafe { place.set_link(self.newest.replace(number)) };
    }

    /// Separates reached objects from dying ones, and clears weak cells. `is_reached` says whether
    /// an object was reached.
    ///
    /// # Safety
    /// As [`Finalizable::process_one`].
    pub(super) unsafe fn process<I: Index>(
        &self,
        heap: &Heap<'_, I>,
        kinds: &Kinds<'_>,
        is_reached: impl Fn(NonNull<u8>) -> bool,
    ) {
        // SAFETY: S1 and S2 are the caller's. These are what steps left, if they did.
        while unsafe { self.process_one(heap, kinds, &is_reached) } {}
        self.begin_to_process();
        // SAFETY: S1 and S2 are the caller's.
        while unsafe { self.process_one(heap, kinds, &is_reached) } {}
    }

    /// From now on, all objects of the list are to be processed. None is at the moment.
    pub(super) fn begin_to_process(&self) {
        if self.pending.get() == 0 {
            self.pending.set(self.newest.take());
        }
    }

    /// Processes one object. Returns whether there was one.
    ///
    /// # Safety
    /// S1: these are the lists of this heap's objects. S2: an object that was not reached is not
    /// used again.
    pub(super) unsafe fn process_one<I: Index>(
        &self,
        heap: &Heap<'_, I>,
        kinds: &Kinds<'_>,
        is_reached: impl Fn(NonNull<u8>) -> bool,
    ) -> bool {
        let number = self.pending.get();
        if number == 0 {
            return false;
        }
        // SAFETY: S1: live (A3).
        let place = unsafe { Place::of(heap, number) };
        // SAFETY: S1: finalizable (A3).
        self.pending.set(unsafe { place.link() });
        // SAFETY: S1: finished (A3).
        let end = kinds.get(unsafe { place.kind() }).end;
        let list = match (is_reached(place.object), end) {
            (true, _) => &self.newest,
            (false, End::Drop(_)) => &self.dying,
            (false, _) => {
                // SAFETY: S1: a weak cell, which nobody uses again (S2); if a `drop` unwinds, it
                // stays for a while.
                unsafe { place.set_kind(UNFINISHED) };
                return true;
            }
        };
        // SAFETY: S1: it left its list, and enters this one.
        unsafe { place.set_link(list.replace(number)) };
        if let End::Weak = end {
            // SAFETY: a value of that kind (A2).
            let cell = unsafe { place.object.cast::<WeakCell>().as_ref() };
            cell.clear_unless(&is_reached);
        }
        true
    }

    /// Drops the dying values.
    ///
    /// # Safety
    /// S1: these are the lists of this heap's objects.
    pub(super) unsafe fn drop_dying<I: Index>(&self, heap: &Heap<'_, I>, kinds: &Kinds<'_>) {
        // SAFETY: S1 is the caller's.
        while unsafe { self.drop_one(heap, kinds) } {}
    }

    /// Drops one dying value. Returns whether there was one.
    ///
    /// # Safety
    /// S1: these are the lists of this heap's objects.
    pub(super) unsafe fn drop_one<I: Index>(&self, heap: &Heap<'_, I>, kinds: &Kinds<'_>) -> bool {
        let number = self.dying.get();
        if number == 0 {
            return false;
        }
        // SAFETY: S1: not yet freed (A3).
        let place = unsafe { Place::of(heap, number) };
        // SAFETY: S1: finalizable (A3).
        self.dying.set(unsafe { place.link() });
        // SAFETY: S1: finished (A3).
        let end = kinds.get(unsafe { place.kind() }).end;
        // SAFETY: S1: not yet freed, and from now on without a value.
        unsafe { place.set_kind(UNFINISHED) };
        if let End::Drop(drop) = end {
            self.dropped.set(self.dropped.get() + 1);
            // SAFETY: a value of that kind (A2), which has left the list and so is dropped once
            // (A3).
            unsafe { drop(place.object) };
        }
        true
    }

    /// The number of dropped values.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    /// The numbers of the first objects of all lists.
    pub(super) fn heads(&self) -> [u32; 3] {
        [self.newest.get(), self.pending.get(), self.dying.get()]
    }

    /// The same cells, for tests of the checker.
    #[cfg(test)]
    pub(super) const fn heads_mut(&self) -> [&Cell<u32>; 3] {
        [&self.newest, &self.pending, &self.dying]
    }
}
