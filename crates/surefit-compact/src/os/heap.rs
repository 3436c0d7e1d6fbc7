//! `OsHeap`: a [`Heap`] in a reservation of its own.
//!
//! # Invariants
//! - R1 The heap's memory is the reservation's, and nothing else uses it. The reservation is
//!   dropped after the heap, and the heap is handed out only as a shared borrow of the `OsHeap`:
//!   so nobody keeps it, or a reference into it, for longer. What needs an exclusive borrow is
//!   forwarded function by function: sweeps and the moves that make room for a collector do not
//!   know the supply.
//! - R2 Only pages without used page-blocks, and bytes below the address table, are given back: the
//!   heap reads nothing there before it writes it again.
//! - R3 What the supply holds (S4) is locked before the heap is handed out, and so is the page in
//!   which the supply lies.

extern crate std;

use core::alloc::Layout;
use core::cell::Cell;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::time::Duration;

use surefit_core::{Corruption, Refused};
use surefit_os::{OsError, Reservation};

use super::{Floor, Limits, OsHeapError};
use crate::config::Config;
use crate::handle::{Byte, Bytes, Full, Handle};
use crate::heap::Heap;
use crate::layout;
use crate::memory::Memory;
use crate::page::PageTable;
use crate::supply::{Stock, Supply};
use crate::width::{Wide, Width};

/// The most bytes that one system call gives back, so that its time is bounded.
const MOST_BYTES: usize = 4 << 20;

/// The most free pages that one tick looks at in vain, where the system's pages are larger.
const MOST_LOOKS: u32 = 64;

/// The calls of the operating system that a heap makes. Tests replace them by others that fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct System {
    pub(super) page_bytes: usize,
    pub(super) reserve: fn(usize) -> Result<Reservation, OsError>,
    /// # Safety
    /// As [`Reservation::give_back`].
    pub(super) give_back: unsafe fn(&Reservation, Range<usize>) -> Result<(), OsError>,
    pub(super) lock: fn(&Reservation, Range<usize>) -> Result<(), OsError>,
}

impl System {
    fn real() -> Self {
        Self {
            page_bytes: surefit_os::page_bytes(),
            reserve: Reservation::new,
            give_back: Reservation::give_back,
            lock: Reservation::lock_range,
        }
    }
}

/// A heap over the operating system's memory. It grows as it is used, and gives back what it does
/// not need: `Send`, not `Sync`.
///
/// Each size-class keeps δ and ε: there is no slack as in [`Heap::with_slack`]. Every hole here
/// holds memory that the system could have back, so slack would have to be a part of what is held.
/// Tried on seven recorded programs, with the part that keeps resident ÷ live where the default
/// bound has it (1/64 to 1/32), it made as many moves or up to 1.5 times fewer, on one program 5
/// times fewer, and on three it copied up to 2.3 times as many bytes.
///
/// The whole address space is reserved at once: one and a half times the hard limit. Only what was
/// touched is resident.
#[derive(Debug)]
pub struct OsHeap<'c, W: Width = Wide> {
    /// R1: its region lives as long as the reservation, not as long as `'c`.
    heap: Heap<'c, W>,
    region: Reservation,
    system: System,
    limits: Limits,
    /// What is resident for the heap's life, 0 without a floor.
    floor_bytes: usize,
    /// The hard limit for which address space was reserved.
    reserved: usize,
    /// When the pages that are empty now were counted last.
    counted_at: Duration,
    /// Empty pages that were not needed for the whole delay.
    aged: u32,
    given: Totals,
}

/// What was given back since the heap was made.
#[derive(Debug, Default)]
struct Totals {
    bytes: Cell<u64>,
    calls: Cell<u64>,
    failures: Cell<u64>,
}

/// What one tick did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenBack {
    /// Bytes that were given back.
    pub bytes: usize,
    /// System calls.
    pub calls: u32,
    /// Page-blocks that were moved to empty pages.
    pub moves: u64,
}

/// What a heap over the operating system's memory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OsStats {
    /// Bytes that are resident: pages, address table and page records. An upper bound: pages count
    /// as a whole once they are opened. [`OsHeap::measure_resident`] asks the system.
    pub resident_bytes: usize,
    /// Bytes of pages that are empty and still resident; they are part of `resident_bytes`.
    pub empty_bytes: usize,
    /// Bytes that were given back since the heap was made.
    pub given_back_bytes: u64,
    /// System calls that gave memory back since the heap was made.
    pub calls: u64,
    /// System calls that failed. Their memory stays resident, and is given back later.
    pub failures: u64,
    /// The soft limit, in bytes.
    pub soft_limit: usize,
    /// The hard limit, in bytes.
    pub hard_limit: usize,
}

