//! A key of a map that is there or not: what is done with it looks it up once.
#![deny(unsafe_code)]

use core::fmt;
use core::hash::BuildHasher;

use surefit_compact::Full;

use super::table::{HashMap, Place};
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::Names;
use crate::release::{Later, Release, release_and_keep};

/// A key of a map, and its value if it is there. [`HashMap::entry`] makes it.
#[derive(Debug)]
pub enum Entry<'a, K, V, S, H: ByteHeap> {
    /// The key is there.
    Occupied(OccupiedEntry<'a, K, V, S, H>),
    /// The key is not there.
    Vacant(VacantEntry<'a, K, V, S, H>),
}

/// An entry of a map.
pub struct OccupiedEntry<'a, K, V, S, H: ByteHeap> {
    map: &'a mut HashMap<K, V, S, H::Names>,
    heap: &'a mut H,
    place: Place,
}

/// A key that is not in a map. Dropping it leaks what the key owns in the heap:
/// [`VacantEntry::into_key`] gives it back.
pub struct VacantEntry<'a, K, V, S, H: ByteHeap> {
    map: &'a mut HashMap<K, V, S, H::Names>,
    heap: &'a mut H,
    hash: u64,
    key: K,
}

impl<K, V, S: BuildHasher, N: Names> HashMap<K, V, S, N> {
    /// The entry of a key. If it is there, the new key is released.
    ///
    /// # Panics
    /// If the map has an object of another heap; if the hasher, the comparison of keys, or the
    /// release of the new key panics. The key is released, unless it is of another heap.
    pub fn entry<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a mut H,
        key: K,
    ) -> Entry<'a, K, V, S, H>
    where
        K: Lookup<H, K> + Release<H>,
    {
        let given = Later::new(key, heap);
        let hash = self.hash(given.heap, given.value());
        let place = self.find(given.heap, hash, given.value());
        let key = given.into_value();
        match place {
            Some(place) => {
                key.release(heap);
                Entry::Occupied(OccupiedEntry {
                    map: self,
                    heap,
                    place,
                })
            }
            None => Entry::Vacant(VacantEntry {
                map: self,
                heap,
                hash,
                key,
            }),
        }
    }
}

impl<'a, K, V, S, H> Entry<'a, K, V, S, H>
where
    K: Lookup<H, K> + Release<H> + Send,
    V: Release<H> + Send,
    S: BuildHasher,
    H: ByteHeap,
{
    /// The value; if the key is not there, it gets this one, which is released otherwise.
    ///
    /// # Errors
    /// As [`VacantEntry::insert`].
    pub fn or_insert(self, value: V) -> Result<&'a mut V, Full<(K, V)>> {
        match self {
            Self::Occupied(entry) => {
                value.release(entry.heap);
                Ok(entry.into_mut())
            }
            Self::Vacant(entry) => entry.insert(value),
        }
    }

    /// The value; if the key is not there, it gets what a function returns.
    ///
    /// # Errors
    /// As [`VacantEntry::insert`].
    ///
    /// # Panics
    /// If the function panics: the key is released. And as [`VacantEntry::insert`].
    pub fn or_insert_with(self, value: impl FnOnce() -> V) -> Result<&'a mut V, Full<(K, V)>> {
        match self {
            Self::Occupied(entry) => Ok(entry.into_mut()),
            Self::Vacant(entry) => entry.insert_with(value),
        }
    }

    /// Changes the value if the key is there.
    #[must_use]
    pub fn and_modify(mut self, change: impl FnOnce(&mut V)) -> Self {
        if let Self::Occupied(entry) = &mut self {
            change(entry.get_mut());
        }
        self
    }
}

impl<'a, K, V, S, H: ByteHeap> OccupiedEntry<'a, K, V, S, H> {
    /// The key.
    #[must_use]
    pub fn key(&self) -> &K {
        &self.entry().0
    }

    /// The value.
    #[must_use]
    pub fn get(&self) -> &V {
        &self.entry().1
    }

    /// The value, mutable.
    #[must_use]
    pub fn get_mut(&mut self) -> &mut V {
        &mut self.map.entry_at(self.heap, self.place).1
    }

    /// The value, mutable, as long as the map and the heap are borrowed.
    #[must_use]
    pub fn into_mut(self) -> &'a mut V {
        &mut self.map.entry_at(self.heap, self.place).1
    }

    /// Sets the value, and returns the former one.
    pub fn insert(&mut self, value: V) -> V {
        core::mem::replace(self.get_mut(), value)
    }

    /// Takes the entry out, and releases its key. May move objects.
    ///
    /// # Panics
    /// If the release of the key panics; then the value is released.
    #[must_use = "the value may own objects"]
    pub fn remove(self) -> V
    where
        K: Release<H> + Send,
        V: Release<H> + Send,
    {
        let (key, value) = self.map.remove_at(self.heap, self.place);
        release_and_keep(key, self.heap, value)
    }

    fn entry(&self) -> &(K, V) {
        let entries = self.map.bucket(self.heap, self.place.bucket).entries();
        let entry = entries.get(self.heap, self.place.index);
        entry.expect("the place of an entry")
    }
}

impl<'a, K, V, S, H: ByteHeap> VacantEntry<'a, K, V, S, H> {
    /// The key.
    #[must_use]
    pub const fn key(&self) -> &K {
        &self.key
    }

    /// The key, given back.
    pub fn into_key(self) -> K {
        self.key
    }

    /// Adds the key with a value. May move objects.
    ///
    /// # Errors
    /// As [`HashMap::insert`].
    ///
    /// # Panics
    /// If the hasher panics: the key and the value are released.
    pub fn insert(self, value: V) -> Result<&'a mut V, Full<(K, V)>>
    where
        K: Lookup<H, K> + Release<H> + Send,
        V: Release<H> + Send,
        S: BuildHasher,
    {
        let place = self.map.add(self.heap, self.hash, (self.key, value))?;
        Ok(&mut self.map.entry_at(self.heap, place).1)
    }

    /// Adds the key with what a function returns; releases the key if that panics.
    fn insert_with(self, value: impl FnOnce() -> V) -> Result<&'a mut V, Full<(K, V)>>
    where
        K: Lookup<H, K> + Release<H> + Send,
        V: Release<H> + Send,
        S: BuildHasher,
    {
        let Self {
            map,
            heap,
            hash,
            key,
        } = self;
        let given = Later::new(key, heap);
        let value = value();
        let key = given.into_value();
        let entry = Self {
            map,
            heap,
            hash,
            key,
        };
        entry.insert(value)
    }
}

impl<K, V, S, H: ByteHeap> fmt::Debug for OccupiedEntry<'_, K, V, S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OccupiedEntry(of {:?})", self.map)
    }
}

impl<K, V, S, H: ByteHeap> fmt::Debug for VacantEntry<'_, K, V, S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VacantEntry(of {:?})", self.map)
    }
}
