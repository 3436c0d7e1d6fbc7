//! The region of a direct heap. Only this module accesses its bytes.
//!
//! ```text
//! base                                          1 KiB aligned
//! | page records, 16 each | unit tags, 4 each | pad | unit | unit | unit … | less than a unit |
//! |<------------ administrative units ------------->|
//! page 0 is base .. base + 8192, and so on: pages and units count from the base, with the tables
//! ```
//!
//! # Invariants
//! - D1 `base .. base + units · 1024` belongs to this heap alone for `'m`; `base` is a multiple of
//!   1024.
//! - D2 Every [`Page`] is below the number of page records, every [`Unit`] below the number of
//!   tags: only this module makes them from numbers, and it checks the numbers. (Pages and units of
//!   another heap never get here: both types are private to a heap.)
//! - D3 A [`Block`] lies inside the units, at a multiple of eight, with at least eight bytes before
//!   the end; a [`Unit`] that is not administrative is 1024 bytes of payload.
//! - D4 The tables lie at the base, in the administrative units: first records, then tags.
//!   `Memory::new` writes both.

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::Refused;

use super::choice::Chosen;

/// Bytes of a unit. Of 512 to 4096, 1 KiB was the best on the recorded programs (module `direct`).
pub(super) const UNIT_BYTES: usize = 1 << UNIT_SHIFT;
const UNIT_SHIFT: u32 = 10;
/// Bytes of a page.
pub(super) const PAGE_BYTES: usize = 1 << PAGE_SHIFT;
const PAGE_SHIFT: u32 = 13;
/// Units of a page.
#[expect(clippy::cast_possible_truncation, reason = "eight")]
pub(super) const PAGE_UNITS: u32 = (PAGE_BYTES / UNIT_BYTES) as u32;
/// The most units of a region: a tag keeps a length in 30 bits.
pub(super) const MAX_UNITS: usize = (1 << 30) - 1;

/// The number of a page. [`Page::NONE`] is page 0, which begins with the tables and so never holds
/// page-blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct Page(u32);

impl Page {
    /// No page. Its record exists, and what is written there has no meaning.
    pub(super) const NONE: Self = Self(0);

    /// The page as a number.
    #[inline]
    pub(super) const fn number(self) -> usize {
        self.0 as usize
    }

    /// `if chosen { other } else { self }`, without a branch.
    #[inline]
    pub(super) const fn or(self, other: Self, chosen: Chosen) -> Self {
        Self(chosen.of(self.0, other.0))
    }

    /// The first unit of the page.
    #[inline]
    pub(super) const fn first_unit(self) -> Unit {
        Unit(self.0 * PAGE_UNITS)
    }
}

/// Ends the free list of a page that has no frontier left. It is odd, so it is not the offset of a
/// page-block.
pub(super) const FULL: u16 = u16::MAX;
/// The class byte of a page that holds no page-blocks.
pub(super) const NOT_BLOCKS: u8 = u8::MAX;

/// What is known of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(super) struct PageRecord {
    pub(super) free: u16,
    pub(super) frontier: u16,
    pub(super) used: u16,
    pub(super) class: u8,
    pub(super) next: Page,
    pub(super) previous: Page,
}

const _: () = assert!(size_of::<PageRecord>() == 16, "four records a cache line");

impl PageRecord {
    /// The record of a page without page-blocks. `used` is 1, so that `NotFull::put_back` rejects
    /// a large object by the same test as a page's last object.
    pub(super) const NOT_BLOCKS: Self = Self {
        free: FULL,
        frontier: FULL,
        used: 1,
        class: NOT_BLOCKS,
        next: Page::NONE,
        previous: Page::NONE,
    };

    /// Whether the page holds page-blocks.
    pub(super) const fn holds_blocks(&self) -> bool {
        self.class != NOT_BLOCKS
    }

    /// Whether no page-block is free.
    pub(super) const fn is_full(&self) -> bool {
        self.free == FULL
    }
}

/// The number of a unit. [`Unit::NONE`] is unit 0, which is administrative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(super) struct Unit(u32);

impl Unit {
    /// No unit.
    pub(super) const NONE: Self = Self(0);

    /// The unit as a number.
    #[inline]
    pub(super) const fn number(self) -> u32 {
        self.0
    }
}

/// A page-block: its page, and its offset in the page in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) page: Page,
    pub(super) offset: u16,
}

/// The region and its two tables.
#[derive(Debug)]
pub(super) struct Memory<'m> {
    base: NonNull<u8>,
    pages: u32,
    units: u32,
    first_unit: u32,
    outside: usize,
    owner: PhantomData<&'m mut [MaybeUninit<u8>]>,
}

// SAFETY: D1: the memory is owned like a `&mut [MaybeUninit<u8>]`, which is `Send`.
unsafe impl Send for Memory<'_> {}

/// Sizes of the tables of a region of `units` units.
struct Plan {
    units: usize,
    pages: usize,
    admin_units: usize,
}

