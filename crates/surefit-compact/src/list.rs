//! The list of a size-class's not-full pages, and the counts that decide a transition.
//!
//! ```text
//! head: became not-full last, serves allocations first … tail: drains first; under the hole bound
//! it is the reservoir
//! ```
//! The list is doubly linked through the page records. The backward link of the first page means
//! nothing. Full pages are in no list.
//!
//! # Bounds
//! Every function is O(1).

use surefit_classes::automaton::ClassCounts;
use surefit_classes::{Bound, ClassLayout};

use crate::class::ClassState;
use crate::page::{Page, PageId, PageTable};
use crate::width::{Width, Word};

impl<'m, W: Width> PageTable<'m, W> {
    /// The numbers of a class that decide a transition, when `live` page-blocks of it are live.
    /// Holes are not counted as they come and go: they are computed from the free blocks of all
    /// pages and of the reservoir, because they are rarely needed.
    #[inline]
    pub(crate) fn counts(
        &self,
        bound: Bound,
        state: &ClassState<W>,
        live: u32,
        layout: &ClassLayout,
    ) -> ClassCounts {
        let holes = match bound {
            Bound::Holes { .. } => {
                let reservoir = self.linked(state.tail.get());
                let free = state.pages() * u32::from(layout.blocks) - live;
                free - reservoir.map_or(0, |page| page.free_blocks())
            }
            Bound::Pages(_) | Bound::Unbounded => 0,
        };
        ClassCounts {
            live,
            not_full: state.not_full(),
            holes,
        }
    }

    /// Takes a page out of its class's list.
    #[inline]
    pub(crate) fn detach(&self, state: &ClassState<W>, page: Page<'m, W>) {
        state.remove_not_full(1);
        let next = page.record.next.get();
        if state.head.get() == page.id.word() {
            state.head.set(next);
            if next == W::Count::NIL {
                state.tail.set(next);
            }
            return;
        }
        self.detach_inner(state, page.id);
    }

    /// Takes a page that is not the first one out of its class's list.
    #[inline(never)]
    fn detach_inner(&self, state: &ClassState<W>, page: PageId) {
        let record = self.known(page).record;
        let (prev, next) = (record.prev.get(), record.next.get());
        if let Some(prev) = self.linked(prev) {
            prev.record.next.set(next);
        }
        match self.linked(next) {
            Some(next) => next.record.prev.set(prev),
            None => state.tail.set(prev),
        }
    }

    /// Puts a page first in its class's list.
    #[inline]
    pub(crate) fn push_front(&self, state: &ClassState<W>, page: Page<'m, W>) {
        state.add_not_full(1);
        let head = state.head.get();
        page.record.next.set(head);
        match self.linked(head) {
            Some(head) => head.record.prev.set(page.id.word()),
            None => state.tail.set(page.id.word()),
        }
        state.head.set(page.id.word());
    }

    /// Puts a page last in its class's list.
    pub(crate) fn push_back(&self, state: &ClassState<W>, page: Page<'m, W>) {
        state.add_not_full(1);
        let tail = state.tail.get();
        page.record.next.set(W::Count::NIL);
        page.record.prev.set(tail);
        match self.linked(tail) {
            Some(tail) => tail.record.next.set(page.id.word()),
            None => state.head.set(page.id.word()),
        }
        state.tail.set(page.id.word());
    }
}
