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
use core::ptr::NonNull;

use crate::memory::{Memory, Slot};

/// The number that names no frame, at the end of the list.
pub(super) const NO_FRAME: u32 = u32::MAX;

/// Which frames are free. The number of a frame is its offset in the region, in units of a frame.
#[derive(Debug)]
pub(super) struct Frames {
    pub(super) shift: u32,
    pub(super) free: Cell<u32>,
    pub(super) free_count: Cell<u32>,
    pub(super) fresh: Cell<u32>,
    pub(super) fresh_end: Cell<u32>,
    pub(super) pages: Cell<u32>,
}

impl Frames {
    pub(super) fn new(shift: u32) -> Self {
        Self {
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

    /// Divides the page at an offset into frames. No frame was available before.
    pub(super) fn add_page(&self, offset: usize, page_bytes: usize) {
        debug_assert!(self.is_empty());
        let number = |offset: usize| {
            u32::try_from(offset >> self.shift).expect("BlockTableHeap::new bounds the frames")
        };
        self.fresh.set(number(offset));
        self.fresh_end.set(number(offset + page_bytes));
        self.pages.set(self.pages.get() + 1);
    }

    /// Takes a frame. One must be available.
    #[inline]
    pub(super) fn take(&self, memory: &Memory<'_>) -> u32 {
        let frame = self.free.get();
        if frame == NO_FRAME {
            let fresh = self.fresh.get();
            debug_assert!(fresh < self.fresh_end.get());
            self.fresh.set(fresh + 1);
            return fresh;
        }
        self.free.set(self.link(memory, frame).get());
        self.free_count.set(self.free_count.get() - 1);
        frame
    }

    /// Gives back a frame that a row named.
    #[inline]
    pub(super) fn give(&self, memory: &Memory<'_>, frame: u32) {
        self.link(memory, frame).set(self.free.get());
        self.free.set(frame);
        self.free_count.set(self.free_count.get() + 1);
    }

    /// The word of a free frame that names the next one.
    #[inline]
    pub(super) fn link<'a>(&self, memory: &'a Memory<'_>, frame: u32) -> Slot<'a, u32> {
        // SAFETY: callers pass frames of frame pages (B1): inside the region, aligned to at least
        // 16 bytes; a free frame belongs to no object, so nobody refers to its bytes; its first
        // word was written when it was given back.
        unsafe { memory.slot((frame as usize) << self.shift) }
    }

    /// The address of a frame, which never changes.
    #[inline]
    pub(super) fn address(&self, memory: &Memory<'_>, frame: u32) -> NonNull<u8> {
        // SAFETY: callers pass frames that a row names, which lie inside the region (B1).
        unsafe { memory.address((frame as usize) << self.shift) }
    }
}
