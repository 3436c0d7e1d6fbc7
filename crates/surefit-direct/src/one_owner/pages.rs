//! Pages of page-blocks: their records, free lists inside the page-blocks, and the not-full pages
//! of every size-class.
//!
//! ```text
//! a record, 16 bytes:  | free 2 | frontier 2 | used 2 | class 1 | ~class 1 | next 4 | previous 4 |
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
//! - P1 A page holds page-blocks iff its record's class is not `NOT_BLOCKS`. Then its units are one
//!   used run of their own, and `1 ≤ used ≤ π`. All other records except that of page 0 equal
//!   [`PageRecord::NOT_BLOCKS`]. The complement of the class stands beside it: of a full page
//!   nothing else tells two classes with the same π apart.
//! - P2 The free list leads over distinct page-blocks below the frontier to the frontier; used +
//!   listed + (page-blocks from the frontier on) = π. If no page-block is left, the frontier is
//!   [`FULL`]. So a page is full iff `free = FULL`.
//! - P3 A class's list holds exactly its not-full pages. Every page except the first names the one
//!   before it in `previous`. (What the first one names has no meaning: keeping it right would make
//!   every event slower.)
//! - P4 `free` and `frontier` of page 0 are equal, so the test for a frontier also detects a class
//!   without not-full pages. Its `used` is 1, as that of all pages without page-blocks: runs may
//!   begin in it.
#![deny(unsafe_code)]

use core::ptr::NonNull;

use surefit_classes::Bound;
use surefit_classes::automaton::{self, ClassCounts, Free, Malloc, PageCounts};
use surefit_core::{Corruption, ensure};

use super::choice::Chosen;
use super::memory::{Block, FULL, Memory, Page, PageRecord, page_units};
use super::partition::{Class, Partitioning, block_bytes, block_bytes_of, blocks, each_class};
use super::tags::runs_from;

impl PageRecord {
    fn counts<S: Partitioning>(&self) -> PageCounts {
        PageCounts {
            used: u32::from(self.used),
            blocks: u32::from(blocks::<S>(self.class)),
        }
    }
}

