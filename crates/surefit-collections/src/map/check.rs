//! Whether a map is what it says.
#![deny(unsafe_code)]

use core::hash::BuildHasher;

use surefit_core::{Corruption, ensure};

use super::table::{HashMap, Place};
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::Names;

impl<K, V, S: BuildHasher, N: Names> HashMap<K, V, S, N> {
    /// Verifies all invariants of a map: the directory and the entries of each bucket are whole
    /// ([`Vec::check`](crate::Vec::check)), a look-up finds each key where it is, and only there,
    /// tags have the bits of hashes that they should have, and the number of keys is that of the
    /// entries. What keys and values own is not checked.
    ///
    /// A map whose hasher or keys do not say the same twice may be found corrupt.
    ///
    /// # Errors
    /// The first invariant that does not hold: C1 or C2 of a vector, M1, M2 or M4.
    ///
    /// # Panics
    /// If the hasher or the comparison of keys does.
    ///
    /// # Complexity
    /// O(entries) in the mean.
    pub fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption>
    where
        K: Lookup<H, K>,
    {
        self.directory.check(heap)?;
        let has_origin = self.mixed == 0 || self.directory.len() > 1;
        ensure(
            has_origin,
            "M1",
            "entries are mixed in no bucket",
            self.mixed,
        )?;
        if let Some((_, origin)) = self.open() {
            let are_there = self.mixed <= self.bucket(heap, origin).len();
            ensure(
                are_there,
                "M1",
                "more entries are mixed than there are",
                self.mixed,
            )?;
        }
        let mut listed = 0;
        let mixed = self.open().map(|(_, origin)| origin);
        for bucket in 0..self.directory.len() {
            let level = self.level(bucket) - u32::from(mixed == Some(bucket));
            ensure(
                u32::from(self.bucket(heap, bucket).shift()) <= level,
                "M4",
                "tags begin at a bit by which entries are to be split",
                bucket,
            )?;
            let entries = self.bucket(heap, bucket).entries();
            entries.check(heap)?;
            for (index, (key, _)) in entries.iter(heap).enumerate() {
                let place = Place { bucket, index };
                let is_found = self.find(heap, self.hash(heap, key), key) == Some(place);
                ensure(
                    is_found,
                    "M1",
                    "a key of this bucket is not found where it is",
                    bucket,
                )?;
            }
            listed += entries.len();
        }
        ensure(
            listed == self.len,
            "M2",
            "the buckets have another number of entries",
            listed,
        )
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

    use super::HashMap;
    use crate::map::bucket::Bucket;

    static CONFIG: Config = Config::DEFAULT;

    type Map = HashMap<u64, u32, BuildHasherDefault<DefaultHasher>, crate::Checked>;

    /// Whether a map of so many entries that was changed is found out, by the invariant.
    fn found(entries: u64, change: impl FnOnce(&mut Map, &mut Heap<'_>)) -> Option<&'static str> {
        let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
        let mut heap: Heap<'_> = Heap::new(&mut memory, &CONFIG).expect("large enough");
        let mut map = Map::default();
        for key in 0..entries {
            map.insert(&mut heap, key, 7).expect("room");
        }
        assert_eq!(map.check(&heap), Ok(()));
        change(&mut map, &mut heap);
        map.check(&heap).err().map(|found| found.invariant)
    }

    #[test]
    fn a_map_that_says_anything_else_is_found_out() {
        for entries in [40, 1000] {
            assert_eq!(found(entries, |_, _| ()), None);
            assert_eq!(found(entries, |map, _| map.len += 1), Some("M2"));
            assert_eq!(found(entries, |map, _| map.mixed = 1000), Some("M1"));
            let swapped = found(entries, |map, heap| map.directory.swap(heap, 0, 1));
            assert_eq!(swapped, Some("M1"), "buckets that were exchanged");
            let lost = found(entries, |map, heap| {
                map.bucket_mut(heap, 0).pop(heap).expect("an entry");
            });
            assert_eq!(lost, Some("M2"), "an entry that was lost");
            let beyond = found(entries, |map, heap| {
                *map.bucket_mut(heap, 0) = Bucket::with_shift(60);
            });
            assert_eq!(beyond, Some("M4"), "tags of bits that choose no bucket");
            let mistaken = found(entries, |map, heap| {
                let bucket = map.bucket_mut(heap, 1);
                let hashes: Vec<u64> = (0..bucket.len() as u64).collect();
                bucket.learn(&hashes, 0);
            });
            assert_eq!(mistaken, Some("M1"), "tags of other keys");
            let renamed = found(entries, |map, heap| {
                let bucket = map.bucket_mut(heap, 1);
                bucket.entries_mut().get_mut(heap, 0).expect("an entry").0 += 1 << 40;
            });
            assert_eq!(renamed, Some("M1"), "a key in the bucket of another one");
            let twice = found(entries, |map, heap| {
                let bucket = map.bucket_mut(heap, 1);
                let (first, last) = (0, bucket.len() - 1);
                let (key, _) = *bucket.entries().get(heap, first).expect("an entry");
                bucket
                    .entries_mut()
                    .get_mut(heap, last)
                    .expect("an entry")
                    .0 = key;
            });
            assert_eq!(twice, Some("M1"), "a key that is there twice");
        }
        let foreign = found(40, |map, _| {
            let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
            let mut other: Heap<'_> = Heap::new(&mut memory, &CONFIG).expect("large enough");
            let mut elsewhere = Map::default();
            elsewhere.insert(&mut other, 1, 7).expect("room");
            *map = elsewhere;
        });
        assert_eq!(foreign, Some("C1"));
    }
}
