//! A collector with two generations, for which nothing moves: the marks of the last collection
//! stay.
//!
//! ```text
//! white   young       allocated since the last collection
//! black   old         kept by a collection
//! grey    remembered  old, and a reference to a young object was stored in it since, or the client
//!                     says that one is kept beside the heap
//!
//! store(o, i, v):    write; if o is old and v is not: o becomes grey
//! remember(o):       if o is old: o becomes grey
//! minor collection:  roots: report(object) for each; drain
//!                    for every grey object, from the lowest: make it black; scan it; drain
//!                    weak references are cleared; free what is white
//! full collection:   all white; then as a minor one
//! report, drain:     as for a `Collector`: what is marked already is not scanned again
//! free what is white:
//!                    fewer dead than kept: word by word of the bits, one object after another
//!                    else the sweep of the space
//! alloc(n):   ask for what is free as it is; else the last resorts (`last_resorts`), with a minor
//!             collection, unless a full one is due, and then a full one among them
//! a full one is due:
//!                    nothing is old or nothing is young;
//!                    or fewer bytes were allocated since the last collection than half of those that
//!                       were young at the first request without room after the last full one;
//!                    or the old bytes are more than twice those that the last full one left
//! ```
//! Most objects die young. A minor collection looks at the young ones, and at those old ones that
//! were written, instead of at all that live. It keeps every old object, dead or not; a full
//! collection frees these.
//!
//! An object that a collection keeps is old at once, so after a collection no object is young, and
//! no object has to be remembered. The remembered set is the grey bits of the
//! [`Marks`](crate::Marks): it needs no memory of its own, and cannot overflow. While marking, a
//! grey object is one that did not fit on the stack; the same pass finds both.
//!
//! A minor collection while nothing is old frees all that is dead: for the rule below it is a full
//! one.
//!
//! The rule when a full collection is due needs no knowledge of the space: as old objects pile up,
//! less is free after a minor collection, and the program allocates less until the next one. The
//! last condition is for heaps that grow.
//!
//! The collector does not know which words are references. [`Generational::store`] asks the type
//! of the value, [`Word`](crate::Word).
//! [`Generational::store_data`] and [`Generational::store_bytes`]
//! remember nothing: they are for words that hold no references. Whoever writes references with
//! them may lose a young object that it still uses. This is no worse than a reference that was not
//! reported: every access, store of a reference and report is compared with the live bits, so the
//! lost object is told with a panic, or its number is that of a later object. For references that a
//! client keeps beside the heap, it calls [`Generational::remember`].
//!
//! # Weak references
//! [`Client::weak`] is called by every collection. In a minor one, old objects that are dead count
//! as living.
//!
//! # Invariants
//! - G2, G3: those of the [`Collector`](crate::Collector).
//! - Y1: Only live objects are marked.
//! - Y2: An old object that is not remembered refers to no young object, as far as its references
//!   were written by `store`, or `remember` was called for them. `check`
//!   cannot ask the client for references; the tests verify it.
//! - Y3: Remembered objects are counted, and none has a number below `lowest`.
//! - Y4: Live and young objects are counted.
//!
//! A client that unwinds ends the collection; nothing is freed, and all objects are young. Y2 holds
//! then.
//!
//! # Bounds
//! Work is counted in units, by [`Round::work`]: a reported reference, an object that is scanned
//! and a word of it, a word of bits, a freed object or a header that the sweep reads. A minor
//! collection scans the remembered and the promoted objects alone; those that do not fit on the
//! mark stack, perhaps again. It reads the bits once to free, and from the lowest grey object on
//! once per pass; there is one pass if the stack is deep enough. It reads the words of no dead
//! object, and of no old one that is not remembered. It frees at most as many objects one by one as
//! it keeps.
//!
//! A store of a reference costs the look at one bit more; if the object is old, at two more. The
//! bytes of live objects are counted in words when objects are born and freed one by one, otherwise
//! as the space counts them.
//!
//! # Departures
//! Blackburn and McKinley keep marks in headers and log changed objects in a buffer. Demers and
//! others find changed objects by the page protection of the machine. Both collectors age nothing,
//! as here.
//!
//! # Drawbacks
//! - A remembered object is scanned whole, however long it is.
//! - An old object that is dead keeps young ones to which it refers, until a full collection
//!   (*nepotism*).
//! - One collection makes an object old. What was born just before it is kept until a full one.
//! - A full collection stops the program as long as one of a [`Collector`](crate::Collector).
//!
//! # Source
//! Demers, Weiser, Hayes, Boehm, Bobrow, Shenker, Combining generational and conservative garbage
//! collection: framework and implementations (1990): sticky mark bits. Blackburn and McKinley,
//! Immix: a mark-region garbage collector with space efficiency, fast collection, and mutator
//! performance (2008).

mod access;
mod alloc;
mod barrier;
mod check;
mod count;
#[cfg(test)]
mod flips;
mod marking;
mod statistics;
mod sweeping;

use core::ops::Deref;

use crate::client::Client;
use crate::collector::Collector;
use crate::object::Object;
use crate::statistics::{Clock, NoClock};
use crate::stepwise::OneByOne;
use count::Count;

pub use statistics::{Extent, Generations, Round, Rounds};

