//! What other containers of this crate need of a map: keys that they change, and that they know not
//! to be there.
#![deny(unsafe_code)]

use core::hash::BuildHasher;

use surefit_compact::Full;

use super::table::{HashMap, Place};
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::names::Names;
use crate::release::Release;

impl<K, V, S: BuildHasher, N: Names> HashMap<K, V, S, N> {
    /// Whether the map has no object of another heap.
    #[inline]
    pub(crate) fn is_of<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.directory.is_of(heap)
    }

    /// Where the key is that a query asks for.
    #[inline]
    pub(crate) fn place_of<H: ByteHeap<Names = N>, Q: ?Sized>(
        &self,
        heap: &H,
        query: &Q,
    ) -> Option<Place>
    where
        K: Lookup<H, Q>,
    {
        self.find(heap, self.hash(heap, query), query)
    }

    /// The key that a query asks for, and its value, both mutable. The key's hash must stay.
    #[inline]
    pub(crate) fn get_key_value_mut<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a mut self,
        heap: &'a H,
        query: &Q,
    ) -> Option<&'a mut (K, V)>
    where
        K: Lookup<H, Q>,
    {
        let place = self.place_of(heap, query)?;
        Some(self.entry_at(heap, place))
    }

    /// Adds a key that is not there. May move objects.
    ///
    /// # Errors
    /// As [`HashMap::insert`].
    pub(crate) fn insert_new<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        key: K,
        value: V,
    ) -> Result<(), Full<(K, V)>>
    where
        K: Lookup<H, K> + Release<H> + Send,
        V: Release<H> + Send,
    {
        let hash = self.hash(heap, &key);
        self.add(heap, hash, (key, value)).map(|_| ())
    }
}
