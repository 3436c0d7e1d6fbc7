//! All entries of a map, borrowed or taken out.
#![deny(unsafe_code)]

use core::fmt;

use super::table::HashMap;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::release::Release;
use crate::shown::Shown;
use crate::storage::Ahead;

impl<K, V, S, N: Names> HashMap<K, V, S, N> {
    /// All keys and values, in any order.
    pub fn iter<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl Iterator<Item = (&'a K, &'a V)> + use<'a, K, V, S, N, H> {
        let buckets = self.directory.iter(heap);
        let slices = buckets.flat_map(move |bucket| bucket.entries().slices(heap));
        Ahead::new(slices).map(|(key, value)| (key, value))
    }

    /// All keys and values, in any order, the values mutable.
    pub fn iter_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> impl Iterator<Item = (&'a K, &'a mut V)> + use<'a, K, V, S, N, H> {
        let buckets = self.directory.iter_mut(heap);
        let entries = buckets.flat_map(move |bucket| bucket.entries_mut().iter_mut(heap));
        entries.map(|(key, value)| (&*key, value))
    }

    /// All keys, in any order.
    pub fn keys<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl Iterator<Item = &'a K> + use<'a, K, V, S, N, H> {
        self.iter(heap).map(|(key, _)| key)
    }

    /// All values, in any order.
    pub fn values<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl Iterator<Item = &'a V> + use<'a, K, V, S, N, H> {
        self.iter(heap).map(|(_, value)| value)
    }

    /// All values, in any order, mutable.
    pub fn values_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> impl Iterator<Item = &'a mut V> + use<'a, K, V, S, N, H> {
        self.iter_mut(heap).map(|(_, value)| value)
    }

    /// Takes all entries out, in any order. What is not taken is released when the iterator is
    /// dropped. One that is forgotten leaves it in the map.
    ///
    /// # Panics
    /// If the map has an object of another heap.
    pub fn drain<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a mut H,
    ) -> DrainMap<'a, K, V, S, H>
    where
        K: Release<H>,
        V: Release<H>,
    {
        assert!(
            self.directory.is_of(heap),
            "the map belongs to another heap"
        );
        DrainMap { map: self, heap }
    }

    /// Releases all entries. May move objects.
    ///
    /// # Panics
    /// As [`HashMap::drain`], and if the release of a key or a value panics: every entry that was
    /// not released is still there.
    pub fn clear<H: ByteHeap<Names = N>>(&mut self, heap: &mut H)
    where
        K: Release<H>,
        V: Release<H>,
    {
        drop(self.drain(heap));
    }

    /// The keys and values, for `{:?}`.
    pub fn debug<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl fmt::Debug + use<'a, K, V, S, N, H>
    where
        K: fmt::Debug,
        V: fmt::Debug,
    {
        Shown(move |f: &mut fmt::Formatter<'_>| f.debug_map().entries(self.iter(heap)).finish())
    }

    /// Takes an entry of the last bucket out; frees buckets that have none.
    fn pop<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Option<(K, V)> {
        loop {
            let last = self.directory.len().checked_sub(1)?;
            if let Some(entry) = self.bucket_mut(heap, last).pop(heap) {
                self.len -= 1;
                self.trim(heap, last);
                return Some(entry);
            }
            let mut empty = core::mem::take(self.bucket_mut(heap, last));
            // An object without elements is freed, which is not refused.
            let _ = empty.entries_mut().shrink_to_fit(heap);
            self.directory.pop(heap);
            self.mixed = 0;
            if last > 0 {
                // M4: its origin has its hashes again.
                let (origin, shift) = (Self::origin(last), Self::last_level(last) - 1);
                self.bucket_mut(heap, origin).lower(shift, origin);
            } else {
                let _ = self.directory.shrink_to_fit(heap);
            }
        }
    }
}

/// The entries that [`HashMap::drain`] takes out.
pub struct DrainMap<'a, K: Release<H>, V: Release<H>, S, H: ByteHeap> {
    map: &'a mut HashMap<K, V, S, H::Names>,
    heap: &'a mut H,
}

impl<K: Release<H>, V: Release<H>, S, H: ByteHeap> Iterator for DrainMap<'_, K, V, S, H> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        self.map.pop(self.heap)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.map.len(), Some(self.map.len()))
    }
}

impl<K: Release<H>, V: Release<H>, S, H: ByteHeap> ExactSizeIterator for DrainMap<'_, K, V, S, H> {}

impl<K: Release<H>, V: Release<H>, S, H: ByteHeap> Drop for DrainMap<'_, K, V, S, H> {
    fn drop(&mut self) {
        // If a release panics, the rest stays in the map, which is whole.
        while let Some(entry) = self.map.pop(self.heap) {
            entry.release(self.heap);
        }
    }
}

impl<K: Release<H>, V: Release<H>, S, H: ByteHeap> fmt::Debug for DrainMap<'_, K, V, S, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DrainMap({} left)", self.len())
    }
}