impl<S: Partitioning> Memory<'_, S> {
    /// M1, first half: makes a page the class's only not-full page. None of its page-blocks was
    /// ever used.
    pub(super) fn open_page(&mut self, class: Class, page: Page) {
        debug_assert_eq!(automaton::malloc(None), Malloc::Open, "M1");
        debug_assert_eq!(self.head(class), Page::NONE, "M1: n = 0");
        *self.record_mut(page) = PageRecord {
            free: 0,
            frontier: 0,
            used: 0,
            class,
            complement: class.complement(),
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
    pub(super) fn take_block(&mut self, class: Class) -> Option<Block> {
        let page = self.head(class);
        let PageRecord {
            free: offset,
            frontier,
            next: behind,
            ..
        } = *self.record(page);
        let block = Block { page, offset };
        let free = if offset == frontier {
            if page == Page::NONE {
                return None;
            }
            advance::<S>(self.record_mut(page), class)
        } else {
            self.link(block)
        };
        let record = self.record_mut(page);
        debug_assert_eq!(
            automaton::malloc(Some(record.counts::<S>())) == Malloc::Fill,
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
    pub(super) fn put_back(&mut self, block: Block, object: NonNull<u8>) -> bool {
        let record = self.record(block.page);
        debug_assert!(!record.holds_blocks() || is_used::<S>(record, block.offset));
        let used = record.used - 1;
        if used == 0 {
            return false;
        }
        debug_assert_eq!(
            decide::<S>(record),
            if record.is_full() {
                Free::Loosen
            } else {
                Free::Clear
            },
        );
        let (link, class, next) = (record.free, record.class, record.next);
        let head = self.head(class);
        let loosened = Chosen::when(link == FULL);
        let record = self.record_mut(block.page);
        record.used = used;
        record.free = block.offset;
        record.next = next.or(head, loosened);
        self.record_mut(Page::NONE.or(head, loosened)).previous = block.page;
        self.set_head(class, head.or(block.page, loosened));
        self.set_link(object, link);
        true
    }

    /// F5: frees the page's only object. The page leaves its class.
    pub(super) fn release_page(&mut self, page: Page) {
        let record = *self.record(page);
        debug_assert_eq!(decide::<S>(&record), Free::Release, "F5");
        if self.head(record.class) == page {
            self.set_head(record.class, record.next);
        } else {
            self.record_mut(record.previous).next = record.next;
            self.record_mut(record.next).previous = record.previous;
        }
        *self.record_mut(page) = PageRecord::NOT_BLOCKS;
    }

    /// Whether a page of page-blocks is not full, and none of the `most` newest not-full pages of
    /// its class. O(`most`).
    pub(super) fn is_behind(&self, page: Page, most: u32) -> bool {
        let record = self.record(page);
        if !record.holds_blocks() || record.is_full() {
            return false;
        }
        let mut newest = self.head(record.class);
        for _ in 0..most {
            if newest == page {
                return false;
            }
            newest = self.record(newest).next;
            if newest == Page::NONE {
                return false;
            }
        }
        true
    }

    /// Verifies P1 to P4, except that pages are runs of their own.
    pub(super) fn check_pages(&self) -> Result<(), Corruption> {
        let none = self.record(Page::NONE);
        ensure(
            none.free == none.frontier && !none.holds_blocks(),
            "P4",
            "page 0 has a free page-block",
            0,
        )?;
        ensure(none.used == 1, "P4", "page 0 counts page-blocks", 0)?;
        let mut not_full = 0;
        for page in self.pages().skip(1) {
            not_full += usize::from(check_page(self, page)?);
        }
        for class in each_class::<S>() {
            not_full -= check_list(self, class, not_full)?;
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
fn decide<S: Partitioning>(record: &PageRecord) -> Free {
    let class = ClassCounts {
        live: 0,
        not_full: 0,
        holes: 0,
    };
    automaton::free(Bound::Unbounded, class, record.counts::<S>(), None)
}

/// Moves the frontier over one page-block, and returns its new offset.
#[inline]
fn advance<S: Partitioning>(record: &mut PageRecord, class: Class) -> u16 {
    let bytes = block_bytes_of::<S>(class);
    let next = record.frontier + bytes;
    let fits = usize::from(next) + usize::from(bytes) <= S::PAGE_BYTES;
    record.frontier = if fits { next } else { FULL };
    record.frontier
}

/// Whether an offset can be that of a used page-block: it is below the frontier, and not that of
/// the page-block freed last.
fn is_used<S: Partitioning>(record: &PageRecord, offset: u16) -> bool {
    let bytes = block_bytes_of::<S>(record.class);
    offset % bytes == 0
        && offset < record.frontier
        && offset != record.free
        && usize::from(offset + bytes) <= S::PAGE_BYTES
}

/// Verifies P1 and P2 for one page. Returns whether it is not full.
fn check_page<S: Partitioning>(memory: &Memory<'_, S>, page: Page) -> Result<bool, Corruption> {
    let record = memory.record(page);
    let at = page.number();
    if !record.holds_blocks() {
        let unused = *record == PageRecord::NOT_BLOCKS;
        ensure(unused, "P1", "a page without page-blocks has counts", at)?;
        return Ok(false);
    }
    ensure(
        blocks::<S>(record.class) != 0 && record.complement == record.class.complement(),
        "P1",
        "a page's class does not exist, or is another one",
        at,
    )?;
    ensure(
        (1..=blocks::<S>(record.class)).contains(&record.used),
        "P1",
        "a page's count of used page-blocks cannot be",
        at,
    )?;
    check_free_list(memory, page)?;
    Ok(!record.is_full())
}

/// Verifies P2.
fn check_free_list<S: Partitioning>(memory: &Memory<'_, S>, page: Page) -> Result<(), Corruption> {
    let record = memory.record(page);
    let (at, blocks) = (page.number(), blocks::<S>(record.class));
    let bytes = block_bytes::<S>(record.class);
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
    let mut seen = [0_u64; 8192 / 8 / 64];
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
pub(super) fn check_runs_of_pages<S: Partitioning>(
    memory: &Memory<'_, S>,
) -> Result<(), Corruption> {
    let holding = |page: &Page| memory.record(*page).holds_blocks();
    let starts = runs_from(memory, memory.first_unit())
        .filter(|run| !run.free && run.units == page_units::<S>())
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
fn check_list<S: Partitioning>(
    memory: &Memory<'_, S>,
    class: Class,
    most: usize,
) -> Result<usize, Corruption> {
    let (mut page, mut previous, mut listed) = (memory.head(class), Page::NONE, 0);
    while page != Page::NONE {
        let Some(record) = memory.try_record(page) else {
            let what = "a list leads out of the region";
            return Err(Corruption::new("P3", what, class.index()));
        };
        ensure(
            record.class == class && !record.is_full() && listed < most,
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
