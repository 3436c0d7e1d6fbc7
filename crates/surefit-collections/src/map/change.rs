//! How entries come into a map, and leave it.
#![deny(unsafe_code)]

use core::hash::BuildHasher;

use surefit_compact::Full;
use surefit_core::Refused;

use super::table::{HashMap, Place};
use crate::clone::TryClone;
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::Names;
use crate::release::{Later, Release, release_and_keep};

impl<K, V, S: BuildHasher, N: Names> HashMap<K, V, S, N> {
    /// Sets the value of a key. Returns the former value; the key that was there stays, and the new
    /// one is released. May move objects.
    ///
    /// # Errors
    /// The key, the value, and what was exhausted; the map is unchanged, but may have moved some
    /// entries to a new bucket. [`Refused::TooLarge`] if a piece does not hold one entry, or 128
    /// bytes.
    ///
    /// # Panics
    /// If the hasher, the comparison of keys, or the release of the new key panics: what would
    /// have been returned is released, or what was given if it is not in the map. A second panic
    /// ends the process.
    ///
    /// # Complexity
    /// O(1) in the mean; moves at most 64 entries to another bucket, and may copy a bucket.
    pub fn insert<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        key: K,
        value: V,
    ) -> Result<Option<V>, Full<(K, V)>>
    where
        K: Lookup<H, K> + Release<H> + Send,
        V: Release<H> + Send,
    {
        if !self.directory.is_of(heap) {
            return Err(Full {
                value: (key, value),
                refused: Refused::ForeignHandle,
            });
        }
        let given = Later::new((key, value), heap);
        let hash = self.hash(given.heap, &given.value().0);
        let place = self.find(given.heap, hash, &given.value().0);
        let (key, value) = given.into_value();
        if let Some(place) = place {
            let entry = self.entry_at(heap, place);
            let former = core::mem::replace(&mut entry.1, value);
            return Ok(Some(release_and_keep(key, heap, former)));
        }
        self.add(heap, hash, (key, value))?;
        Ok(None)
    }

    /// Takes a value out, and releases its key. May move objects.
    ///
    /// # Panics
    /// If the hasher, the comparison of keys, or the release of the key panics; then the value is
    /// released.
    ///
    /// # Complexity
    /// O(1) in the mean; moves at most 64 entries to another bucket, and may copy a bucket.
    pub fn remove<H: ByteHeap<Names = N>, Q: ?Sized>(
        &mut self,
        heap: &mut H,
        query: &Q,
    ) -> Option<V>
    where
        K: Lookup<H, Q> + Release<H> + Send,
        V: Release<H> + Send,
    {
        let (key, value) = self.remove_entry(heap, query)?;
        Some(release_and_keep(key, heap, value))
    }

    /// Takes a key and its value out. May move objects.
    ///
    /// # Panics
    /// If the hasher or the comparison of keys panics.
    ///
    /// # Complexity
    /// As [`HashMap::remove`].
    pub fn remove_entry<H: ByteHeap<Names = N>, Q: ?Sized>(
        &mut self,
        heap: &mut H,
        query: &Q,
    ) -> Option<(K, V)>
    where
        K: Lookup<H, Q> + Send,
        V: Send,
    {
        if self.directory.is_empty() {
            return None;
        }
        let hash = self.hash(heap, query);
        let number = self.home(hash);
        let bucket = self.bucket_mut(heap, number);
        let Some((index, _)) = bucket.find(heap, hash, query) else {
            let (place, _) = self.seek_in_origin(heap, hash, query)?;
            return Some(self.remove_at(heap, place));
        };
        let entry = bucket.take(heap, index);
        let (left, is_roomy) = (bucket.len(), bucket.is_roomy(heap));
        self.count_taken(number, left);
        self.shrink_after(heap, number, is_roomy);
        Some(entry)
    }

    /// Releases all entries for which `keep` returns `false`. May move objects.
    ///
    /// # Panics
    /// If `keep` or the release of an entry panics: every entry that was not released is still
    /// there.
    ///
    /// # Complexity
    /// O(entries and buckets).
    pub fn retain<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        mut keep: impl FnMut(&K, &mut V) -> bool,
    ) where
        K: Release<H> + Send,
        V: Release<H> + Send,
    {
        for bucket in 0..self.directory.len() {
            // What takes the place of a removed entry was seen before.
            for index in (0..self.bucket(heap, bucket).len()).rev() {
                let place = Place { bucket, index };
                let (key, value) = self.entry_at(heap, place);
                if !keep(key, value) {
                    let (entry, is_roomy) = self.take(heap, place);
                    if is_roomy {
                        self.trim(heap, bucket);
                    }
                    entry.release(heap);
                }
            }
        }
        while self.is_sparse() && self.merge(heap) {}
    }

    /// A copy of the map, of its keys and values. Moves nothing unless it is refused.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; what was copied before is released.
    ///
    /// # Panics
    /// If the copy of the hasher, a key or a value does: then what was copied before leaks.
    pub fn try_clone<H: ByteHeap<Names = N>>(&self, heap: &mut H) -> Result<Self, Refused>
    where
        K: TryClone<H, Partial: Release<H>> + Release<H> + Send,
        V: TryClone<H, Partial: Release<H>> + Release<H> + Send,
        S: Clone,
    {
        if !self.directory.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        // The hasher first: what it does in a panic leaks nothing.
        let hasher = self.hasher.clone();
        Ok(Self {
            directory: crate::clone::try_clone(&self.directory, heap)?,
            len: self.len,
            mixed: self.mixed,
            hasher,
        })
    }
}

impl<K, V, S, N: Names> HashMap<K, V, S, N> {
    /// Frees the map, and releases its entries. May move objects.
    ///
    /// # Panics
    /// If the map has an object of another heap: it leaks. If the release of a key or a value
    /// panics: the others are released, and all objects are freed.
    pub fn free<H: ByteHeap<Names = N>>(self, heap: &mut H)
    where
        K: Release<H>,
        V: Release<H>,
    {
        self.directory.free(heap);
    }
}

impl<K, V, S, N, H> Release<H> for HashMap<K, V, S, N>
where
    K: Release<H>,
    V: Release<H>,
    N: Names,
    H: ByteHeap<Names = N>,
{
    fn release(self, heap: &mut H) {
        self.free(heap);
    }

    fn belongs_to(&self, heap: &H) -> bool {
        self.directory.is_of(heap)
    }
}
