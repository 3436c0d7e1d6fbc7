//! One replay over segregated lists under any of the three collectors, or with two generations over
//! other spaces, with the thesis's two times.
//!
//! ```text
//! for every batch:  begin; allocate each object and write its header; end           gross
//!                   begin; write each header once more, at the places known; end    empty
//!                   the walk; the collector may collect its young generation
//! allocation time = gross - empty - collections and steps on the way
//! ```
//! Times are taken and corrected as in `replay`. Stores of references are not timed: their barrier
//! is the same for all lookups.
#![deny(unsafe_code)]

use std::mem::MaybeUninit;

use surefit_freelist::{Coalescing, Counters, Index, LastList, Lookup, Segregated};
use surefit_gc::Totals;
use surefit_gc::schedule::{Amount, Schedule};
use surefit_gc::{
    Clock as _, Collector, CompactFit, FreeList, Generational, Incremental, Settings, Sweep,
};
use surefit_trace::graph;

use crate::lists::{Choice, Lists};

use super::managing::{Counts, InSteps, Managing, TwoGenerations};
use super::meter::Meter;
use super::mutator::Mutator;
use super::program::{Batch, Program};
use super::replay::{HEADER_BYTES, first};

/// When the collector works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collecting {
    /// When a request finds no room.
    AtOnce,
    /// In steps, from the trigger on.
    InSteps {
        /// A cycle begins when so many bytes would be occupied; with `u64::MAX` only when a request
        /// finds no room.
        trigger: u64,
        /// The units of work that are offered after every [`OFFERED`](super::OFFERED) bytes.
        units: u64,
    },
    /// In two generations.
    TwoGenerations {
        /// The young one is collected at the end of a walk at which it has so many bytes.
        young_bytes: u64,
    },
}

/// A replay that completed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Managed {
    /// What the collector did.
    pub totals: Totals,
    /// What the lists did.
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
}

impl Managed {
    /// Heap management time: allocation and collection, in nanoseconds.
    #[must_use]
    pub const fn management_ns(&self) -> u64 {
        self.allocation_ns.saturating_add(self.collection_ns)
    }
}

type Run = fn(&Program, &mut [MaybeUninit<u8>], Collecting, &Meter) -> Option<Managed>;

impl Collecting {
    /// Replays a program in a region over the lists that [`Lists::choose_merging`] chooses. All of
    /// the region is the heap, tables included. `None` if there is no room for the program.
    ///
    /// # Panics
    /// If the collector freed an object that the program refers to.
    #[must_use]
    pub fn replay(
        self,
        lists: Lists,
        program: &Program,
        region: &mut [MaybeUninit<u8>],
        timed: bool,
    ) -> Option<Managed> {
        lists.choose_merging(OverLists)(program, region, self, &Meter::new(timed))
    }
}

/// What lies under a collector with two generations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Free lists.
    Lists(Lists),
    /// A Compact-fit heap.
    CompactFit,
    /// The same with a nursery in front of it.
    Nursery {
        /// Its bytes, which are part of the region.
        bytes: usize,
    },
}

impl Home {
    /// As [`Collecting::replay`], in two generations.
    ///
    /// # Panics
    /// If the collector freed an object that the program refers to.
    #[must_use]
    pub fn replay(
        self,
        program: &Program,
        region: &mut [MaybeUninit<u8>],
        young_bytes: u64,
        timed: bool,
    ) -> Option<Managed> {
        let (config, stack) = (CompactFit::CONFIG, Settings::default().mark_stack);
        let meter = &Meter::new(timed);
        match self {
            Self::Lists(lists) => {
                let collecting = Collecting::TwoGenerations { young_bytes };
                collecting.replay(lists, program, region, timed)
            }
            Self::CompactFit => {
                let gc = Collector::compact_fit(region, &config, stack).ok()?;
                in_generations(program, gc, young_bytes, meter)
            }
            Self::Nursery { bytes } => {
                let gc = Collector::nursery(region, &config, bytes, stack).ok()?;
                in_generations(program, gc, young_bytes, meter)
            }
        }
    }
}

fn in_generations<S: Counts>(
    program: &Program,
    gc: Collector<'_, S>,
    young_bytes: u64,
    meter: &Meter,
) -> Option<Managed> {
    let gc = Generational::over(gc.with_clock(meter));
    run(program, TwoGenerations { gc, young_bytes }, meter)
}

struct OverLists;

impl Choice for OverLists {
    type Output = Run;

    fn of<L: Lookup<N>, C: Coalescing, T: LastList, const N: usize>(self) -> Run {
        over::<Segregated<L, C, T, N>>
    }
}

