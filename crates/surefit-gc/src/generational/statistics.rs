//! What one collection of a generation did, and what all of them did.
#![deny(unsafe_code)]

use crate::generational::count::Count;

/// What a collection looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Young objects, and old ones in which references to young ones were stored.
    Minor,
    /// All objects.
    Full,
}

/// One collection.
///
/// Bytes are those of words. Over Compact-fit, those that live may include stubs and spines after a
/// sweep of the space, so that fewer seem freed and more promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// What it looked at.
    pub extent: Extent,
    /// Young objects at its beginning.
    pub young_objects: u64,
    /// Bytes of these.
    pub young_bytes: usize,
    /// Old objects at its beginning in which references to young ones were stored since the last
    /// collection. A minor collection scans them.
    pub remembered: u64,
    /// Objects that were marked. In a minor collection these were young and are old now: they were
    /// promoted. A full one marks all that it keeps.
    pub marked: u64,
    /// References that were reported, including those of roots.
    pub edges: u64,
    /// Objects that were scanned. One that did not fit on the mark stack may be scanned twice.
    pub scanned_objects: u64,
    /// Words of these.
    pub scanned_words: u64,
    /// Passes over the mark bits: for remembered objects, and for those that did not fit on the
    /// stack.
    pub passes: u64,
    /// The maximum number of entries of the mark stack in use.
    pub deepest: usize,
    /// Whether dead objects were freed one by one, not by a sweep of the space.
    pub one_by_one: bool,
    /// Words of bits that were read to free.
    pub bit_words: u64,
    /// Headers that a sweep of the space read.
    pub visited: u64,
    /// Objects that were freed.
    pub freed_objects: u64,
    /// Bytes of these.
    pub freed_bytes: u64,
    /// Objects that lived at its end.
    pub live_objects: u64,
    /// Bytes of these.
    pub live_bytes: usize,
    /// Ticks from the beginning to the end of marking; this includes weak references.
    pub mark_ticks: u64,
    /// Ticks of the rest.
    pub sweep_ticks: u64,
}

impl Round {
    /// One that begins, with so many young objects and bytes of these.
    pub(super) const fn new(extent: Extent, young_objects: u64, young_bytes: usize) -> Self {
        Self {
            extent,
            young_objects,
            young_bytes,
            remembered: 0,
            marked: 0,
            edges: 0,
            scanned_objects: 0,
            scanned_words: 0,
            passes: 0,
            deepest: 0,
            one_by_one: false,
            bit_words: 0,
            visited: 0,
            freed_objects: 0,
            freed_bytes: 0,
            live_objects: 0,
            live_bytes: 0,
            mark_ticks: 0,
            sweep_ticks: 0,
        }
    }

    /// One that has ended: what lived before it and after.
    pub(super) const fn ended(&mut self, before: Count, after: Count) {
        self.freed_objects = before.objects - after.objects;
        self.freed_bytes = before.bytes.saturating_sub(after.bytes);
        (self.live_objects, self.live_bytes) = (after.objects, after.bytes as usize);
    }

    /// Its work in units: a reference that was reported, an object that was scanned, a word of it,
    /// a word of bits that was read to free, and an object that was freed by itself or a header
    /// that was read. What a [`Nursery`](crate::Nursery) does to empty itself is none of it: its
    /// [`Promotions`](crate::Promotions) count that.
    #[must_use]
    pub const fn work(&self) -> u64 {
        let marking = self.edges + self.scanned_objects + self.scanned_words;
        let freeing = match self.one_by_one {
            true => self.freed_objects,
            false => self.visited,
        };
        marking + self.bit_words + freeing
    }

    /// Bytes of the young objects that became old, if this was a minor collection; a full one does
    /// not tell them from others: 0.
    #[must_use]
    pub const fn promoted_bytes(&self) -> u64 {
        match self.extent {
            Extent::Minor => (self.young_bytes as u64).saturating_sub(self.freed_bytes),
            Extent::Full => 0,
        }
    }
}

/// What all collections of one extent did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// Collections.
    pub rounds: u64,
    /// Young objects at their beginnings.
    pub young_objects: u64,
    /// Bytes of these.
    pub young_bytes: u64,
    /// Old objects that were remembered at their beginnings.
    pub remembered: u64,
    /// Objects that were marked; by minor collections: promoted.
    pub marked: u64,
    /// Bytes of promoted objects; of full collections 0.
    pub promoted_bytes: u64,
    /// References that were reported.
    pub edges: u64,
    /// Objects that were scanned.
    pub scanned_objects: u64,
    /// Words of these.
    pub scanned_words: u64,
    /// Objects that were freed.
    pub freed_objects: u64,
    /// Bytes of these.
    pub freed_bytes: u64,
    /// Collections that freed one by one.
    pub one_by_one: u64,
    /// The sum of their work.
    pub work: u64,
    /// The most work of one of them.
    pub largest_work: u64,
}

impl Rounds {
    fn add(&mut self, round: &Round) {
        self.rounds += 1;
        self.young_objects += round.young_objects;
        self.young_bytes += round.young_bytes as u64;
        self.remembered += round.remembered;
        self.marked += round.marked;
        self.promoted_bytes += round.promoted_bytes();
        self.edges += round.edges;
        self.scanned_objects += round.scanned_objects;
        self.scanned_words += round.scanned_words;
        self.freed_objects += round.freed_objects;
        self.freed_bytes += round.freed_bytes;
        self.one_by_one += u64::from(round.one_by_one);
        self.work += round.work();
        self.largest_work = self.largest_work.max(round.work());
    }
}

/// What a collector with two generations did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Generations {
    /// Minor collections. What survived them: `marked` of `young_objects`, `promoted_bytes` of
    /// `young_bytes`.
    pub minor: Rounds,
    /// Full collections.
    pub full: Rounds,
    /// Minor collections that a full one had to follow for the same request.
    pub insufficient: u64,
}

impl Generations {
    /// Adds a collection.
    pub(super) fn add(&mut self, round: &Round) {
        match round.extent {
            Extent::Minor => self.minor.add(round),
            Extent::Full => self.full.add(round),
        }
    }
}