impl Plan {
    const fn new(bytes: usize) -> Self {
        let units = bytes / UNIT_BYTES;
        let units = if units < MAX_UNITS { units } else { MAX_UNITS };
        let pages = units.div_ceil(PAGE_UNITS as usize) + 1;
        let tables = pages * size_of::<PageRecord>() + (units + 1) * size_of::<u32>();
        Self {
            units,
            pages,
            admin_units: tables.div_ceil(UNIT_BYTES),
        }
    }
}

impl<'m> Memory<'m> {
    /// Writes the tables of a region; every tag is zero.
    pub(super) fn new(region: &'m mut [MaybeUninit<u8>]) -> Result<Self, Refused> {
        let len = region.len();
        let skipped = region.as_ptr().align_offset(UNIT_BYTES).min(len);
        let plan = Plan::new(len - skipped);
        if plan.admin_units >= plan.units {
            return Err(Refused::Region {
                needed: 3 * UNIT_BYTES,
            });
        }
        let base = NonNull::from(&mut region[skipped..]).cast::<u8>();
        let memory = Self {
            base,
            pages: number(plan.pages),
            units: number(plan.units),
            first_unit: number(plan.admin_units),
            outside: len - plan.units * UNIT_BYTES,
            owner: PhantomData,
        };
        memory.write_tables();
        Ok(memory)
    }

    fn write_tables(&self) {
        for page in self.pages() {
            // SAFETY: D2, D4: the record's bytes are inside the administrative units, aligned;
            // nobody refers to them yet.
            unsafe { self.record_place(page).write(PageRecord::NOT_BLOCKS) };
        }
        for unit in 0..=self.units {
            // SAFETY: D2, D4: as above; there is one tag per unit, and one behind them.
            unsafe { self.tag_place(Unit(unit)).write(0) };
        }
    }

    /// Where a page's record is.
    #[inline]
    fn record_place(&self, page: Page) -> NonNull<PageRecord> {
        debug_assert!(page.0 < self.pages, "D2");
        // SAFETY: D2, D4: inside the administrative units.
        unsafe { self.base.cast::<PageRecord>().add(page.number()) }
    }

    /// Where a unit's tag is.
    #[inline]
    fn tag_place(&self, unit: Unit) -> NonNull<u32> {
        debug_assert!(unit.0 <= self.units, "D2");
        let tags = self.pages as usize * size_of::<PageRecord>();
        // SAFETY: D2, D4: inside the administrative units; records are a multiple of four bytes.
        unsafe {
            self.base
                .add(tags + unit.0 as usize * size_of::<u32>())
                .cast()
        }
    }

    /// The number of units in the region, administrative ones included.
    pub(super) fn units(&self) -> u32 {
        self.units
    }

    /// The first unit that is not administrative.
    pub(super) fn first_unit(&self) -> Unit {
        Unit(self.first_unit)
    }

    /// Bytes of the region outside the units.
    pub(super) fn outside_bytes(&self) -> usize {
        self.outside
    }

    /// The pages of the region that have a record.
    pub(super) fn pages(&self) -> impl Iterator<Item = Page> + use<> {
        (0..self.pages).map(Page)
    }

    /// The number of units from `unit` to the next one at a multiple of `align`.
    pub(super) fn units_to_aligned(&self, unit: Unit, align: usize) -> u32 {
        let address = self.base.addr().get() + unit.0 as usize * UNIT_BYTES;
        number((address.next_multiple_of(align) - address) / UNIT_BYTES)
    }

    /// The unit `units` behind `unit`, but at most the end of the region.
    #[inline]
    pub(super) fn after(&self, unit: Unit, units: u32) -> Unit {
        let number = unit.0 + units;
        assert!(number <= self.units, "D2: a unit of the region");
        Unit(number)
    }

    /// The unit `units` before `unit`.
    pub(super) fn back(&self, unit: Unit, units: u32) -> Unit {
        assert!(units <= unit.0, "D2: a unit of the region");
        Unit(unit.0 - units)
    }

    /// The page that begins at `unit`, if one does.
    pub(super) fn page_at(&self, unit: Unit) -> Option<Page> {
        (unit.0 % PAGE_UNITS == 0).then_some(Page(unit.0 / PAGE_UNITS))
    }

    /// The page that begins at `unit` or behind it.
    #[inline]
    pub(super) fn page_from(&self, unit: Unit) -> Page {
        let number = unit.0.div_ceil(PAGE_UNITS);
        assert!(number < self.pages, "D2: a page of the region");
        Page(number)
    }

    /// A page's record.
    #[inline]
    pub(super) fn record(&self, page: Page) -> &PageRecord {
        // SAFETY: D4: written by `new`; borrowed like `self`, which is the only way to the tables.
        unsafe { self.record_place(page).as_ref() }
    }

    /// A page's record, for a number that may be corrupt.
    pub(super) fn try_record(&self, page: Page) -> Option<&PageRecord> {
        (page.0 < self.pages).then(|| self.record(page))
    }

