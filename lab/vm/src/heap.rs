//! The heap of the machine: any collector over any space, behind one object.
//!
//! The interpreter exists once, and calls the collector by a table of functions. So the spaces,
//! some dozens of types, cost no more to build than their collectors.

use surefit_clients::java::{Ran, Requests};
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
    /// Whether it is an object, of a collector that stops the program.
    fn contains(&self, _object: Object) -> bool {
        false
    }
    fn did(&self) -> Did;
    /// What a collector in steps did, and when.
    fn stepped(&self) -> Option<Ran> {
        None
    }
    /// Ticks of collections by the clock, and how many of its readings they contain.
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

/// A collector in steps. What the program allocates, reads and writes is time that passes.
pub(crate) struct InSteps<'m, S>(
    pub(crate) Incremental<'m, S, &'m Meter>,
    pub(crate) Paced<'m>,
);

/// How a collector in steps is driven.
pub(crate) struct Paced<'m> {
    pub(crate) meter: &'m Meter,
    /// The units of work that it is offered after every 4 KiB; 0 if its schedule needs no offers.
    pub(crate) units: u64,
    /// Bytes that were allocated since the last offer.
    pub(crate) allocated: u64,
    pub(crate) requests: Requests,
}

impl<S, K> AtOnce<'_, S, K> {
    fn pass(&self, _words: u64) {}
}

impl<S, K> TwoGenerations<'_, S, K> {
    fn pass(&self, _words: u64) {}
}

impl<S> InSteps<'_, S> {
    fn pass(&self, words: u64) {
        self.1.meter.pass(words);
    }
}

/// The words that so many bytes fill.
const fn words(bytes: usize) -> u64 {
    bytes.div_ceil(4) as u64
}

/// Passes everything but allocation on to the collector inside.
macro_rules! passed_on {
    () => {
        #[inline]
        fn load(&self, object: Object, word: u32) -> u32 {
            self.pass(1);
            self.0.load(object, word)
        }

        #[inline]
        fn store(&mut self, object: Object, word: u32, to: Option<Object>) {
            self.pass(1);
            self.0.store(object, word, to);
        }

        #[inline]
        fn store_data(&mut self, object: Object, word: u32, value: u32) {
            self.pass(1);
            self.0.store_data(object, word, value);
        }

        fn load_bytes(&self, object: Object, from: usize, into: &mut [u8]) {
            self.pass(words(into.len()));
            self.0.load_bytes(object, from, into);
        }

        fn store_bytes(&mut self, object: Object, from: usize, bytes: &[u8]) {
            self.pass(words(bytes.len()));
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

    fn contains(&self, object: Object) -> bool {
        self.0.contains(object)
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

impl<S: Counts + Stepwise> Heap for InSteps<'_, S> {
    fn alloc(&mut self, world: &mut World, bytes: usize) -> Result<Object, Refused> {
        let Self(gc, paced) = self;
        paced.allocated += bytes as u64;
        if paced.allocated >= OFFERED && paced.units > 0 {
            let times = paced.allocated / OFFERED;
            paced.allocated %= OFFERED;
            gc.offer(world, paced.units.saturating_mul(times));
        }
        let object = paced.requests.alloc(gc, world, bytes)?;
        paced.meter.pass(words(bytes));
        Ok(object)
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

    fn stepped(&self) -> Option<Ran> {
        Some(self.1.requests.ran(&self.0, self.1.meter.log()))
    }

    fn taken(&self, meter: &Meter) -> (u64, u64) {
        meter.taken()
    }

    passed_on!();
}
