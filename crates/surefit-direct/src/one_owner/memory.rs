//! The region of a direct heap. Only this module accesses its bytes.
//!
//! ```text
//!                                       base, aligned to a unit
//! | newest not-full page of every class | page records | unit tags | lists  | counts | pad | unit | unit …
//! |              4 each                 |   16 each    |  4 each   | 4 each | 4 each |     |
//!                                       |<--------------- administrative units -------------->|
//! page 0 is base .. base + P, and so on: pages and units count from the base, with the tables
//! ```
//!
//! # Invariants
//! - D1 `base - heads .. base + units · unit bytes` belongs to this heap alone for `'m`; `base` is
//!   a multiple of a unit's bytes.
//! - D2 Every [`Page`] is below the number of page records, every [`Unit`] below the number of
//!   tags: only this module makes them from numbers, and it checks the numbers. (Pages and units of
//!   another heap never get here: both types are private to a heap.)
//! - D3 A [`Block`] lies inside the units, at a multiple of eight, with at least eight bytes before
//!   the end; a [`Unit`] that is not administrative is a unit of payload.
//! - D4 The heads lie before the base, all other tables at it, in the administrative units, in the
//!   order of the picture. `Memory::new` writes them all.
//! - D5 A [`Class`] whose head is asked for is one of the partitioning's: it comes from the table
//!   of classes, or from the record of a page that holds page-blocks (P1).

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::choice::Chosen;
use super::partition::{Class, Partitioning, classes};

/// Units of a page.
#[expect(clippy::cast_possible_truncation, reason = "up to 16")]
pub(super) const fn page_units<S: Partitioning>() -> u32 {
    (S::PAGE_BYTES / S::UNIT_BYTES) as u32
}

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
}

/// Ends the free list of a page that has no frontier left. It is odd, so it is not the offset of a
/// page-block.
pub(super) const FULL: u16 = u16::MAX;

/// What is known of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(16))]
pub(super) struct PageRecord {
    pub(super) free: u16,
    pub(super) frontier: u16,
    pub(super) used: u16,
    pub(super) class: Class,
    /// The class's complement. Only `check` reads it.
    pub(super) complement: u8,
    pub(super) next: Page,
    pub(super) previous: Page,
}

const _: () = assert!(size_of::<PageRecord>() == 16, "four records a cache line");

impl PageRecord {
    /// The record of a page without page-blocks. `used` is 1, so that `Memory::put_back` rejects
    /// a large object by the same test as a page's last object.
    pub(super) const NOT_BLOCKS: Self = Self {
        free: FULL,
        frontier: FULL,
        used: 1,
        class: Class::NONE,
        complement: Class::NONE.complement(),
        next: Page::NONE,
        previous: Page::NONE,
    };

    /// Whether the page holds page-blocks.
    pub(super) const fn holds_blocks(&self) -> bool {
        self.class.index() != Class::NONE.index()
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

/// The region and its tables.
#[derive(Debug)]
pub(super) struct Memory<'m, S> {
    base: NonNull<u8>,
    pages: u32,
    units: u32,
    first_unit: u32,
    lists: u32,
    counts: u32,
    tags_at: usize,
    lists_at: usize,
    outside: usize,
    owner: PhantomData<&'m mut [MaybeUninit<u8>]>,
    partition: PhantomData<S>,
}

// SAFETY: D1: the memory is owned like a `&mut [MaybeUninit<u8>]`, which is `Send`.
unsafe impl<S> Send for Memory<'_, S> {}

/// Numbers of the tables' entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Units of the region, administrative ones included.
    pub(super) units: usize,
    /// Lists of units.
    pub(super) lists: usize,
    /// Counts.
    pub(super) counts: usize,
}

impl Plan {
    const fn pages<S: Partitioning>(self) -> usize {
        self.units.div_ceil(page_units::<S>() as usize) + 1
    }

