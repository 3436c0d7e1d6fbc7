//! The block table's own heap: rows and pages of frames, named by the numbers of their entries.
//!
//! It is an [`EntryHeap`] behind a cell, so that rows are allocated, freed and moved while
//! references into frames are held. No call of this file runs code of a caller, and none returns a
//! reference into the heap: rows are read and written word by word.
//!
//! # Invariants
//! - R1 A caller names live entries only. Whoever takes an address of a page-block uses it before
//!   the next free or `compact`, unless it is that of a page: a page-block of a whole page never
//!   moves (π = 1).
//! - R2 What looks at the heap does not change it meanwhile.

use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_compact::{Config, EntryHeap, Width, Word};
use surefit_core::Refused;

/// The heap of rows.
#[derive(Debug)]
pub(super) struct Table<'m, W: Width<Generation = ()>> {
    heap: UnsafeCell<EntryHeap<'m, W>>,
}

impl<'m, W: Width<Generation = ()>> Table<'m, W> {
    pub(super) fn new(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m Config,
    ) -> Result<Self, Refused> {
        Ok(Self {
            heap: EntryHeap::new(region, config)?.into(),
        })
    }

    /// Lets a function look at the heap. Its result cannot refer to the heap.
    ///
    /// - R2 The function calls neither `free` nor `compact` of this table.
    #[inline]
    pub(super) fn look<T>(&self, f: impl FnOnce(&EntryHeap<'m, W>) -> T) -> T {
        // SAFETY: the only exclusive references are those of `free` and `compact`, which end before
        // these return. This one ends with the function (R2), and this type is not `Sync`.
        f(unsafe { &*self.heap.get() })
    }

    /// Allocates a page-block whose bytes are not initialised.
    #[inline]
    pub(super) fn allocate(&self, bytes: usize) -> Result<u32, Refused> {
        self.look(|heap| heap.allocate_entry_uninit(bytes))
    }

    /// Frees a page-block. May move at most two others.
    #[inline]
    pub(super) fn free(&self, entry: u32) {
        // SAFETY: no other reference to the heap lives during a call (see `look`).
        let heap = unsafe { &mut *self.heap.get() };
        // SAFETY: S1: R1. S2: its caller forgets the entry.
        unsafe { heap.free_entry(entry) };
    }

    /// As [`EntryHeap::compact`].
    pub(super) fn compact(&self, budget: u64) -> u64 {
        // SAFETY: no other reference to the heap lives during a call (see `look`).
        let heap = unsafe { &mut *self.heap.get() };
        heap.compact(budget)
    }

    /// Where a page-block lies now.
    #[inline]
    pub(super) fn place(&self, entry: u32) -> NonNull<u8> {
        // SAFETY: S1: R1.
        self.look(|heap| unsafe { heap.entry_block(entry).0 })
    }

    /// The word at a position of a page-block.
    ///
    /// # Safety
    /// S1: it lies in the page-block, and was written.
    #[inline]
    pub(super) unsafe fn word(&self, entry: u32, at: usize) -> u32 {
        // SAFETY: S1.
        let place = unsafe { self.place(entry).cast::<W::Word>().add(at) };
        // SAFETY: S1; page-blocks begin at multiples of eight bytes.
        unsafe { place.read() }.get()
    }

    /// Writes the word at a position of a page-block.
    ///
    /// # Safety
    /// S1: it lies in the page-block.
    #[inline]
    pub(super) unsafe fn set_word(&self, entry: u32, at: usize, word: u32) {
        // SAFETY: S1.
        let place = unsafe { self.place(entry).cast::<W::Word>().add(at) };
        // SAFETY: S1; page-blocks begin at multiples of eight bytes, and nobody refers to a row.
        unsafe { place.write(W::Word::new(word)) };
    }
}
