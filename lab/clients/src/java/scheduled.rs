//! One replay on the collector that works in steps, under a schedule.
//!
//! ```text
//! for every batch:  allocate each object: the schedule works before; write its header
//!                   the walk: references through the barrier, roots
//! ```
//! All that was allocated since the last walk is a root, which may be thousands of objects. They
//! are reported in parts, so that no step is longer for them: the snapshot has one root, which
//! stands for all.
#![deny(unsafe_code)]

use std::mem::MaybeUninit;

use surefit_compact::Config;
use surefit_core::Refused;
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::schedule::{Amount, Paced, Pause, Schedule};
use surefit_gc::{
    Client, Clock, Collector, Cycle, FreeList, Incremental, Object, Settings, Steps, Stepwise,
};
use surefit_trace::graph;

use super::heap::Heap;
use super::log::{Log, Timing};
use super::mutator::Mutator;
use super::program::{Batch, Program};
use super::replay::{HEADER_BYTES, first};

/// The free lists: segregated, a bitmap, free neighbours merged at once.
type Lists<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>;

/// A space of the collector in steps.
#[derive(Clone, Debug)]
pub enum Stepped {
    /// Segregated free lists with a bitmap; free neighbours are merged at once.
    FreeLists,
    /// Compact-fit.
    CompactFit(Box<Config>),
}

/// How to replay.
#[derive(Clone, Copy, Debug)]
pub struct Scheduled {
    /// When the collector works.
    pub schedule: Schedule,
    /// What a tick is.
    pub timing: Timing,
    /// Whether floating garbage is measured: after every cycle, by a search that takes no virtual
    /// ticks and much processor time.
    pub floating: bool,
}

/// A replay that completed.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Ticks from its beginning to its end.
    pub ticks: u64,
    /// All pauses, in order.
    pub pauses: Vec<Pause>,
    /// What was done in steps.
    pub steps: Steps,
    /// What the schedule did.
    pub paced: Paced,
    /// A step does less than its budget and so many units.
    pub most_excess: u64,
    /// Units of the cycle that worked most.
    pub largest_cycle: u64,
    /// The least that was occupied when a request found no room; absent if every request did.
    pub room: Option<Amount>,
    /// What the program's largest object occupies.
    pub largest: Amount,
    /// The most bytes of objects that lived at the end of a cycle.
    pub most_kept: usize,
    /// Bytes of all objects that the program asked for.
    pub requested_bytes: u64,
    /// Floating garbage; nothing, if it was not measured.
    pub floating: Floating,
}

/// Floating garbage: what cycles kept, although no root led to it when they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Floating {
    /// Cycles after which it was measured.
    pub cycles: u64,
    /// Its bytes, in words of objects: the sum over the cycles.
    pub bytes: u64,
    /// The most after one of them.
    pub most_bytes: u64,
    /// What the cycles kept: the sum, floating garbage included.
    pub kept_bytes: u64,
}

impl Stepped {
    /// Replays a program in a region. All of the region is the heap, tables included. `None` if
    /// there is no room for the program.
    ///
    /// # Panics
    /// If the collector freed an object that the program refers to; if the schedule's quanta have
    /// no room for a piece of work.
    #[must_use]
    pub fn replay(
        &self,
        program: &Program,
        region: &mut [MaybeUninit<u8>],
        how: &Scheduled,
    ) -> Option<Ran> {
        let log = Log::new(how.timing);
        let settings = Settings::default();
        match self {
            Self::FreeLists => {
                let gc = Collector::<Lists<'_>>::new(region, settings).ok()?;
                run(program, gc.with_clock(&log), &log, how)
            }
            Self::CompactFit(config) => {
                let gc = Collector::compact_fit(region, config, settings.mark_stack).ok()?;
                run(program, gc.with_clock(&log), &log, how)
            }
        }
    }
}

fn run<'m, S: Stepwise>(
    program: &Program,
    gc: Collector<'m, S, &'m Log>,
    log: &'m Log,
    how: &Scheduled,
) -> Option<Ran> {
    let mut replay = Replay {
        gc: Metered {
            gc: Incremental::over(gc).with_schedule(how.schedule),
            log,
        },
        mutator: Mutator::new(program.last_id),
        requests: Requests::default(),
        floating: how.floating.then(Floating::default),
    };
    replay.begin()?;
    for batch in &program.batches {
        replay.batch(batch)?;
    }
    Some(replay.end())
}

struct Replay<'m, S> {
    gc: Metered<'m, S>,
    mutator: Mutator,
    requests: Requests,
    /// Absent if it is not measured.
    floating: Option<Floating>,
}

