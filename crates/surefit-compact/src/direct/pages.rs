//! Pages of page-blocks: their records, free lists inside the page-blocks, and the not-full pages
//! of every size-class.
//!
//! ```text
//! a record, 16 bytes:  | free 2 | frontier 2 | used 2 | class 1 | - 1 | next 4 | previous 4 |
//!
//! a page of a class    used  →3β   used  →F    used  F: never opened …    free = β, used = 3
//! of β bytes:        |     |     |     |     |     |                      frontier = F = 5β
//!                    0     β    2β    3β    4β    5β
//! ```
//! `free` is the offset of the first free page-block. The first two bytes of a free page-block hold
//! the offset of the next one, and so on to the *frontier*, the first page-block that was never
//! used. So opening a page writes its record and nothing else.
//!
//! # Invariants
//! π is the number of page-blocks per page of the class.
//! - P1 A page holds page-blocks iff its record's class is not `NOT_BLOCKS`. Then its units are
//!   one used run of their own, and `1 ≤ used ≤ π`. All other records except that of page 0 equal
//!   [`PageRecord::NOT_BLOCKS`].
//! - P2 The free list leads over distinct page-blocks below the frontier to the frontier; used +
//!   listed + (page-blocks from the frontier on) = π. If no page-block is left, the frontier is
//!   [`FULL`]. So a page is full iff `free = FULL`.
//! - P3 A class's list holds exactly its not-full pages. Every page except the first names the one
//!   before it in `previous`. (What the first one names has no meaning: keeping it right would make
//!   every event slower.)
//! - P4 `free` and `frontier` of page 0 are equal, so the test for a frontier also detects a class
//!   without not-full pages.
#![deny(unsafe_code)]

use core::ptr::NonNull;

use surefit_core::{Corruption, ensure};

use super::choice::Chosen;
use super::classes::{BLOCK_BYTES, CLASSES, blocks};
use super::memory::{Block, FULL, Memory, PAGE_BYTES, PAGE_UNITS, Page, PageRecord};
use super::runs;
use crate::automaton::{self, ClassCounts, Free, Malloc, PageCounts};
use crate::config::Bound;

impl PageRecord {
    fn counts(&self) -> PageCounts {
        PageCounts {
            used: u32::from(self.used),
            blocks: u32::from(blocks(self.class)),
        }
    }
}

/// The newest not-full page of every class. It has as many entries as a byte has values, so that no
/// index is checked.
#[derive(Debug)]
pub(super) struct NotFull {
    heads: [Page; 256],
}

impl NotFull {
    /// No class has a not-full page.
    pub(super) const fn new() -> Self {
        Self {
            heads: [Page::NONE; 256],
        }
    }

    /// The newest not-full page of a class, or [`Page::NONE`].
    #[inline]
    pub(super) fn head(&self, class: u8) -> Page {
        self.heads[usize::from(class)]
    }

    /// Whether a class has a not-full page.
    pub(super) fn has_page(&self, class: u8) -> bool {
        self.head(class) != Page::NONE
    }

    #[inline]
    fn set_head(&mut self, class: u8, page: Page) {
        self.heads[usize::from(class)] = page;
    }

    /// M1, first half: makes a page the class's only not-full page. None of its page-blocks was
    /// ever used.
    pub(super) fn open(&mut self, memory: &mut Memory<'_>, class: u8, page: Page) {
        debug_assert_eq!(automaton::malloc(None), Malloc::Open, "M1");
        debug_assert_eq!(self.head(class), Page::NONE, "M1: n = 0");
        *memory.record_mut(page) = PageRecord {
            free: 0,
            frontier: 0,
            used: 0,
            class,
            next: Page::NONE,
            previous: Page::NONE,
        };
        self.set_head(class, page);
    }

