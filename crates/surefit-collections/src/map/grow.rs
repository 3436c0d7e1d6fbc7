//! How a map grows and shrinks: one bucket at a time, in parts.
#![deny(unsafe_code)]

use core::hash::BuildHasher;

use surefit_compact::Full;
use surefit_core::Refused;

use super::bucket::Bucket;
use super::table::{HashMap, Place};
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::Names;
use crate::release::{Later, Release};

/// Entries a bucket at which the map grows. While it doubles, the buckets that are not split yet
/// have up to twice as many: of 64 in the mean, one in 10,000 has more than there are tags.
pub(super) const MOST: usize = 32;

/// Entries a bucket at which the map shrinks.
const FEWEST: usize = 10;

/// The most entries that one insertion or removal looks at to split or merge buckets.
pub(super) const MOVED_AT_ONCE: usize = 64;

/// Buckets by which the directory may be too long before it is shortened.
const SPARE: usize = 256;

/// A map of fewer buckets is small.
const FEW: usize = 128;

impl<K: Send, V: Send, S: BuildHasher, N: Names> HashMap<K, V, S, N> {
    /// Adds an entry whose key is not there. If the hasher panics, the entry is released.
    pub(super) fn add<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        hash: u64,
        entry: (K, V),
    ) -> Result<Place, Full<(K, V)>>
    where
        K: Lookup<H, K> + Release<H>,
        V: Release<H>,
    {
        let mut value = entry;
        if self.mixed > 0 || self.len >= self.directory.len() * MOST {
            let given = Later::new(value, heap);
            let added = self.add_buckets(given.heap);
            value = given.into_value();
            if let Err(refused) = added {
                return Err(Full { value, refused });
            }
        }
        let number = self.home(hash);
        loop {
            let bucket = self.bucket_mut(heap, number);
            value = match bucket.push(heap, hash, value) {
                Ok(index) => {
                    self.len += 1;
                    let bucket = number;
                    return Ok(Place { bucket, index });
                }
                Err(value) => value,
            };
            if let Err(refused) = self.lengthen(heap, number) {
                return Err(Full { value, refused });
            }
        }
    }

    /// Makes room for one more entry in a bucket.
    #[inline(never)]
    fn lengthen<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        number: usize,
    ) -> Result<(), Refused> {
        let is_small = self.is_small();
        let mut bucket = core::mem::take(self.bucket_mut(heap, number));
        let made = bucket.reserve(heap, 1, is_small);
        *self.bucket_mut(heap, number) = bucket;
        made
    }

    /// Adds a bucket if none is open, and moves entries to it. That may be refused if there is one:
    /// then buckets get longer.
    #[inline(never)]
    fn add_buckets<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused>
    where
        K: Lookup<H, K>,
    {
        if self.directory.is_empty() {
            let first = self.directory.push(heap, Bucket::default());
            return first.map_err(|full| full.refused);
        }
        if self.mixed == 0 {
            self.open_bucket(heap);
        }
        if self.mixed > 0 {
            self.split(heap);
        }
        Ok(())
    }

    /// Adds a bucket, whose entries are still in its origin.
    fn open_bucket<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) {
        let last = self.directory.len();
        let bucket = Bucket::with_shift(Self::last_level(last));
        if self.directory.push(heap, bucket).is_ok() {
            let origin = Self::origin(last);
            self.mixed = self.bucket(heap, origin).len();
        }
    }

    /// Moves entries of the last bucket out of its origin: of the last [`MOVED_AT_ONCE`] of the
    /// mixed ones.
    fn split<H: ByteHeap<Names = N>>(&mut self, heap: &mut H)
    where
        K: Lookup<H, K>,
    {
        let Some((last, origin)) = self.open() else {
            return;
        };
        let low = self.mixed.saturating_sub(MOVED_AT_ONCE);
        let seen = self.mixed - low;
        let bucket = self.bucket(heap, origin);
        let is_all = seen == bucket.len();
        let known = bucket.bits(low, seen, last.ilog2());
        let known = known.filter(|_| !(is_all && bucket.is_worn(last.ilog2())));
        // All hashes first: a hasher that panics changes nothing.
        let mut hashes = [0; MOVED_AT_ONCE];
        let leave = known.unwrap_or_else(|| self.leaving(heap, low, &mut hashes[..seen]));
        let mut target = core::mem::take(self.bucket_mut(heap, last));
        let mut source = core::mem::take(self.bucket_mut(heap, origin));
        let (count, is_small) = (leave.count_ones() as usize, self.is_small());
        if target.reserve(heap, count, is_small).is_ok() {
            if is_all && known.is_none() {
                source.learn(&hashes[..seen], Self::last_level(last));
            }
            target.lower(source.shift(), last);
            // From the end on: what takes the place of an entry that leaves was looked at before.
            source.give(heap, &mut target, low, leave, last);
            if source.is_roomy(heap) || (count > 0 && low == 0) {
                source.shrink(heap, is_small);
            }
            self.mixed = low;
        }
        *self.bucket_mut(heap, last) = target;
        *self.bucket_mut(heap, origin) = source;
    }

    /// The hashes of entries of the last bucket's origin from `first` on, and which of them belong
    /// into the last bucket.
    #[inline(never)]
    fn leaving<H: ByteHeap<Names = N>>(&self, heap: &H, first: usize, hashes: &mut [u64]) -> u64
    where
        K: Lookup<H, K>,
    {
        let Some((last, origin)) = self.open() else {
            return 0;
        };
        let entries = self.bucket(heap, origin).entries().iter(heap).skip(first);
        let mut leave = 0;
        for (number, ((key, _), hash)) in entries.zip(hashes).enumerate() {
            *hash = self.hash(heap, key);
            leave |= u64::from(self.home(*hash) == last) << number;
        }
        leave
    }
}

