//! How a map finds a key, which may lie in the heap itself.
#![deny(unsafe_code)]

use core::borrow::Borrow;
use core::hash::{Hash, Hasher};

/// A key of a map in a heap `H` that can be found by a `Q`: what `Hash`, `Eq` and `Borrow` are for
/// keys that need the heap to be read.
///
/// Every type with `Hash` and `Eq` is such a key, as in a map of the standard library. A
/// [`String`](crate::String) is found by a `str`, a [`ByteString`](crate::ByteString) by bytes. A
/// map inserts keys that can be found by themselves.
///
/// If `is` returns `true`, the key's hash as a query for itself must be that of the query. A map
/// whose keys break this finds some of them not, and does no other harm.
pub trait Lookup<H: ?Sized, Q: ?Sized> {
    /// Feeds a query to a hasher.
    fn hash_of<S: Hasher>(query: &Q, heap: &H, state: &mut S);

    /// Whether this is the key that the query asks for.
    fn is(&self, query: &Q, heap: &H) -> bool;
}

impl<H: ?Sized, K: Borrow<Q>, Q: Hash + Eq + ?Sized> Lookup<H, Q> for K {
    #[inline]
    fn hash_of<S: Hasher>(query: &Q, _: &H, state: &mut S) {
        query.hash(state);
    }

    #[inline]
    fn is(&self, query: &Q, _: &H) -> bool {
        self.borrow() == query
    }
}
