//! A collector that works in steps: the program stops for a bounded amount of work at a time.
//!
//! ```text
//!          start          stack and grey bits empty      no weak references left
//! Idle ──────────► Mark ──────────────────────────► Weak ─────────────────────► Sweep ─► Merge ─► Idle
//!
//! start:             report all roots: the snapshot
//! step(budget):      while work < budget: one unit of the phase
//!   Mark:            pop (o, from), report o's references from slot `from` on
//!                    else look for grey bits in one word of bits
//!                    else Weak
//!   Weak:            the client clears some weak references
//!   Sweep, word w:   d = the lowest number of live[w] & !marks[w]: live[w] loses d; free d
//!                    else marks[w] = 0; the next word
//!   Merge:           merge two free neighbours, if the space leaves them apart
//! store(o, i, v):    in Mark: shade(the word's old value); write
//! upgrade(o):        in Mark: shade(o), Some; later: Some, unless o is condemned
//! shade(o):          o lives and is white: black, push (o, 0); if the stack is full: grey
//! alloc:             as `Collector::alloc`; but before it collects, it finishes the cycle that runs
//!                    the new object is black in Mark and Weak, and in Sweep from word w on
//! ```
//! A cycle frees what was dead when it started, and keeps all that the roots led to then: the
//! *snapshot*. References that the program loads later come from the snapshot, or were stored since
//! and so are those of objects in the snapshot or born since. So roots need no barrier: they are
//! taken once, in one step. A reference can be lost to the collector only if it is overwritten
//! before it was followed; therefore a store shades the old value. What a weak reference leads to
//! need not be in the snapshot; therefore an upgrade shades it.
//!
//! The collector does not know which words are references. [`Incremental::store`] asks the type of
//! the value, [`Word`](crate::Word), what the old word referred to.
//! [`Incremental::store_data`] and [`Incremental::store_bytes`] look at
//! no old word: they are for words that never hold references. Whoever overwrites references with
//! them may lose an object that it still uses. This is no worse than a reference that was not
//! reported to a [`Collector`](crate::Collector): every access, store of a reference and report is
//! compared with the live bits, so the lost object is told with a panic, or its number is that of a
//! later object.
//!
//! # Invariants
//! - G2, G3: those of the [`Collector`](crate::Collector); an object that is being freed in parts
//!   counts as freed.
//! - G4: Only live objects are marked. In Idle and Merge none is, in Sweep none before word `w`.
//! - G5: Every object on the stack lives and is marked. In other phases than Roots and Mark the
//!   stack is empty, and no object is grey.
//! - G6: No grey object is forgotten: each is at or after the position of the pass over the grey
//!   bits, or at or after the lowest that was dropped since it began.
//! - G7: In Mark, every object of the snapshot is marked, or a chain of white ones leads to it from
//!   one that is still to be scanned. After Mark, a marked object refers to marked objects alone.
//!   `check` cannot ask the client for references; the tests verify it.
//! - G8: `live_objects`, `live_bytes` and `occupied` are those of the live bits.
//! - G9: In a cycle, as many live objects are not marked, or condemned, as were not marked by it,
//!   shaded or born in it.
//! - G10: An object that is being freed in parts has no live bit; it is that of the space, and only
//!   Sweep has one.
//! - In Merge, the space can go on at the cursor: [`Stepwise::check_part`].
//!
//! # Bounds
//! Work is counted in units: a root, a weak reference, a word of an object that is scanned (at
//! least the references that it reported), a word of mark bits, a freed object or part of one, a
//! word that the space moves meanwhile, a pair of free neighbours. A step does less than its budget
//! plus [`Incremental::most_excess`]: the largest of a stride of references, and a free of the
//! space. The roots are a step by themselves, of one unit per reference. A cycle does at most as
//! much as `roots`, the words of what it marks with one unit per scan, the weak references, the
//! words of bits for each pass and for the sweep, and one per object that it frees. docs/bounds.md,
//! 5.1, derives this. Not counted are a few numbers per size-class that Compact-fit reads when a
//! sweep begins.
//!
//! A store costs one load and two bits more while marking, one comparison otherwise.
//!
//! # Departures
//! Births behind the sweep are white, and the sweep makes white what it keeps, so that no pass
//! clears marks. Upgrades of weak references shade. Deferred coalescing merges after each sweep
//! instead of after a request that failed: a program that wants short pauses does not want to wait
//! for that request.
//!
//! # Drawbacks
//! Objects that die in a cycle, or were born in it, are kept until the next one. If the program
//! does not call `step` often enough, `alloc` finishes the cycle, as long as that takes; this is
//! counted.
//!
//! # Source
//! Yuasa, Real-time garbage collection on general-purpose machines (1990): the snapshot and its
//! barrier. Bacon, Cheng, Rajan, A real-time garbage collector with low overhead and consistent
//! utilization (2003): the snapshot over arraylets.

