//! `HashMap`: linear hashing, so that it grows and shrinks by one bucket at a time.
//!
//! ```text
//! directory   a vector of n buckets, in pieces if it is long
//! bucket      up to 96 tags (a byte of the hash), and a vector of entries, without order
//! entry       in bucket h mod 2^k if that is below n, else h mod 2^(k−1), where 2^k is the power
//!             of two from n on
//! grow        32 entries a bucket: bucket n takes over its part of bucket n − 2^(k−1)
//! shrink      10 entries a bucket: the last bucket goes back to where it came from
//! ```
//! Both happen in parts of at most 64 entries, one part per insertion or removal. While the last
//! bucket is open, its entries may also be among the first `mixed` ones of its origin, and look-ups
//! search both.
//!
//! # Invariants
//! - M1 An entry is in the bucket of its hash; if that is the last one, perhaps among the first
//!   `mixed` entries of its origin. (As far as the hasher returns the same for the same key.)
//! - M2 `len` is the sum of the lengths of all buckets.
//! - M3 No user code (hasher, `Lookup`, `Release`, closures) runs while an entry is in no bucket,
//!   except that it has the entry itself.
//! - M4 The tags of a bucket begin at or below the first bit of the hash that need not be the same
//!   for all its entries; of an origin with entries of the last bucket, as if that were not there.
//!
//! # Source
//! Litwin: "Linear Hashing: A New Tool for File and Table Addressing" (1980). Tags: after
//! Kulukundis' "Swiss tables" (2017); that they say where a split puts an entry is ours.
#![deny(unsafe_code)]

use core::fmt;
use core::hash::{BuildHasher, Hasher};

use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::{Checked, Names};
use crate::storage::Vec;

use super::bucket::Bucket;

/// A map in a heap: what `HashMap` of the standard library is to the global allocator.
///
/// It grows and shrinks by one bucket at a time: no insertion or removal moves more than 64
/// entries, and none copies the table. A bucket has 128 bytes beside its entries: a heap with
/// pieces of 64 bytes refuses every entry.
///
/// A key in the heap, as a [`String`](crate::String), is found by what can be compared with it, as
/// a `str`: see [`Lookup`].
///
/// It is an owning name, as [`Vec`] is: dropping it leaks the entries; [`HashMap::free`] frees it.
///
/// # Panics
/// Every method that takes a heap panics if the map has an object of another heap, except
/// [`HashMap::insert`] and [`HashMap::try_clone`], which return
/// [`Refused::ForeignHandle`](surefit_core::Refused::ForeignHandle). With
/// [`Branded`](crate::Branded) names another heap does not compile. If the hasher or the comparison
/// of keys panics, the map is whole and unchanged.
///
/// # Complexity
/// O(1) in the mean for a look-up, an insertion and a removal, if the hasher is good.
///
/// # Examples
/// ```
/// use std::hash::RandomState;
///
/// use surefit_collections::{HashMap, String};
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let mut ages = HashMap::with_hasher(RandomState::new());
/// for (name, age) in [("Ada", 36_u32), ("Alan", 41), ("Grace", 85)] {
///     let name = String::from_text(&heap, name)?;
///     ages.insert(&mut heap, name, age)?;
/// }
/// assert_eq!(ages.get(&heap, "Alan"), Some(&41));
/// assert_eq!(ages.remove(&mut heap, "Ada"), Some(36));
/// assert_eq!(ages.values(&heap).sum::<u32>(), 126);
/// ages.free(&mut heap);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping a map leaks its entries"]
pub struct HashMap<K, V, S, N: Names = Checked> {
    pub(super) directory: Vec<Bucket<K, V, N>, N>,
    pub(super) len: usize,
    /// The first entries of the last bucket's origin among which entries of the last one may be.
    pub(super) mixed: usize,
    pub(super) hasher: S,
}

/// Where an entry is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(super) bucket: usize,
    pub(super) index: usize,
}

/// Makes the bits of a hash depend on all others, for hashers that leave some of them alike.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
const fn mix(hash: u64) -> u64 {
    let product = hash as u128 * 0x9E37_79B9_7F4A_7C15;
    product as u64 ^ (product >> 64) as u64
}

impl<K, V, S, N: Names> HashMap<K, V, S, N> {
    /// A map without entries, and without an object.
    pub const fn with_hasher(hasher: S) -> Self {
        Self {
            directory: Vec::new(),
            len: 0,
            mixed: 0,
            hasher,
        }
    }

