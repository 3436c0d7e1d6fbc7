//! Verifies an ordered map.
#![deny(unsafe_code)]

use core::cmp::Ordering;

use surefit_core::{Corruption, ensure};

use super::map::BTreeMap;
use super::node::Node;
use super::path::LEVELS;
use crate::compare::Compare;
use crate::heap::ByteHeap;
use crate::names::Names;

impl<K, V, N: Names> BTreeMap<K, V, N> {
    /// Verifies every numbered invariant of the map (B), and that each node is whole
    /// ([`Vec::check`](crate::Vec::check)).
    ///
    /// # Errors
    /// The first invariant that does not hold; C1 if an object is not whole, or belongs to another
    /// heap.
    ///
    /// # Panics
    /// If the comparison of keys panics.
    ///
    /// # Complexity
    /// O(entries).
    pub fn check<H: ByteHeap<Names = N>>(&self, heap: &H) -> Result<(), Corruption>
    where
        K: Compare<H, K>,
    {
        let len = self.len;
        ensure(self.is_of(heap), "C1", "an object of another heap", len)?;
        let mut levels = 1;
        let mut node = &self.root;
        while !node.is_leaf() {
            node.children.check(heap)?;
            node = node.child(heap, 0);
            levels += 1;
        }
        ensure(levels <= LEVELS, "B1", "too many levels", levels)?;
        let counted = self.root.check(heap, levels, true)?;
        ensure(counted == len, "B4", "another number of entries", counted)?;
        let pairs = self.keys(heap).zip(self.keys(heap).skip(1));
        for (number, (one, next)) in pairs.enumerate() {
            let is_ascending = one.compare(next, heap) == Ordering::Less;
            ensure(is_ascending, "B2", "keys that do not ascend", number)?;
        }
        Ok(())
    }
}

impl<K, V, N: Names> Node<K, V, N> {
    /// Verifies a node and all below it, which have so many levels; the number of their entries.
    fn check<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
        levels: usize,
        is_root: bool,
    ) -> Result<usize, Corruption> {
        self.entries.check(heap)?;
        self.children.check(heap)?;
        let (len, children) = (self.entries.len(), self.children.len());
        let is_leaf = levels == 1;
        ensure(
            children == if is_leaf { 0 } else { len + 1 },
            "B1",
            "a leaf above others, or another number of children",
            children,
        )?;
        let fewest = match is_root {
            true => usize::from(!is_leaf),
            false => Self::FEWEST,
        };
        ensure(
            fewest <= len && len <= Self::MOST,
            "B3",
            "too few entries, or too many",
            len,
        )?;
        let has_room = self.entries.capacity(heap) >= Self::MOST
            && (is_leaf || self.children.capacity(heap) > Self::MOST);
        ensure(
            has_room || (is_root && is_leaf),
            "B3",
            "a node without room",
            len,
        )?;
        let mut counted = len;
        for child in self.children.iter(heap) {
            counted += child.check(heap, levels - 1, false)?;
        }
        Ok(counted)
    }
}