mod access;
mod alloc;
mod barrier;
mod check;
#[cfg(test)]
mod flips;
mod marking;
mod pacing;
mod pending;
mod statistics;
mod sweeping;
#[cfg(test)]
mod tests;

use core::ops::Deref;

use crate::client::Client;
use crate::collector::Collector;
use crate::edges::Edges;
use crate::object::Object;
use crate::schedule::Amount;
use crate::schedule::pacer::Pacer;
use crate::statistics::{Clock, NoClock};
use crate::stepwise::Stepwise;
use pending::Pending;

pub use statistics::{Cycle, Phase, Step, Steps};

/// A mark-sweep collector over the space `S` that works in steps.
///
/// # Examples
/// The client is that of the example of [`Client`].
/// ```
/// # use core::mem::MaybeUninit;
/// # use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
/// # use surefit_gc::{Client, Collector, Edges, FreeList, Incremental, Object, Scanned, Settings, Space};
/// # #[derive(Default)]
/// # struct Pairs { stack: Vec<Object> }
/// # impl<S: Space> Client<S> for Pairs {
/// #     fn roots(&mut self, edges: &mut Edges<'_>) {
/// #         self.stack.iter().for_each(|&object| edges.report(object));
/// #     }
/// #     fn scan(&mut self, pair: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
/// #         [0, 1].iter().filter_map(|&word| pair.reference(word)).for_each(|o| edges.report(o));
/// #     }
/// # }
/// type Lists = FreeList<'static, Segregated<Bitmap, Immediate, Tree, 256>>;
/// let region = Box::leak(vec![MaybeUninit::uninit(); 65536].into_boxed_slice());
/// let mut pairs = Pairs::default();
/// let mut gc = Incremental::over(Collector::<Lists>::new(region, Settings::default())?);
/// let list = gc.alloc(&mut pairs, 8)?;
/// pairs.stack.push(list);
/// for nth in 0..100_000 {
///     let garbage = gc.alloc(&mut pairs, 8)?;
///     gc.store(garbage, 0, Some(list));
///     // Twenty units of work per allocation are more than enough for a heap that is nearly empty.
///     if nth % 1000 == 0 {
///         gc.start(&mut pairs);
///     }
///     gc.step(&mut pairs, 20);
/// }
/// assert!(gc.steps().cycles > 20 && gc.steps().forced == 0);
/// assert!(gc.steps().largest_excess <= gc.most_excess());
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[derive(Debug)]
pub struct Incremental<'m, S, K = NoClock> {
    gc: Collector<'m, S, K>,
    phase: Phase,
    pending: Pending,
    /// Where the phase goes on: at a weak reference, a word of bits, or what the space returned.
    cursor: u32,
    /// The object that is being freed in parts.
    dying: Option<Object>,
    live_objects: u64,
    live_bytes: u64,
    /// What the live objects occupy, as the space counts.
    occupied: Amount,
    pacer: Pacer,
    cycle: Cycle,
    last: Option<Cycle>,
    steps: Steps,
}

/// The collector inside, to read objects, and for its space and totals. Ask this collector, not the
/// one inside, for `contains`, `check` and `last`: the one inside knows nothing of steps.
impl<'m, S, K> Deref for Incremental<'m, S, K> {
    type Target = Collector<'m, S, K>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.gc
    }
}

impl<'m, S: Stepwise, K: Clock> Incremental<'m, S, K> {
    /// Makes a collector that stops the program into one that works in steps. Its objects stay.
    /// O(bits and objects).
    #[must_use]
    pub fn over(mut collector: Collector<'m, S, K>) -> Self {
        collector.marks.clear();
        let objects = collector.objects();
        let (live_objects, words) = objects.fold((0, 0), |(count, words), object| {
            (count + 1, words + u64::from(collector.words(object)))
        });
        Self {
            occupied: held(&collector),
            pacer: Pacer::default(),
            gc: collector,
            phase: Phase::Idle,
            pending: Pending::default(),
            cursor: 0,
            dying: None,
            live_objects,
            live_bytes: words * WORD,
            cycle: Cycle::default(),
            last: None,
            steps: Steps::default(),
        }
    }

    /// Starts a cycle: takes the roots, in one step of one unit per reference that they report.
    /// Does nothing if a cycle runs.
    pub fn start(&mut self, client: &mut impl Client<S>) -> Step {
        let work = match self.phase {
            Phase::Idle => {
                self.cycle = Cycle::default();
                self.pending = Pending::default();
                self.pacer.begin_cycle();
                self.phase = Phase::Roots;
                self.timed(|gc| {
                    let work = gc.take_roots(client);
                    gc.gc.clock.worked(work);
                    work
                })
            }
            Phase::Roots => self.timed(|gc| {
                let work = gc.take_roots(client);
                gc.gc.clock.worked(work);
                work
            }),
            _ => 0,
        };
        Step { work, done: false }
    }

