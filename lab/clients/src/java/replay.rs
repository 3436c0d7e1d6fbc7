//! One replay: a program, a space, a heap.
//!
//! ```text
//! for every batch:  begin; allocate each object and write its header; end           gross
//!                   begin; write each header once more, at the places known; end    empty
//!                   the walk
//! allocation time = gross - empty - collections on the way
//! ```
//! So the cost of a batch beside allocation (the loop, headers, the table of places) is measured
//! and subtracted. The clock is read twice per batch and three times per collection, and twice more
//! to exclude what is recorded or verified after a collection. The cost of the readings is measured
//! and subtracted as well.
//!
//! # Drawbacks
//! The empty run finds in the cache what the gross run had to fetch: headers and the table of
//! places. Their cache misses count as allocation. There are as many for every space, so ratios of
//! allocation times are too close to one.
//!
//! If an object was freed too early, this is detected only when a later walk names it.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::time::Instant;

use surefit_compact::Config;
use surefit_core::Refused;
use surefit_freelist::{Counters, Index};
use surefit_gc::{Collector, CompactFit, FreeList, Object, Settings, Space, Sweep};
use surefit_trace::graph::{self, Walk};

use super::clock::{Clocking, Reading, Watch};
use super::mutator::{Freed, Mutator};
use super::outcome::{Collected, FirstFreed, Moves, Outcome, Sample, Stopped};
use super::program::{Batch, Program};

/// Allocations from one sample to the next.
const SAMPLED: usize = 1024;

/// Bytes of an object's header: no object is shorter.
pub(super) const HEADER_BYTES: usize = 12;

/// What a replay does besides replaying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How the sweep finds free memory.
    pub sweep: Sweep,
    /// How times are taken.
    pub clocking: Clocking,
    /// Whether all invariants are verified after every collection.
    pub check: bool,
    /// Whether the sizes of free chunks are recorded after every collection.
    pub free_sizes: bool,
    /// Whether the free bytes are recorded before every collection. Then each request that causes a
    /// collection is made twice.
    pub free_before: bool,
    /// Objects of at least this many bytes are large: free lists have another place for them.
    pub large_from: usize,
}

/// Sweeps as in the thesis, and only replays.
impl Default for Options {
    fn default() -> Self {
        Self {
            sweep: Sweep::Walk,
            clocking: Clocking::Off,
            check: false,
            free_sizes: false,
            free_before: false,
            large_from: Settings::LARGE,
        }
    }
}

/// What a replay needs from a space in addition to what a collector needs.
pub(super) trait Observed: Space {
    fn counters(&self) -> Counters;
    fn free_sizes(&self) -> Vec<usize>;

    /// What was moved; `None` if the space never moves objects.
    fn moves(&self) -> Option<Moves> {
        None
    }
}

/// Counts single free page-blocks, and free pages. Nothing is searched, so nothing is visited.
impl Observed for CompactFit<'_> {
    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn free_sizes(&self) -> Vec<usize> {
        let (geometry, stats) = (self.config().geometry(), self.stats());
        let mut sizes =
            vec![geometry.page_bytes(); (stats.freed_pages + stats.fresh_pages) as usize];
        for class in geometry.classes() {
            let (live, pages) = self.class_usage(class);
            let layout = geometry.layout(class);
            let free = pages * u32::from(layout.blocks) - live;
            sizes.extend((0..free).map(|_| layout.block_bytes as usize));
        }
        sizes
    }

    fn moves(&self) -> Option<Moves> {
        let stats = self.stats();
        Some(Moves {
            objects: stats.moves_total,
            bytes: stats.moved_bytes_total,
            relieved_requests: self.relief().requests,
            fragmented_collections: self.relief().fragmented_collections,
        })
    }
}

impl<I: Index> Observed for FreeList<'_, I> {
    fn counters(&self) -> Counters {
        self.heap().counters()
    }

    fn free_sizes(&self) -> Vec<usize> {
        self.heap().free_sizes().collect()
    }
}

/// Replays a program over a free-list heap with the index `I`.
pub(super) fn over_free_lists<I: Index>(
    program: &Program,
    region: &mut [MaybeUninit<u8>],
    options: &Options,
) -> Result<Outcome, Stopped> {
    let settings = Settings {
        sweep: options.sweep,
        large_from: options.large_from,
        ..Settings::default()
    };
    let gc = Collector::<FreeList<'_, I>>::new(region, settings).map_err(Stopped::Region)?;
    run(program, gc, options)
}

/// Replays a program over a Compact-fit heap, which has only one kind of sweep.
pub(super) fn over_compact_fit(
    config: &Config,
    program: &Program,
    region: &mut [MaybeUninit<u8>],
    options: &Options,
) -> Result<Outcome, Stopped> {
    let stack = Settings::default().mark_stack;
    let gc = Collector::compact_fit(region, config, stack).map_err(Stopped::Region)?;
    run(program, gc, options)
}

/// Replays a program on a collector.
fn run<S: Observed>(
    program: &Program,
    gc: Collector<'_, S>,
    options: &Options,
) -> Result<Outcome, Stopped> {
    let reading = match options.clocking {
        Clocking::Each => Reading::Wall(Instant::now()),
        Clocking::Off | Clocking::Batch => Reading::Processor,
    };
    let mut replay = Replay {
        gc: gc.with_clock(reading),
        mutator: Mutator::new(program.last_id),
        outcome: Outcome::default(),
        watch: Watch::new(reading, options.clocking),
        free_before: 0,
        options,
    };
    for batch in &program.batches {
        replay.batch(batch)?;
    }
    Ok(replay.end())
}

