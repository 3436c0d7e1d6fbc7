//! How entries come into a cache, and leave it.
#![deny(unsafe_code)]

use core::hash::BuildHasher;
use core::num::NonZeroUsize;

use surefit_compact::Full;
use surefit_core::Refused;

use super::cache::LruCache;
use super::keyed::{At, Keyed};
use crate::clone::TryClone;
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::Names;
use crate::release::{Later, Release, release_and_keep};

/// What an entry took the place of.
enum Former<K, V> {
    Nothing,
    /// The value of the same key, and the key that is not needed.
    Value(K, V),
    /// The oldest entry.
    Oldest(K, V),
}

impl<K, V, S, N: Names> LruCache<K, V, S, N> {
    /// Removes the link of an entry that was taken out.
    fn unlink<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, link: u32) {
        if let Some(renamed) = self.list.remove(heap, link) {
            let at = At {
                hash: renamed.hash,
                link: renamed.former,
            };
            let entry = self.map.get_key_value_mut(heap, &at);
            entry.expect("L2: the entry of a link").0.link = link;
        }
    }

    /// Takes the oldest entry out. May move objects.
    pub fn pop_lru<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Option<(K, V)>
    where
        K: Send,
        V: Send,
    {
        let link = self.list.oldest();
        let hash = self.list.get(heap, link)?.hash;
        let (keyed, value) = self.map.remove_entry(heap, &At { hash, link })?;
        self.unlink(heap, link);
        Some((keyed.key, value))
    }

    /// Changes the most entries that there may be. The oldest of more are released. May move
    /// objects.
    ///
    /// # Panics
    /// If the release of an entry panics, or the cache has an object of another heap and more
    /// entries: those that were not released are still there, and the capacity is what it was.
    pub fn resize<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, capacity: NonZeroUsize)
    where
        K: Release<H> + Send,
        V: Release<H> + Send,
    {
        while self.len() > capacity.get() {
            self.pop_lru(heap).release(heap);
        }
        self.capacity = capacity;
    }

    /// Releases all entries for which `keep` returns `false`: they are looked at from the oldest
    /// one on. May move objects.
    ///
    /// # Panics
    /// If `keep` or the release of an entry panics: every entry that was not released is still
    /// there.
    ///
    /// # Complexity
    /// O(entries).
    pub fn retain<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        mut keep: impl FnMut(&K, &mut V) -> bool,
    ) where
        K: Release<H> + Send,
        V: Release<H> + Send,
    {
        let mut next = self.list.oldest();
        while let Some(link) = self.list.get(heap, next) {
            let (number, hash) = (next, link.hash);
            next = link.newer;
            let at = At { hash, link: number };
            let (keyed, value) = self.map.get_key_value_mut(heap, &at).expect("L2");
            if keep(&keyed.key, value) {
                continue;
            }
            if let Some((keyed, value)) = self.map.remove_entry(heap, &at) {
                // The last link gets the number of this one.
                if next as usize == self.list.len() - 1 {
                    next = number;
                }
                self.unlink(heap, number);
                (keyed.key, value).release(heap);
            }
        }
    }

    /// Releases all entries, the oldest first. May move objects.
    ///
    /// # Panics
    /// As [`LruCache::resize`], or if the cache has an object of another heap.
    pub fn clear<H: ByteHeap<Names = N>>(&mut self, heap: &mut H)
    where
        K: Release<H> + Send,
        V: Release<H> + Send,
    {
        assert!(self.is_of(heap), "the cache belongs to another heap");
        while let Some(entry) = self.pop_lru(heap) {
            entry.release(heap);
        }
    }

    /// Frees the cache, and releases its entries. May move objects.
    ///
    /// # Panics
    /// If the cache has an object of another heap: it leaks. If the release of a key or a value
    /// panics: the others are released, and all objects are freed.
    pub fn free<H: ByteHeap<Names = N>>(self, heap: &mut H)
    where
        K: Release<H>,
        V: Release<H>,
    {
        assert!(self.is_of(heap), "the cache belongs to another heap");
        self.list.free(heap);
        self.map.free(heap);
    }

    /// A copy of the cache, of its keys and values, in the same order. Moves nothing unless it is
    /// refused.
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
        // The hasher first: what it does in a panic leaks nothing.
        let hasher = self.hasher.clone();
        let map = self.map.try_clone(heap)?;
        match self.list.try_clone(heap) {
            Ok(list) => Ok(Self {
                map,
                list,
                capacity: self.capacity,
                hasher,
            }),
            Err(refused) => {
                map.free(heap);
                Err(refused)
            }
        }
    }
}

