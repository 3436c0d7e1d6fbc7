//! The region of a shared direct heap, and the records of its units.
//!
//! ```text
//! base, aligned to a unit
//! | what all threads share | instance | instance … | records, 32 bytes a unit | slots, 8 | divisions | unit …
//! |<------------------------------ administrative units --------------------------->|
//!                                                                       unit 0 | unit 1 | unit 2 …
//! ```
//! Divisions, 128 bytes a unit, are there only over a source that takes memory back, and written
//! for mixed pages alone.
//!
//! All tables are valid when zero: nothing is written before it is needed. A free that finds room
//! in a free list, or in a batch for another thread, looks at a slot alone: those of 8 units lie
//! in one cache line, and nobody writes there while the pages stay. A record's line is its owner's.
//!
//! # Invariants
//! - M1 `base .. base + units · UNIT_BYTES` belongs to this heap alone while it lives. Units below
//!   `committed`, and their records, are usable.
//! - M2 A [`Span`] is below the number of units: only this module makes them from numbers, and
//!   checks the numbers.
//! - M3 A record's fields are written by one thread at a time: those of a page by its instance's
//!   owner, all others under the pool's lock. What other threads read of a live object's record
//!   (`class`, `back`) is written before the object is handed out, and not again before it is
//!   freed, but for what a page becomes that gets mixed (X3).
//! - M4 F1 is never enough where there is no page: such a record has no frees to spare, and its
//!   slot is of no class, so that no batch takes what is freed there: that changes nothing.
//! - M5 The slot of a unit is that of the class whose page it belongs to, or that of mixed pages,
//!   with the number of the page's instance; or none, with 0. It is written as what other threads
//!   read of that page's record is (M3), and once more if the page becomes a mixed one (X3).

use core::cell::Cell;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicUsize, Ordering, fence};

use surefit_core::fetch;

use super::chain::{Chain, Free};
use super::division::Division;
use super::sizes::{Class, GRANULE, MOST_UNITS, Slot, UNIT_BYTES};
use super::source::Source;

/// Bytes of a unit, as a binary logarithm.
const UNIT_SHIFT: u32 = UNIT_BYTES.trailing_zeros();

/// `watch` of a page of which F1 frees nothing; no page has so many page-blocks.
pub(super) const EACH_FREE: u16 = 1 << 14;

/// Bytes of a unit's slot.
pub(super) const SLOT_BYTES: usize = size_of::<Entry>();

/// Bytes of a unit's division.
pub(super) const DIVISION_BYTES: usize = size_of::<Division>();

/// What a unit is, as its record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Never used, in a thread's buffer, or inside a run.
    Nothing,
    /// The first unit of a page of a class.
    Page(Class),
    /// The first unit of a large object, or the last one.
    Run,
    /// The first unit of a free run, or the last one.
    Free,
    /// A later unit of a page of a class.
    Inside(Class),
    /// The first unit of a mixed page.
    Mixed,
    /// A later unit of a mixed page.
    InsideMixed,
}

// A unit of a page has the number of its class plus 1, and this bit if it is a later one. Without
// the bit, no other kind is such a number.
const NOTHING: u8 = 0;
const MIXED: u8 = 125;
const RUN: u8 = 126;
const FREE: u8 = 127;
const INSIDE: u8 = 128;
const INSIDE_MIXED: u8 = MIXED | INSIDE;

/// A number that one thread writes at a time, and that others may read meanwhile, for statistics.
macro_rules! seen {
    ($name:ident, $atomic:ident, $number:ident) => {
        #[derive(Debug)]
        #[repr(transparent)]
        pub(super) struct $name($atomic);

        impl $name {
            #[inline]
            pub(super) fn get(&self) -> $number {
                self.0.load(Ordering::Relaxed)
            }

            #[inline]
            pub(super) fn set(&self, value: $number) {
                self.0.store(value, Ordering::Relaxed);
            }
        }
    };
}

seen!(Seen8, AtomicU8, u8);
seen!(Seen16, AtomicU16, u16);
seen!(Seen32, AtomicU32, u32);