    /// M2 and M3: takes the first free page-block of the class's newest not-full page; `None` if
    /// there is no such page.
    ///
    /// Which of the two it is (and for a free, F1 or F4) depends on addresses that a program cannot
    /// foresee, so a branch would often be mispredicted. Both are therefore one sequence of
    /// selections.
    #[inline]
    pub(super) fn take(&mut self, memory: &mut Memory<'_>, class: u8) -> Option<Block> {
        let page = self.head(class);
        let PageRecord {
            free: offset,
            frontier,
            next: behind,
            ..
        } = *memory.record(page);
        let block = Block { page, offset };
        let free = if offset == frontier {
            if page == Page::NONE {
                return None;
            }
            advance(memory.record_mut(page), class)
        } else {
            memory.link(block)
        };
        let record = memory.record_mut(page);
        debug_assert_eq!(
            automaton::malloc(Some(record.counts())) == Malloc::Fill,
            free == FULL
        );
        record.free = free;
        record.used += 1;
        let filled = Chosen::when(free == FULL);
        self.set_head(class, page.or(behind, filled));
        Some(block)
    }

    /// F1 and F4: frees the page-block at `object`, in a page that holds others. Returns `false`,
    /// and changes nothing, if it is the page's last one, or the page holds no page-blocks.
    #[inline]
    pub(super) fn put_back(
        &mut self,
        memory: &mut Memory<'_>,
        block: Block,
        object: NonNull<u8>,
    ) -> bool {
        let record = memory.record_mut(block.page);
        debug_assert!(!record.holds_blocks() || is_used(record, block.offset));
        let used = record.used - 1;
        if used == 0 {
            return false;
        }
        debug_assert_eq!(
            decide(record),
            if record.is_full() {
                Free::Loosen
            } else {
                Free::Clear
            },
        );
        let (link, class, next) = (record.free, record.class, record.next);
        record.used = used;
        record.free = block.offset;
        let loosened = Chosen::when(link == FULL);
        let head = self.head(class);
        record.next = next.or(head, loosened);
        memory.record_mut(Page::NONE.or(head, loosened)).previous = block.page;
        self.set_head(class, head.or(block.page, loosened));
        memory.set_link(object, link);
        true
    }

    /// F5: frees the page's only object. The page leaves its class.
    pub(super) fn release(&mut self, memory: &mut Memory<'_>, page: Page) {
        let record = *memory.record(page);
        debug_assert_eq!(decide(&record), Free::Release, "F5");
        if self.head(record.class) == page {
            self.set_head(record.class, record.next);
        } else {
            memory.record_mut(record.previous).next = record.next;
            memory.record_mut(record.next).previous = record.previous;
        }
        *memory.record_mut(page) = PageRecord::NOT_BLOCKS;
    }

    /// Makes a page a class's first, for tests of the checker.
    #[cfg(test)]
    pub(super) fn corrupt(&mut self, class: u8, page: Page) {
        self.set_head(class, page);
    }

    /// Verifies P1 to P4.
    pub(super) fn check(&self, memory: &Memory<'_>) -> Result<(), Corruption> {
        let none = memory.record(Page::NONE);
        ensure(
            none.free == none.frontier && !none.holds_blocks(),
            "P4",
            "page 0 has a free page-block",
            0,
        )?;
        let mut not_full = 0;
        for page in memory.pages().skip(1) {
            not_full += usize::from(check_page(memory, page)?);
        }
        check_runs_of_pages(memory)?;
        for (class, &head) in self.heads.iter().enumerate() {
            let listed = check_list(memory, class, head, not_full)?;
            not_full -= listed;
        }
        ensure(
            not_full == 0,
            "P3",
            "not-full pages are in no list",
            not_full,
        )
    }
}

/// The automaton's decision about a free in a page.
fn decide(record: &PageRecord) -> Free {
    let class = ClassCounts {
        live: 0,
        not_full: 0,
        holes: 0,
    };
    automaton::free(Bound::Unbounded, class, record.counts(), None)
}

/// Moves the frontier over one page-block, and returns its new offset.
#[inline]
fn advance(record: &mut PageRecord, class: u8) -> u16 {
    let bytes = BLOCK_BYTES[usize::from(class) % CLASSES];
    let next = record.frontier + bytes;
    let fits = usize::from(next) + usize::from(bytes) <= PAGE_BYTES;
    record.frontier = if fits { next } else { FULL };
    record.frontier
}