impl<'c, W: Width> OsHeap<'c, W> {
    /// Reserves address space, and makes a heap in it.
    ///
    /// # Errors
    /// [`OsHeapError::Order`] and [`OsHeapError::TooLow`] for limits that are not possible;
    /// [`OsHeapError::Os`] if the system reserves nothing; [`OsHeapError::Refused`] if the limit is
    /// more than words of this width can name, or than one reservation can hold.
    ///
    /// # Panics
    /// If the configuration's back-references do not have the width of `W`.
    ///
    /// # Complexity
    /// O(classes): the pages' records are not written. Four system calls.
    pub fn new(config: &'c Config, limits: Limits) -> Result<Self, OsHeapError> {
        Self::on(System::real(), config, limits, None)
    }

    /// As [`OsHeap::new`], and locks the memory of a floor: it is resident before the first call,
    /// and is never given back. So no call waits for the kernel while the heap's pages and entries
    /// stay within the floor; above it the heap grows as before. A program that keeps to a
    /// certified demand stays within [`Floor::of`] its certificate.
    ///
    /// This is about the heap's memory. Code, stack and other data of the program wait for the
    /// kernel too, unless the program locks them (`mlockall`). A forked child inherits no locks.
    ///
    /// # Errors
    /// As [`OsHeap::new`]; [`OsHeapError::Floor`] if the floor does not fit below the hard limit;
    /// [`OsError::Lock`] if the process may not lock so much: raise `RLIMIT_MEMLOCK`.
    ///
    /// # Panics
    /// As [`OsHeap::new`].
    ///
    /// # Complexity
    /// Seven system calls, which write zeros to all pages of the floor.
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::os::{Floor, Limits, OsHeap};
    /// use surefit_compact::Config;
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let floor = Floor { page_bytes: 1 << 20, objects: 2000 };
    /// match OsHeap::<surefit_compact::Wide>::with_floor(&CONFIG, Limits::new(8 << 20, 8 << 20), floor) {
    ///     Ok(heap) => assert!(heap.stats().resident_bytes > 1 << 20),
    ///     Err(refused) => println!("{refused}"), // the process may not lock so much
    /// }
    /// ```
    pub fn with_floor(
        config: &'c Config,
        limits: Limits,
        floor: Floor,
    ) -> Result<Self, OsHeapError> {
        Self::on(System::real(), config, limits, Some(floor))
    }

    pub(super) fn on(
        system: System,
        config: &'c Config,
        limits: Limits,
        floor: Option<Floor>,
    ) -> Result<Self, OsHeapError> {
        let geometry = config.geometry();
        let (page, classes) = (geometry.page_bytes(), geometry.class_count());
        let pages = limits.hard.div_ceil(page);
        // No reservation is larger: on 32-bit targets this is less than words can name.
        let largest = (isize::MAX as usize - size_of::<Supply<W>>()) & !7;
        let most =
            Heap::<W>::pages_at_most(config).min(layout::pages_in::<W>(largest, page, classes));
        if pages > most {
            return Err(Refused::TooLarge { limit: most * page }.into());
        }
        let pages = most.min(pages + pages / 2 + 4);
        let bytes = pages * page + layout::fixed_bytes::<W>(classes, pages);
        // In one page of the system, which is what is counted for it.
        let supply_at = bytes.next_multiple_of(size_of::<Supply<W>>().next_power_of_two());
        let all = (supply_at + size_of::<Supply<W>>()).next_multiple_of(system.page_bytes);
        let region = (system.reserve)(all)?;
        let heap = Self::build(&region, system, config, bytes, supply_at)?;
        let mut made = Self {
            heap,
            region,
            system,
            limits,
            floor_bytes: 0,
            reserved: limits.hard,
            counted_at: Duration::ZERO,
            aged: 0,
            given: Totals::default(),
        };
        made.set_limits(limits.soft, limits.hard)?;
        if let Some(floor) = floor {
            made.lock(floor)?;
        }
        Ok(made)
    }