/// A mark-sweep collector over the space `S` with two generations.
///
/// # Examples
/// The client is that of the example of [`Client`].
/// ```
/// # use core::mem::MaybeUninit;
/// # use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
/// # use surefit_gc::{Client, Collector, Edges, FreeList, Generational, Object, Scanned, Settings, Space};
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
/// let mut gc = Generational::over(Collector::<Lists>::new(region, Settings::default())?);
/// for _ in 0..1000 {
///     let pair = gc.alloc(&mut pairs, 8)?;
///     gc.store(pair, 0, pairs.stack.pop());
///     pairs.stack.push(pair);
/// }
/// gc.collect(&mut pairs);
/// for _ in 0..100_000 {
///     let garbage = gc.alloc(&mut pairs, 8)?;
///     gc.store(garbage, 0, pairs.stack.first().copied());
/// }
/// let generations = gc.generations();
/// assert!(generations.minor.rounds > 20 && generations.full.rounds == 1);
/// // The thousand pairs that live were not looked at again.
/// assert!(generations.minor.scanned_objects < 100);
/// # Ok::<(), surefit_core::Refused>(())
/// ```
#[derive(Debug)]
pub struct Generational<'m, S, K = NoClock> {
    gc: Collector<'m, S, K>,
    live: Count,
    /// What was allocated since the last collection.
    young: Count,
    /// Old objects that are grey.
    remembered: u64,
    /// No remembered object has a lower number.
    lowest: Option<Object>,
    /// Old bytes after the last collection that freed all that was dead.
    left_by_full: u64,
    /// Bytes that were young at the first request without room after it.
    room: Option<u64>,
    last: Option<Round>,
    generations: Generations,
}

/// The collector inside, to read objects, and for its space and totals. Ask this collector, not the
/// one inside, for `contains`, `check` and `last`: the one inside knows nothing of generations.
impl<'m, S, K> Deref for Generational<'m, S, K> {
    type Target = Collector<'m, S, K>;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.gc
    }
}

impl<'m, S: OneByOne, K: Clock> Generational<'m, S, K> {
    /// Makes a collector into one with two generations. Its objects stay; all are young. O(bits and
    /// objects).
    #[must_use]
    pub fn over(mut collector: Collector<'m, S, K>) -> Self {
        collector.marks.clear();
        let mut live = Count::default();
        for object in collector.objects() {
            live.add(u64::from(collector.words(object)) * WORD);
        }
        Self {
            gc: collector,
            live,
            young: live,
            remembered: 0,
            lowest: None,
            left_by_full: 0,
            room: None,
            last: None,
            generations: Generations::default(),
        }
    }

    /// Frees every young object to which no chain of references leads from the client's roots or
    /// from an old object. What is left is old.
    pub fn collect_young(&mut self, client: &mut impl Client<S>) -> Round {
        self.run(client, Extent::Minor)
    }

    /// Frees every object that the client's roots do not lead to. What is left is old.
    pub fn collect(&mut self, client: &mut impl Client<S>) -> Round {
        self.run(client, Extent::Full)
    }

    fn run(&mut self, client: &mut impl Client<S>, extent: Extent) -> Round {
        let began = self.gc.clock.now();
        let before = self.live;
        let frees_all = extent == Extent::Full || before.objects == self.young.objects;
        let mut round = Round::new(extent, self.young.objects, self.young.bytes as usize);
        let swept_from = self.mark(client, &mut round);
        self.sweep(&mut round);
        self.young = Count::default();
        if frees_all {
            (self.left_by_full, self.room) = (self.live.bytes, None);
        }
        round.ended(before, self.live);
        let ended = self.gc.clock.now();
        // The clock is the caller's; it may return anything.
        round.mark_ticks = swept_from.saturating_sub(began);
        round.sweep_ticks = ended.saturating_sub(swept_from);
        self.count(&round);
        round
    }

    fn count(&mut self, round: &Round) {
        self.generations.add(round);
        self.last = Some(*round);
        let totals = &mut self.gc.totals;
        totals.collections += 1;
        totals.marked += round.marked;
        totals.edges += round.edges;
        totals.rescans += round.passes;
        totals.freed_objects += round.freed_objects;
        totals.visited += round.visited;
        totals.mark_ticks = totals.mark_ticks.saturating_add(round.mark_ticks);
        totals.sweep_ticks = totals.sweep_ticks.saturating_add(round.sweep_ticks);
    }

    /// The last collection.
    #[must_use]
    pub const fn last(&self) -> Option<&Round> {
        self.last.as_ref()
    }

    /// What minor and full collections did since the collector was made.
    #[must_use]
    pub const fn generations(&self) -> &Generations {
        &self.generations
    }

    /// Objects that live, dead ones among them that are not freed yet, and the bytes of their
    /// words. Over Compact-fit the bytes may include those of stubs and spines.
    #[must_use]
    pub const fn live(&self) -> (u64, usize) {
        (self.live.objects, self.live.bytes as usize)
    }

    /// Those of them that were allocated since the last collection, and their bytes.
    #[must_use]
    pub const fn young(&self) -> (u64, usize) {
        (self.young.objects, self.young.bytes as usize)
    }
}

/// Bytes of a word of an object.
const WORD: u64 = 4;
