//! A walk through a map that goes on although the map changes between its steps.
//!
//! A place of the walk is a hash, read from its lowest bit on as if that were the highest one. In
//! this order the hashes of a bucket lie side by side, and a split divides them in the middle:
//!
//! ```text
//! one bucket     ├───────────────0───────────────┤
//! two            ├───────0───────┼───────1───────┤
//! three          ├───0───┼───2───┼───────1───────┤
//! four           ├───0───┼───2───┼───1───┼───3───┤
//! ```
//! A step shows the bucket that has the hash of the place, and goes on to the first hash behind
//! that bucket. So everything before a place was shown. This is what `SCAN` of Redis does with
//! tables of powers of two.
#![deny(unsafe_code)]

use super::table::HashMap;
use crate::heap::ByteHeap;
use crate::names::Names;

impl<K, V, S, N: Names> HashMap<K, V, S, N> {
    /// Passes the entries of one bucket to a function, and returns the place from which the next
    /// call goes on: `None` if this was the last one. The first call is from 0.
    ///
    /// The map may change between the calls. Every entry that is there from the first call to the
    /// last one is passed, some more than once; what is inserted or removed meanwhile may be
    /// passed, or not. Any place may be passed.
    ///
    /// # Panics
    /// If the map has an object of another heap, or if the function does.
    ///
    /// # Complexity
    /// O(1) in the mean, if the hasher is good: a bucket has 10 to 64 entries. A walk takes as many
    /// calls as there are buckets.
    ///
    /// # Examples
    /// ```
    /// use std::hash::RandomState;
    ///
    /// use surefit_collections::HashMap;
    /// use surefit_compact::{Config, Heap};
    ///
    /// static CONFIG: Config = Config::DEFAULT;
    /// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    /// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
    /// let mut map = HashMap::with_hasher(RandomState::new());
    /// for key in 0..1000_u64 {
    ///     map.insert(&mut heap, key, key)?;
    /// }
    /// let (mut next, mut old) = (Some(0), Vec::new());
    /// while let Some(place) = next {
    ///     old.clear();
    ///     next = map.scan(&heap, place, |key, _| old.extend((key % 2 == 0).then_some(*key)));
    ///     for key in &old {
    ///         map.remove(&mut heap, key);
    ///     }
    /// }
    /// assert_eq!(map.len(), 500);
    /// map.free(&mut heap);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scan<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
        from: u64,
        mut see: impl FnMut(&K, &V),
    ) -> Option<u64> {
        if self.directory.is_empty() {
            return None;
        }
        let bucket = self.home(from.reverse_bits());
        let entries = self.bucket(heap, bucket).entries().iter(heap);
        entries.for_each(|(key, value)| see(key, value));
        if let Some((_, origin)) = self.open().filter(|(last, _)| *last == bucket) {
            // Some of the last bucket's entries may still be here.
            let mixed = self.bucket(heap, origin).entries().iter(heap);
            let mixed = mixed.take(self.mixed);
            mixed.for_each(|(key, value)| see(key, value));
        }
        // The hashes of the bucket have the same low bits: the same high ones of a place.
        (from | (u64::MAX >> self.level(bucket))).checked_add(1)
    }

    /// The number of low bits that all hashes of a bucket have in common.
    pub(super) fn level(&self, bucket: usize) -> u32 {
        let buckets = self.directory.len();
        let all = buckets.next_power_of_two().ilog2();
        // Buckets that were not split yet have one bit less.
        let half = buckets.next_power_of_two() / 2;
        all - u32::from(bucket < half && bucket + half >= buckets)
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;
    extern crate std;

    use alloc::vec;
    use alloc::vec::Vec;
    use core::hash::BuildHasherDefault;
    use core::mem::MaybeUninit;
    use std::hash::DefaultHasher;

    use surefit_compact::{Config, Heap};

    use crate::HashMap;

    static CONFIG: Config = Config::DEFAULT;

    /// What was shown of the last bucket before it was merged in part is not lost.
    #[test]
    fn a_last_bucket_is_shown_with_its_entries_in_its_origin() {
        let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
        let mut heap: Heap<'_> = Heap::new(&mut memory, &CONFIG).expect("large enough");
        let mut map = HashMap::<u64, (), BuildHasherDefault<DefaultHasher>>::default();
        let is_last =
            |map: &HashMap<u64, (), _>, heap: &Heap<'_>, key: &u64| map.hash(heap, key) % 64 == 63;
        // 70 keys in bucket 7 of 8, and others until there are so many.
        let (last, others): (Vec<u64>, Vec<u64>) =
            (0..10_000).partition(|key| is_last(&map, &heap, key));
        for key in last.iter().take(70).chain(others.iter().take(160)) {
            map.insert(&mut heap, *key, ()).expect("room");
        }
        assert_eq!(map.directory.len(), 8);
        for key in others.iter().take(160) {
            if map.mixed > 0 {
                break;
            }
            map.remove(&mut heap, key);
        }
        assert_eq!((map.directory.len(), map.open()), (8, Some((7, 3))));
        let mut seen = Vec::new();
        assert_eq!(map.scan(&heap, u64::MAX, |key, ()| seen.push(*key)), None);
        assert!(last.iter().take(70).all(|key| seen.contains(key)));
        assert_eq!(map.check(&heap), Ok(()));
        map.free(&mut heap);
    }
}
