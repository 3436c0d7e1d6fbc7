//! The frames: which are free, and where each is. The address of a frame never changes.
//!
//! ```text
//! take:   the frame freed last; else the next fresh frame of the newest frame page;
//!         else a page becomes frames
//! give:   the frame is linked through its own first four bytes, as the first one
//! ```
//! A page that became frames stays frames, because frames cannot be moved out of it. So the number
//! of frame pages is exactly ⌈F·f / P⌉ for the most frames F ever live at once.
//!
//! # Invariants
//! - B1 Every frame of a frame page is exactly one of these: named by one word of one row, linked
//!   once from `free`, or fresh (between `fresh` and `fresh_end`). No frame lies outside the frame
//!   pages.
//! - B2 `free_count` frames are linked. `pages` pages are frame pages: page-sized objects of the
//!   table's heap, which its automaton never moves (π = 1).

use core::cell::Cell;
use core::ptr::{NonNull, without_provenance_mut};

/// The number that names no frame, at the end of the list.
pub(super) const NO_FRAME: u32 = u32::MAX;

/// Which frames are free. The number of a frame is its offset from the first page, in units of a
/// frame.
#[derive(Debug)]
pub(super) struct Frames {
    /// The address of the first page; once a page became frames, a pointer into all of them.
    base: Cell<*mut u8>,
    pub(super) shift: u32,
    pub(super) free: Cell<u32>,
    pub(super) free_count: Cell<u32>,
    pub(super) fresh: Cell<u32>,
    pub(super) fresh_end: Cell<u32>,
    pub(super) pages: Cell<u32>,
}

// SAFETY: `base` points into the region of the table's heap, which is `Send` and lives as long.
unsafe impl Send for Frames {}

impl Frames {
    /// No frames; the first page of the heap begins at an address.
    pub(super) fn new(first_page: usize, shift: u32) -> Self {
        Self {
            base: Cell::new(without_provenance_mut(first_page)),
            shift,
            free: Cell::new(NO_FRAME),
            free_count: Cell::new(0),
            fresh: Cell::new(0),
            fresh_end: Cell::new(0),
            pages: Cell::new(0),
        }
    }

    /// Frames that can be taken before another page must become frames.
    #[inline]
    pub(super) fn available(&self) -> u32 {
        self.free_count.get() + self.fresh_count()
    }

    #[inline]
    pub(super) fn fresh_count(&self) -> u32 {
        self.fresh_end.get() - self.fresh.get()
    }

    /// Whether no frame is available.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.available() == 0
    }

    /// The distance of a page from the first one, in bytes.
    pub(super) fn offset_of(&self, page: NonNull<u8>) -> usize {
        page.addr().get() - self.base.get().addr()
    }

    /// Divides a page into frames. No frame was available before. The pointer is good for the whole
    /// region, as [`EntryHeap::entry_block`](surefit_compact::EntryHeap::entry_block) promises.
    pub(super) fn add_page(&self, page: NonNull<u8>, page_bytes: usize) {
        debug_assert!(self.is_empty());
        let offset = self.offset_of(page);
        self.base.set(page.as_ptr().wrapping_sub(offset));
        let number = |offset: usize| {
            u32::try_from(offset >> self.shift).expect("BlockTableHeap::new bounds the frames")
        };
        self.fresh.set(number(offset));
        self.fresh_end.set(number(offset + page_bytes));
        self.pages.set(self.pages.get() + 1);
    }

    /// Takes a frame. One must be available.
    #[inline]
    pub(super) fn take(&self) -> u32 {
        let frame = self.free.get();
        if frame == NO_FRAME {
            let fresh = self.fresh.get();
            debug_assert!(fresh < self.fresh_end.get());
            self.fresh.set(fresh + 1);
            return fresh;
        }
        self.free.set(self.link(frame));
        self.free_count.set(self.free_count.get() - 1);
        frame
    }

    /// Gives back a frame that a row named.
    #[inline]
    pub(super) fn give(&self, frame: u32) {
        self.set_link(frame, self.free.get());
        self.free.set(frame);
        self.free_count.set(self.free_count.get() + 1);
    }

    /// The frame that a free frame names as the next one.
    #[inline]
    pub(super) fn link(&self, frame: u32) -> u32 {
        // SAFETY: callers pass free frames of frame pages (B1): inside the region, aligned to at
        // least 16 bytes; the first word of a free frame was written when it was given back.
        unsafe { self.address(frame).cast().read() }
    }

    #[inline]
    pub(super) fn set_link(&self, frame: u32, next: u32) {
        // SAFETY: as in `link`; a free frame belongs to no object, so nobody refers to its bytes.
        unsafe { self.address(frame).cast().write(next) };
    }

    /// The address of a frame, which never changes.
    #[inline]
    pub(super) fn address(&self, frame: u32) -> NonNull<u8> {
        // SAFETY: callers pass frames of frame pages, which lie inside the region (B1). A page became
        // frames before, so `base` is of a pointer that is good for the whole region.
        unsafe {
            let address = self.base.get().add((frame as usize) << self.shift);
            NonNull::new_unchecked(address)
        }
    }
}
