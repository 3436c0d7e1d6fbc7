//! What is noted of a run, beside what the collector counts: the two times of the thesis on
//! free-list organisation, visits over time, free chunks after each collection, sizes.
//!
//! ```text
//! allocation time = sum over all requests of: now, alloc, now, less collections and steps in it
//! collection time = marking and sweeping, or all steps
//! ```
//! Times are the thread's processor time: what it stood still is noted apart, and no part of them.
//! The clock's own cost is subtracted from both. Clearing an object belongs to its allocation.

use std::collections::BTreeMap;
use std::rc::Rc;

use surefit_clients::java::Sample;
use surefit_core::Refused;
use surefit_freelist::Counters;
use surefit_gc::{Clock as _, Object, Settings, Totals};

use crate::heap::{Did, Heap};
use crate::meter::Meter;
use crate::nursery::{Nursery, Promotions};
use crate::world::World;

/// Allocations from one sample to the next.
const SAMPLED: u64 = 1024;

/// What is to be noted, and where large objects lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watching {
    /// Whether times are taken. Then nothing else is noted.
    pub clocked: bool,
    /// Whether the sizes of free chunks are noted after each collection.
    pub free_sizes: bool,
    /// Whether the free bytes are noted before each collection of a collector that stops the
    /// program. Then each request that causes one is made twice.
    pub free_before: bool,
    /// Whether the size of each object is noted.
    pub sizes: bool,
    /// If not 0, it is noted what a nursery of so many bytes would promote. Then the program is
    /// collected whenever the nursery is full, and nothing else is noted. Of a collector that stops
    /// the program.
    pub nursery: u32,
    /// Objects of at least this many bytes are large: free lists have another place for them.
    pub large_from: usize,
}

/// Counts alone, in one heap, as in the thesis.
impl Default for Watching {
    fn default() -> Self {
        Self {
            clocked: false,
            free_sizes: false,
            free_before: false,
            sizes: false,
            nursery: 0,
            large_from: usize::MAX,
        }
    }
}

impl Watching {
    /// The same with another place for objects from 4 KiB on.
    #[must_use]
    pub const fn with_two_ends(self) -> Self {
        Self {
            large_from: Settings::LARGE,
            ..self
        }
    }
}

/// What was noted of a run that had room enough.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// What the collector did.
    pub totals: Totals,
    /// What free lists did.
    pub counters: Counters,
    /// Collections of the young generation; `totals` includes them.
    pub minor: u64,
    /// Requests that found no room: collections at once, cycles forced to their end, or minor
    /// collections that did not help.
    pub forced: u64,
    /// In steps, the most bytes that were ever occupied.
    pub most_occupied: u64,
    /// In steps, the most units of work that a request without room caused.
    pub largest_cycle: u64,
    /// Nanoseconds of allocation; 0 if no times were taken.
    pub allocation_ns: u64,
    /// Nanoseconds of collections, of steps too.
    pub collection_ns: u64,
    /// Nanoseconds that a reading of the clock costs: they are no part of the times.
    pub reading_ns: f64,
    /// Nanoseconds in which the thread stood still, so that others ran: no part of the times.
    pub stood_ns: u64,
    /// Nanoseconds of the thread's processor time: the whole run.
    pub ran_ns: u64,
    /// The counters after every 1,024 allocations.
    pub samples: Vec<Sample>,
    /// Each collection of a collector that stops the program, if free chunks were to be noted.
    pub collections: Vec<Collected>,
    /// The size of each object in bytes, in order, headers included, if they were to be noted.
    pub sizes: Vec<u32>,
    /// What a nursery would promote, if that was to be noted.
    pub promotions: Promotions,
}

impl Watched {
    /// Heap management time: allocation and collection, in nanoseconds.
    #[must_use]
    pub const fn management_ns(&self) -> u64 {
        self.allocation_ns.saturating_add(self.collection_ns)
    }

    /// Free chunks and list heads that were visited per allocation.
    #[must_use]
    pub fn visits_per_allocation(&self) -> f64 {
        self.counters.visits as f64 / self.totals.allocations.max(1) as f64
    }
}

/// One collection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Bytes of free payloads before it, if they were to be noted.
    pub free_bytes_before: Option<u64>,
    /// The sizes of free chunks and how many have each size, in ascending order, after the request
    /// that caused the collection was served, or when it was asked for. Empty unless they were to
    /// be noted.
    pub free_sizes: Vec<(u32, u32)>,
}

/// Watches a run.
pub(crate) struct Watch {
    meter: Rc<Meter>,
    how: Watching,
    cost_ns: f64,
    allocation_ns: f64,
    /// Free bytes when a request was refused last.
    free_before: u64,
    nursery: Nursery,
    noted: Watched,
}

impl Watch {
    pub(crate) fn new(meter: Rc<Meter>, how: Watching) -> Self {
        Self {
            cost_ns: if how.clocked { meter.cost() } else { 0.0 },
            meter,
            how,
            allocation_ns: 0.0,
            free_before: 0,
            nursery: Nursery::new(how.nursery),
            noted: Watched::default(),
        }
    }

