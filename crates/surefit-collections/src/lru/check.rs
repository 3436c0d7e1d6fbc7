//! Verifies a cache.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use super::cache::LruCache;
use crate::heap::ByteHeap;
use crate::names::Names;

impl<K, V, S, N: Names> LruCache<K, V, S, N> {
    /// Verifies every numbered invariant of the cache (L), of its map
    /// ([`HashMap::check`](crate::HashMap::check)) and of its list.
    ///
    /// # Errors
    /// The first invariant that does not hold; C1 if an object is not whole, or belongs to another
    /// heap.
    ///
    /// # Complexity
    /// O(entries) in the mean.
    pub fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption> {
        let len = self.len();
        ensure(self.is_of(heap), "C1", "an object of another heap", len)?;
        self.map.check(heap)?;
        self.list.check(heap)?;
        ensure(
            self.list.len() == len && len <= self.capacity.get(),
            "L2",
            "another number of links than of entries, or too many",
            len,
        )?;
        for (keyed, _) in self.map.iter(heap) {
            let link = self.list.get(heap, keyed.link);
            ensure(
                link.is_some_and(|link| link.hash == keyed.hash)
                    && self.entry_of(heap, keyed.link).is_some(),
                "L2",
                "an entry that its link does not find",
                keyed.link as usize,
            )?;
        }
        ensure(
            self.iter(heap).count() == len,
            "L2",
            "a link that finds no entry",
            len,
        )
    }
}
