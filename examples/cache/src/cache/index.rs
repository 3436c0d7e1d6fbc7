//! The index: linear hashing, so that it grows and shrinks by one bucket at a time.
//!
//! A bucket is a name: the first record of a chain. 1024 buckets are one object of the store, so
//! the index lies in the same heap as what it indexes, and shrinks when records go.
//!
//! ```text
//! buckets     0 … n−1; a record is in bucket h mod 2^k if that is below n, else h mod 2^(k−1),
//!             where 2^k is the power of two from n on
//! grow        a record too many: bucket n takes over its part of bucket n − 2^(k−1)
//! shrink      a quarter of the buckets too many: the last bucket goes back to where it came from
//! ```
//! Every insertion splits at most one bucket, every removal merges at most two: no command waits
//! for the whole index.
//!
//! # Source
//! Litwin: "Linear Hashing: A New Tool for File and Table Addressing" (1980).

use super::records::{Link, Records};
use super::renamed::Renamed;
use crate::store::{Name, Store};

/// The buckets of one object of the store.
const SEGMENT: usize = 1024;

/// How a record is found.
#[derive(Debug)]
pub(super) struct Index<N> {
    segments: Vec<N>,
    buckets: usize,
    /// The records in all buckets.
    pub(super) records: usize,
}

/// A record in its chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<N> {
    pub(super) name: N,
    /// The record before it in the chain, or none.
    before: N,
    bucket: usize,
}

impl<N: Name> Index<N> {
    /// An index without buckets: they come with the first record.
    pub(super) const fn new() -> Self {
        Self {
            segments: Vec::new(),
            buckets: 0,
            records: 0,
        }
    }

    pub(super) const fn buckets(&self) -> usize {
        self.buckets
    }

    /// The bytes of the index in the store.
    pub(super) fn bytes(&self) -> usize {
        self.segments.len() * SEGMENT * N::BYTES
    }

    /// Finds a key.
    pub(super) fn find<S: Store<Name = N>>(
        &self,
        records: &Records<S>,
        hash: u32,
        key: &[u8],
    ) -> Option<Found<N>> {
        if self.buckets == 0 {
            return None;
        }
        let bucket = self.bucket_of(hash);
        let (mut before, mut name) = (N::NIL, self.first(records, bucket));
        while name != N::NIL {
            let shape = records.shape(name);
            if shape.key.len() == key.len() && records.key(name, &shape) == key {
                return Some(Found {
                    name,
                    before,
                    bucket,
                });
            }
            (before, name) = (name, records.link(name, Link::Next));
        }
        None
    }

    /// Adds a record that is in no bucket; `false` if the store has no room for the first buckets.
    pub(super) fn insert<S: Store<Name = N>>(
        &mut self,
        records: &mut Records<S>,
        hash: u32,
        name: N,
        rehash: impl Fn(&[u8]) -> u32,
    ) -> bool {
        if self.buckets == 0 && !self.add_segment(records) {
            return false;
        }
        self.push(records, self.bucket_of(hash), name);
        self.records += 1;
        if self.records > self.buckets {
            self.grow(records, rehash);
        }
        true
    }

    /// Takes a record out of its bucket.
    pub(super) fn remove<S: Store<Name = N>>(&mut self, records: &mut Records<S>, found: Found<N>) {
        let next = records.link(found.name, Link::Next);
        if found.before == N::NIL {
            self.set_first(records, found.bucket, next);
        } else {
            records.set_link(found.before, Link::Next, next);
        }
        self.records -= 1;
        for _ in 0..2 {
            if self.buckets > SEGMENT && self.records * 4 < self.buckets * 3 {
                self.shrink(records);
            }
        }
    }

    /// Every record of a bucket, with the record before it.
    pub(super) fn chain<S: Store<Name = N>>(&self, records: &Records<S>, bucket: usize) -> Vec<N> {
        let mut names = Vec::new();
        let mut name = self.first(records, bucket);
        while name != N::NIL {
            names.push(name);
            name = records.link(name, Link::Next);
        }
        names
    }

    /// The objects of the store that hold the buckets, with their lengths.
    pub(super) fn objects(&self) -> Vec<(N, usize)> {
        let object = |&segment: &N| (segment, SEGMENT * N::BYTES);
        self.segments.iter().map(object).collect()
    }