    /// Allocates an object, and notes what is to be noted.
    pub(crate) fn alloc(
        &mut self,
        heap: &mut dyn Heap,
        world: &mut World,
        bytes: usize,
    ) -> Result<Object, Refused> {
        if self.how.clocked {
            return self.timed(heap, world, bytes);
        }
        if self.how.nursery > 0 {
            return self.born(heap, world, bytes);
        }
        if self.how.sizes {
            self.noted.sizes.push(bytes as u32);
        }
        let before = heap.totals().collections;
        let found = match self.how.free_before.then(|| heap.alloc_as_is(bytes)) {
            Some(Some(object)) => Ok(object),
            Some(None) => {
                self.free_before = free_bytes(heap);
                heap.alloc(world, bytes)
            }
            None => heap.alloc(world, bytes),
        };
        let totals = heap.totals();
        if totals.allocations % SAMPLED == 0 {
            self.noted.samples.push(Sample {
                allocations: totals.allocations,
                collections: totals.collections,
                visits: heap.counters().visits,
            });
        }
        if totals.collections > before {
            self.collected(heap);
        }
        found
    }

    fn timed(
        &mut self,
        heap: &mut dyn Heap,
        world: &mut World,
        bytes: usize,
    ) -> Result<Object, Refused> {
        let (taken, inside) = heap.taken(&self.meter);
        let began = self.meter.now();
        let readings = self.meter.readings();
        let found = heap.alloc(world, bytes);
        let passed = self.meter.now() - began;
        let readings = self.meter.readings() - readings;
        let (taken_now, inside_now) = heap.taken(&self.meter);
        // Two readings have the cost of one between them, and so have those around a collection.
        let outside = readings - (inside_now - inside);
        let passed = passed - (taken_now - taken).min(passed);
        self.allocation_ns += passed as f64 - outside as f64 * self.cost_ns;
        found
    }

    /// Allocates an object in the nursery. If there is no room, the nursery is emptied before it is
    /// full: so a collection frees nothing that it does not know of.
    fn born(
        &mut self,
        heap: &mut dyn Heap,
        world: &mut World,
        bytes: usize,
    ) -> Result<Object, Refused> {
        if self.nursery.is_full() {
            self.empty(heap, world);
        }
        let found = match heap.alloc_as_is(bytes) {
            Some(object) => object,
            None => {
                self.empty(heap, world);
                heap.alloc(world, bytes)?
            }
        };
        self.nursery.add(found, bytes as u32);
        Ok(found)
    }

    /// Collects because the program asks for it, and notes what is to be noted.
    pub(crate) fn collect(&mut self, heap: &mut dyn Heap, world: &mut World) {
        if self.how.clocked {
            return heap.collect(world);
        }
        if self.how.nursery > 0 {
            return self.empty(heap, world);
        }
        if self.how.free_before {
            self.free_before = free_bytes(heap);
        }
        heap.collect(world);
        self.collected(heap);
    }

    /// Notes the collection that was.
    fn collected(&mut self, heap: &dyn Heap) {
        if self.how.free_sizes || self.how.free_before {
            self.noted.collections.push(Collected {
                free_bytes_before: self.how.free_before.then_some(self.free_before),
                free_sizes: match self.how.free_sizes {
                    true => counted(heap.free_sizes()),
                    false => Vec::new(),
                },
            });
        }
    }

    fn empty(&mut self, heap: &mut dyn Heap, world: &mut World) {
        heap.collect(world);
        self.nursery.empty(|object| heap.contains(object));
    }

    /// All that was noted.
    pub(crate) fn end(self, heap: &dyn Heap) -> Watched {
        let Did {
            minor,
            forced,
            most_occupied,
            largest_cycle,
        } = heap.did();
        let (taken, inside) = heap.taken(&self.meter);
        Watched {
            totals: heap.totals(),
            counters: heap.counters(),
            minor,
            forced,
            most_occupied,
            largest_cycle,
            allocation_ns: self.allocation_ns.max(0.0) as u64,
            collection_ns: match self.how.clocked {
                true => (taken as f64 - inside as f64 * self.cost_ns).max(0.0) as u64,
                false => 0,
            },
            reading_ns: self.cost_ns,
            ran_ns: self.meter.now(),
            stood_ns: self.meter.log().stood_ns(),
            promotions: self.nursery.promotions,
            ..self.noted
        }
    }
}

/// Bytes of the payloads of free chunks.
fn free_bytes(heap: &dyn Heap) -> u64 {
    heap.free_sizes().iter().sum::<usize>() as u64
}

/// The sizes and how often each occurs, in ascending order.
fn counted(sizes: Vec<usize>) -> Vec<(u32, u32)> {
    let mut counts = BTreeMap::new();
    for size in sizes {
        *counts.entry(size as u32).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}