impl<S: Stepwise> Replay<'_, S> {
    /// Makes the object that stands for the roots.
    fn begin(&mut self) -> Option<()> {
        let table = self.alloc(HEADER_BYTES)?;
        self.mutator.stand_for_roots(&mut self.gc, table);
        Some(())
    }

    fn batch(&mut self, batch: &Batch) -> Option<()> {
        batch.given.iter().try_for_each(|given| self.give(given))?;
        if let Some(walk) = &batch.walk {
            self.mutator.apply(&mut self.gc, walk, |freed| {
                let freed = first(walk, freed);
                panic!("an object that is referred to was freed: {freed:?}");
            });
        }
        Some(())
    }

    /// Allocates an object, unless the recording lost it and the collector still has it.
    fn give(&mut self, given: &graph::Object) -> Option<()> {
        if self.mutator.knows(given.id) && !self.mutator.revive(&mut self.gc, given.id) {
            return Some(());
        }
        let bytes = HEADER_BYTES.max(given.bytes as usize);
        let object = self.alloc(bytes)?;
        self.gc.log.pass(bytes.div_ceil(4) as u64);
        self.mutator.give(&mut self.gc, given, object);
        Some(())
    }

    fn alloc(&mut self, bytes: usize) -> Option<Object> {
        let (gc, mutator) = (&mut self.gc.gc, &mut self.mutator);
        let object = self.requests.alloc(gc, mutator, bytes).ok()?;
        if let (Some(floating), Some(cycle)) = (&mut self.floating, self.requests.ended) {
            let reached = mutator.reached_bytes(gc);
            floating.add(cycle.live_bytes as u64, reached);
        }
        Some(object)
    }

    fn end(self) -> Ran {
        let ran = self.requests.ran(&self.gc.gc, self.gc.log);
        Ran {
            floating: self.floating.unwrap_or_default(),
            ..ran
        }
    }
}

/// What requests show of a heap whose collector works in steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Requests {
    /// The cycle that ended in the last one.
    ended: Option<Cycle>,
    room: Option<Amount>,
    largest: Amount,
    largest_cycle: u64,
    most_kept: usize,
}

impl Requests {
    /// Allocates an object of so many bytes, and notes what that shows.
    ///
    /// # Errors
    /// There is no room.
    #[inline]
    pub fn alloc<S: Stepwise, K: Clock>(
        &mut self,
        gc: &mut Incremental<'_, S, K>,
        client: &mut impl Client<S>,
        bytes: usize,
    ) -> Result<Object, Refused> {
        let (before, full, cycles) = (gc.occupied(), full(gc.steps()), gc.steps().cycles);
        let object = gc.alloc(client, bytes)?;
        self.ended = gc.last().filter(|_| gc.steps().cycles > cycles).copied();
        if let Some(cycle) = &self.ended {
            self.largest_cycle = self.largest_cycle.max(cycle.work);
            self.most_kept = self.most_kept.max(cycle.live_bytes);
        }
        if full < self::full(gc.steps()) {
            let least = self.room.filter(|room| room.bytes <= before.bytes);
            self.room = least.or(Some(before));
        } else if gc.occupied().bytes > before.bytes {
            let cost = gc.occupied().minus(before);
            if cost.bytes > self.largest.bytes {
                self.largest = cost;
            }
        }
        Ok(object)
    }

    /// All that is known of the run at its end.
    pub fn ran<S: Stepwise, K: Clock>(&self, gc: &Incremental<'_, S, K>, log: &Log) -> Ran {
        Ran {
            ticks: log.now(),
            pauses: log.pauses(),
            steps: *gc.steps(),
            paced: *gc.paced(),
            most_excess: gc.most_excess(),
            largest_cycle: self.largest_cycle,
            room: self.room,
            largest: self.largest,
            most_kept: self.most_kept,
            requested_bytes: gc.totals().requested_bytes,
            floating: Floating::default(),
        }
    }
}

impl Floating {
    /// A cycle ended that kept so many bytes, of which roots lead to so many.
    fn add(&mut self, kept: u64, reached: u64) {
        let bytes = kept.saturating_sub(reached);
        self.cycles += 1;
        self.bytes += bytes;
        self.most_bytes = self.most_bytes.max(bytes);
        self.kept_bytes += kept;
    }
}

/// How many requests found no room.
fn full(steps: &Steps) -> u64 {
    steps.forced + steps.whole
}

/// The collector in steps. Every access is a tick.
struct Metered<'m, S> {
    gc: Incremental<'m, S, &'m Log>,
    log: &'m Log,
}

impl<S: Stepwise> Heap for Metered<'_, S> {
    fn contains(&self, object: Object) -> bool {
        self.gc.contains(object)
    }

    fn upgrade(&mut self, object: Object) -> bool {
        self.gc.upgrade(object).is_some()
    }

    fn forget(&mut self, object: Object) {
        self.log.pass(1);
        let _ = self.gc.upgrade(object);
    }

    fn load(&self, object: Object, word: u32) -> u32 {
        self.log.pass(1);
        self.gc.load(object, word)
    }

    fn store(&mut self, object: Object, word: u32, to: Option<Object>) {
        self.log.pass(1);
        self.gc.store(object, word, to);
    }

    fn store_data(&mut self, object: Object, word: u32, value: u32) {
        self.log.pass(1);
        self.gc.store_data(object, word, value);
    }
}
