//! A place between two entries of an ordered map.
#![deny(unsafe_code)]

use core::cmp::Ordering;

use super::node::Node;
use super::path::LEVELS;
use crate::heap::ByteHeap;
use crate::names::Names;

/// A node, and the index of an entry or of a child.
type Step<'a, K, V, N> = Option<(&'a Node<K, V, N>, usize)>;

/// The place before an entry, or behind all of them. From the root on: nodes and the indices of
/// children that lead to it, and at last a node and the index of the entry; no nodes behind all.
pub(super) struct Cursor<'a, K, V, N: Names> {
    root: &'a Node<K, V, N>,
    way: [Step<'a, K, V, N>; LEVELS],
    levels: usize,
}

impl<K, V, N: Names> Clone for Cursor<'_, K, V, N> {
    fn clone(&self) -> Self {
        Self { ..*self }
    }
}

impl<'a, K, V, N: Names> Cursor<'a, K, V, N> {
    /// The place behind all entries.
    pub(super) const fn behind(root: &'a Node<K, V, N>) -> Self {
        Self {
            root,
            way: [None; LEVELS],
            levels: 0,
        }
    }

    /// The place before the first entry.
    pub(super) fn before<H: ByteHeap<Names = N>>(root: &'a Node<K, V, N>, heap: &'a H) -> Self {
        Self::search(root, heap, |_| Ordering::Greater)
    }

    /// The place before the first entry that is not less, as `compare` says how a key is to what is
    /// sought. It never says that a key is equal.
    pub(super) fn search<H: ByteHeap<Names = N>>(
        root: &'a Node<K, V, N>,
        heap: &'a H,
        mut compare: impl FnMut(&K) -> Ordering,
    ) -> Self {
        let (mut cursor, mut node) = (Self::behind(root), root);
        loop {
            let (index, _) = node.search(heap, &mut compare);
            cursor.push(node, index);
            if node.is_leaf() {
                cursor.ascend();
                return cursor;
            }
            node = node.child(heap, index);
        }
    }

    fn push(&mut self, node: &'a Node<K, V, N>, index: usize) {
        self.way[self.levels] = Some((node, index));
        self.levels += 1;
    }

    fn top(&self) -> Step<'a, K, V, N> {
        self.way[self.levels.checked_sub(1)?]
    }

    /// From behind the last entry of a node, goes to the next one above.
    fn ascend(&mut self) {
        while let Some((node, index)) = self.top() {
            if index < node.entries.len() {
                return;
            }
            self.levels -= 1;
        }
    }

    /// The entries from the place on up to another one that is not before it, as far as they are in
    /// one slice of a node; goes to the place behind them. None, if both are the same place.
    pub(super) fn next_slice<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &'a H,
        end: &Self,
    ) -> &'a [(K, V)] {
        let Some((mut node, index)) = self.top().filter(|_| !self.is(end)) else {
            return &[];
        };
        self.levels -= 1;
        if node.is_leaf() {
            let end = match end.top() {
                Some((last, end)) if core::ptr::eq(last, node) => end,
                _ => node.entries.len(),
            };
            let slice = node.entries.slice_at(heap, index);
            let slice = &slice[..slice.len().min(end - index)];
            self.push(node, index + slice.len());
            self.ascend();
            return slice;
        }
        let entry = node.entry(heap, index);
        self.push(node, index + 1);
        node = node.child(heap, index + 1);
        while !node.is_leaf() {
            self.push(node, 0);
            node = node.child(heap, 0);
        }
        self.push(node, 0);
        core::slice::from_ref(entry)
    }

    /// The entry before the place; goes to the place before it.
    pub(super) fn back<H: ByteHeap<Names = N>>(&mut self, heap: &'a H) -> Option<&'a (K, V)> {
        let (mut node, mut index) = match self.top() {
            Some((node, index)) if node.is_leaf() => (node, index),
            place => {
                // What is before an entry of a node with children is at the end of one of them.
                let child = place.map(|(node, index)| node.child(heap, index));
                let mut node = child.unwrap_or(self.root);
                while !node.is_leaf() {
                    self.push(node, node.entries.len());
                    node = node.child(heap, node.entries.len());
                }
                self.push(node, node.entries.len());
                (node, node.entries.len())
            }
        };
        while index == 0 {
            self.levels -= 1;
            (node, index) = self.top()?;
        }
        self.levels -= 1;
        self.push(node, index - 1);
        Some(node.entry(heap, index - 1))
    }

    /// Whether this is another place of the same map.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self.top(), other.top()) {
            (Some((one, index)), Some((two, other))) => core::ptr::eq(one, two) && index == other,
            (one, two) => one.is_none() && two.is_none(),
        }
    }

    /// Whether this place is behind another one of the same map.
    pub(super) fn is_behind(&self, other: &Self) -> bool {
        for level in 0..self.levels.min(other.levels) {
            let (Some((_, one)), Some((_, two))) = (self.way[level], other.way[level]) else {
                break;
            };
            let ends = (level + 1 == self.levels, level + 1 == other.levels);
            match one.cmp(&two) {
                Ordering::Equal if ends == (false, false) => {}
                // A child is before the entry with its index.
                Ordering::Equal => return ends == (true, false),
                order => return order.is_gt(),
            }
        }
        // Behind all entries are no nodes.
        self.levels == 0 && other.levels > 0
    }
}