/// What is known of a unit, and of the page or run that begins there.
#[derive(Debug)]
#[repr(C, align(32))]
pub(super) struct Record {
    /// A page: its free page-blocks, except those in its instance's free list.
    pub(super) free: Chain,
    /// Neighbours in a list of not-full pages or of free runs.
    pub(super) next: Cell<Span>,
    pub(super) previous: Cell<Span>,
    /// Runs: units. In the last unit's record of a free run too.
    pub(super) units: Seen32,
    /// A page: how many frees F1 is enough for, its page-blocks that are used less
    /// [`Record::set_watch`]'s less one; below 0 if the top bit is set. Else 0: for what is no page
    /// F1 is never enough.
    spare: Seen16,
    /// A page: a free that leaves so many page-blocks used, or fewer, needs more than F1. A free
    /// run: when it was freed, high half.
    pub(super) watch: Seen16,
    /// A page: page-blocks that were ever used. A free run: when it was freed, low half, with the
    /// last bit 1 if it is zero.
    pub(super) opened: Seen16,
    /// Bytes of records back to that of the page's first unit.
    back: Seen16,
    kind: Seen8,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Record>() == 32, "two records a cache line");

/// What a free knows of a unit from the table of slots.
#[derive(Debug)]
struct Entry {
    /// A word, which is read as it is. Written once more while objects of the page live, if it
    /// becomes a mixed one.
    slot: Seen32,
    /// The number of the page's instance; 0 if the unit is of no page.
    owner: Seen32,
}

impl Record {
    /// What the unit is.
    #[inline]
    pub(super) fn kind(&self) -> Kind {
        // Read once: the page of a live object may become a mixed one meanwhile (X3).
        let kind = self.kind.get();
        let class = Class::at((kind & !INSIDE).wrapping_sub(1));
        match kind {
            NOTHING => Kind::Nothing,
            RUN => Kind::Run,
            FREE => Kind::Free,
            MIXED => Kind::Mixed,
            INSIDE_MIXED => Kind::InsideMixed,
            _ if kind < INSIDE => class.map_or(Kind::Nothing, Kind::Page),
            _ => class.map_or(Kind::Nothing, Kind::Inside),
        }
    }

    /// Whether a free finds no page here (M4): no frees to spare, nothing that it would lead back
    /// to.
    pub(super) fn is_no_page(&self) -> bool {
        self.spare.get() == 0 && self.is_back(0)
    }

    /// Whether this says that its page begins `units` units before.
    pub(super) fn is_back(&self, units: u32) -> bool {
        usize::from(self.back.get()) == units as usize * size_of::<Self>()
    }

    /// Whether this is a mixed page's as far as its class was another's (X2, M4).
    pub(super) fn has_no_class(&self) -> bool {
        self.spare.get() == 0 && self.free.is_empty()
    }

    /// Whether this is the record of a page's unit, `units` units behind its beginning.
    pub(super) fn is_inside(&self, units: u32) -> bool {
        self.spare.get() == 0 && self.is_back(units)
    }

    /// A page: page-blocks that are live or in its instance's free list.
    pub(super) fn used(&self) -> u16 {
        let watched = self.spare.get().wrapping_add(1);
        watched.wrapping_add(self.watch.get())
    }

    /// Says how many page-blocks of a page are live or in its instance's free list.
    pub(super) fn set_used(&self, used: u16) {
        let watched = used.wrapping_sub(self.watch.get());
        self.spare.set(watched.wrapping_sub(1));
    }

    /// A free that leaves so many page-blocks of the page used, or fewer, needs more than F1: at
    /// most [`EACH_FREE`].
    pub(super) fn set_watch(&self, watch: u16) {
        let used = self.used();
        self.watch.set(watch);
        self.set_used(used);
    }

    /// F1: puts a page-block back, in a page that holds others and is not full. Returns the
    /// page-block if it needs more than that, or this is no page.
    #[inline]
    pub(super) fn put_back(&self, block: Free) -> Result<(), Free> {
        let spare = self.spare.get().wrapping_sub(1);
        if spare >= 1 << 15 {
            return Err(block);
        }
        self.spare.set(spare);
        self.free.push(block);
        Ok(())
    }