    /// Where the tags begin.
    const fn tags_at<S: Partitioning>(self) -> usize {
        self.pages::<S>() * size_of::<PageRecord>()
    }

    /// Where the lists begin, behind one tag per unit and one more.
    const fn lists_at<S: Partitioning>(self) -> usize {
        self.tags_at::<S>() + (self.units + 1) * size_of::<u32>()
    }

    /// Bytes of all tables from the base on.
    const fn table_bytes<S: Partitioning>(self) -> usize {
        self.lists_at::<S>() + (self.lists + self.counts) * size_of::<u32>()
    }

    /// Units that the tables take.
    pub(super) const fn admin_units<S: Partitioning>(self) -> usize {
        self.table_bytes::<S>().div_ceil(S::UNIT_BYTES)
    }
}

/// Bytes of the heads.
pub(super) const fn head_bytes<S: Partitioning>() -> usize {
    classes::<S>() * size_of::<Page>()
}

impl<'m, S: Partitioning> Memory<'m, S> {
    const PAGE_UNITS: u32 = page_units::<S>();
    const PAGE_SHIFT: u32 = S::PAGE_BYTES.trailing_zeros();
    const UNIT_SHIFT: u32 = S::UNIT_BYTES.trailing_zeros();

    /// Writes the tables of a region: every tag, list and count is zero, and no class has a
    /// not-full page. `plan` gets the whole units of the region. `None` if it plans more, or none
    /// at all. It may plan nothing but administrative units.
    pub(super) fn new(
        region: &'m mut [MaybeUninit<u8>],
        plan: impl FnOnce(usize) -> Option<Plan>,
    ) -> Option<Self> {
        let len = region.len();
        let heads = head_bytes::<S>();
        let behind_heads = region.as_ptr().wrapping_add(heads);
        let skipped = behind_heads
            .align_offset(S::UNIT_BYTES)
            .saturating_add(heads);
        let skipped = skipped.min(len);
        let units = ((len - skipped) / S::UNIT_BYTES).min(MAX_UNITS);
        let plan = plan(units)?;
        let admin_units = plan.admin_units::<S>();
        if plan.units > units || admin_units > plan.units {
            return None;
        }
        // From the whole region: the heads lie before the base.
        // SAFETY: D1: `skipped` bytes of the region are before the base.
        let base = unsafe { NonNull::from(region).cast::<u8>().add(skipped) };
        let memory = Self {
            base,
            pages: number(plan.pages::<S>()),
            units: number(plan.units),
            first_unit: number(admin_units),
            lists: number(plan.lists),
            counts: number(plan.counts),
            tags_at: plan.tags_at::<S>(),
            lists_at: plan.lists_at::<S>(),
            outside: len - plan.units * S::UNIT_BYTES,
            owner: PhantomData,
            partition: PhantomData,
        };
        memory.write_tables();
        Some(memory)
    }

    fn write_tables(&self) {
        let heads = head_bytes::<S>();
        // SAFETY: D1, D4: the heads before the base, and the administrative units, hold all tables;
        // nobody refers to them yet. All of them but the records may be zero.
        unsafe {
            let bytes = heads + self.first_unit as usize * S::UNIT_BYTES;
            self.base.sub(heads).write_bytes(0, bytes);
        }
        for page in self.pages() {
            // SAFETY: D2, D4: the record's bytes are inside the administrative units, aligned;
            // nobody refers to them yet.
            unsafe { self.record_place(page).write(PageRecord::NOT_BLOCKS) };
        }
    }

    /// Where the newest not-full page of a class is kept.
    #[inline]
    fn head_place(&self, class: Class) -> NonNull<Page> {
        debug_assert!(class.index() < classes::<S>(), "D5");
        // SAFETY: D1, D4, D5: before the base, and aligned like it.
        unsafe {
            let heads = self.base.cast::<Page>().sub(classes::<S>());
            heads.add(class.index())
        }
    }

