//! The collector: allocation that collects, access to live objects, and one collection from the
//! roots to the sweep.
//!
//! ```text
//! alloc(n):   ask for what is free as it is; else the last resorts (`last_resorts`), with one
//!             collection among them
//! collect:    mark from the roots; weak references are cleared; sweep
//! ```
//! Each number has a *live bit*, which says whether an object with that number lives: `alloc` sets
//! one, a collection clears those of dead objects. The collector compares every access, and every
//! reference that a client reports, with the live bits: a reference that names no live object is
//! detected; it panics instead of being followed. So nothing that a client does is unsafe.
//!
//! # Invariants
//! - G1: between collections no object is grey, and no number is marked that the space does not use
//!   yet: a collection does not clear those bits.
//! - G2: an object of the space has a live bit, and each live bit has an object.
//! - G3: there are live bits and mark bits for all numbers of the space plus one.
//!
//! # Bounds
//! `alloc` costs what the space's allocation costs, one bit, and the clearing of the object. It
//! collects at most once per request. `collect`: marking is linear in what the roots reach; the
//! sweep costs what the space's sweep costs; the bits of all numbers in use are written twice.
//!
//! # Departures
//! The thesis keeps mark bits in the headers of objects; here headers have no bit to spare. The
//! thesis trusts the references of its interpreter; here they are compared with the live bits.
//!
//! # Source
//! The thesis on free-list organisation: collect when a request cannot be served, and merge only
//! after that.

use core::ptr::NonNull;

use surefit_core::{Corruption, Refused, Usage};

use crate::bits::Bits;
use crate::client::{Client, Living};
use crate::last_resorts::{LastResorts, after_all, ask_or_merge};
use crate::mark::mark;
use crate::marks::Marks;
use crate::object::Object;
use crate::schedule::Amount;
use crate::space::{Place, Space};
use crate::statistics::{Cause, Clock, Collection, NoClock, Totals};
use crate::stepwise::Stepwise;
use crate::word::Word;
use crate::word::sealed::Words;

/// A mark-sweep collector over the space `S`. See [`Client`] for an example.
///
/// Objects keep their numbers. Dropping the collector forgets all objects.
#[derive(Debug)]
pub struct Collector<'m, S, K = NoClock> {
    pub(crate) space: S,
    pub(crate) live: Bits<'m>,
    pub(crate) marks: Marks<'m>,
    pub(crate) stack: &'m mut [u64],
    /// Bytes of the tables, including what is lost to alignment in front of them.
    table_bytes: usize,
    pub(crate) clock: K,
    pub(crate) totals: Totals,
    last: Option<Collection>,
}

impl<'m, S: Space> Collector<'m, S> {
    /// A collector over an empty space. Half of the words of `bits` are live bits, half are mark
    /// bits; the words of `stack` are the mark stack.
    ///
    /// # Panics
    /// If the space is not empty; if the live bits, or the mark bits, are not more than the places
    /// of the space; if there is no word for the stack.
    #[must_use]
    pub fn over(space: S, bits: &'m mut [u64], stack: &'m mut [u64]) -> Self {
        let table_bytes = size_of_val(bits) + size_of_val(stack);
        let (live, marks) = bits.split_at_mut(bits.len() / 2);
        let marks = &mut marks[..live.len()];
        let (mut live, mut marks) = (Bits::over(live), Marks::over(marks));
        assert!(live.count() > space.places() as usize, "too few bits");
        assert!(!stack.is_empty(), "a mark stack has at least one entry");
        assert!(space.objects().next().is_none(), "the space is not empty");
        live.clear();
        marks.clear();
        Self {
            space,
            live,
            marks,
            stack,
            table_bytes,
            clock: NoClock,
            totals: Totals::default(),
            last: None,
        }
    }

    /// The same collector, whose tables took `bytes` bytes of a region, alignment included.
    pub(crate) const fn with_table_bytes(mut self, bytes: usize) -> Self {
        self.table_bytes = bytes;
        self
    }

