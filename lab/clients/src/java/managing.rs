//! What a replay under any collector asks of it: to allocate, and to say what it did.
//!
//! ```text
//! at once          alloc: a collection when a request finds no room
//! in steps         alloc: a cycle from the trigger on; after every 4 KiB that were allocated, some
//!                  units of work are offered; what finds no room forces the cycle to its end
//! two generations  alloc: a minor or a full collection when a request finds no room
//!                  after a walk: a minor collection if the young objects have enough bytes
//! ```
#![deny(unsafe_code)]

use surefit_core::Refused;
use surefit_freelist::{Counters, Index};
use surefit_gc::{
    Collector, CompactFit, FreeList, Generational, Incremental, Nursery, Object, OneByOne, Totals,
};

use super::heap::Heap;
use super::meter::Meter;
use super::mutator::Mutator;

/// A collector in steps is offered time after so many allocated bytes.
pub const OFFERED: u64 = 4096;

/// What a collector did besides what its [`Totals`] say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Did {
    /// Collections of the young generation.
    pub(super) minor: u64,
    /// Requests that found no room.
    pub(super) forced: u64,
    /// The most bytes that were ever occupied.
    pub(super) most_occupied: u64,
    /// The most work of a whole cycle that was run at once.
    pub(super) largest_cycle: u64,
}

/// A space, and what free lists count.
pub(super) trait Counts: OneByOne {
    /// Nothing, if it has no lists.
    fn counters(&self) -> Counters {
        Counters::default()
    }
}

impl<I: Index> Counts for FreeList<'_, I> {
    fn counters(&self) -> Counters {
        self.heap().counters()
    }
}

impl Counts for CompactFit<'_> {}
impl Counts for Nursery<'_> {}

/// A collector under which a program is replayed.
pub(super) trait Managing: Heap {
    /// Allocates an object, and collects as its schedule says.
    fn allocate(&mut self, client: &mut Mutator, bytes: usize) -> Result<Object, Refused>;

    /// A walk was applied.
    fn walked(&mut self, _client: &mut Mutator) {}

    fn totals(&self) -> &Totals;
    fn counters(&self) -> Counters;
    fn did(&self) -> Did;

    /// Nanoseconds of collections, and how many readings of the clock they contain.
    fn taken(&self, meter: &Meter) -> (u64, u64) {
        let totals = self.totals();
        let ticks = totals.mark_ticks + totals.sweep_ticks;
        (ticks, 2 * totals.collections * u64::from(meter.is_on()))
    }
}

impl<I: Index> Managing for Collector<'_, FreeList<'_, I>, &Meter> {
    #[inline]
    fn allocate(&mut self, client: &mut Mutator, bytes: usize) -> Result<Object, Refused> {
        self.alloc(client, bytes)
    }

    fn totals(&self) -> &Totals {
        self.totals()
    }

    fn counters(&self) -> Counters {
        self.space().heap().counters()
    }

    fn did(&self) -> Did {
        Did {
            forced: self.totals().collections,
            ..Did::default()
        }
    }
}

/// A collector in steps, with the units of work that are offered after every [`OFFERED`] bytes.
pub(super) struct InSteps<'m, 'c, I> {
    pub(super) gc: Incremental<'m, FreeList<'m, I>, &'c Meter>,
    pub(super) units: u64,
    /// Bytes that were allocated since the last offer.
    pub(super) allocated: u64,
}

/// A collector with two generations, and the bytes of the young one after which it is collected.
pub(super) struct TwoGenerations<'m, 'c, S> {
    pub(super) gc: Generational<'m, S, &'c Meter>,
    pub(super) young_bytes: u64,
}

/// Passes all accesses on to the collector inside.
macro_rules! heap_of {
    ($outer:ident<$of:ident: $bound:ident>) => {
        impl<$of: $bound> Heap for $outer<'_, '_, $of> {
            #[inline]
            fn contains(&self, object: Object) -> bool {
                self.gc.contains(object)
            }

            #[inline]
            fn upgrade(&mut self, object: Object) -> bool {
                Heap::upgrade(&mut self.gc, object)
            }

            #[inline]
            fn forget(&mut self, object: Object) {
                Heap::forget(&mut self.gc, object);
            }

            #[inline]
            fn load(&self, object: Object, word: u32) -> u32 {
                self.gc.load(object, word)
            }

            #[inline]
            fn store(&mut self, object: Object, word: u32, to: Option<Object>) {
                self.gc.store(object, word, to);
            }

            #[inline]
            fn store_data(&mut self, object: Object, word: u32, value: u32) {
                self.gc.store_data(object, word, value);
            }

            fn refer_beside(&mut self, from: Object, to: Object) {
                self.gc.refer_beside(from, to);
            }
        }
    };
}

heap_of!(InSteps<I: Index>);
heap_of!(TwoGenerations<S: Counts>);

impl<I: Index> Managing for InSteps<'_, '_, I> {
    #[inline]
    fn allocate(&mut self, client: &mut Mutator, bytes: usize) -> Result<Object, Refused> {
        self.allocated += bytes as u64;
        if self.allocated >= OFFERED {
            let offers = self.allocated / OFFERED;
            self.allocated %= OFFERED;
            self.gc.offer(client, self.units.saturating_mul(offers));
        }
        self.gc.alloc(client, bytes)
    }

    fn totals(&self) -> &Totals {
        self.gc.totals()
    }

    fn counters(&self) -> Counters {
        self.gc.space().heap().counters()
    }

    fn did(&self) -> Did {
        let steps = self.gc.steps();
        Did {
            minor: 0,
            forced: steps.forced + steps.whole,
            most_occupied: self.gc.paced().most_occupied.bytes,
            largest_cycle: steps.largest_forced,
        }
    }

    fn taken(&self, meter: &Meter) -> (u64, u64) {
        meter.taken()
    }
}

impl<S: Counts> Managing for TwoGenerations<'_, '_, S> {
    #[inline]
    fn allocate(&mut self, client: &mut Mutator, bytes: usize) -> Result<Object, Refused> {
        self.gc.alloc(client, bytes)
    }

    fn walked(&mut self, client: &mut Mutator) {
        if self.gc.young().1 as u64 >= self.young_bytes {
            self.gc.collect_young(client);
        }
    }

    fn totals(&self) -> &Totals {
        self.gc.totals()
    }

    fn counters(&self) -> Counters {
        self.gc.space().counters()
    }

    fn did(&self) -> Did {
        let generations = self.gc.generations();
        Did {
            minor: generations.minor.rounds,
            forced: generations.insufficient,
            ..Did::default()
        }
    }
}
