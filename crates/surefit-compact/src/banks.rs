//! Heaps without an operating system that grow: a limit of the pages that may be used, which the
//! program raises and lowers.
//!
//! ```text
//! 0              frontier      limit                  end          floor     fixed area     len
//! | pages in use | fresh pages | not touched, ever    | table room | table   | states, records |
//!                              raise_limit → , ← lower_limit  (fixed when the heap is made)
//! ```
//! The heap is laid out over all of its region at once; so its tables stay where they are. Between
//! the limit and the end it reads nothing and writes nothing. `lower_limit` first moves what lies
//! in the last pages to free ones, page by page.
//!
//! # Invariants
//! - G1 No page at or above the limit is open: frontier ≤ limit ≤ end. The address table lies at or
//!   above the end.
//!
//! # Drawbacks
//! Room for the address table is fixed when the heap is made. There is one limit, so there are no
//! other gaps: a location is an offset from one base address, and free pages that may not be used
//! would be in the middle of the list of those that may. Banks that do not follow each other, or
//! that are switched off in another order, are better served by one heap for each.
#![deny(unsafe_code)]

use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ops::Range;

use surefit_core::{Corruption, Refused, ensure};

use crate::config::Config;
use crate::engine::Engine;
use crate::heap::Heap;
use crate::layout;
use crate::limit::Limit;
use crate::stats::Details;
use crate::width::Width;

impl<W: Width> Engine<'_, W> {
    /// Verifies G1.
    pub(crate) fn check_limit(&self) -> Result<(), Corruption> {
        let Some(limit) = &self.limit else {
            return Ok(());
        };
        let (frontier, pages) = (self.frontier.get(), limit.pages.get());
        let kept = frontier <= pages && pages <= limit.end;
        ensure(
            kept,
            "G1",
            "a page above the limit is open",
            frontier as usize,
        )?;
        let below = self.pages_below_table();
        let kept = limit.end <= below;
        ensure(
            kept,
            "G1",
            "the address table left its room",
            below as usize,
        )
    }
}

impl<'m, W: Width> Heap<'m, W> {
    /// As [`Heap::new`], of a heap that may use only the whole pages in the first `bytes` bytes of
    /// its region, and [`table_bytes`](layout::table_bytes) at the region's end: entries for
    /// `objects` objects at once, all pieces of long ones counted. [`Heap::raise_limit`] gives it
    /// more pages, [`Heap::lower_limit`] takes some away. It touches no byte between,
    /// [`Details::untouched`]: this memory may be off.
    ///
    /// A certified demand is served while the pages have at least the certificate's
    /// `data_page_bytes` and `objects` is at least its `entries`.
    ///
    /// The region is the heap's as a whole, from now on: memory that the program needs while it
    /// starts is allocated from the heap, and freed.
    ///
    /// # Errors
    /// As [`Heap::new`]; [`Refused::Region`] if the region is too short for the tables and one
    /// page.
    ///
    /// # Panics
    /// As [`Heap::new`].
    ///
    /// # Complexity
    /// As [`Heap::new`].
    ///
    /// # Examples
    /// ```
    /// use core::mem::MaybeUninit;
    /// use surefit_compact::{Config, Heap};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
    /// // The second half of the memory is off, but for the tables.
    /// let mut heap: Heap = Heap::with_limit(&mut memory, &CONFIG, 512 << 10, 5000)?;
    /// while heap.insert([0_u8; 1000]).is_ok() {}
    /// // A bank of 256 KiB is switched on.
    /// assert_eq!(heap.raise_limit(256 << 10), 256 << 10);
    /// assert!(heap.insert([0_u8; 1000]).is_ok());
    /// # Ok::<(), surefit_core::Refused>(())
    /// ```
    pub fn with_limit(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m Config,
        bytes: usize,
        objects: usize,
    ) -> Result<Self, Refused> {
        let mut heap = Self::new(region, config).map_err(|refused| match refused {
            Refused::Region { .. } => Self::needs(config, objects),
            other => other,
        })?;
        let page = config.geometry().page_bytes();
        let len = heap.engine.pages.memory.len();
        let Some(table) = layout::table_bytes::<W>(config, len, objects) else {
            return Err(Self::needs(config, objects));
        };
        let end = u32::try_from((len - table) / page).expect("a page number fits");
        let pages = Cell::new(0);
        heap.engine.limit = Some(Limit { pages, end });
        heap.raise_limit(bytes.saturating_sub(heap.skipped as usize));
        Ok(heap)
    }