    /// Makes the memory of a floor resident, for the heap's life (R3).
    fn lock(&mut self, floor: Floor) -> Result<(), OsHeapError> {
        let (stock, unit) = (self.stock(), self.system.page_bytes);
        let needed = stock.enough_to_hold(floor.page_bytes, floor.objects);
        let held = stock.hold(floor.page_bytes, floor.objects);
        let held = held.ok_or(OsHeapError::Floor { needed })?;
        let held_bytes = stock.resident_bytes();
        if held_bytes > self.limits.hard {
            return Err(OsHeapError::Floor { needed });
        }
        let supply = self.heap.engine.pages.memory.offset_of(stock.supply) / unit * unit;
        let supply = supply..supply + unit;
        for range in [held.pages, held.tail, supply] {
            if !range.is_empty() {
                (self.system.lock)(&self.region, range)?;
            }
        }
        self.floor_bytes = held_bytes;
        Ok(())
    }

    /// A heap in the first `bytes` bytes of a fresh reservation, whose supply lies behind it.
    fn build(
        region: &Reservation,
        system: System,
        config: &'c Config,
        bytes: usize,
        supply_at: usize,
    ) -> Result<Heap<'c, W>, Refused> {
        let all = region.start().cast::<MaybeUninit<u8>>();
        // SAFETY: the reservation has `supply_at` bytes and a supply; R1: nothing else uses them,
        // for as long as the heap lives.
        let memory = unsafe { core::slice::from_raw_parts_mut(all.as_ptr(), bytes) };
        let (memory, skipped) = Memory::aligned(memory, config.geometry().page_bytes());
        let table = |memory, records, pages| {
            // SAFETY: `build` left room for the records; the reservation is fresh, so they are
            // zero.
            unsafe { PageTable::zeroed(memory, config.geometry(), records, pages) }
        };
        let mut heap = Heap::build(memory, skipped, config, table)?;
        let floor = heap.engine.addresses.floor();
        // SAFETY: the supply's place is in the reservation, behind the heap's memory and aligned.
        let place = unsafe { all.add(supply_at) }.cast::<Supply<W>>();
        // SAFETY: as above; nobody refers to the place.
        unsafe { place.write(Supply::new(system.page_bytes, floor)) };
        // SAFETY: just written; nothing writes to the place any more except through its cells; it
        // lives as long as the heap (R1).
        heap.engine.supply = Some(unsafe { place.as_ref() });
        Ok(heap)
    }

    /// The heap itself, for everything that a shared borrow allows: [`Heap::chunk`],
    /// [`Heap::cursor`], [`Heap::usage`], …
    #[inline]
    #[must_use]
    pub fn heap(&self) -> &Heap<'_, W> {
        &self.heap
    }

    fn stock(&self) -> Stock<'_, 'c, W> {
        let stock = self.heap.engine.stock();
        stock.expect("`build` set the supply")
    }

    // ---- objects -------------------------------------------------------------------------------

    /// As [`Heap::insert`].
    ///
    /// # Errors
    /// The value, and what was exhausted: [`Refused::Limit`] at the hard limit.
    #[inline]
    pub fn insert<T: Send>(&self, value: T) -> Result<Handle<T>, Full<T>> {
        match self.heap.insert(value) {
            Err(full) if self.relieves(full.refused) => self.heap.insert(full.value),
            inserted => inserted,
        }
    }

    /// As [`Heap::get`].
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    #[must_use]
    pub fn get<'a, T>(&'a self, handle: &'a Handle<T>) -> &'a T {
        self.heap.get(handle)
    }

    /// As [`Heap::get_mut`].
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    #[must_use]
    pub fn get_mut<'a, T>(&'a self, handle: &'a mut Handle<T>) -> &'a mut T {
        self.heap.get_mut(handle)
    }

    /// As [`Heap::remove`].
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    pub fn remove<T>(&mut self, handle: Handle<T>) -> T {
        self.heap.remove(handle)
    }

    /// As [`Heap::free`].
    ///
    /// # Panics
    /// If the handle belongs to another heap, or if the value's `drop` panics; even then the memory
    /// is freed.
    #[inline]
    pub fn free<T>(&mut self, handle: Handle<T>) {
        self.heap.free(handle);
    }

    /// As [`Heap::alloc`].
    ///
    /// # Errors
    /// What was exhausted: [`Refused::Limit`] at the hard limit. The heap is unchanged.
    #[inline]
    pub fn alloc(&self, layout: Layout) -> Result<Bytes<MaybeUninit<u8>>, Refused> {
        match self.heap.alloc(layout) {
            Err(refused) if self.relieves(refused) => self.heap.alloc(layout),
            allocated => allocated,
        }
    }

    /// As [`Heap::alloc_zeroed`].
    ///
    /// # Errors
    /// As [`OsHeap::alloc`].
    pub fn alloc_zeroed(&self, layout: Layout) -> Result<Bytes<u8>, Refused> {
        match self.heap.alloc_zeroed(layout) {
            Err(refused) if self.relieves(refused) => self.heap.alloc_zeroed(layout),
            allocated => allocated,
        }
    }

    /// As [`Heap::insert_bytes`].
    ///
    /// # Errors
    /// As [`OsHeap::alloc`].
    pub fn insert_bytes(&self, source: &[u8]) -> Result<Bytes<u8>, Refused> {
        match self.heap.insert_bytes(source) {
            Err(refused) if self.relieves(refused) => self.heap.insert_bytes(source),
            inserted => inserted,
        }
    }

    /// As [`Heap::read_at`].
    ///
    /// # Panics
    /// As [`Heap::read_at`].
    pub fn read_at<B: Byte>(&self, bytes: &Bytes<B>, offset: usize, target: &mut [B]) {
        self.heap.read_at(bytes, offset, target);
    }

    /// As [`Heap::write_at`].
    ///
    /// # Panics
    /// As [`Heap::write_at`].
    pub fn write_at<B: Byte>(&self, bytes: &mut Bytes<B>, offset: usize, source: &[B]) {
        self.heap.write_at(bytes, offset, source);
    }

    /// As [`Heap::resize`].
    ///
    /// # Errors
    /// As [`Heap::resize`]: [`Refused::Limit`] at the hard limit. The object is unchanged.
    pub fn resize<B: Byte>(&mut self, bytes: &mut Bytes<B>, layout: Layout) -> Result<(), Refused> {
        match self.heap.resize(bytes, layout) {
            Err(refused) if self.relieves(refused) => self.heap.resize(bytes, layout),
            resized => resized,
        }
    }

    /// As [`Heap::free_bytes`].
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    pub fn free_bytes<B: Byte>(&mut self, bytes: Bytes<B>) {
        self.heap.free_bytes(bytes);
    }

    /// As [`Heap::compact`]. The pages that it empties are given back by [`OsHeap::tick`].
    pub fn compact(&mut self, budget: u64) -> u64 {
        self.heap.compact(budget)
    }

    // ---- memory --------------------------------------------------------------------------------

    /// Gives back what the heap did not need for the whole delay of its limits; above the soft
    /// limit, gives back all empty pages, and moves objects together to empty others. The program
    /// calls it now and then, for example ten times in a second.
    ///
    /// The time `now` is counted from any beginning; it must not run backwards. So nothing here
    /// reads a clock, and tests are deterministic.
    ///
    /// # Errors
    /// [`OsError::GiveBack`] if the system refuses. Then the memory stays resident, and a later
    /// tick tries again; the heap remains usable.
    ///
    /// # Complexity
    /// At most [`Limits::calls_per_tick`] system calls of at most 4 MiB each, and above the soft
    /// limit [`Limits::moves_per_tick`] moves.
    pub fn tick(&mut self, now: Duration) -> Result<GivenBack, OsError> {
        if now.saturating_sub(self.counted_at) >= self.limits.delay {
            self.counted_at = now;
            self.aged = self.stock().supply.restart();
        }
        let mut done = GivenBack::default();
        // No memory below the floor is ever given back.
        let (stats, soft) = (self.stats(), self.limits.soft.max(self.floor_bytes));
        if stats.resident_bytes - stats.empty_bytes > soft {
            done.moves = self.heap.compact(self.limits.moves_per_tick);
        }
        let spare = self.stock().supply.spare();
        self.aged = match stats.resident_bytes > soft {
            true => spare,
            false => self.aged.min(spare),
        };
        self.give_table_surplus(&mut done)?;
        let mut looks = 0;
        while self.aged > 0 && looks < MOST_LOOKS && done.calls < self.limits.calls_per_tick {
            let pages = self.give_run(self.aged, &mut done)?;
            self.aged -= pages;
            looks += u32::from(pages == 0);
        }
        Ok(done)
    }

    /// Gives all empty pages back now that no floor holds, whatever their number and the system
    /// calls: before a long idle time, for example.
    ///
    /// # Errors
    /// [`OsError::GiveBack`] if the system refuses.
    ///
    /// # Complexity
    /// O(empty pages above the floor).
    pub fn give_all_back(&mut self) -> Result<GivenBack, OsError> {
        let mut done = GivenBack::default();
        self.give_table_surplus(&mut done)?;
        let mut looks = self.stock().supply.spare();
        while looks > 0 {
            let pages = self.give_run(u32::MAX, &mut done)?;
            looks -= pages.max(1).min(looks);
        }
        self.aged = 0;
        Ok(done)
    }

    /// Whether an allocation that was refused should be tried again, once: it was refused because
    /// of the limit, and empty pages were resident that the address table could not use. Gives some
    /// of them back, by one system call.
    #[cold]
    fn relieves(&self, refused: Refused) -> bool {
        let looks = MOST_LOOKS.min(self.stock().supply.spare());
        let gives = || self.give_run(u32::MAX, &mut GivenBack::default());
        matches!(refused, Refused::Limit { .. })
            && (0..looks).any(|_| gives().is_ok_and(|pages| pages > 0))
    }

    /// Gives a run of at most `most` empty pages back; returns how many there were.
    fn give_run(&self, most: u32, done: &mut GivenBack) -> Result<u32, OsError> {
        let stock = self.stock();
        let page = self.heap.config.geometry().page_bytes();
        let most = most.min(u32::try_from(MOST_BYTES / page).expect("a page is small"));
        let Some(run) = stock.oldest_run(most) else {
            return Ok(0);
        };
        self.give_back(stock.bytes_of(&run), done)?;
        stock.gave_run(&run);
        Ok(run.pages())
    }

    fn give_table_surplus(&self, done: &mut GivenBack) -> Result<(), OsError> {
        let stock = self.stock();
        if let Some(surplus) = stock.table_surplus() {
            self.give_back(surplus, done)?;
            stock.gave_table_surplus();
        }
        Ok(())
    }

    fn give_back(&self, range: Range<usize>, done: &mut GivenBack) -> Result<(), OsError> {
        let bytes = range.len();
        done.calls += 1;
        self.given.calls.set(self.given.calls.get() + 1);
        // SAFETY: R2: what the engine names is not read before it is written again.
        let given = unsafe { (self.system.give_back)(&self.region, range) };
        let (total, amount) = match given {
            Ok(()) => (&self.given.bytes, bytes),
            Err(_) => (&self.given.failures, 1),
        };
        total.set(total.get() + amount as u64);
        done.bytes += if given.is_ok() { bytes } else { 0 };
        given
    }

    /// Sets both limits, in bytes. What is resident above the new hard limit stays so; the heap
    /// grows again when it is below.
    ///
    /// # Errors
    /// [`OsHeapError::Order`], [`OsHeapError::TooLow`] or [`OsHeapError::TooHigh`]; the limits are
    /// unchanged.
    pub fn set_limits(&mut self, soft: usize, hard: usize) -> Result<(), OsHeapError> {
        if soft > hard {
            return Err(OsHeapError::Order);
        }
        if hard > self.reserved {
            return Err(OsHeapError::TooHigh {
                limit: self.reserved,
            });
        }
        let needed = self.stock().least_limit();
        if hard < needed {
            return Err(OsHeapError::TooLow { needed });
        }
        (self.limits.soft, self.limits.hard) = (soft, hard);
        self.stock().set_limit(hard);
        Ok(())
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What the heap holds. O(1).
    #[must_use]
    pub fn stats(&self) -> OsStats {
        let stock = self.stock();
        let page = self.heap.config.geometry().page_bytes();
        OsStats {
            resident_bytes: stock.resident_bytes(),
            empty_bytes: stock.supply.resident() as usize * page,
            given_back_bytes: self.given.bytes.get(),
            calls: self.given.calls.get(),
            failures: self.given.failures.get(),
            soft_limit: self.limits.soft,
            hard_limit: self.limits.hard,
        }
    }

    /// The bytes that are resident, as the system counts them. O(address space): one system call
    /// per 64 MiB of it.
    ///
    /// # Errors
    /// [`OsError::Residency`] if the system does not report it.
    pub fn measure_resident(&self) -> Result<usize, OsError> {
        self.region.touched_bytes()
    }

    /// As [`Heap::check`], with the invariants of what is resident.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        self.heap.check()?;
        let (unit, limit) = (self.system.page_bytes, self.limits.hard);
        self.stock().check_made(unit, limit, self.floor_bytes)
    }
}

impl<W: Width<Generation = ()>> OsHeap<'_, W> {
    /// As [`Heap::renumber`]. The memory of the dropped entries is given back by [`OsHeap::tick`]
    /// or [`OsHeap::give_all_back`].
    ///
    /// # Panics
    /// If a handle belongs to another heap; then nothing was renumbered.
    pub fn renumber<B: Byte>(&mut self, objects: &mut [Bytes<B>]) -> u32 {
        self.heap.renumber(objects)
    }
}
