//! The entries of an ordered map in their order.
#![deny(unsafe_code)]

use core::cmp::Ordering;
use core::fmt;
use core::ops::{Bound, RangeBounds};

use super::cursor::Cursor;
use super::map::BTreeMap;
use super::node::Node;
use super::path::LEVELS;
use crate::compare::Compare;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::shown::Shown;
use crate::storage::SlicesMut;

/// Keys and values of an ordered map, in their order, from both ends. [`BTreeMap::iter`] and
/// [`BTreeMap::range`] make it.
pub struct Range<'a, K, V, H: ByteHeap> {
    heap: &'a H,
    /// The first entries, which are before the place of `front`.
    slice: core::slice::Iter<'a, (K, V)>,
    front: Cursor<'a, K, V, H::Names>,
    back: Cursor<'a, K, V, H::Names>,
}

impl<'a, K, V, H: ByteHeap> Iterator for Range<'a, K, V, H> {
    type Item = (&'a K, &'a V);

    #[inline]
    fn next(&mut self) -> Option<(&'a K, &'a V)> {
        if self.slice.len() == 0 {
            self.slice = self.front.next_slice(self.heap, &self.back).iter();
        }
        self.slice.next().map(|(key, value)| (key, value))
    }
}

impl<K, V, H: ByteHeap> DoubleEndedIterator for Range<'_, K, V, H> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (key, value) = match self.front.is(&self.back) {
            true => self.slice.next_back()?,
            false => self.back.back(self.heap)?,
        };
        Some((key, value))
    }
}

impl<K, V, H: ByteHeap> Clone for Range<'_, K, V, H> {
    fn clone(&self) -> Self {
        Self {
            heap: self.heap,
            slice: self.slice.clone(),
            front: self.front.clone(),
            back: self.back.clone(),
        }
    }
}

impl<K, V, H: ByteHeap> fmt::Debug for Range<'_, K, V, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Range(of a BTreeMap)")
    }
}

/// Elements of a vector, mutable.
struct Elements<'a, T, H: ByteHeap> {
    slices: SlicesMut<'a, T, H>,
    slice: core::slice::IterMut<'a, T>,
}

impl<'a, T, H: ByteHeap> Elements<'a, T, H> {
    fn new(slices: SlicesMut<'a, T, H>) -> Self {
        Self {
            slices,
            slice: <&mut [T]>::default().iter_mut(),
        }
    }

    fn next(&mut self) -> Option<&'a mut T> {
        loop {
            match self.slice.next() {
                None => self.slice = self.slices.next()?.iter_mut(),
                some => return some,
            }
        }
    }
}

/// A node whose entries are handed out, and the children behind them.
struct Level<'a, K, V, H: ByteHeap> {
    entries: Elements<'a, (K, V), H>,
    children: Elements<'a, Node<K, V, H::Names>, H>,
}

/// Keys and values of an ordered map, in their order, the values mutable. [`BTreeMap::iter_mut`]
/// makes it.
pub struct RangeMut<'a, K, V, H: ByteHeap> {
    heap: &'a H,
    levels: [Option<Level<'a, K, V, H>>; LEVELS],
    count: usize,
}

impl<'a, K, V, H: ByteHeap> RangeMut<'a, K, V, H> {
    /// Goes on with a node, from its first entry on.
    fn push(&mut self, node: &'a mut Node<K, V, H::Names>) {
        let mut next = Some(node);
        while let Some(node) = next {
            let mut level = Level {
                entries: Elements::new(node.entries.slices_mut(self.heap)),
                children: Elements::new(node.children.slices_mut(self.heap)),
            };
            next = level.children.next();
            self.levels[self.count] = Some(level);
            self.count += 1;
        }
    }
}

impl<'a, K, V, H: ByteHeap> Iterator for RangeMut<'a, K, V, H> {
    type Item = (&'a K, &'a mut V);

    fn next(&mut self) -> Option<(&'a K, &'a mut V)> {
        loop {
            let top = self.levels[self.count.checked_sub(1)?].as_mut()?;
            if let Some((key, value)) = top.entries.next() {
                if let Some(child) = top.children.next() {
                    self.push(child);
                }
                return Some((&*key, value));
            }
            self.count -= 1;
        }
    }
}

impl<K, V, H: ByteHeap> fmt::Debug for RangeMut<'_, K, V, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RangeMut(of a BTreeMap)")
    }
}

impl<K, V, N: Names> BTreeMap<K, V, N> {
    /// All keys and values in the order of the keys.
    pub fn iter<'a, H: ByteHeap<Names = N>>(&'a self, heap: &'a H) -> Range<'a, K, V, H> {
        Range {
            heap,
            slice: [].iter(),
            front: Cursor::before(&self.root, heap),
            back: Cursor::behind(&self.root),
        }
    }

    /// The keys within bounds and their values, in the order of the keys. None, if the range begins
    /// behind its end.
    ///
    /// # Complexity
    /// O(log entries) before the first one, O(1) in the mean for each.
    pub fn range<'a, H: ByteHeap<Names = N>, Q: ?Sized>(
        &'a self,
        heap: &'a H,
        bounds: impl RangeBounds<Q>,
    ) -> Range<'a, K, V, H>
    where
        K: Compare<H, Q>,
    {
        let before = |query: &Q| {
            let compare = |key: &K| key.compare(query, heap).then(Ordering::Greater);
            Cursor::search(&self.root, heap, compare)
        };
        let behind = |query: &Q| {
            let compare = |key: &K| key.compare(query, heap).then(Ordering::Less);
            Cursor::search(&self.root, heap, compare)
        };
        let front = match bounds.start_bound() {
            Bound::Included(query) => before(query),
            Bound::Excluded(query) => behind(query),
            Bound::Unbounded => Cursor::before(&self.root, heap),
        };
        let back = match bounds.end_bound() {
            Bound::Included(query) => behind(query),
            Bound::Excluded(query) => before(query),
            Bound::Unbounded => Cursor::behind(&self.root),
        };
        let is_reversed = front.is_behind(&back);
        Range {
            heap,
            slice: [].iter(),
            front: if is_reversed { back.clone() } else { front },
            back,
        }
    }

    /// All keys and values in the order of the keys, the values mutable.
    pub fn iter_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> RangeMut<'a, K, V, H> {
        let mut all = RangeMut {
            heap,
            levels: [const { None }; LEVELS],
            count: 0,
        };
        all.push(&mut self.root);
        all
    }

    /// All keys in their order.
    pub fn keys<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl DoubleEndedIterator<Item = &'a K> + use<'a, K, V, N, H> {
        self.iter(heap).map(|(key, _)| key)
    }

    /// All values, in the order of their keys.
    pub fn values<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl DoubleEndedIterator<Item = &'a V> + use<'a, K, V, N, H> {
        self.iter(heap).map(|(_, value)| value)
    }

    /// All values, in the order of their keys, mutable.
    pub fn values_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
    ) -> impl Iterator<Item = &'a mut V> + use<'a, K, V, N, H> {
        self.iter_mut(heap).map(|(_, value)| value)
    }

    /// The keys and values, for `{:?}`.
    pub fn debug<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
    ) -> impl fmt::Debug + use<'a, K, V, N, H>
    where
        K: fmt::Debug,
        V: fmt::Debug,
    {
        Shown(move |f: &mut fmt::Formatter<'_>| f.debug_map().entries(self.iter(heap)).finish())
    }
}