    /// The refusal of a region without room for a page and the entries of so many objects: page
    /// records count for all pages of the region.
    fn needs(config: &Config, objects: usize) -> Refused {
        let (page, classes) = (
            config.geometry().page_bytes(),
            config.geometry().class_count(),
        );
        let entries = objects.saturating_mul(W::ENTRY_BYTES);
        let with = |bytes: usize| {
            let fixed = layout::fixed_bytes::<W>(classes, bytes / page);
            entries.saturating_add(2 * page).saturating_add(fixed)
        };
        let mut needed = with(0);
        while needed < with(needed) {
            needed = with(needed);
        }
        Refused::Region { needed }
    }

    /// Raises the limit by the whole pages in `bytes` bytes: from now on the heap may use them.
    /// Returns by how many bytes, fewer where the tables begin; none for a heap without a limit.
    ///
    /// # Complexity
    /// O(1).
    pub fn raise_limit(&mut self, bytes: usize) -> usize {
        let page = self.config.geometry().page_bytes();
        let Some(limit) = &self.engine.limit else {
            return 0;
        };
        let room = limit.end - limit.pages.get();
        let pages = u32::try_from(bytes / page).unwrap_or(room).min(room);
        limit.pages.set(limit.pages.get() + pages);
        pages as usize * page
    }

    /// Lowers the limit by as many pages as there are in `bytes` bytes, rounded up, or by as many
    /// as can be had: what lies in the last pages moves to free ones. Returns by how many bytes.
    /// The heap touches them no more, until [`Heap::raise_limit`]. Contiguous objects over a page
    /// stay where they are, and so do the pages before them; a heap without a limit gives nothing.
    ///
    /// # Complexity
    /// Moves at most the bytes that it returns.
    pub fn lower_limit(&mut self, bytes: usize) -> usize {
        let page = self.config.geometry().page_bytes();
        self.engine.unpark_all();
        let most = u32::try_from(bytes.div_ceil(page)).unwrap_or(u32::MAX);
        let taken = (0..most)
            .take_while(|_| self.engine.lower_by_page())
            .count();
        taken * page
    }
}

impl<W: Width> Details<'_, '_, W> {
    /// The bytes of the pages that the heap may use; `None` for a heap without a limit.
    #[must_use]
    pub fn limit_bytes(self) -> Option<usize> {
        let limit = self.heap.engine.limit.as_ref()?;
        Some(limit.pages.get() as usize * self.heap.config.geometry().page_bytes())
    }

    /// The bytes of the region, counted from its beginning, that the heap does not touch now: from
    /// the limit to the room of the address table. Empty for a heap without a limit.
    #[must_use]
    pub fn untouched(self) -> Range<usize> {
        let page = self.heap.config.geometry().page_bytes();
        let at = |pages: u32| self.heap.skipped as usize + pages as usize * page;
        match &self.heap.engine.limit {
            None => 0..0,
            Some(limit) => at(limit.pages.get())..at(limit.end),
        }
    }
}

impl<W: Width> Engine<'_, W> {
    /// Lowers the limit by a page, which is fresh or can be emptied; returns whether it did.
    fn lower_by_page(&self) -> bool {
        let Some(limit) = &self.limit else {
            return false;
        };
        let pages = limit.pages.get();
        let lowers = pages > 0 && (pages > self.frontier.get() || self.close_last_page());
        if lowers {
            limit.pages.set(pages - 1);
        }
        lowers
    }
}