    /// The newest not-full page of a class, or [`Page::NONE`].
    #[inline]
    pub(super) fn head(&self, class: Class) -> Page {
        // SAFETY: D4: written by `new`, as zeros, or by `set_head`.
        unsafe { self.head_place(class).read() }
    }

    /// Makes a page, or none, the newest not-full page of a class.
    #[inline]
    pub(super) fn set_head(&mut self, class: Class, page: Page) {
        // SAFETY: D4: a head; no reference to it exists, because none is ever made.
        unsafe { self.head_place(class).write(page) }
    }

    /// The number of lists.
    pub(super) fn lists(&self) -> usize {
        self.lists as usize
    }

    /// The number of counts.
    pub(super) fn counts(&self) -> usize {
        self.counts as usize
    }

    /// Where the first unit of a list is kept.
    ///
    /// # Panics
    /// If there is no such list.
    #[inline]
    fn list_place(&self, list: usize) -> NonNull<Unit> {
        assert!(list < self.lists(), "D4: a list");
        // SAFETY: D4: inside the administrative units, aligned like the tags before it.
        unsafe {
            self.base
                .add(self.lists_at + list * size_of::<Unit>())
                .cast()
        }
    }

    /// The first unit of a list, or [`Unit::NONE`].
    #[inline]
    pub(super) fn list(&self, list: usize) -> Unit {
        // SAFETY: D4: written by `new`, as zeros, or by `set_list`.
        unsafe { self.list_place(list).read() }
    }

    /// Makes a unit, or none, the first of a list.
    #[inline]
    pub(super) fn set_list(&mut self, list: usize, first: Unit) {
        // SAFETY: D4: a list; no reference to it exists, because none is ever made.
        unsafe { self.list_place(list).write(first) }
    }

    /// Where a count is kept, behind the lists.
    ///
    /// # Panics
    /// If there is no such count.
    #[inline]
    fn count_place(&self, count: usize) -> NonNull<u32> {
        assert!(count < self.counts(), "D4: a count");
        let before = self.lists() + count;
        // SAFETY: D4: inside the administrative units, aligned like the tags before it.
        unsafe {
            self.base
                .add(self.lists_at + before * size_of::<u32>())
                .cast()
        }
    }

    /// A count.
    #[inline]
    pub(super) fn count(&self, count: usize) -> u32 {
        // SAFETY: D4: written by `new`, as zeros, or by `set_count`.
        unsafe { self.count_place(count).read() }
    }

    /// Writes a count.
    #[inline]
    pub(super) fn set_count(&mut self, count: usize, value: u32) {
        // SAFETY: D4: a count; no reference to it exists, because none is ever made.
        unsafe { self.count_place(count).write(value) }
    }