    /// Replaces every name by another one of the same object.
    pub(super) fn rename<S: Store<Name = N>>(
        &mut self,
        records: &mut Records<S>,
        renamed: &Renamed<N>,
    ) {
        for segment in &mut self.segments {
            *segment = renamed.get(*segment);
        }
        for bucket in 0..self.buckets {
            let first = self.first(records, bucket);
            self.set_first(records, bucket, renamed.get(first));
        }
    }

    fn bucket_of(&self, hash: u32) -> usize {
        let mask = self.buckets.next_power_of_two() - 1;
        let bucket = hash as usize & mask;
        if bucket < self.buckets {
            bucket
        } else {
            hash as usize & (mask >> 1)
        }
    }

    /// The bucket that `bucket`, which is not the first, was split from.
    const fn origin(bucket: usize) -> usize {
        bucket - (1 << bucket.ilog2())
    }

    fn push<S: Store<Name = N>>(&self, records: &mut Records<S>, bucket: usize, name: N) {
        let first = self.first(records, bucket);
        records.set_link(name, Link::Next, first);
        self.set_first(records, bucket, name);
    }

    // ---- growing and shrinking -----------------------------------------------------------------

    /// Splits one bucket. Without room for it, chains get longer.
    fn grow<S: Store<Name = N>>(
        &mut self,
        records: &mut Records<S>,
        rehash: impl Fn(&[u8]) -> u32,
    ) {
        let bucket = self.buckets;
        if bucket == self.segments.len() * SEGMENT && !self.add_segment(records) {
            return;
        }
        self.buckets = bucket + 1;
        let from = Self::origin(bucket);
        let mut name = self.first(records, from);
        self.set_first(records, from, N::NIL);
        while name != N::NIL {
            let next = records.link(name, Link::Next);
            let shape = records.shape(name);
            let hash = rehash(records.key(name, &shape));
            self.push(records, self.bucket_of(hash), name);
            name = next;
        }
    }

    /// Merges the last bucket into the one that it was split from.
    fn shrink<S: Store<Name = N>>(&mut self, records: &mut Records<S>) {
        let bucket = self.buckets - 1;
        let origin = Self::origin(bucket);
        let mut name = self.first(records, bucket);
        self.set_first(records, bucket, N::NIL); // it is empty when it comes back
        self.buckets = bucket;
        while name != N::NIL {
            let next = records.link(name, Link::Next);
            self.push(records, origin, name);
            name = next;
        }
        if bucket == (self.segments.len() - 1) * SEGMENT {
            let segment = self.segments.pop().expect("a segment for every bucket");
            // SAFETY: `add_segment` made it with this length, and no bucket is in it any more.
            unsafe { records.store.free(segment, SEGMENT * N::BYTES) };
        }
    }

    /// Adds 1024 empty buckets; the first time, all of them are in use at once.
    fn add_segment<S: Store<Name = N>>(&mut self, records: &mut Records<S>) -> bool {
        let Some(segment) = records.store.allocate(SEGMENT * N::BYTES) else {
            return false;
        };
        let mut empty = [0; 8];
        N::NIL.save(&mut empty);
        let empty = empty[..N::BYTES].repeat(SEGMENT);
        // SAFETY: it was just allocated with this length.
        unsafe { records.store.write(segment, empty.len(), 0, &empty) };
        self.segments.push(segment);
        self.buckets = self.buckets.max(SEGMENT);
        true
    }

    // ---- buckets -------------------------------------------------------------------------------

    fn first<S: Store<Name = N>>(&self, records: &Records<S>, bucket: usize) -> N {
        let segment = self.segments[bucket / SEGMENT];
        // SAFETY: `add_segment` made it with this length and wrote it.
        let names = unsafe { records.store.read(segment, SEGMENT * N::BYTES, 0) };
        N::load(&names[bucket % SEGMENT * N::BYTES..])
    }

    fn set_first<S: Store<Name = N>>(&self, records: &mut Records<S>, bucket: usize, name: N) {
        let segment = self.segments[bucket / SEGMENT];
        // SAFETY: as in `first`.
        let names = unsafe { records.store.edit(segment, SEGMENT * N::BYTES, 0) };
        name.save(&mut names[bucket % SEGMENT * N::BYTES..]);
    }
}