    /// Makes the unit something that is no page.
    pub(super) fn set_kind(&self, kind: Kind) {
        self.spare.set(0);
        self.back.set(0);
        self.kind.set(match kind {
            Kind::Nothing => NOTHING,
            Kind::Page(class) => class.byte() + 1,
            Kind::Run => RUN,
            Kind::Free => FREE,
            Kind::Inside(class) => (class.byte() + 1) | INSIDE,
            Kind::Mixed => MIXED,
            Kind::InsideMixed => INSIDE_MIXED,
        });
    }

    /// Says that the page begins so many bytes of records before, for tests of the checker.
    #[cfg(test)]
    pub(super) fn set_back(&self, bytes: u16) {
        self.back.set(bytes);
    }

    /// The class of a page's record.
    #[inline]
    pub(super) fn class(&self) -> Option<Class> {
        match self.kind() {
            Kind::Page(class) => Some(class),
            _ => None,
        }
    }
}

/// The number of a unit, and of the page or run that begins there. [`Span::NONE`] is unit 0, which
/// is administrative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub(super) struct Span(u32);

impl Span {
    /// No unit.
    pub(super) const NONE: Self = Self(0);

    /// A number that may be corrupt, for tests of the checker.
    #[cfg(test)]
    pub(super) const fn of(number: u32) -> Self {
        Self(number)
    }

    /// The unit as a number.
    #[inline]
    pub(super) const fn number(self) -> u32 {
        self.0
    }
}

/// Where the region and its records are.
#[derive(Debug)]
pub(super) struct Memory {
    base: NonNull<u8>,
    records: NonNull<Record>,
    slots: NonNull<Entry>,
    divisions: NonNull<Division>,
    /// Bytes of the units that are committed.
    committed: AtomicUsize,
    units: u32,
    first: u32,
}

impl Memory {
    /// No unit, in no region.
    pub(super) const fn nowhere() -> Self {
        Self {
            base: NonNull::dangling(),
            records: NonNull::dangling(),
            slots: NonNull::dangling(),
            divisions: NonNull::dangling(),
            committed: AtomicUsize::new(0),
            units: 0,
            first: 0,
        }
    }

    /// Units of which the first `first` are administrative, and their records.
    ///
    /// # Safety
    /// M1, and that the records, the slots and, over a source that takes memory back, the divisions
    /// lie in administrative units, these or others before them, and are zero.
    pub(super) unsafe fn new(
        base: NonNull<u8>,
        units: u32,
        first: u32,
        records: NonNull<u8>,
        slots: NonNull<u8>,
        divisions: NonNull<u8>,
    ) -> Self {
        Self {
            base,
            records: records.cast(),
            slots: slots.cast(),
            divisions: divisions.cast(),
            committed: AtomicUsize::new(0),
            units,
            first,
        }
    }

    /// The number of units, administrative ones included.
    pub(super) fn units(&self) -> u32 {
        self.units
    }