    /// The same collector, with a clock.
    #[must_use]
    pub fn with_clock<K: Clock>(self, clock: K) -> Collector<'m, S, K> {
        Collector {
            space: self.space,
            live: self.live,
            marks: self.marks,
            stack: self.stack,
            table_bytes: self.table_bytes,
            clock,
            totals: self.totals,
            last: self.last,
        }
    }
}

impl<S: Space, K: Clock> Collector<'_, S, K> {
    /// Allocates an object of at least `bytes` bytes, all zero. Collects if there is no room for
    /// it.
    ///
    /// The new object is not a root: the next `alloc` may free it, unless the client reports it by
    /// then.
    ///
    /// # Errors
    /// What the space says if it has no room even after a collection; [`Refused::TooLarge`],
    /// without a collection, if no collection can help.
    #[inline]
    pub fn alloc(&mut self, client: &mut impl Client<S>, bytes: usize) -> Result<Object, Refused> {
        match self.alloc_as_is(bytes) {
            Ok(object) => Ok(object),
            Err(refused) => after_all(self, client, bytes, refused),
        }
    }

    /// As [`Collector::alloc`], but never collects: for callers that decide themselves when to
    /// collect.
    ///
    /// # Errors
    /// What the space says.
    #[inline]
    pub fn alloc_as_is(&mut self, bytes: usize) -> Result<Object, Refused> {
        let object = self.space.allocate(bytes)?;
        self.live.set(object.number());
        self.totals.allocations += 1;
        self.totals.requested_bytes += bytes as u64;
        Ok(object)
    }

    /// Frees every object that the client's roots do not lead to.
    pub fn collect(&mut self, client: &mut impl Client<S>) -> Collection {
        self.collect_for(client, Cause::Asked)
    }

    fn collect_for(&mut self, client: &mut impl Client<S>, cause: Cause) -> Collection {
        let began = self.clock.now();
        let marked = mark(&self.live, &mut self.marks, self.stack, &self.space, client);
        client.weak(&Living::new(&self.marks));
        let swept_from = self.clock.now();
        let unused = self.space.unused();
        // SAFETY: S1: access to objects, and what clients report, is compared with the live bits,
        // which are those of the marks from here on. S2: marking reached live objects alone, since
        // it compared them, and left none of them grey.
        let swept = unsafe { self.space.sweep(&self.marks) };
        self.live.copy_from(self.marks.bits(), unused);
        let ended = self.clock.now();
        debug_assert_eq!(swept.live_objects, marked.objects, "I1");
        let collection = Collection {
            cause,
            edges: marked.edges,
            rescans: marked.rescans,
            deepest: marked.deepest,
            swept,
            mark_ticks: swept_from.saturating_sub(began),
            sweep_ticks: ended.saturating_sub(swept_from),
        };
        self.totals.add(&collection);
        self.last = Some(collection);
        collection
    }

    /// Whether a reference names a live object: it was allocated, and no collection freed it.
    #[inline]
    #[must_use]
    pub fn contains(&self, object: Object) -> bool {
        self.live.get(object.number())
    }

    /// How many words an object has: at least as many as were requested.
    ///
    /// # Panics
    /// If the reference names no live object.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn words(&self, object: Object) -> u32 {
        self.place(object).words()
    }

    /// What a live object takes, as the space counts it.
    #[inline]
    pub(crate) fn held(&self, object: Object) -> Amount
    where
        S: Stepwise,
    {
        let words = self.words(object);
        // SAFETY: S1: `words` looked whether the object lives (G2), and says how many it has.
        unsafe { self.space.held(object, words) }
    }

    /// Reads a word of an object.
    ///
    /// # Panics
    /// If the reference names no live object, or the object has no such word.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn load(&self, object: Object, word: u32) -> u32 {
        let word = self.word(object, word);
        // SAFETY: a word of a live object: aligned, initialised, its own (I2).
        unsafe { word.read() }
    }

    /// Reads a word of an object as a reference; `None` for 0.
    ///
    /// # Panics
    /// As [`Collector::load`].
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn reference(&self, object: Object, word: u32) -> Option<Object> {
        Object::of(self.load(object, word))
    }

    /// Reads a value of the language, from `word` on.
    ///
    /// # Panics
    /// As [`Collector::load`].
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn load_as<W: Word>(&self, object: Object, word: u32) -> W {
        W::from_bits(W::Bits::read(word, |word| self.load(object, word)))
    }

    /// Writes a reference, `Some(object)` or `None`, or another value of the language, from `word`
    /// on.
    ///
    /// # Panics
    /// As [`Collector::load`]; and if the value refers to no live object. Then nothing is written.
    #[inline(always)]
    #[track_caller]
    pub fn store<W: Word>(&mut self, object: Object, word: u32, value: W) {
        if let Some(to) = value.reference() {
            assert!(
                self.contains(to),
                "{to:?} was stored, but is no live object"
            );
        }
        self.write(object, word, value);
    }

    /// As [`Collector::store`], whatever the value refers to.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn write<W: Word>(&mut self, object: Object, word: u32, value: W) {
        let bits = value.to_bits();
        bits.write(word, |word, bits| self.store_data(object, word, bits));
    }

    /// Writes a word that never holds a reference.
    ///
    /// # Panics
    /// As [`Collector::load`].
    #[inline(always)]
    #[track_caller]
    pub fn store_data(&mut self, object: Object, word: u32, value: u32) {
        let word = self.word(object, word);
        // SAFETY: a word of a live object: aligned, its own, and the space is exclusively borrowed
        // (I2).
        unsafe { word.write(value) }
    }

    #[inline]
    #[track_caller]
    pub(crate) fn place(&self, object: Object) -> Place {
        assert!(self.contains(object), "{object:?} is no live object");
        // SAFETY: S1 was compared (G2).
        unsafe { self.space.place(object) }
    }

    #[inline(always)]
    #[track_caller]
    pub(crate) fn word(&self, object: Object, word: u32) -> NonNull<u32> {
        let place = self.place(object);
        let words = place.words();
        assert!(
            word < words,
            "word {word} of an object that has {words} words"
        );
        // SAFETY: S1: `place` returned it just now; S2 was compared.
        unsafe { place.word(&self.space, object, word) }
    }

    /// All live objects in ascending order: those that the last collection kept, and those
    /// allocated since.
    pub fn objects(&self) -> impl Iterator<Item = Object> {
        self.space.objects()
    }

    /// The space.
    #[must_use]
    pub const fn space(&self) -> &S {
        &self.space
    }

    /// What was done since the collector was made.
    #[must_use]
    pub const fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The last collection.
    #[must_use]
    pub const fn last(&self) -> Option<&Collection> {
        self.last.as_ref()
    }

    /// Where every byte is: the parts of the space; the bits and the mark stack count as
    /// administrative. O(classes) over Compact-fit, linear in the chunks over free lists.
    #[must_use]
    pub fn usage(&self) -> Usage {
        let mut usage = self.space.usage();
        usage.administrative_bytes += self.table_bytes;
        usage
    }

    /// Verifies G1 to G3 and the invariants of the space.
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self) -> Result<(), Corruption> {
        self.check_marks()?;
        self.space.check()
    }
}

impl<S: Space, K: Clock> LastResorts<S> for Collector<'_, S, K> {
    fn ask(&mut self, bytes: usize) -> Result<Object, Refused> {
        self.alloc_as_is(bytes)
    }

    fn collect_and_ask(
        &mut self,
        client: &mut impl Client<S>,
        bytes: usize,
    ) -> Result<Object, Refused> {
        self.collect_for(client, Cause::Request(bytes));
        ask_or_merge(self, bytes)
    }

    fn space_mut(&mut self) -> &mut S {
        &mut self.space
    }

    fn totals_mut(&mut self) -> &mut Totals {
        &mut self.totals
    }
}