    /// A page's record, mutably.
    #[inline]
    pub(super) fn record_mut(&mut self, page: Page) -> &mut PageRecord {
        // SAFETY: D4: written by `new`; borrowed like `self`, which is the only way to the tables.
        unsafe { self.record_place(page).as_mut() }
    }

    /// A unit's tag.
    #[inline]
    pub(super) fn tag(&self, unit: Unit) -> u32 {
        // SAFETY: D4: written by `new`.
        unsafe { self.tag_place(unit).read() }
    }

    /// Writes a unit's tag.
    #[inline]
    pub(super) fn set_tag(&mut self, unit: Unit, tag: u32) {
        // SAFETY: D4: a tag; no reference to it exists, because none is ever made.
        unsafe { self.tag_place(unit).write(tag) }
    }

    /// Whether an object can begin at an address: behind the tables, at a multiple of eight bytes.
    #[inline]
    pub(super) fn contains(&self, object: NonNull<u8>) -> bool {
        let offset = object.addr().get().wrapping_sub(self.base.addr().get());
        let objects = self.first_unit as usize * UNIT_BYTES..self.units as usize * UNIT_BYTES;
        objects.contains(&offset) && offset % 8 == 0
    }

    /// The page-block that begins at a caller's address.
    ///
    /// # Safety
    /// S1: `object` is an address that this heap returned.
    #[inline]
    pub(super) unsafe fn block_at(&self, object: NonNull<u8>) -> Block {
        let offset = object.addr().get().wrapping_sub(self.base.addr().get());
        debug_assert!(
            offset < self.units as usize * UNIT_BYTES && offset % 8 == 0,
            "S1: an object of this heap"
        );
        Block {
            page: Page((offset >> PAGE_SHIFT) as u32),
            offset: (offset & (PAGE_BYTES - 1)) as u16,
        }
    }

    /// The unit that begins where `block` does.
    #[inline]
    pub(super) fn unit_at(&self, block: Block) -> Unit {
        Unit(block.page.0 * PAGE_UNITS + (u32::from(block.offset) >> UNIT_SHIFT))
    }

    /// The address of a page-block.
    #[inline]
    pub(super) fn address(&self, block: Block) -> NonNull<u8> {
        // SAFETY: D3 and D1: inside the region.
        unsafe {
            self.base
                .add((block.page.number() << PAGE_SHIFT) + usize::from(block.offset))
        }
    }

    /// The address of a unit.
    #[inline]
    pub(super) fn unit_address(&self, unit: Unit) -> NonNull<u8> {
        // SAFETY: D2 and D1: inside the region.
        unsafe { self.base.add(unit.0 as usize * UNIT_BYTES) }
    }

    /// The link in a free page-block.
    #[inline]
    pub(super) fn link(&self, block: Block) -> u16 {
        // SAFETY: D3; when a block in a page's free list was freed, `set_link` wrote it (F2), and
        // it is no object's.
        unsafe { self.address(block).cast().read() }
    }

    /// Writes the link of a free page-block.
    #[inline]
    pub(super) fn set_link(&mut self, object: NonNull<u8>, link: u16) {
        // SAFETY: D3; the block was just freed, so nobody else uses its bytes (S1 of `free`).
        unsafe { object.cast().write(link) }
    }

    /// The neighbours of a free run in its list: next, previous.
    #[inline]
    pub(super) fn run_links(&self, run: Unit) -> [Unit; 2] {
        debug_assert!(run.0 >= self.first_unit);
        // SAFETY: D2, D3: a unit of payload, aligned to 1024. When the run was listed (R4),
        // `set_run_links` wrote two units of this region there, and a free run is no object's.
        unsafe { self.unit_address(run).cast().read() }
    }

    /// Writes the neighbours of a free run.
    #[inline]
    pub(super) fn set_run_links(&mut self, run: Unit, links: [Unit; 2]) {
        debug_assert!(run.0 >= self.first_unit);
        // SAFETY: D2, D3: a unit of payload, aligned to 1024; the run is free, so nobody else uses
        // its bytes.
        unsafe { self.unit_address(run).cast().write(links) }
    }

    /// Copies an object into another one.
    ///
    /// # Safety
    /// S1: both are live objects of this heap, different, and at least `bytes` long.
    pub(super) unsafe fn copy(&mut self, from: NonNull<u8>, to: NonNull<u8>, bytes: usize) {
        let from = from.cast::<MaybeUninit<u8>>();
        // SAFETY: S1: live objects are disjoint and inside the region.
        unsafe { from.copy_to_nonoverlapping(to.cast(), bytes) }
    }
}

/// A count of units or pages. It fits, because regions are cut at [`MAX_UNITS`].
#[expect(
    clippy::cast_possible_truncation,
    reason = "at most MAX_UNITS, see Plan"
)]
const fn number(count: usize) -> u32 {
    debug_assert!(count <= MAX_UNITS + 1);
    count as u32
}