    /// The first unit of a page.
    #[inline]
    pub(super) fn first_unit_of(&self, page: Page) -> Unit {
        Unit(page.0 * Self::PAGE_UNITS)
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
        // SAFETY: D2, D4: inside the administrative units; records are a multiple of four bytes.
        unsafe {
            self.base
                .add(self.tags_at + unit.0 as usize * size_of::<u32>())
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
    pub(super) fn pages(&self) -> impl Iterator<Item = Page> + use<S> {
        (0..self.pages).map(Page)
    }

    /// The number of units from `unit` to the next one at a multiple of `align`.
    pub(super) fn units_to_aligned(&self, unit: Unit, align: usize) -> u32 {
        let address = self.base.addr().get() + unit.0 as usize * S::UNIT_BYTES;
        number((address.next_multiple_of(align) - address) / S::UNIT_BYTES)
    }

    /// The unit with a number, but at most the end of the region.
    pub(super) fn unit(&self, number: usize) -> Unit {
        assert!(number <= self.units as usize, "D2: a unit of the region");
        Unit(self::number(number))
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
        (unit.0 % Self::PAGE_UNITS == 0).then_some(Page(unit.0 / Self::PAGE_UNITS))
    }

    /// The page that begins at `unit` or behind it.
    #[inline]
    pub(super) fn page_from(&self, unit: Unit) -> Page {
        let number = unit.0.div_ceil(Self::PAGE_UNITS);
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
        let objects = self.first_unit as usize * S::UNIT_BYTES..self.units as usize * S::UNIT_BYTES;
        objects.contains(&offset) && offset % 8 == 0
    }

    /// The page in which an object would lie that begins at an address, if one can.
    pub(super) fn page_around(&self, object: NonNull<u8>) -> Option<Page> {
        let offset = object.addr().get().wrapping_sub(self.base.addr().get());
        let page = Page((offset >> Self::PAGE_SHIFT) as u32);
        (self.contains(object) && page.0 < self.pages).then_some(page)
    }

    /// The page-block that begins at a caller's address.
    ///
    /// # Safety
    /// S1: `object` is an address that this heap returned.
    #[inline]
    pub(super) unsafe fn block_at(&self, object: NonNull<u8>) -> Block {
        let offset = object.addr().get().wrapping_sub(self.base.addr().get());
        debug_assert!(
            offset < self.units as usize * S::UNIT_BYTES && offset % 8 == 0,
            "S1: an object of this heap"
        );
        Block {
            page: Page((offset >> Self::PAGE_SHIFT) as u32),
            offset: (offset & (S::PAGE_BYTES - 1)) as u16,
        }
    }

    /// The unit that begins where `block` does, if one does.
    #[inline]
    pub(super) fn unit_at(&self, block: Block) -> Option<Unit> {
        let offset = usize::from(block.offset);
        let unit = Unit(block.page.0 * Self::PAGE_UNITS + number(offset >> Self::UNIT_SHIFT));
        (offset & (S::UNIT_BYTES - 1) == 0).then_some(unit)
    }

    /// The address of a page-block.
    #[inline]
    pub(super) fn address(&self, block: Block) -> NonNull<u8> {
        // SAFETY: D3 and D1: inside the region.
        unsafe {
            self.base
                .add((block.page.number() << Self::PAGE_SHIFT) + usize::from(block.offset))
        }
    }

    /// The address of a unit.
    #[inline]
    pub(super) fn unit_address(&self, unit: Unit) -> NonNull<u8> {
        // SAFETY: D2 and D1: inside the region.
        unsafe { self.base.add(unit.0 as usize * S::UNIT_BYTES) }
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
        // SAFETY: D2, D3: a unit of payload, aligned to a unit. When the run was listed (R4, Q2),
        // `set_run_links` wrote two units of this region there, and a free run is no object's.
        unsafe { self.unit_address(run).cast().read() }
    }

    /// Writes the neighbours of a free run.
    #[inline]
    pub(super) fn set_run_links(&mut self, run: Unit, links: [Unit; 2]) {
        debug_assert!(run.0 >= self.first_unit);
        // SAFETY: D2, D3: a unit of payload, aligned to a unit; the run is free, so nobody else
        // uses its bytes.
        unsafe { self.unit_address(run).cast().write(links) }
    }

    /// The heads, the tables and the units, which a test has written, and where in them the
    /// records, the tags, the lists and what is behind the tables begin.
    #[cfg(test)]
    pub(super) fn bytes(&mut self) -> (&mut [u8], [usize; 4]) {
        let (heads, counts) = (head_bytes::<S>(), self.lists() + self.counts());
        let bytes = heads + self.units as usize * S::UNIT_BYTES;
        let end = heads + self.lists_at + counts * size_of::<u32>();
        // SAFETY: D1, D4: all of this heap's, borrowed like `self`.
        let all = unsafe { core::slice::from_raw_parts_mut(self.base.sub(heads).as_ptr(), bytes) };
        (
            all,
            [heads, heads + self.tags_at, heads + self.lists_at, end],
        )
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
    reason = "at most MAX_UNITS, see `Memory::new`"
)]
const fn number(count: usize) -> u32 {
    debug_assert!(count <= MAX_UNITS + 1);
    count as u32
}
