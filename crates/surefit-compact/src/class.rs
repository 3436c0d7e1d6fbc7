//! The state of one size-class: its live page-blocks, its pages, and the list of its not-full
//! pages.

use core::cell::Cell;

use surefit_classes::SizeClass;

use crate::width::{Width, Word};

/// Whether pairs are parked at all. A bound in pages parks none, and without the feature `holes` it
/// is the only bound: the compiler then leaves out what parks and takes.
pub(crate) const PARKS: bool = cfg!(feature = "holes");

/// One size-class of a heap. Full pages are in no list: nothing ever searches for them.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ClassState<W: Width> {
    /// First not-full page: the one that became not-full last.
    pub(crate) head: Cell<W::Count>,
    /// Last not-full page: under the hole bound the reservoir.
    pub(crate) tail: Cell<W::Count>,
    /// Used page-blocks: the live ones and the parked ones.
    used: Cell<W::Count>,
    /// Not-full pages.
    not_full: Cell<W::Count>,
    /// Pages of the class.
    pages: Cell<W::Count>,
    /// The entry that was parked last; the page-block of each parked entry names the next one (T1).
    pub(crate) top: Cell<W::Count>,
    /// The number of further frees for which the compaction bound need not be checked (H5). It may
    /// be less than it could be, so two bytes are enough.
    pub(crate) credit: Cell<u16>,
    /// How many more pairs may be parked (H5).
    pub(crate) left: Cell<u8>,
    /// Parked pairs, and how many more may be parked.
    pub(crate) cap: Cell<u8>,
}

fn add<T: Word>(cell: &Cell<T>, n: u32) {
    cell.set(T::new(cell.get().get() + n));
}

fn subtract<T: Word>(cell: &Cell<T>, n: u32) {
    debug_assert!(cell.get().get() >= n, "a count is never negative");
    cell.set(T::new(cell.get().get().wrapping_sub(n)));
}

impl<W: Width> ClassState<W> {
    pub(crate) fn new() -> Self {
        let zero = || Cell::new(W::Count::new(0));
        let nil = || Cell::new(W::Count::NIL);
        Self {
            head: nil(),
            tail: nil(),
            used: zero(),
            not_full: zero(),
            pages: zero(),
            top: nil(),
            credit: Cell::new(0),
            left: Cell::new(0),
            cap: Cell::new(0),
        }
    }

    /// Live page-blocks.
    #[inline]
    pub(crate) fn live(&self) -> u32 {
        self.used().wrapping_sub(self.parked())
    }

    /// Live and parked page-blocks.
    #[inline]
    pub(crate) fn used(&self) -> u32 {
        self.used.get().get()
    }

    /// Parked pairs.
    #[inline]
    pub(crate) fn parked(&self) -> u32 {
        if !PARKS {
            return 0;
        }
        u32::from(self.cap.get().wrapping_sub(self.left.get()))
    }

    #[inline]
    pub(crate) fn not_full(&self) -> u32 {
        self.not_full.get().get()
    }

    /// The number of further frees for which the compaction bound need not be checked.
    #[inline]
    pub(crate) fn credit(&self) -> u32 {
        u32::from(self.credit.get())
    }

    /// Sets the number of further frees for which the bound need not be checked, limited to what
    /// two bytes can hold.
    pub(crate) fn set_credit(&self, frees: u32) {
        self.credit.set(u16::try_from(frees).unwrap_or(u16::MAX));
    }

    /// Counts down one of the frees for which the bound need not be checked; returns whether there
    /// was one.
    #[inline]
    pub(crate) fn take_credit(&self) -> bool {
        let credit = self.credit.get();
        if credit > 0 {
            self.credit.set(credit - 1);
        }
        credit > 0
    }

    #[inline]
    pub(crate) fn pages(&self) -> u32 {
        self.pages.get().get()
    }

    /// Forgets all pages, their page-blocks and what is parked; pages are then counted again.
    pub(crate) fn restart(&self) {
        for link in [&self.head, &self.tail, &self.top] {
            link.set(W::Count::NIL);
        }
        for count in [&self.used, &self.not_full, &self.pages] {
            count.set(W::Count::new(0));
        }
        self.credit.set(0);
        self.left.set(0);
        self.cap.set(0);
    }

    /// Counts a page and its live page-blocks.
    pub(crate) fn count_page(&self, live: u32) {
        add(&self.pages, 1);
        add(&self.used, live);
    }

    /// Counts a page-block that was taken.
    #[inline]
    pub(crate) fn add_live(&self) {
        add(&self.used, 1);
    }

    /// Counts a live page-block that was given back to its page.
    #[inline]
    pub(crate) fn remove_live(&self) {
        subtract(&self.used, 1);
    }

    #[inline]
    pub(crate) fn add_page(&self) {
        add(&self.pages, 1);
    }

    #[inline]
    pub(crate) fn remove_page(&self) {
        subtract(&self.pages, 1);
    }

    #[inline]
    pub(crate) fn add_not_full(&self, pages: u32) {
        add(&self.not_full, pages);
    }

    #[inline]
    pub(crate) fn remove_not_full(&self, pages: u32) {
        subtract(&self.not_full, pages);
    }
}

/// The states of all size-classes of one geometry.
#[derive(Debug)]
pub(crate) struct ClassTable<'m, W: Width>(&'m [ClassState<W>]);

impl<'m, W: Width> ClassTable<'m, W> {
    /// The table of a heap: one state per class of its geometry.
    pub(crate) fn new(states: &'m [ClassState<W>]) -> Self {
        Self(states)
    }

    pub(crate) fn all(&self) -> &'m [ClassState<W>] {
        self.0
    }

    /// The state of a class that this heap's geometry named.
    ///
    /// # Safety
    /// S1: `class` came from the geometry of this heap, or from the record of an opened page.
    #[inline]
    pub(crate) unsafe fn state(&self, class: SizeClass) -> &'m ClassState<W> {
        debug_assert!(class.index() < self.0.len());
        // SAFETY: S1: a geometry's classes are numbered below their count; `check` verifies the
        // records (H1).
        unsafe { self.0.get_unchecked(class.index()) }
    }

    /// The number of the class of a state of this table.
    pub(crate) fn index_of(&self, state: &ClassState<W>) -> usize {
        let bytes = core::ptr::from_ref(state).addr() - self.0.as_ptr().addr();
        bytes / size_of::<ClassState<W>>()
    }

    /// The state of a class that the geometry may lack.
    pub(crate) fn get(&self, class: SizeClass) -> Option<&'m ClassState<W>> {
        self.0.get(class.index())
    }
}
