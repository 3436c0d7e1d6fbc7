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
    fn totals(&self) -> Totals;
    fn counters(&self) -> Counters;
    /// Bytes of the objects that were not freed yet.
    fn live_bytes(&self) -> usize;
    fn check(&self) -> Result<(), Corruption>;
}

/// A space, and what free lists count.
pub(crate) trait Counts: Space {
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

/// A collector that stops the program.
pub(crate) struct AtOnce<'m, S, K>(pub(crate) Collector<'m, S, K>);

/// A collector with two generations.
pub(crate) struct TwoGenerations<'m, S, K>(pub(crate) Generational<'m, S, K>);

/// A collector in steps is offered work after so many allocated bytes.
const OFFERED: u64 = 4096;

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

    passed_on!();
}

impl<S: Counts + OneByOne, K: Clock> Heap for TwoGenerations<'_, S, K> {
    fn alloc(&mut self, world: &mut World, bytes: usize) -> Result<Object, Refused> {
        self.0.alloc(world, bytes)
    }

    passed_on!();
}

impl<S: Counts + Stepwise, K: Clock> Heap for InSteps<'_, S, K> {
    fn alloc(&mut self, world: &mut World, bytes: usize) -> Result<Object, Refused> {
        let Self(gc, offers) = self;
        offers.allocated += bytes as u64;
        if offers.allocated >= OFFERED {
            offers.allocated %= OFFERED;
            gc.offer(world, offers.units);
        }
        gc.alloc(world, bytes)
    }

    passed_on!();
}
