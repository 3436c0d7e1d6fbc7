//! What one collection did, and what all of them did.
#![deny(unsafe_code)]

use core::cell::Cell;

use surefit_freelist::Swept;

/// A clock. A collection reads it three times: at the beginning, between marking and sweeping, and
/// at the end. A collector in steps reads it before and after a step, and a schedule does so once
/// more.
///
/// The collector has no clock of its own. The ticks include the cost of the readings; a caller can
/// subtract it.
pub trait Clock {
    /// The time in ticks. It never goes back.
    fn now(&self) -> u64;

    /// A collector in steps has done so many units of work. A [`VirtualClock`] counts them as
    /// ticks; others need not know.
    #[inline]
    fn worked(&self, _units: u64) {}

    /// Whether it never advances, as [`NoClock`]: nothing can be done until a deadline by such a
    /// clock.
    #[inline]
    fn stands_still(&self) -> bool {
        false
    }
}

impl<K: Clock> Clock for &K {
    #[inline]
    fn now(&self) -> u64 {
        K::now(self)
    }

    #[inline]
    fn worked(&self, units: u64) {
        K::worked(self, units);
    }

    #[inline]
    fn stands_still(&self) -> bool {
        K::stands_still(self)
    }
}

/// A clock whose ticks are units of work: the collector's, and those that the program
/// [passes](VirtualClock::pass). Under it every run is the same, and utilisation is exact.
#[derive(Debug, Default)]
pub struct VirtualClock {
    ticks: Cell<u64>,
}

impl VirtualClock {
    /// At 0.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ticks: Cell::new(0),
        }
    }

    /// Lets the program's time pass.
    pub fn pass(&self, ticks: u64) {
        self.ticks.set(self.ticks.get().saturating_add(ticks));
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> u64 {
        self.ticks.get()
    }

    fn worked(&self, units: u64) {
        self.pass(units);
    }
}

/// A clock that stands still and costs nothing. It does for all but schedules by time.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoClock;

impl Clock for NoClock {
    #[inline]
    fn now(&self) -> u64 {
        0
    }

    #[inline]
    fn stands_still(&self) -> bool {
        true
    }
}

/// Why a collection took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A request of this many bytes could not be served.
    Request(usize),
    /// The program asked for it.
    Asked,
}

/// One collection.
///
/// As everywhere here, bytes that a heap holds at one time are a `usize`, and bytes that add up
/// over time a `u64`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    /// Why it took place.
    pub cause: Cause,
    /// References that were reported, including those of roots. A repeated scan counts them again.
    pub edges: u64,
    /// Passes over the mark bits because the mark stack was too small.
    pub rescans: u64,
    /// The maximum number of entries of the mark stack in use.
    pub deepest: usize,
    /// What was kept and freed. `live_objects` is also the number of marked objects.
    pub swept: Swept,
    /// Ticks from the beginning to the sweep; this includes weak references.
    pub mark_ticks: u64,
    /// Ticks of the sweep.
    pub sweep_ticks: u64,
}

/// What a collector did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Objects that were allocated.
    pub allocations: u64,
    /// Requested bytes of the objects that were allocated.
    pub requested_bytes: u64,
    /// Requests that [`alloc`](crate::Collector::alloc) refused.
    pub refusals: u64,
    /// Collections.
    pub collections: u64,
    /// Objects that were marked.
    pub marked: u64,
    /// References that were reported.
    pub edges: u64,
    /// Passes over the mark bits.
    pub rescans: u64,
    /// Objects that were freed.
    pub freed_objects: u64,
    /// Headers that sweeps read.
    pub visited: u64,
    /// Ticks of marking; `u64::MAX` means this many or more. Steps are not among them: a
    /// [`Cycle`](crate::Cycle) has their ticks.
    pub mark_ticks: u64,
    /// Ticks of sweeping, likewise.
    pub sweep_ticks: u64,
}

impl Totals {
    /// Adds one collection.
    pub(crate) fn add(&mut self, collection: &Collection) {
        self.collections += 1;
        self.marked += collection.swept.live_objects;
        self.edges += collection.edges;
        self.rescans += collection.rescans;
        self.freed_objects += collection.swept.freed_objects;
        self.visited += collection.swept.visited;
        // The clock is the caller's; it may return anything.
        self.mark_ticks = self.mark_ticks.saturating_add(collection.mark_ticks);
        self.sweep_ticks = self.sweep_ticks.saturating_add(collection.sweep_ticks);
    }
}