    /// Goes on with the cycle that runs, for at least `budget` units of work, and less than
    /// [`Incremental::most_excess`] more; a budget of 0 counts as 1. Does nothing if no cycle runs.
    ///
    /// A client that unwinds while it is called leaves the collector as it was before that call.
    pub fn step(&mut self, client: &mut impl Client<S>, budget: u64) -> Step {
        match self.phase {
            Phase::Idle => return Step::done(0),
            Phase::Roots => return self.start(client),
            _ => {}
        }
        let budget = budget.max(1);
        self.cycle.steps += 1;
        self.steps.steps += 1;
        let overruns = self.steps.overruns;
        let work = self.run(client, budget);
        let excess = work.saturating_sub(budget);
        debug_assert!(
            excess < self.most_excess() || overruns < self.steps.overruns,
            "a step exceeds its bound by {excess}"
        );
        self.steps.largest_step = self.steps.largest_step.max(work);
        self.steps.largest_excess = self.steps.largest_excess.max(excess);
        Step {
            work,
            done: self.phase == Phase::Idle,
        }
    }

    /// A step does less than its budget and so many units of work, if each call of the client
    /// reports at most [`Edges::STRIDE`] references.
    #[must_use]
    pub fn most_excess(&self) -> u64 {
        let scan = 1 + u64::from(Edges::STRIDE);
        scan.max(self.gc.space.most_work())
    }

    /// Finishes the cycle that runs, as long as it takes. Returns the work.
    pub fn finish(&mut self, client: &mut impl Client<S>) -> Step {
        let roots = match self.phase {
            Phase::Roots => self.start(client).work,
            _ => 0,
        };
        Step::done(roots + self.run(client, u64::MAX))
    }

    /// Frees every object that the client's roots do not lead to now: finishes the cycle that runs,
    /// and then runs a whole one. Returns the work.
    pub fn collect(&mut self, client: &mut impl Client<S>) -> Step {
        let finished = self.finish(client).work;
        let roots = self.start(client).work;
        Step::done(finished + roots + self.finish(client).work)
    }

    /// Works on the cycle, past the roots, until it ends or the budget is used up.
    fn run(&mut self, client: &mut impl Client<S>, budget: u64) -> u64 {
        self.timed(|gc| {
            let mut work = 0;
            while work < budget && gc.phase != Phase::Idle {
                let done = gc.advance(client, budget - work);
                gc.gc.clock.worked(done);
                work += done;
            }
            work
        })
    }

    /// Works on the present phase, until it ends or the budget is used up.
    fn advance(&mut self, client: &mut impl Client<S>, budget: u64) -> u64 {
        match self.phase {
            Phase::Mark => self.mark(client, budget),
            Phase::Weak => self.clear_weak(client),
            Phase::Sweep => self.sweep(budget),
            Phase::Merge => self.merge(),
            Phase::Idle | Phase::Roots => 0,
        }
    }

    /// Adds the work and the time of a part of a cycle to its figures.
    fn timed(&mut self, part: impl FnOnce(&mut Self) -> u64) -> u64 {
        let (began, cycles) = (self.gc.clock.now(), self.steps.cycles);
        let work = part(self);
        let ended = self.gc.clock.now();
        self.steps.work += work;
        // The clock is the caller's; it may return anything.
        let ticks = ended.saturating_sub(began);
        self.cycle.work += work;
        self.cycle.ticks = self.cycle.ticks.saturating_add(ticks);
        if cycles < self.steps.cycles {
            self.last = Some(self.cycle);
        }
        work
    }

    /// What it does at the moment.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// The cycle that runs, as far as it is, or the last one.
    #[must_use]
    pub const fn cycle(&self) -> &Cycle {
        &self.cycle
    }

    /// The last cycle that ended.
    #[must_use]
    pub const fn last(&self) -> Option<&Cycle> {
        self.last.as_ref()
    }

    /// What was done in steps since the collector was made.
    #[must_use]
    pub const fn steps(&self) -> &Steps {
        &self.steps
    }

    /// Objects that live now, the dead among them that are not freed yet included, and the bytes of
    /// their words.
    #[must_use]
    pub const fn live(&self) -> (u64, usize) {
        (self.live_objects, self.live_bytes as usize)
    }
}

impl Step {
    /// So much work; no cycle runs any more.
    const fn done(work: u64) -> Self {
        Self { work, done: true }
    }
}

/// What the live objects occupy.
fn held<S: Stepwise, K: Clock>(gc: &Collector<'_, S, K>) -> Amount {
    gc.objects()
        .fold(Amount::default(), |sum, object| sum.plus(gc.held(object)))
}

/// Bytes of a word of an object.
const WORD: u64 = 4;