impl<K, V, S, N: Names> HashMap<K, V, S, N> {
    /// Whether there are few buckets.
    const fn is_small(&self) -> bool {
        self.directory.len() < FEW
    }

    /// Gives back the room that a bucket does not need. Who takes entries out calls it before the
    /// bucket may be one that nothing is taken from.
    pub(super) fn trim<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, number: usize) {
        if self.bucket(heap, number).is_roomy(heap) {
            let is_small = self.is_small();
            let mut bucket = core::mem::take(self.bucket_mut(heap, number));
            bucket.shrink(heap, is_small);
            *self.bucket_mut(heap, number) = bucket;
        }
    }
}

impl<K: Send, V: Send, S, N: Names> HashMap<K, V, S, N> {
    /// Takes an entry out, and shrinks what is too large then.
    pub(super) fn remove_at<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        place: Place,
    ) -> (K, V) {
        let (entry, is_roomy) = self.take(heap, place);
        self.shrink_after(heap, place.bucket, is_roomy);
        entry
    }

    /// Shrinks what is too large when an entry was taken out of a bucket.
    #[inline]
    pub(super) fn shrink_after<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        bucket: usize,
        is_roomy: bool,
    ) {
        if is_roomy {
            self.trim(heap, bucket);
        }
        if self.is_sparse() {
            self.merge(heap);
        }
    }

    /// Whether there are too many buckets.
    #[inline]
    pub(super) const fn is_sparse(&self) -> bool {
        self.directory.len() > 1 && self.len < self.directory.len() * FEWEST
    }

    /// Moves the last entries of the last bucket back to its origin, at most [`MOVED_AT_ONCE`], and
    /// drops the bucket if it has no more; whether it could. There are at least two buckets.
    pub(super) fn merge<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> bool {
        let last = self.directory.len() - 1;
        let origin = Self::origin(last);
        let mut source = core::mem::take(self.bucket_mut(heap, last));
        let mut target = core::mem::take(self.bucket_mut(heap, origin));
        let count = source.len().min(MOVED_AT_ONCE);
        let has_room = target.reserve(heap, count, self.is_small()).is_ok();
        if has_room {
            target.lower(source.shift().min(Self::last_level(last) - 1), origin);
            let all = (0..count).fold(0, |all, bit| all | 1 << bit);
            let first = source.len() - count;
            source.give(heap, &mut target, first, all, last);
            self.mixed = target.len();
        }
        *self.bucket_mut(heap, origin) = target;
        if source.len() > 0 {
            if source.is_roomy(heap) {
                source.shrink(heap, self.is_small());
            }
            *self.bucket_mut(heap, last) = source;
            return has_room;
        }
        // An object without elements is freed, which is not refused.
        let _ = source.entries_mut().shrink_to_fit(heap);
        let taken = self.directory.pop(heap);
        debug_assert!(taken.is_some_and(|bucket| bucket.len() == 0));
        self.mixed = 0;
        self.shorten_directory(heap);
        true
    }

    /// Gives back the end of the directory, unless that is refused.
    pub(super) fn shorten_directory<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) {
        let len = self.directory.len();
        if self.directory.capacity(heap) - len >= SPARE.min(3 * len.max(2)) {
            let _ = self.directory.shrink_to(heap, len + len.min(SPARE / 2));
        }
    }
}