    /// Units whose records and bytes are usable: no object lies behind them.
    pub(super) fn committed(&self) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "at most all units")]
        let units = (self.committed.load(Ordering::Relaxed) >> UNIT_SHIFT) as u32;
        units
    }

    /// Says that units up to a number are usable, with their records.
    pub(super) fn set_committed(&self, units: u32) {
        let bytes = (units as usize) << UNIT_SHIFT;
        self.committed.store(bytes, Ordering::Relaxed);
    }

    /// Makes units usable that follow those that are, up to a unit, and their records and slots.
    /// Whether the source could.
    pub(super) fn commit<S: Source>(&self, source: &S, end: Span) -> bool {
        let first = self.span(self.committed());
        let units = (end.0 - first.0) as usize;
        let (records, slots) = (self.record_place(first), self.slot_place(first));
        // SAFETY: M1: inside the region; with a record and a slot for the end.
        let done = unsafe { source.commit(records, (units + 1) * size_of::<Record>()) }
            // SAFETY: as above.
            && unsafe { source.commit(slots, (units + 1) * SLOT_BYTES) }
            // SAFETY: as above.
            && (!S::PURGES
                || unsafe { source.commit(self.division_place(first), (units + 1) * DIVISION_BYTES) })
            // SAFETY: as above.
            && unsafe { source.commit(self.address(first), units * UNIT_BYTES) };
        if done {
            self.set_committed(end.0);
        }
        done
    }

    /// Has the source take back the units from one on, behind which nothing is. Their records stay
    /// usable.
    pub(super) fn withdraw<S: Source>(&self, source: &S, from: Span) {
        let bytes = (self.committed() - from.0) as usize * UNIT_BYTES;
        // SAFETY: M1: the last units that are committed; the caller says that nothing is there.
        if unsafe { source.withdraw(self.address(from), bytes) } {
            self.set_committed(from.0);
        }
    }

    /// Gives the memory of a free run back, or of one that the pool holds for that. Whether the
    /// source could.
    pub(super) fn purge<S: Source>(&self, source: &S, run: Span, units: u32) -> bool {
        let end = self.after(run, units);
        debug_assert!(end.0 <= self.committed());
        // SAFETY: M1: inside the region; the run is the pool's, so no object's.
        unsafe { source.purge(self.address(run), units as usize * UNIT_BYTES) }
    }

    /// Whether most of a large object's memory is not there: the program wrote little of it.
    pub(super) fn is_sparse<S: Source>(&self, source: &S, run: Span, units: u32) -> bool {
        // SAFETY: M1: inside the region; the object is the caller's.
        unsafe { source.is_sparse(self.address(run), units as usize * UNIT_BYTES) }
    }

    /// The first unit that is not administrative.
    pub(super) fn first(&self) -> Span {
        Span(self.first)
    }

    /// The unit with a number; the number of units is the end of the region.
    ///
    /// # Panics
    /// If there is no such unit.
    #[inline]
    pub(super) fn span(&self, number: u32) -> Span {
        assert!(number <= self.units, "M2: a unit of the region");
        Span(number)
    }

    /// Whether a number that may be corrupt is that of a usable unit which is not administrative.
    pub(super) fn is_usable(&self, span: Span) -> bool {
        (self.first..self.committed()).contains(&span.0)
    }

    /// The unit `units` behind another one.
    #[inline]
    pub(super) fn after(&self, span: Span, units: u32) -> Span {
        self.span(span.0.saturating_add(units))
    }

    /// A unit's record.
    #[inline]
    pub(super) fn record(&self, span: Span) -> &Record {
        debug_assert!(span.0 <= self.units, "M2");
        // SAFETY: M2: there is a record for each unit and one for the end; zeros are a record; only
        // shared references are made, and its fields are cells (M3 says who writes).
        unsafe { self.records.add(span.0 as usize).as_ref() }
    }

    /// Where a unit's record is, for who makes records usable.
    pub(super) fn record_place(&self, span: Span) -> NonNull<u8> {
        NonNull::from(self.record_unread(span)).cast()
    }

    /// Where a unit's slot is.
    pub(super) fn slot_place(&self, span: Span) -> NonNull<u8> {
        // SAFETY: M2: inside the administrative units; there is one for the end.
        unsafe { self.slots.add(span.0 as usize) }.cast()
    }

    /// A unit's slot.
    #[inline]
    pub(super) fn slot(&self, unit: Span) -> Slot {
        // SAFETY: M5: a slot, or zero, which is none.
        unsafe { Slot::of_word(self.entry(unit).slot.get()) }
    }

    /// The number of the instance whose page a unit belongs to; 0 if it is no page's.
    #[inline]
    pub(super) fn owner(&self, unit: Span) -> u16 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "M5: a number of an instance"
        )]
        let owner = self.entry(unit).owner.get() as u16;
        owner
    }

    #[inline]
    fn entry(&self, unit: Span) -> &Entry {
        // SAFETY: M2, as `record`.
        unsafe { self.slot_place(unit).cast().as_ref() }
    }

    /// Says which slot a unit has, and whose it is.
    pub(super) fn set_slot(&self, unit: Span, slot: Slot, owner: u16) {
        let entry = self.entry(unit);
        entry.slot.set(slot.word());
        entry.owner.set(owner.into());
    }

    /// Where a unit's division is, if there are some.
    fn division_place(&self, span: Span) -> NonNull<u8> {
        // SAFETY: M2: inside the administrative units; there is one for the end.
        unsafe { self.divisions.add(span.0 as usize) }.cast()
    }

    /// How a unit of a mixed page is divided.
    #[inline]
    pub(super) fn division(&self, unit: Span) -> &Division {
        debug_assert!(unit.0 <= self.units, "M2");
        // SAFETY: M2, as `record`: where there are mixed pages, there is one for each unit, and
        // zeros are one.
        unsafe { self.divisions.add(unit.0 as usize).as_ref() }
    }

    /// The unit that holds an address. `None` outside what is committed.
    #[inline]
    pub(super) fn unit_of(&self, object: *mut u8) -> Option<Span> {
        let offset = object.addr().wrapping_sub(self.base.addr().get());
        if offset >= self.committed.load(Ordering::Relaxed) {
            return None;
        }
        let unit = offset >> UNIT_SHIFT;
        // SAFETY: M1: the number of units is a `u32`.
        unsafe { core::hint::assert_unchecked(u32::try_from(unit).is_ok()) };
        #[expect(clippy::cast_possible_truncation, reason = "as above")]
        Some(Span(unit as u32))
    }

    fn record_unread(&self, span: Span) -> &Cell<core::mem::MaybeUninit<Record>> {
        // SAFETY: M2: inside the administrative units; it is not read.
        unsafe { self.records.add(span.0 as usize).cast().as_ref() }
    }

    /// The address of a unit.
    #[inline]
    pub(super) fn address(&self, span: Span) -> NonNull<u8> {
        // SAFETY: M2, M1: inside the region, or its end.
        unsafe { self.base.add((span.0 as usize) << UNIT_SHIFT) }
    }

    /// The record of the page or run whose unit holds an address: of its first unit if it is a
    /// page. `None` outside what is committed.
    #[inline]
    pub(super) fn record_around(&self, object: *mut u8) -> Option<&Record> {
        self.unit_of(object).map(|unit| self.first_record(unit))
    }

    /// The record of the first unit of the page that a unit belongs to; of another unit its own.
    #[inline]
    pub(super) fn first_record(&self, unit: Span) -> &Record {
        let record = self.record(unit);
        let back = usize::from(record.back.get());
        // SAFETY: M2: `open_page` wrote how far back the page begins, in the same region; else it
        // is 0.
        unsafe { NonNull::from(record).byte_sub(back).as_ref() }
    }

    /// As [`Memory::record_around`], its number.
    pub(super) fn around(&self, object: *mut u8) -> Option<Span> {
        self.record_around(object)
            .map(|record| self.span_of(record))
    }

    /// The unit whose record this is.
    pub(super) fn span_of(&self, record: &Record) -> Span {
        let bytes = core::ptr::from_ref(record).addr() - self.records.addr().get();
        #[expect(clippy::cast_possible_truncation, reason = "a record of the region")]
        Span((bytes / size_of::<Record>()) as u32)
    }

    /// Bytes from the beginning of a unit to an address behind it.
    #[inline]
    pub(super) fn offset_in(&self, span: Span, object: *mut u8) -> usize {
        object.addr().wrapping_sub(self.address(span).addr().get())
    }

    /// Makes units a page of a class that an instance owns: no page-block was ever used.
    pub(super) fn open_page(&self, page: Span, class: Class, owner: u16, watch: u16) {
        let units = u32::from(class.shape().units);
        #[expect(clippy::cast_possible_truncation, reason = "at most 16 units")]
        for unit in 1..units {
            let record = self.record(self.after(page, unit));
            record.set_kind(Kind::Inside(class));
            record
                .back
                .set((unit as usize * size_of::<Record>()) as u16);
        }
        self.set_slots(page, units, class.slot(), owner);
        let record = self.record(page);
        record.set_kind(Kind::Page(class));
        record.free.take();
        record.next.set(Span::NONE);
        record.previous.set(Span::NONE);
        record.opened.set(0);
        record.watch.set(watch);
        record.set_used(0);
    }

    /// Has the processor fetch the first words of the page-blocks of a page of a class, where it is
    /// known how. O(π).
    pub(super) fn prefetch(&self, page: Span, class: Class) {
        let (start, bytes) = (self.address(page).as_ptr(), class.block_bytes());
        let all = usize::from(class.shape().blocks) * bytes;
        for at in (0..all).step_by(bytes.max(64)) {
            fetch(start.wrapping_add(at));
        }
    }

    /// Says that a page of so many units, whose divisions were written, is a mixed one. Other
    /// threads may read of its live objects meanwhile.
    pub(super) fn mix_page(&self, page: Span, units: u32) {
        let record = self.record(page);
        record.free.take();
        record.spare.set(0);
        record.units.set(units);
        fence(Ordering::Release);
        record.kind.set(MIXED);
        for unit in 1..units {
            self.record(self.after(page, unit)).kind.set(INSIDE_MIXED);
        }
        for unit in 0..units {
            self.entry(self.after(page, unit))
                .slot
                .set(Slot::MIXED.word());
        }
    }

    /// The page-block of a mixed page at a granule, which nobody uses.
    pub(super) fn block_at(&self, page: Span, granule: usize) -> Free {
        assert!(granule < MOST_UNITS * UNIT_BYTES / GRANULE);
        // SAFETY: M1: inside the page's units.
        let place = unsafe { self.address(page).add(granule * GRANULE) };
        // SAFETY: X1: its granules were free, and are this page-block's from now on.
        unsafe { Free::of(place) }
    }

    /// Closes a page: its units belong to nothing. Returns how many they are.
    pub(super) fn close_page(&self, page: Span, units: u32) -> u32 {
        for unit in 0..units {
            self.record(self.after(page, unit)).set_kind(Kind::Nothing);
        }
        self.set_slots(page, units, Slot::NONE, 0);
        units
    }

    fn set_slots(&self, page: Span, units: u32, slot: Slot, owner: u16) {
        (0..units).for_each(|unit| self.set_slot(self.after(page, unit), slot, owner));
    }

    /// The link in the free page-block at an address that may be corrupt, for a checker. `None` if
    /// no page-block can begin there.
    pub(super) fn link(&self, block: *mut u8) -> Option<*mut u8> {
        let offset = block.addr().wrapping_sub(self.base.addr().get());
        let usable = (self.first as usize) << UNIT_SHIFT..(self.committed() as usize) << UNIT_SHIFT;
        if !usable.contains(&offset) || offset % GRANULE != 0 {
            return None;
        }
        // SAFETY: M1: inside the units that are usable, and aligned. The region's bytes hold
        // anything; only who checks reads them.
        Some(unsafe { self.base.add(offset).cast().read() })
    }

    /// `count` page-blocks of a page that were never used, from the number `first` on.
    pub(super) fn new_blocks(&self, page: Span, class: Class, first: u16, count: u16) -> Chain {
        let bytes = class.block_bytes();
        assert!(usize::from(first) + usize::from(count) <= usize::from(class.shape().blocks));
        // SAFETY: M1: all page-blocks of the page lie inside its units.
        let start = unsafe { self.address(page).add(usize::from(first) * bytes) };
        // SAFETY: as above; nobody has used these page-blocks since the page was opened.
        unsafe { Chain::linked(start, bytes, count) }
    }

    /// Copies an object into another one.
    ///
    /// # Safety
    /// Both are live objects of this heap, different, and at least `bytes` long.
    pub(super) unsafe fn copy(&self, from: NonNull<u8>, to: NonNull<u8>, bytes: usize) {
        // SAFETY: live objects are disjoint and inside the region.
        unsafe { from.copy_to_nonoverlapping(to, bytes) };
    }

    /// Writes zeros over an object.
    ///
    /// # Safety
    /// It is a live object of this heap, at least `bytes` long, and the caller's.
    pub(super) unsafe fn clear(&self, object: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's.
        unsafe { object.write_bytes(0, bytes) };
    }
}
