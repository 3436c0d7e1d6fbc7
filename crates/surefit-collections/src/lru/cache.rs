//! `LruCache`: a map from keys to values, and a list of links in the order of their last use.
//!
//! ```text
//! map     from a key, with its hash and the number of its link, to its value
//! list    a link for each entry, in a vector without gaps: the hash of its key, the link that was
//!         used before it, and the one that was used after it
//! ```
//! From an entry to its link leads the number; from a link to its entry, hash and number.
//!
//! # Invariants
//! - L1 of the list: see `list.rs`.
//! - L2 There are as many links as entries. The entry of link i has the number i, and its hash.
//! - L3 No user code runs while a link has no entry or an entry no link, except that it has the
//!   entry itself.
#![deny(unsafe_code)]

use core::fmt;
use core::hash::BuildHasher;
use core::num::NonZeroUsize;

use super::keyed::{Asked, At, Keyed, Known, hash};
use super::list::List;
use crate::heap::ByteHeap;
use crate::lookup::Lookup;
use crate::map::HashMap;
use crate::names::{Checked, Names};
use crate::shown::Shown;

/// A map in a heap that knows which of its entries was not used for the longest time: what the
/// crate [`lru`](https://docs.rs/lru) has for the global allocator.
///
/// [`LruCache::get`] and [`LruCache::put`] make an entry the newest; [`LruCache::peek`] does not.
/// If there are more entries than the capacity, the oldest goes. A heap with a limit is another
/// bound: what is refused for want of room is tried again after [`LruCache::pop_lru`].
///
/// Keys are found as those of a [`HashMap`] are. Keys, values, table and order are all in the heap.
///
/// It is an owning name, as [`Vec`](crate::Vec) is: dropping it leaks the entries;
/// [`LruCache::free`] frees it.
///
/// # Panics
/// As [`HashMap`]. If the hasher or the comparison of keys panics, the cache is whole and
/// unchanged.
///
/// # Complexity
/// O(1) in the mean for every method that has one key or none, if the hasher is good. No call moves
/// more than 64 entries.
///
/// # Examples
/// ```
/// use core::num::NonZeroUsize;
/// use std::hash::RandomState;
///
/// use surefit_collections::{LruCache, String};
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let two = NonZeroUsize::new(2).expect("not zero");
/// let mut cache = LruCache::with_hasher(two, RandomState::new());
/// for (name, age) in [("Ada", 36_u32), ("Alan", 41)] {
///     let name = String::from_text(&heap, name)?;
///     cache.put(&mut heap, name, age)?;
/// }
/// assert_eq!(cache.get(&heap, "Ada"), Some(&36));
/// let name = String::from_text(&heap, "Grace")?;
/// cache.put(&mut heap, name, 85)?; // Alan goes: Ada was used after him
/// assert!(cache.contains(&heap, "Ada") && !cache.contains(&heap, "Alan"));
/// cache.free(&mut heap);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
/// A cache that takes what room a heap has:
/// ```
/// use std::hash::RandomState;
///
/// use surefit_collections::{ByteString, LruCache, Release};
/// use surefit_compact::{BoxedHeap, Config, Full, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut heap: BoxedHeap = Heap::boxed(256 << 10, &CONFIG)?;
/// let mut cache = LruCache::unbounded_with_hasher(RandomState::new());
/// for number in 0..10_000_u64 {
///     let value = loop {
///         match ByteString::from_bytes(&heap, &[7; 100]) {
///             Ok(value) => break value,
///             Err(_) => cache.pop_lru(&mut heap).release(&mut heap),
///         }
///     };
///     let mut entry = (number, value);
///     while let Err(full) = cache.put(&mut heap, entry.0, entry.1) {
///         entry = full.value;
///         cache.pop_lru(&mut heap).release(&mut heap);
///     }
/// }
/// assert!(cache.len() > 500 && cache.contains(&heap, &9_999));
/// cache.free(&mut heap);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping a cache leaks its entries"]
pub struct LruCache<K, V, S, N: Names = Checked> {
    pub(super) map: HashMap<Keyed<K>, V, Known, N>,
    pub(super) list: List<N>,
    pub(super) capacity: NonZeroUsize,
    pub(super) hasher: S,
}

impl<K, V, S, N: Names> LruCache<K, V, S, N> {
    /// A cache of at most so many entries, without entries and without an object.
    pub const fn with_hasher(capacity: NonZeroUsize, hasher: S) -> Self {
        Self::of(capacity, hasher)
    }

    /// A cache of any number of entries, without entries and without an object.
    pub const fn unbounded_with_hasher(hasher: S) -> Self {
        Self::of(NonZeroUsize::MAX, hasher)
    }

    const fn of(capacity: NonZeroUsize, hasher: S) -> Self {
        Self {
            map: HashMap::with_hasher(Known::NEW),
            list: List::new(),
            capacity,
            hasher,
        }
    }

    /// The number of entries.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are no entries.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The most entries that there may be.
    #[must_use]
    pub const fn cap(&self) -> NonZeroUsize {
        self.capacity
    }

    /// What makes the hashers.
    #[must_use]
    pub const fn hasher(&self) -> &S {
        &self.hasher
    }

