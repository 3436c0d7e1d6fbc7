//! What collections did: one, and all.
#![deny(unsafe_code)]

use surefit_freelist::Swept;

/// A clock that is read at the beginning of a collection, between marking and sweeping, and at its end.
///
/// The collector knows no clock of its own. What a reading costs is in the ticks: who gives the clock can subtract it, since
/// every collection reads it three times.
pub trait Clock {
    /// The time, in ticks, which never go back.
    fn now(&self) -> u64;
}

/// A clock that stands still and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoClock;

impl Clock for NoClock {
    #[inline]
    fn now(&self) -> u64 {
        0
    }
}

/// Why a collection took place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A request of so many bytes could not be served.
    Request(usize),
    /// The program asked for it.
    Asked,
}

/// One collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collection {
    /// Why it took place.
    pub cause: Cause,
    /// References that were reported, those of roots among them; after a scan that was repeated, again.
    pub edges: u64,
    /// Passes over the mark bits because the mark stack was too small.
    pub rescans: u64,
    /// The most entries of the mark stack that were in use.
    pub deepest: usize,
    /// What was kept and freed: `live_objects` is also the number of objects marked.
    pub swept: Swept,
    /// Ticks of the clock from the beginning to the sweep, weak references included.
    pub mark_ticks: u64,
    /// Ticks of the clock for the sweep.
    pub sweep_ticks: u64,
}

/// All that a collector did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Objects that were allocated.
    pub allocations: u64,
    /// Bytes that were asked for, of the objects that were allocated.
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
    /// Ticks of marking; `u64::MAX` is so many or more.
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
        // The clock is the caller's, and may say what it likes.
        self.mark_ticks = self.mark_ticks.saturating_add(collection.mark_ticks);
        self.sweep_ticks = self.sweep_ticks.saturating_add(collection.sweep_ticks);
    }
}