    /// The number of entries.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What makes the hashers.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    #[inline]
    pub(super) fn bucket<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
        number: usize,
    ) -> &'a Bucket<K, V, N> {
        let bucket = self.directory.get(heap, number);
        bucket.expect("a number below those of the buckets")
    }

    #[inline]
    pub(super) fn bucket_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        number: usize,
    ) -> &'a mut Bucket<K, V, N> {
        let bucket = self.directory.get_mut(heap, number);
        bucket.expect("a number below those of the buckets")
    }

    /// An entry, mutable.
    #[inline]
    pub(crate) fn entry_at<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        place: Place,
    ) -> &'a mut (K, V) {
        let bucket = self.bucket_mut(heap, place.bucket);
        let entry = bucket.entries_mut().get_mut(heap, place.index);
        entry.expect("the place of an entry")
    }

    /// The bucket of a hash. There is one at least.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the low bits")]
    pub(super) fn home(&self, hash: u64) -> usize {
        let buckets = self.directory.len();
        let mask = buckets.next_power_of_two() - 1;
        let bucket = hash as usize & mask;
        if bucket < buckets {
            bucket
        } else {
            bucket & (mask >> 1)
        }
    }

    /// The bucket from which another one, which is not the first, was split.
    pub(super) const fn origin(bucket: usize) -> usize {
        bucket - (1 << bucket.ilog2())
    }

    /// The number of low bits that all hashes of the last bucket have in common; its origin has
    /// one less while it has entries of both.
    #[expect(clippy::cast_possible_truncation, reason = "at most 64")]
    pub(super) const fn last_level(last: usize) -> u8 {
        last.ilog2() as u8 + 1
    }

    /// The last bucket and its origin, if entries of the last one may be there.
    pub(super) fn open(&self) -> Option<(usize, usize)> {
        let last = self.directory.len().checked_sub(1)?;
        (self.mixed > 0).then(|| (last, Self::origin(last)))
    }

    /// Takes an entry out of its bucket; whether that has more room than it needs then.
    #[inline]
    pub(super) fn take<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        place: Place,
    ) -> ((K, V), bool) {
        let bucket = self.bucket_mut(heap, place.bucket);
        let entry = bucket.take(heap, place.index);
        let (left, is_roomy) = (bucket.len(), bucket.is_roomy(heap));
        self.count_taken(place.bucket, left);
        (entry, is_roomy)
    }

    /// Counts an entry that was taken out of a bucket, and those that are left there.
    #[inline]
    pub(super) fn count_taken(&mut self, bucket: usize, left: usize) {
        self.len -= 1;
        if self.mixed > left && self.open().is_some_and(|(_, origin)| origin == bucket) {
            self.mixed = left;
        }
    }
}

impl<K, V, S: BuildHasher, N: Names> HashMap<K, V, S, N> {
    #[inline]
    pub(super) fn hash<H: ByteHeap<Names = N>, Q: ?Sized>(&self, heap: &H, query: &Q) -> u64
    where
        K: Lookup<H, Q>,
    {
        let mut state = self.hasher.build_hasher();
        K::hash_of(query, heap, &mut state);
        mix(state.finish())
    }

    /// The entry that a query asks for, and where it is.
    #[inline]
    fn seek<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        hash: u64,
        query: &Q,
    ) -> Option<(Place, &'a (K, V))>
    where
        K: Lookup<H, Q>,
    {
        if self.directory.is_empty() {
            return None;
        }
        let bucket = self.home(hash);
        match self.bucket(heap, bucket).find(heap, hash, query) {
            Some((index, entry)) => Some((Place { bucket, index }, entry)),
            None if self.mixed == 0 => None,
            None => self.seek_in_origin(heap, hash, query),
        }
    }

    /// As `seek`, for an entry of the last bucket that may still be in the last one's origin.
    #[inline(never)]
    pub(super) fn seek_in_origin<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        hash: u64,
        query: &Q,
    ) -> Option<(Place, &'a (K, V))>
    where
        K: Lookup<H, Q>,
    {
        let (last, bucket) = self.open()?;
        if self.home(hash) != last {
            return None;
        }
        let (index, entry) = self.bucket(heap, bucket).find(heap, hash, query)?;
        Some((Place { bucket, index }, entry))
    }

    /// Where the entry is that a query asks for.
    #[inline]
    pub(super) fn find<H: ByteHeap<Names = N>, Q: ?Sized>(
        &self,
        heap: &H,
        hash: u64,
        query: &Q,
    ) -> Option<Place>
    where
        K: Lookup<H, Q>,
    {
        self.seek(heap, hash, query).map(|(place, _)| place)
    }

    /// The value of a key.
    #[inline]
    #[must_use]
    pub fn get<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        query: &Q,
    ) -> Option<&'a V>
    where
        K: Lookup<H, Q>,
    {
        self.get_key_value(heap, query).map(|(_, value)| value)
    }

    /// The key that a query asks for, and its value.
    #[inline]
    #[must_use]
    pub fn get_key_value<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        query: &Q,
    ) -> Option<(&'a K, &'a V)>
    where
        K: Lookup<H, Q>,
    {
        let (_, (key, value)) = self.seek(heap, self.hash(heap, query), query)?;
        Some((key, value))
    }

    /// The value of a key, mutable.
    #[inline]
    #[must_use]
    pub fn get_mut<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a mut self,
        heap: &'a H,
        query: &Q,
    ) -> Option<&'a mut V>
    where
        K: Lookup<H, Q>,
    {
        let place = self.find(heap, self.hash(heap, query), query)?;
        Some(&mut self.entry_at(heap, place).1)
    }

    /// Whether there is a key.
    #[inline]
    #[must_use]
    pub fn contains_key<H: ByteHeap<Names = N>, Q: ?Sized>(&self, heap: &H, query: &Q) -> bool
    where
        K: Lookup<H, Q>,
    {
        self.find(heap, self.hash(heap, query), query).is_some()
    }
}

#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
impl<K, V, N: Names> HashMap<K, V, std::hash::RandomState, N> {
    /// A map without entries, with the standard library's hasher.
    pub fn new() -> Self {
        Self::with_hasher(std::hash::RandomState::new())
    }
}

impl<K, V, S: Default, N: Names> Default for HashMap<K, V, S, N> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K, V, S, N: Names> fmt::Debug for HashMap<K, V, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buckets = self.directory.len();
        write!(f, "HashMap({} entries in {buckets} buckets)", self.len)
    }
}