    /// Whether the cache has no object of another heap.
    pub(super) fn is_of<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.map.is_of(heap) && self.list.is_of(heap)
    }

    /// The key and the value of a link.
    pub(super) fn entry_of<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
        link: u32,
    ) -> Option<(&'a K, &'a V)> {
        let hash = self.list.get(heap, link)?.hash;
        let (keyed, value) = self.map.get_key_value(heap, &At { hash, link })?;
        Some((&keyed.key, value))
    }

    /// The oldest entry. Its age stays.
    #[must_use]
    pub fn peek_lru<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Option<(&'a K, &'a V)> {
        self.entry_of(heap, self.list.oldest())
    }

    /// All keys and values, the newest first. Their ages stay.
    ///
    /// # Complexity
    /// A look-up in the map for each.
    pub fn iter<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl Iterator<Item = (&'a K, &'a V)> + use<'a, K, V, S, N, H> {
        let mut next = self.list.newest();
        core::iter::from_fn(move || {
            let entry = self.entry_of(heap, next)?;
            next = self.list.get(heap, next)?.older;
            Some(entry)
        })
    }

    /// All keys and values, in any order, the values mutable. Their ages stay.
    pub fn iter_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> impl Iterator<Item = (&'a K, &'a mut V)> + use<'a, K, V, S, N, H> {
        let entries = self.map.iter_mut(heap);
        entries.map(|(keyed, value)| (&keyed.key, value))
    }

    /// As [`HashMap::scan`]. Ages stay.
    pub fn scan<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
        from: u64,
        mut see: impl FnMut(&K, &V),
    ) -> Option<u64> {
        let see = |keyed: &Keyed<K>, value: &V| see(&keyed.key, value);
        self.map.scan(heap, from, see)
    }

    /// The keys and values, the newest first, for `{:?}`.
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
}

impl<K, V, S: BuildHasher, N: Names> LruCache<K, V, S, N> {
    /// A query as the map knows it.
    #[inline]
    pub(super) fn ask<'q, H: ByteHeap<Names = N>, Q: ?Sized>(
        &self,
        heap: &H,
        query: &'q Q,
    ) -> Asked<'q, Q>
    where
        K: Lookup<H, Q>,
    {
        Asked {
            query,
            hash: hash::<H, K, Q, S>(&self.hasher, heap, query),
        }
    }

    /// The value of a key, which becomes the newest.
    #[inline]
    #[must_use]
    pub fn get<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a mut self,
        heap: &'a H,
        query: &Q,
    ) -> Option<&'a V>
    where
        K: Lookup<H, Q>,
    {
        let asked = self.ask(heap, query);
        let (keyed, value) = self.map.get_key_value(heap, &asked)?;
        self.list.promote(heap, keyed.link);
        Some(value)
    }

    /// The value of a key, mutable. The key becomes the newest.
    #[inline]
    #[must_use]
    pub fn get_mut<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a mut self,
        heap: &'a H,
        query: &Q,
    ) -> Option<&'a mut V>
    where
        K: Lookup<H, Q>,
    {
        let asked = self.ask(heap, query);
        let (keyed, value) = self.map.get_key_value_mut(heap, &asked)?;
        self.list.promote(heap, keyed.link);
        Some(value)
    }

    /// The value of a key. Its age stays.
    #[inline]
    #[must_use]
    pub fn peek<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        query: &Q,
    ) -> Option<&'a V>
    where
        K: Lookup<H, Q>,
    {
        self.map.get(heap, &self.ask(heap, query))
    }

    /// The value of a key, mutable. Its age stays.
    #[must_use]
    pub fn peek_mut<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a mut self,
        heap: &'a H,
        query: &Q,
    ) -> Option<&'a mut V>
    where
        K: Lookup<H, Q>,
    {
        let asked = self.ask(heap, query);
        self.map.get_mut(heap, &asked)
    }

    /// Whether there is a key. Its age stays.
    #[must_use]
    pub fn contains<H: ByteHeap<Names = N>, Q: ?Sized>(&self, heap: &H, query: &Q) -> bool
    where
        K: Lookup<H, Q>,
    {
        self.peek(heap, query).is_some()
    }

    /// Makes a key the newest; whether it is there.
    pub fn promote<H: ByteHeap<Names = N>, Q: ?Sized>(&mut self, heap: &H, query: &Q) -> bool
    where
        K: Lookup<H, Q>,
    {
        self.get(heap, query).is_some()
    }

    /// Makes a key the oldest; whether it is there.
    pub fn demote<H: ByteHeap<Names = N>, Q: ?Sized>(&mut self, heap: &H, query: &Q) -> bool
    where
        K: Lookup<H, Q>,
    {
        let asked = self.ask(heap, query);
        let link = self.map.get_key_value(heap, &asked).map(|(it, _)| it.link);
        link.inspect(|link| self.list.demote(heap, *link)).is_some()
    }
}

#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
impl<K, V, N: Names> LruCache<K, V, std::hash::RandomState, N> {
    /// A cache of at most so many entries, with the standard library's hasher.
    pub fn new(capacity: NonZeroUsize) -> Self {
        Self::with_hasher(capacity, std::hash::RandomState::new())
    }

    /// A cache of any number of entries, with the standard library's hasher.
    pub fn unbounded() -> Self {
        Self::unbounded_with_hasher(std::hash::RandomState::new())
    }
}

impl<K, V, S, N: Names> fmt::Debug for LruCache<K, V, S, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, capacity) = (self.len(), self.capacity);
        write!(f, "LruCache({len} entries of at most {capacity})")
    }
}