struct Replay<'r, 'm, S: Space> {
    gc: Collector<'m, S, Reading>,
    mutator: Mutator,
    outcome: Outcome,
    watch: Watch,
    /// Free bytes when a request was refused last.
    free_before: u64,
    options: &'r Options,
}

impl<S: Observed> Replay<'_, '_, S> {
    fn batch(&mut self, batch: &Batch) -> Result<(), Stopped> {
        self.mutator.expect(batch.given.len());
        let begun = self.watch.begin(Clocking::Batch, self.gc.totals());
        for given in batch.given.chunks(SAMPLED) {
            given.iter().try_for_each(|given| self.give(given))?;
            self.sample();
        }
        self.watch.end(begun, self.gc.totals());
        if self.options.clocking == Clocking::Batch {
            self.empty(&batch.given);
        }
        if let Some(walk) = &batch.walk {
            self.walk(walk);
        }
        Ok(())
    }

    /// Allocates an object, unless the recording lost it and the collector still has it.
    #[inline]
    fn give(&mut self, given: &graph::Object) -> Result<(), Stopped> {
        if self.mutator.knows(given.id) && !self.mutator.revive(&mut self.gc, given.id) {
            return Ok(());
        }
        let collections = self.gc.totals().collections;
        let begun = self.watch.begin(Clocking::Each, self.gc.totals());
        let bytes = HEADER_BYTES.max(given.bytes as usize);
        let allocated = match self.options.free_before {
            true => self.alloc_and_look(bytes),
            false => self.gc.alloc(&mut self.mutator, bytes),
        };
        self.watch.end(begun, self.gc.totals());
        let object = allocated.map_err(|refused| self.full(given, refused))?;
        self.mutator.give(&mut self.gc, given, object);
        if self.gc.totals().collections > collections {
            let begun = self.watch.begin(Clocking::Batch, self.gc.totals());
            self.collected()?;
            self.watch.leave_out(begun);
        }
        Ok(())
    }

    /// Allocates. If the request cannot be served at once, records what is free.
    fn alloc_and_look(&mut self, bytes: usize) -> Result<Object, Refused> {
        self.gc.alloc_as_is(bytes).or_else(|_| {
            let free = self.gc.space().free_sizes().into_iter().sum::<usize>();
            self.free_before = free as u64;
            self.gc.alloc(&mut self.mutator, bytes)
        })
    }

    #[cold]
    fn full(&self, given: &graph::Object, refused: Refused) -> Stopped {
        let swept = self.gc.last().map(|last| last.swept).unwrap_or_default();
        Stopped::Full {
            allocation: self.gc.totals().allocations,
            bytes: given.bytes,
            refused,
            free_bytes: swept.free_bytes as u64,
            largest_free_bytes: swept.largest_free_bytes as u64,
        }
    }

    /// Repeats what a batch does besides allocating.
    fn empty(&mut self, given: &[graph::Object]) {
        let begun = self.watch.begin(Clocking::Batch, self.gc.totals());
        self.mutator.give_again(&mut self.gc, given);
        self.watch.end_empty(begun, self.gc.totals());
        self.mutator.forget_again(given.len());
    }

    #[cold]
    fn collected(&mut self) -> Result<(), Stopped> {
        if let Some(&collection) = self.gc.last() {
            let sizes = match self.options.free_sizes {
                true => counted(self.gc.space().free_sizes()),
                false => Vec::new(),
            };
            self.outcome.collections.push(Collected {
                allocations: self.gc.totals().allocations - 1,
                collection,
                free_bytes_before: self.options.free_before.then_some(self.free_before),
                free_sizes: sizes,
            });
        }
        self.check()
    }

    fn walk(&mut self, walk: &Walk) {
        let outcome = &mut self.outcome;
        self.mutator.apply(&mut self.gc, walk, |freed| {
            outcome.references_to_freed += 1;
            outcome.first_freed.get_or_insert(first(walk, freed));
        });
    }

    fn check(&self) -> Result<(), Stopped> {
        if !self.options.check {
            return Ok(());
        }
        self.gc.check().map_err(|corruption| Stopped::Corrupt {
            allocation: self.gc.totals().allocations,
            corruption,
        })
    }

    fn sample(&mut self) {
        self.outcome.samples.push(Sample {
            allocations: self.gc.totals().allocations,
            collections: self.gc.totals().collections,
            visits: self.gc.space().counters().visits,
        });
    }

    fn end(self) -> Outcome {
        Outcome {
            totals: *self.gc.totals(),
            counters: self.gc.space().counters(),
            moves: self.gc.space().moves(),
            administrative_bytes: self.gc.usage().administrative_bytes,
            times: self.watch.times(self.gc.totals()),
            ..self.outcome
        }
    }
}

/// The first reference to a freed object.
pub(super) fn first(walk: &Walk, freed: Freed) -> FirstFreed {
    FirstFreed {
        walk: walk.number,
        from: (freed.from != 0).then_some(freed.from),
        to: freed.to,
    }
}

/// The sizes and how often each occurs, in ascending order.
fn counted(sizes: Vec<usize>) -> Vec<(u32, u32)> {
    let mut counts = BTreeMap::new();
    for size in sizes {
        *counts.entry(size as u32).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}