fn over<I: Index>(
    program: &Program,
    region: &mut [MaybeUninit<u8>],
    collecting: Collecting,
    meter: &Meter,
) -> Option<Managed> {
    let settings = Settings {
        sweep: Sweep::Walk,
        ..Settings::default()
    };
    let gc = Collector::<FreeList<'_, I>>::new(region, settings).ok()?;
    let gc = gc.with_clock(meter);
    match collecting {
        Collecting::AtOnce => run(program, gc, meter),
        Collecting::InSteps { trigger, units } => {
            let trigger = Amount {
                objects: u64::MAX,
                bytes: trigger,
            };
            let gc = Incremental::over(gc).with_schedule(Schedule::Asked(trigger));
            let allocated = 0;
            run(
                program,
                InSteps {
                    gc,
                    units,
                    allocated,
                },
                meter,
            )
        }
        Collecting::TwoGenerations { young_bytes } => {
            let gc = Generational::over(gc);
            run(program, TwoGenerations { gc, young_bytes }, meter)
        }
    }
}

fn run<G: Managing>(program: &Program, gc: G, meter: &Meter) -> Option<Managed> {
    let mut replay = Replay {
        gc,
        mutator: Mutator::new(program.last_id),
        meter,
        allocation_ns: 0,
    };
    for batch in &program.batches {
        replay.batch(batch)?;
    }
    Some(replay.end())
}

struct Replay<'r, G> {
    gc: G,
    mutator: Mutator,
    meter: &'r Meter,
    /// Nanoseconds so far; signed, since the empty runs are subtracted afterwards.
    allocation_ns: i64,
}

/// The time, and what had been taken by collections and readings, when something began.
struct Begun {
    now: u64,
    collections_ns: u64,
    /// Readings outside collections.
    readings: u64,
}

impl<G: Managing> Replay<'_, G> {
    fn batch(&mut self, batch: &Batch) -> Option<()> {
        self.mutator.expect(batch.given.len());
        let begun = self.begin();
        batch.given.iter().try_for_each(|given| self.give(given))?;
        self.allocation_ns += self.since(&begun);
        if self.meter.is_on() {
            let begun = self.begin();
            self.mutator.give_again(&mut self.gc, &batch.given);
            self.allocation_ns -= self.since(&begun);
            self.mutator.forget_again(batch.given.len());
        }
        if let Some(walk) = &batch.walk {
            self.walk(walk);
        }
        Some(())
    }

    /// Allocates an object, unless the recording lost it and the collector still has it.
    #[inline]
    fn give(&mut self, given: &graph::Object) -> Option<()> {
        if self.mutator.knows(given.id) && !self.mutator.revive(&mut self.gc, given.id) {
            return Some(());
        }
        let bytes = HEADER_BYTES.max(given.bytes as usize);
        let object = self.gc.allocate(&mut self.mutator, bytes).ok()?;
        self.mutator.give(&mut self.gc, given, object);
        Some(())
    }

    fn walk(&mut self, walk: &graph::Walk) {
        self.mutator.apply(&mut self.gc, walk, |freed| {
            let freed = first(walk, freed);
            panic!("an object that is referred to was freed: {freed:?}");
        });
        self.gc.walked(&mut self.mutator);
    }

    fn begin(&self) -> Begun {
        let (collections_ns, inside) = self.gc.taken(self.meter);
        Begun {
            collections_ns,
            readings: self.meter.readings() - inside,
            now: self.meter.now(),
        }
    }

    /// Nanoseconds since then, without collections and readings.
    fn since(&self, begun: &Begun) -> i64 {
        let passed = self.meter.now() - begun.now;
        let (collections_ns, inside) = self.gc.taken(self.meter);
        // That of the beginning is counted and not in the time; that of now is in both.
        let readings = self.meter.readings() - inside - begun.readings;
        let readings_ns = readings.saturating_sub(1) * self.meter.cost_ns();
        passed as i64 - (collections_ns - begun.collections_ns) as i64 - readings_ns as i64
    }

    fn end(self) -> Managed {
        let did = self.gc.did();
        let (collections_ns, inside) = self.gc.taken(self.meter);
        Managed {
            totals: *self.gc.totals(),
            counters: self.gc.counters(),
            minor: did.minor,
            forced: did.forced,
            most_occupied: did.most_occupied,
            largest_cycle: did.largest_cycle,
            allocation_ns: self.allocation_ns.max(0) as u64,
            collection_ns: collections_ns.saturating_sub(inside * self.meter.cost_ns()),
        }
    }
}
