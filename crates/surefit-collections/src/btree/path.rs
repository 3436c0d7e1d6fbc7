//! The way from the root to an entry, or to where one would be.
#![deny(unsafe_code)]

use super::node::Node;
use crate::heap::ByteHeap;
use crate::names::Names;

/// The most levels: those of 4^24 entries in nodes that are half full.
pub(super) const LEVELS: usize = 24;

/// The indices of children on the way from the root, and the index of an entry in the last node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// Indices are below 32.
    at: [u8; LEVELS],
    /// One at least, in the path of an entry.
    levels: usize,
}

impl Path {
    pub(super) const fn new() -> Self {
        Self {
            at: [0; LEVELS],
            levels: 0,
        }
    }

    #[inline]
    pub(super) const fn levels(&self) -> usize {
        self.levels
    }

    /// The index at a level.
    #[inline]
    pub(super) const fn at(&self, level: usize) -> usize {
        self.at[level] as usize
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "indices are below 32")]
    pub(super) const fn set(&mut self, level: usize, index: usize) {
        self.at[level] = index as u8;
    }

    /// Adds a level below the others.
    #[inline]
    pub(super) const fn push(&mut self, index: usize) {
        self.levels += 1;
        self.set(self.levels - 1, index);
    }

    /// Adds the level of a new root above the others, whose only child leads on.
    pub(super) fn add_root(&mut self) {
        self.at.rotate_right(1);
        self.at[0] = 0;
        self.levels += 1;
    }

    /// Goes on leading to the same place when the node of a level was split.
    pub(super) const fn split(&mut self, level: usize, half: usize) {
        if self.at(level) >= half {
            self.set(level, self.at(level) - half);
            self.set(level - 1, self.at(level - 1) + 1);
        }
    }

    /// Whether another path leads to the same node.
    pub(super) fn is_beside(&self, other: &Self) -> bool {
        let above = self.levels - 1;
        self.levels == other.levels && self.at[..above] == other.at[..above]
    }

    /// The node of a level.
    pub(super) fn node<'a, K, V, N: Names, H: ByteHeap<Names = N>>(
        &self,
        root: &'a Node<K, V, N>,
        heap: &'a H,
        level: usize,
    ) -> &'a Node<K, V, N> {
        let above = self.at[..level].iter();
        above.fold(root, |node, index| node.child(heap, usize::from(*index)))
    }

    /// The node of a level, mutable.
    pub(super) fn node_mut<'a, K, V, N: Names, H: ByteHeap<Names = N>>(
        &self,
        root: &'a mut Node<K, V, N>,
        heap: &'a H,
        level: usize,
    ) -> &'a mut Node<K, V, N> {
        let above = self.at[..level].iter();
        above.fold(root, |node, index| {
            node.child_mut(heap, usize::from(*index))
        })
    }

    /// The last node.
    pub(super) fn last<'a, K, V, N: Names, H: ByteHeap<Names = N>>(
        &self,
        root: &'a Node<K, V, N>,
        heap: &'a H,
    ) -> &'a Node<K, V, N> {
        self.node(root, heap, self.levels - 1)
    }

    /// The last node, mutable.
    pub(super) fn last_mut<'a, K, V, N: Names, H: ByteHeap<Names = N>>(
        &self,
        root: &'a mut Node<K, V, N>,
        heap: &'a H,
    ) -> &'a mut Node<K, V, N> {
        self.node_mut(root, heap, self.levels - 1)
    }

    /// The index in the last node.
    #[inline]
    pub(super) const fn index(&self) -> usize {
        self.at(self.levels - 1)
    }

    /// Goes on to the first entry of a node and of all below it.
    pub(super) fn push_first<K, V, N: Names, H: ByteHeap<Names = N>>(
        &mut self,
        node: &Node<K, V, N>,
        heap: &H,
    ) {
        let mut node = node;
        self.push(0);
        while !node.is_leaf() {
            node = node.child(heap, 0);
            self.push(0);
        }
    }

    /// Goes on to the last entry of a node and of all below it, which is not empty.
    pub(super) fn push_last<K, V, N: Names, H: ByteHeap<Names = N>>(
        &mut self,
        node: &Node<K, V, N>,
        heap: &H,
    ) {
        let mut node = node;
        while !node.is_leaf() {
            self.push(node.entries.len());
            node = node.child(heap, node.entries.len());
        }
        self.push(node.entries.len() - 1);
    }

    /// Goes to the next entry; whether there is one.
    pub(super) fn step<K, V, N: Names, H: ByteHeap<Names = N>>(
        &mut self,
        root: &Node<K, V, N>,
        heap: &H,
    ) -> bool {
        let node = self.last(root, heap);
        self.set(self.levels - 1, self.index() + 1);
        if !node.is_leaf() {
            self.push_first(node.child(heap, self.index()), heap);
            return true;
        }
        while self.levels > 0 {
            if self.index() < self.last(root, heap).entries.len() {
                return true;
            }
            self.levels -= 1;
        }
        false
    }
}
