//! `BTreeMap`: entries in nodes, in the order of their keys.
//!
//! ```text
//! node     half to all of as many entries as 512 bytes hold (7 to 31), in one vector; unless it is
//!          a leaf, a child before each and behind the last, in another one
//! insert   into a leaf; full nodes on the way there are split first, from the top down, into nodes
//!          that are allocated before anything changes
//! remove   from a leaf: an entry of another node changes places with the one before it; a node
//!          with too few gets one of its neighbour, or both become one
//! ```
//!
//! # Invariants
//! - B1 All leaves are on one level, below [`LEVELS`](super::path::LEVELS). A node with children
//!   has one more than entries.
//! - B2 The keys of all entries are in ascending order. (As far as keys follow one order.)
//! - B3 Every node but the root has [`Node::FEWEST`] to [`Node::MOST`] entries, and room for the
//!   most. A root with children has an entry, and room as well.
//! - B4 `len` is the number of all entries.
//! - B5 No user code runs while an entry is in no node, except that it has the entry itself.
//!
//! # Source
//! Bayer, McCreight: "Organization and Maintenance of Large Ordered Indices" (1972).
#![deny(unsafe_code)]

use core::fmt;

use super::node::Node;
use super::path::Path;
use crate::compare::Compare;
use crate::heap::ByteHeap;
use crate::names::{Checked, Names};

/// An ordered map in a heap: what
/// [`BTreeMap`](https://doc.rust-lang.org/std/collections/struct.BTreeMap.html) of the standard
/// library is to the global allocator.
///
/// Its nodes have one size each: no call but the first insertions resizes an object, and none moves
/// more than the entries of a node on each level. A removal allocates nothing.
///
/// A key in the heap, as a [`String`](crate::String), is found by what can be compared with it, as
/// a `str`: see [`Compare`].
///
/// It is an owning name, as [`Vec`](crate::Vec) is: dropping it leaks the entries;
/// [`BTreeMap::free`] frees it.
///
/// # Panics
/// Every method that takes a heap panics if the map has an object of another heap, except
/// [`BTreeMap::insert`] and [`BTreeMap::try_clone`], which return
/// [`Refused::ForeignHandle`](surefit_core::Refused::ForeignHandle). With
/// [`Branded`](crate::Branded) names another heap does not compile. If the comparison of keys
/// panics, the map is whole and unchanged.
///
/// # Complexity
/// O(log entries) for a look-up, an insertion and a removal.
///
/// # Examples
/// ```
/// use core::ops::Bound::{Included, Unbounded};
/// use surefit_collections::{BTreeMap, String};
/// use surefit_compact::{Config, Heap};
///
/// static CONFIG: Config = Config::DEFAULT;
/// let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
/// let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
/// let mut ages = BTreeMap::new();
/// for (name, age) in [("Grace", 85_u32), ("Alan", 41), ("Ada", 36)] {
///     let name = String::from_text(&heap, name)?;
///     ages.insert(&mut heap, name, age)?;
/// }
/// assert_eq!(ages.get(&heap, "Alan"), Some(&41));
/// assert!(ages.values(&heap).eq(&[36, 41, 85]));
/// let from_b = ages.range::<_, str>(&heap, (Included("B"), Unbounded));
/// assert!(from_b.map(|(name, _)| name.len()).eq([5]));
/// let (name, age) = ages.pop_first(&mut heap).expect("three");
/// assert!(name.equals(&heap, "Ada") && age == 36);
/// name.free(&mut heap);
/// ages.free(&mut heap);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "dropping a map leaks its entries"]
pub struct BTreeMap<K, V, N: Names = Checked> {
    pub(super) root: Node<K, V, N>,
    pub(super) len: usize,
}

impl<K, V, N: Names> BTreeMap<K, V, N> {
    /// A map without entries, and without an object.
    pub const fn new() -> Self {
        Self {
            root: Node::new(),
            len: 0,
        }
    }

    /// The number of entries.
    #[inline]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no entries.
    #[inline]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether the map has no object of another heap.
    #[inline]
    pub(super) fn is_of<H: ByteHeap<Names = N>>(&self, heap: &H) -> bool {
        self.root.entries.is_of(heap) && self.root.children.is_of(heap)
    }

    /// The way to the entry of a key, or to the place in a leaf where it would be; whether it is
    /// there.
    pub(super) fn find<H: ByteHeap<Names = N>, Q: ?Sized>(
        &self,
        heap: &H,
        query: &Q,
    ) -> (Path, bool)
    where
        K: Compare<H, Q>,
    {
        let (mut path, mut node) = (Path::new(), &self.root);
        loop {
            let (index, is_found) = node.find(heap, query);
            path.push(index);
            if is_found || node.is_leaf() {
                return (path, is_found);
            }
            node = node.child(heap, index);
        }
    }

    /// The entry at the end of a path.
    pub(super) fn entry_at<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        path: &Path,
    ) -> &'a mut (K, V) {
        let node = path.last_mut(&mut self.root, heap);
        let entry = node.entries.get_mut(heap, path.index());
        entry.expect("the path to an entry")
    }

    /// The key that a query asks for, and its value.
    #[inline]
    #[must_use]
    pub fn get_key_value<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        query: &Q,
    ) -> Option<(&'a K, &'a V)>
    where
        K: Compare<H, Q>,
    {
        let mut node = &self.root;
        loop {
            let (index, is_found) = node.find(heap, query);
            if is_found {
                let (key, value) = node.entry(heap, index);
                return Some((key, value));
            }
            if node.is_leaf() {
                return None;
            }
            node = node.child(heap, index);
        }
    }

    /// The value of a key.
    #[inline]
    #[must_use]
    pub fn get<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        query: &Q,
    ) -> Option<&'a V>
    where
        K: Compare<H, Q>,
    {
        self.get_key_value(heap, query).map(|(_, value)| value)
    }

    /// The value of a key, mutable.
    #[must_use]
    pub fn get_mut<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a mut self,
        heap: &'a H,
        query: &Q,
    ) -> Option<&'a mut V>
    where
        K: Compare<H, Q>,
    {
        let (path, is_found) = self.find(heap, query);
        is_found.then(|| &mut self.entry_at(heap, &path).1)
    }

    /// Whether there is a key.
    #[inline]
    #[must_use]
    pub fn contains_key<H: ByteHeap<Names = N>, Q: ?Sized>(&self, heap: &H, query: &Q) -> bool
    where
        K: Compare<H, Q>,
    {
        self.get_key_value(heap, query).is_some()
    }

    /// The path to the first entry, or to the last one, if there is one.
    pub(super) fn end<H: ByteHeap<Names = N>>(&self, heap: &H, is_last: bool) -> Option<Path> {
        let mut path = Path::new();
        match is_last {
            _ if self.is_empty() => return None,
            false => path.push_first(&self.root, heap),
            true => path.push_last(&self.root, heap),
        }
        Some(path)
    }

    /// The first key, and its value.
    #[must_use]
    pub fn first_key_value<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> Option<(&'a K, &'a V)> {
        self.iter(heap).next()
    }

    /// The last key, and its value.
    #[must_use]
    pub fn last_key_value<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> Option<(&'a K, &'a V)> {
        self.iter(heap).next_back()
    }
}

impl<K, V, N: Names> Default for BTreeMap<K, V, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V, N: Names> fmt::Debug for BTreeMap<K, V, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BTreeMap({} entries)", self.len)
    }
}