impl<K, V, S: BuildHasher, N: Names> LruCache<K, V, S, N> {
    /// Sets the value of a key, which becomes the newest. Returns the former value. The key that
    /// was there stays, and the new one is released; so is the oldest entry, if there are more than
    /// the capacity. May move objects.
    ///
    /// # Errors
    /// The key, the value, and what was exhausted; the cache is unchanged. [`Refused::TooLarge`] if
    /// a piece does not hold one entry and 12 bytes more, or 128 bytes, or if there are 2^32 - 1
    /// entries.
    ///
    /// # Panics
    /// If the hasher, the comparison of keys, or a release panics: what would have been returned
    /// is released, or what was given if it is not in the cache. A second panic ends the process.
    pub fn put<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        key: K,
        value: V,
    ) -> Result<Option<V>, Full<(K, V)>>
    where
        K: Lookup<H, K> + Release<H> + Send,
        V: Release<H> + Send,
    {
        match self.set(heap, key, value)? {
            Former::Nothing => Ok(None),
            Former::Value(key, value) => Ok(Some(release_and_keep(key, heap, value))),
            Former::Oldest(key, value) => {
                (key, value).release(heap);
                Ok(None)
            }
        }
    }

    /// Sets the value of a key, which becomes the newest. Returns what is not in the cache any
    /// more: the new key and its former value, or the oldest entry if there are more than the
    /// capacity. May move objects.
    ///
    /// # Errors
    /// As [`LruCache::put`].
    ///
    /// # Panics
    /// If the hasher or the comparison of keys panics: what was given is released.
    #[expect(clippy::type_complexity, reason = "a pair that goes, or is given back")]
    pub fn push<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        key: K,
        value: V,
    ) -> Result<Option<(K, V)>, Full<(K, V)>>
    where
        K: Lookup<H, K> + Release<H> + Send,
        V: Release<H> + Send,
    {
        match self.set(heap, key, value)? {
            Former::Nothing => Ok(None),
            Former::Value(key, value) | Former::Oldest(key, value) => Ok(Some((key, value))),
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the list refuses more")]
    fn set<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        key: K,
        value: V,
    ) -> Result<Former<K, V>, Full<(K, V)>>
    where
        K: Lookup<H, K> + Release<H> + Send,
        V: Release<H> + Send,
    {
        let full = |key, value, refused| Full {
            value: (key, value),
            refused,
        };
        if !self.is_of(heap) {
            return Err(full(key, value, Refused::ForeignHandle));
        }
        let given = Later::new((key, value), heap);
        let asked = self.ask(given.heap, &given.value().0);
        let hash = asked.hash;
        let place = self.map.place_of(given.heap, &asked);
        let (key, value) = given.into_value();
        if let Some(place) = place {
            let (keyed, there) = self.map.entry_at(heap, place);
            let former = core::mem::replace(there, value);
            self.list.promote(heap, keyed.link);
            return Ok(Former::Value(key, former));
        }
        if let Err(refused) = self.list.reserve(heap) {
            return Err(full(key, value, refused));
        }
        let link = self.list.len() as u32;
        let inserted = self.map.insert_new(heap, Keyed { key, hash, link }, value);
        inserted.map_err(|refused| {
            let (keyed, value) = refused.value;
            full(keyed.key, value, refused.refused)
        })?;
        self.list.push(heap, hash);
        if self.len() > self.capacity.get() {
            if let Some((key, value)) = self.pop_lru(heap) {
                return Ok(Former::Oldest(key, value));
            }
        }
        Ok(Former::Nothing)
    }

    /// Takes a value out, and releases its key. May move objects.
    ///
    /// # Panics
    /// If the hasher, the comparison of keys, or the release of the key panics; then the value is
    /// released.
    pub fn pop<H: ByteHeap<Names = N>, Q: ?Sized>(&mut self, heap: &mut H, query: &Q) -> Option<V>
    where
        K: Lookup<H, Q> + Release<H> + Send,
        V: Release<H> + Send,
    {
        let (key, value) = self.pop_entry(heap, query)?;
        Some(release_and_keep(key, heap, value))
    }

    /// Takes a key and its value out. May move objects.
    ///
    /// # Panics
    /// If the hasher or the comparison of keys panics.
    pub fn pop_entry<H: ByteHeap<Names = N>, Q: ?Sized>(
        &mut self,
        heap: &mut H,
        query: &Q,
    ) -> Option<(K, V)>
    where
        K: Lookup<H, Q> + Send,
        V: Send,
    {
        let asked = self.ask(heap, query);
        let (keyed, value) = self.map.remove_entry(heap, &asked)?;
        self.unlink(heap, keyed.link);
        Some((keyed.key, value))
    }
}

impl<K, V, S, N, H> Release<H> for LruCache<K, V, S, N>
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
        self.is_of(heap)
    }
}
