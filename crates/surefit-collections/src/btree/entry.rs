//! A key of an ordered map that is there or not: what is done with it looks it up once.
#![deny(unsafe_code)]

use core::fmt;

use surefit_compact::Full;

use super::map::BTreeMap;
use super::path::Path;
use crate::compare::Compare;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::release::{Later, Release, release_and_keep};

/// A key of an ordered map, and its value if it is there. [`BTreeMap::entry`] makes it.
#[derive(Debug)]
pub enum Entry<'a, K, V, H: ByteHeap> {
    /// The key is there.
    Occupied(OccupiedEntry<'a, K, V, H>),
    /// The key is not there.
    Vacant(VacantEntry<'a, K, V, H>),
}

/// An entry of an ordered map.
pub struct OccupiedEntry<'a, K, V, H: ByteHeap> {
    map: &'a mut BTreeMap<K, V, H::Names>,
    heap: &'a mut H,
    path: Path,
}

/// A key that is not in an ordered map. Dropping it leaks what the key owns in the heap:
/// [`VacantEntry::into_key`] gives it back.
pub struct VacantEntry<'a, K, V, H: ByteHeap> {
    map: &'a mut BTreeMap<K, V, H::Names>,
    heap: &'a mut H,
    path: Path,
    key: K,
}

impl<K, V, N: Names> BTreeMap<K, V, N> {
    /// The entry of a key. If it is there, the new key is released.
    ///
    /// # Panics
    /// If the map has an object of another heap; if the comparison of keys, or the release of the
    /// new key panics. The key is released, unless it is of another heap.
    pub fn entry<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a mut H,
        key: K,
    ) -> Entry<'a, K, V, H>
    where
        K: Compare<H, K> + Release<H>,
    {
        let given = Later::new(key, heap);
        assert!(self.is_of(given.heap), "the map belongs to another heap");
        let (path, is_there) = self.find(given.heap, given.value());
        let key = given.into_value();
        if is_there {
            key.release(heap);
            return Entry::Occupied(OccupiedEntry {
                map: self,
                heap,
                path,
            });
        }
        Entry::Vacant(VacantEntry {
            map: self,
            heap,
            path,
            key,
        })
    }
}

impl<'a, K: Release<H> + Send, V: Release<H> + Send, H: ByteHeap> Entry<'a, K, V, H> {
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
    /// If the function panics: the key is released.
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

impl<'a, K, V, H: ByteHeap> OccupiedEntry<'a, K, V, H> {
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
        &mut self.map.entry_at(self.heap, &self.path).1
    }

    /// The value, mutable, as long as the map and the heap are borrowed.
    #[must_use]
    pub fn into_mut(self) -> &'a mut V {
        &mut self.map.entry_at(self.heap, &self.path).1
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
        let (key, value) = self.map.remove_at(self.heap, &self.path);
        release_and_keep(key, self.heap, value)
    }

    fn entry(&self) -> &(K, V) {
        let node = self.path.last(&self.map.root, self.heap);
        node.entry(self.heap, self.path.index())
    }
}

impl<'a, K, V, H: ByteHeap> VacantEntry<'a, K, V, H> {
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
    /// As [`BTreeMap::insert`].
    pub fn insert(self, value: V) -> Result<&'a mut V, Full<(K, V)>>
    where
        K: Send,
        V: Send,
    {
        let path = self.map.add(self.heap, self.path, (self.key, value))?;
        Ok(&mut self.map.entry_at(self.heap, &path).1)
    }

    /// Adds the key with what a function returns; releases the key if that panics.
    fn insert_with(self, value: impl FnOnce() -> V) -> Result<&'a mut V, Full<(K, V)>>
    where
        K: Release<H> + Send,
        V: Send,
    {
        let Self {
            map,
            heap,
            path,
            key,
        } = self;
        let given = Later::new(key, heap);
        let value = value();
        let key = given.into_value();
        let entry = Self {
            map,
            heap,
            path,
            key,
        };
        entry.insert(value)
    }
}

impl<K, V, H: ByteHeap> fmt::Debug for OccupiedEntry<'_, K, V, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OccupiedEntry(of {:?})", self.map)
    }
}

impl<K, V, H: ByteHeap> fmt::Debug for VacantEntry<'_, K, V, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VacantEntry(of {:?})", self.map)
    }
}
