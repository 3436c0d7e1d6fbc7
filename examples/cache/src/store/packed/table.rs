//! Linear hashing: buckets by their numbers, one more or one less at a time.
//!
//! # Invariants
//! - P4 A record is in the bucket of the hash h in its head: bucket h mod 2^k if that is below the
//!   number n of buckets, else h mod 2^(k-1), where 2^k is the power of two from n on.
//! - P5 `records` and `weight` are the sums over all buckets. There is one bucket at least.
//!
//! # Source
//! Litwin: "Linear Hashing: A New Tool for File and Table Addressing" (1980).

use std::mem;

use surefit_collections::Vec;
use surefit_core::Refused;

use super::bucket::Bucket;
use super::outside::Heap;
use super::waiting::Waiting;

/// The mean weight of buckets above which there is one more.
const HEAVY: usize = 1450;

/// That below which there is one less.
const LIGHT: usize = 1250;

/// Merges after one change, at most.
const MERGES: usize = 4;

/// Buckets by which the vector may be too long.
const SPARE: usize = 128;

pub(super) struct Table {
    buckets: Vec<Bucket>,
    records: usize,
    weight: usize,
}

impl Table {
    /// One bucket without records.
    pub(super) fn new(heap: &mut Heap) -> Result<Self, Refused> {
        let mut buckets = Vec::new();
        let pushed = buckets.push(heap, Bucket::default());
        pushed.map_err(|full| full.refused)?;
        Ok(Self {
            buckets,
            records: 0,
            weight: 0,
        })
    }

    /// The number of records.
    #[inline]
    pub(super) const fn records(&self) -> usize {
        self.records
    }

    /// The number of buckets.
    #[inline]
    pub(super) const fn len(&self) -> usize {
        self.buckets.len()
    }

    #[inline]
    pub(super) fn bucket<'a>(&'a self, heap: &'a Heap, number: usize) -> &'a Bucket {
        self.buckets.get(heap, number).expect("P4: a bucket")
    }

    #[inline]
    pub(super) fn bucket_mut<'a>(&'a mut self, heap: &'a Heap, number: usize) -> &'a mut Bucket {
        self.buckets.get_mut(heap, number).expect("P4: a bucket")
    }

    /// The bucket of a hash.
    #[inline]
    pub(super) fn home(&self, hash: u32) -> usize {
        let mask = self.len().next_power_of_two() - 1;
        let bucket = hash as usize & mask;
        if bucket < self.len() {
            bucket
        } else {
            bucket & (mask >> 1)
        }
    }

    /// Changes a bucket, which is taken out for that time.
    pub(super) fn with<R>(
        &mut self,
        heap: &mut Heap,
        number: usize,
        change: impl FnOnce(&mut Bucket, &mut Heap) -> R,
    ) -> R {
        let mut bucket = mem::take(self.bucket_mut(heap, number));
        self.records -= bucket.len(heap);
        self.weight -= bucket.weight(heap);
        let result = change(&mut bucket, heap);
        self.records += bucket.len(heap);
        self.weight += bucket.weight(heap);
        *self.bucket_mut(heap, number) = bucket;
        result
    }

    /// Splits a bucket or merges some, if the buckets are too heavy or too light in the mean. What
    /// is refused is tried again after the next change.
    #[inline]
    pub(super) fn balance(&mut self, heap: &mut Heap) {
        if self.weight > self.len() * HEAVY {
            let _ = self.split(heap);
            return;
        }
        // More than one, because one that is refused holds up those behind it. Few buckets could be
        // too light, and too heavy after a merge.
        for _ in 0..MERGES {
            let (len, fewer) = (self.len(), self.len() - 1);
            let is_light = len > 1 && self.weight < len * LIGHT && self.weight <= fewer * HEAVY;
            if !is_light || self.merge(heap).is_err() {
                break;
            }
        }
    }

    #[inline(never)]
    fn split(&mut self, heap: &mut Heap) -> Result<(), Refused> {
        let number = self.len();
        let bit = 1 << number.ilog2();
        let pushed = self.buckets.push(heap, Bucket::default());
        pushed.map_err(|full| full.refused)?;
        let mut origin = mem::take(self.bucket_mut(heap, number - bit));
        let split = origin.split(heap, u32::try_from(bit).unwrap_or(0));
        *self.bucket_mut(heap, number - bit) = origin;
        match split {
            Ok(new) => *self.bucket_mut(heap, number) = new,
            Err(refused) => {
                self.buckets.pop(heap);
                return Err(refused);
            }
        }
        Ok(())
    }

    #[inline(never)]
    fn merge(&mut self, heap: &mut Heap) -> Result<(), Refused> {
        let last = self.len() - 1;
        let number = last - (1 << last.ilog2());
        let mut other = mem::take(self.bucket_mut(heap, last));
        let mut origin = mem::take(self.bucket_mut(heap, number));
        // What moves outside weighs less than before, or more.
        let before = origin.weight(heap) + other.weight(heap);
        let merged = origin.merge(heap, &mut other);
        self.weight = self.weight - before + origin.weight(heap) + other.weight(heap);
        *self.bucket_mut(heap, number) = origin;
        if let Err(refused) = merged {
            *self.bucket_mut(heap, last) = other;
            return Err(refused);
        }
        self.buckets.pop(heap);
        let len = self.len();
        if self.buckets.capacity(heap) - len > (len / 8).max(SPARE) {
            let _ = self.buckets.shrink_to(heap, len);
        }
        Ok(())
    }

    /// Lets all records wait to be freed. Frees some before if there is no room for a bucket.
    pub(super) fn clear(&mut self, heap: &mut Heap, waiting: &mut Waiting) {
        waiting.push(mem::take(&mut self.buckets));
        while self.buckets.push(heap, Bucket::default()).is_err() {
            assert!(waiting.free_some(heap, 1) > 0, "there is room for a bucket");
        }
        (self.records, self.weight) = (0, 0);
    }

    /// Where records are next in the order of [`Table::place`], from a place on: a bucket, and the
    /// first place behind it, or `None` at the end.
    pub(super) fn interval(&self, place: u32) -> (usize, Option<u32>) {
        let number = self.home(place.reverse_bits());
        let top = self.len().next_power_of_two();
        // The bits of a hash that choose this bucket.
        let is_split = number + top / 2 < self.len() || number >= top / 2;
        let bits = top.ilog2() - u32::from(!is_split && top > 1);
        let behind = u32::MAX.checked_shr(bits).unwrap_or(0);
        (number, (place | behind).checked_add(1))
    }

    /// A record's place in an order in which every bucket's records are neighbours, however many
    /// buckets there are: the bits of its hash from the lowest to the highest.
    pub(super) const fn place(hash: u32) -> u32 {
        hash.reverse_bits()
    }

    /// Verifies the invariants, but not those of the heap; returns how many records lie where
    /// another hash than the first one of their keys says.
    pub(super) fn assert_sound(&self, heap: &Heap) -> usize {
        let (mut records, mut weight, mut moved) = (0, 0, 0);
        for number in 0..self.len() {
            let bucket = self.bucket(heap, number);
            bucket.assert_sound(heap);
            let mut hashes = bucket.records(heap).map(|at| at.head.hash);
            assert!(hashes.all(|hash| self.home(hash) == number), "P4");
            records += bucket.len(heap);
            weight += bucket.weight(heap);
            let others = bucket.records(heap).filter(|at| at.head.number() > 0);
            moved += others.count();
        }
        assert_eq!((records, weight), (self.records, self.weight), "P5");
        moved
    }
}
