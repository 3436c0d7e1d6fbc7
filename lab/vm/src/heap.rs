//! The heap of the machine: any collector over any space, behind one object.
//!
//! The interpreter exists once, and calls the collector by a table of functions. So the spaces,
//! some dozens of types, cost no more to build than their collectors.

use surefit_core::{Corruption, Refused};
use surefit_freelist::{Counters, Index};
use surefit_gc::{
    Clock, Collector, CompactFit, FreeList, Generational, Incremental, Nursery, Object, OneByOne,
    Space, Stepwise, Totals,
};

use crate::meter::Meter;
use crate::world::World;

/// What the interpreter needs of a collector.
pub(crate) trait Heap {
    /// Allocates an object, all zero. Collects as the collector does.
    fn alloc(&mut self, world: &mut World, bytes: usize) -> Result<Object, Refused>;
    fn load(&self, object: Object, word: u32) -> u32;
    fn store(&mut self, object: Object, word: u32, to: Option<Object>);
    fn store_data(&mut self, object: Object, word: u32, value: u32);
    fn load_bytes(&self, object: Object, from: usize, into: &mut [u8]);
    fn store_bytes(&mut self, object: Object, from: usize, bytes: &[u8]);
    fn collect(&mut self, world: &mut World);
    /// What a weak reference leads to, before it is used: `None` if it is dead already.
    fn upgrade(&mut self, object: Object) -> Option<Object> {
        Some(object)
    }
    fn totals(&self) -> Totals;
    fn counters(&self) -> Counters;
    /// Allocates without collecting; `None` without room, or if the collector does not wait for
    /// such a request.
    fn alloc_as_is(&mut self, _bytes: usize) -> Option<Object> {
        None
    }
    fn did(&self) -> Did;
    /// Nanoseconds of collections by the clock, and how many of its readings they contain.
    fn taken(&self, _meter: &Meter) -> (u64, u64) {
        let totals = self.totals();
        (
            totals.mark_ticks + totals.sweep_ticks,
            2 * totals.collections,
        )
    }
    /// The payloads of free chunks, if the space has lists.
    fn free_sizes(&self) -> Vec<usize>;
    /// Bytes of the objects that were not freed yet.
    fn live_bytes(&self) -> usize;
    fn check(&self) -> Result<(), Corruption>;
}

/// What a collector did besides what its [`Totals`] say.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Did {
    pub(crate) minor: u64,
    pub(crate) forced: u64,
    pub(crate) most_occupied: u64,
    pub(crate) largest_cycle: u64,
}

/// A space, and what free lists count.
pub(crate) trait Counts: Space {
    /// Nothing, if it has no lists.
    fn counters(&self) -> Counters {
        Counters::default()
    }

    /// None, if it has no lists.
    fn free_sizes(&self) -> Vec<usize> {
        Vec::new()
    }
}

impl<I: Index> Counts for FreeList<'_, I> {
    fn counters(&self) -> Counters {
        self.heap().counters()
    }

    fn free_sizes(&self) -> Vec<usize> {
        self.heap().free_sizes().collect()
    }
}

impl Counts for CompactFit<'_> {}
impl Counts for Nursery<'_> {}

/// A collector that stops the program.
pub(crate) struct AtOnce<'m, S, K>(pub(crate) Collector<'m, S, K>);

/// A collector with two generations, and the bytes of the young one after which it is collected.
pub(crate) struct TwoGenerations<'m, S, K>(pub(crate) Generational<'m, S, K>, pub(crate) u64);

/// A collector in steps is offered work after so many allocated bytes.
pub const OFFERED: u64 = 4096;

/// A collector in steps, and the units of work that it is offered after every 4 KiB.
pub(crate) struct InSteps<'m, S, K>(pub(crate) Incremental<'m, S, K>, pub(crate) Offers);

/// How a collector in steps is offered work.
pub(crate) struct Offers {
    pub(crate) units: u64,
    /// Bytes that were allocated since the last offer.
    pub(crate) allocated: u64,
}

/// Passes everything but allocation on to the collector inside.
macro_rules! passed_on {
    () => {
        #[inline]
        fn load(&self, object: Object, word: u32) -> u32 {
            self.0.load(object, word)
        }

        #[inline]
        fn store(&mut self, object: Object, word: u32, to: Option<Object>) {
            self.0.store(object, word, to);
        }

        #[inline]
        fn store_data(&mut self, object: Object, word: u32, value: u32) {
            self.0.store_data(object, word, value);
        }

        fn load_bytes(&self, object: Object, from: usize, into: &mut [u8]) {
            self.0.load_bytes(object, from, into);
        }

        fn store_bytes(&mut self, object: Object, from: usize, bytes: &[u8]) {
            self.0.store_bytes(object, from, bytes);
        }

        fn collect(&mut self, world: &mut World) {
            self.0.collect(world);
        }

        fn totals(&self) -> Totals {
            *self.0.totals()
        }

        fn counters(&self) -> Counters {
            Counts::counters(self.0.space())
        }

        fn free_sizes(&self) -> Vec<usize> {
            Counts::free_sizes(self.0.space())
        }

        fn live_bytes(&self) -> usize {
            self.0.usage().block_bytes
        }

        fn check(&self) -> Result<(), Corruption> {
            self.0.check()
        }
    };
}

impl<S: Counts, K: Clock> Heap for AtOnce<'_, S, K> {
    fn alloc(&mut self, world: &mut World, bytes: usize) -> Result<Object, Refused> {
        self.0.alloc(world, bytes)
    }

    fn alloc_as_is(&mut self, bytes: usize) -> Option<Object> {
        self.0.alloc_as_is(bytes).ok()
    }

    fn did(&self) -> Did {
        Did {
            forced: self.0.totals().collections,
            ..Did::default()
        }
    }

    passed_on!();
}

impl<S: Counts + OneByOne, K: Clock> Heap for TwoGenerations<'_, S, K> {
    fn alloc(&mut self, world: &mut World, bytes: usize) -> Result<Object, Refused> {
        if self.0.young().1 as u64 >= self.1 {
            self.0.collect_young(world);
        }
        self.0.alloc(world, bytes)
    }

    fn did(&self) -> Did {
        let generations = self.0.generations();
        Did {
            minor: generations.minor.rounds,
            forced: generations.insufficient,
            ..Did::default()
        }
    }

    passed_on!();
}

impl<S: Counts + Stepwise, K: Clock> Heap for InSteps<'_, S, K> {
    fn alloc(&mut self, world: &mut World, bytes: usize) -> Result<Object, Refused> {
        let Self(gc, offers) = self;
        offers.allocated += bytes as u64;
        if offers.allocated >= OFFERED {
            let times = offers.allocated / OFFERED;
            offers.allocated %= OFFERED;
            gc.offer(world, offers.units.saturating_mul(times));
        }
        gc.alloc(world, bytes)
    }

    fn upgrade(&mut self, object: Object) -> Option<Object> {
        self.0.upgrade(object)
    }

    fn did(&self) -> Did {
        let steps = self.0.steps();
        Did {
            minor: 0,
            forced: steps.forced + steps.whole,
            most_occupied: self.0.paced().most_occupied.bytes,
            largest_cycle: steps.largest_forced,
        }
    }

    fn taken(&self, meter: &Meter) -> (u64, u64) {
        meter.taken()
    }

    passed_on!();
}