/// Whether an offset can be that of a used page-block: it is below the frontier, and not that of
/// the page-block freed last.
fn is_used(record: &PageRecord, offset: u16) -> bool {
    let bytes = BLOCK_BYTES[usize::from(record.class) % CLASSES];
    offset % bytes == 0
        && offset < record.frontier
        && offset != record.free
        && usize::from(offset + bytes) <= PAGE_BYTES
}

/// Verifies P1 and P2 for one page. Returns whether it is not full.
fn check_page(memory: &Memory<'_>, page: Page) -> Result<bool, Corruption> {
    let record = memory.record(page);
    let at = page.number();
    if !record.holds_blocks() {
        let unused = *record == PageRecord::NOT_BLOCKS;
        ensure(unused, "P1", "a page without page-blocks has counts", at)?;
        return Ok(false);
    }
    ensure(
        blocks(record.class) != 0,
        "P1",
        "a page's class does not exist",
        at,
    )?;
    ensure(
        (1..=blocks(record.class)).contains(&record.used),
        "P1",
        "a page's count of used page-blocks cannot be",
        at,
    )?;
    check_free_list(memory, page)?;
    Ok(!record.is_full())
}

/// Verifies P2.
fn check_free_list(memory: &Memory<'_>, page: Page) -> Result<(), Corruption> {
    let record = memory.record(page);
    let (at, blocks) = (page.number(), blocks(record.class));
    let bytes = BLOCK_BYTES[usize::from(record.class) % CLASSES];
    let opened = match record.frontier {
        FULL => blocks,
        frontier => frontier / bytes,
    };
    ensure(
        opened <= blocks && (record.frontier == FULL || record.frontier % bytes == 0),
        "P2",
        "a frontier is at no page-block",
        at,
    )?;
    let mut seen = [0_u64; PAGE_BYTES / 8 / 64];
    let (mut offset, mut listed) = (record.free, 0);
    while offset != record.frontier {
        let number = offset / bytes;
        let (word, bit) = (usize::from(number / 64), number % 64);
        ensure(
            offset % bytes == 0 && number < opened && seen[word] >> bit & 1 == 0,
            "P2",
            "a free list leads astray",
            at,
        )?;
        seen[word] |= 1 << bit;
        listed += 1;
        offset = memory.link(Block { page, offset });
    }
    ensure(
        record.used + listed == opened,
        "P2",
        "used and free page-blocks are not all",
        at,
    )
}

/// Verifies P1: pages of page-blocks are used runs of their own.
fn check_runs_of_pages(memory: &Memory<'_>) -> Result<(), Corruption> {
    let holding = |page: &Page| memory.record(*page).holds_blocks();
    let starts = runs::runs(memory)
        .filter(|run| !run.free && run.units == PAGE_UNITS)
        .filter_map(|run| memory.page_at(run.start));
    let (found, all) = (
        starts.filter(holding).count(),
        memory.pages().filter(holding).count(),
    );
    ensure(
        found == all,
        "P1",
        "a page of page-blocks is no run of its own",
        all - found,
    )
}

/// Verifies P3 for one class. Returns the number of its not-full pages, which is at most `most`.
fn check_list(
    memory: &Memory<'_>,
    class: usize,
    head: Page,
    most: usize,
) -> Result<usize, Corruption> {
    let (mut page, mut previous, mut listed) = (head, Page::NONE, 0);
    while page != Page::NONE {
        let Some(record) = memory.try_record(page) else {
            let what = "a list leads out of the region";
            return Err(Corruption::new("P3", what, class));
        };
        ensure(
            usize::from(record.class) == class && !record.is_full() && listed < most,
            "P3",
            "a page is in a list that is not its own",
            page.number(),
        )?;
        ensure(
            listed == 0 || record.previous == previous,
            "P3",
            "a link back does not lead back",
            page.number(),
        )?;
        listed += 1;
        (previous, page) = (page, record.next);
    }
    Ok(listed)
}
