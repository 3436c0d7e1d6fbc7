//! A node of an ordered map: entries, and the children before, between and behind them.
//!
//! All nodes but the root have room for [`Node::MOST`] entries from the beginning on: one size of
//! objects, and no call but a split allocates.
#![deny(unsafe_code)]

use core::cmp::Ordering;

use surefit_core::Refused;

use crate::clone::{TryClone, clone_with_capacity};
use crate::compare::Compare;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::release::Release;
use crate::storage::Vec;

/// The bytes of the entries of a full node, unless entries are small or large.
const BYTES: usize = 512;

/// A node. Without children it is a leaf.
pub(super) struct Node<K, V, N: Names> {
    pub(super) entries: Vec<(K, V), N>,
    pub(super) children: Vec<Self, N>,
}

/// What is returned where a copy of a node is refused: the part that was copied, what was copied of
/// an entry, and what was exhausted.
pub(super) type Refusal<K, V, N, P> = (Node<K, V, N>, Option<P>, Refused);

impl<K, V, N: Names> Default for Node<K, V, N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K, V, N: Names> Node<K, V, N> {
    /// The fewest children of a node that is neither root nor leaf.
    pub(super) const HALF: usize = match BYTES.checked_div(size_of::<(K, V)>()) {
        Some(0..8) => 4,
        Some(most @ 8..32) => most / 2,
        _ => 16,
    };

    /// The most entries of a node.
    pub(super) const MOST: usize = 2 * Self::HALF - 1;

    /// The fewest entries of a node that is not the root.
    pub(super) const FEWEST: usize = Self::HALF - 1;

    /// A leaf without entries, and without an object.
    pub(super) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            children: Vec::new(),
        }
    }

    /// A node without entries, with room for all that it may have.
    ///
    /// # Errors
    /// What was exhausted, and what was allocated before.
    pub(super) fn with_room<H: ByteHeap<Names = N>>(
        heap: &H,
        is_leaf: bool,
    ) -> Result<Self, (Self, Refused)> {
        let mut node = Self::new();
        match Vec::with_capacity(heap, Self::MOST) {
            Ok(entries) => node.entries = entries,
            Err(refused) => return Err((node, refused)),
        }
        if !is_leaf {
            match Vec::with_capacity(heap, Self::MOST + 1) {
                Ok(children) => node.children = children,
                Err(refused) => return Err((node, refused)),
            }
        }
        Ok(node)
    }

    #[inline]
    pub(super) const fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    #[inline]
    pub(super) const fn is_full(&self) -> bool {
        self.entries.len() == Self::MOST
    }

    /// An entry.
    #[inline]
    pub(super) fn entry<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
        index: usize,
    ) -> &'a (K, V) {
        self.entries
            .get(heap, index)
            .expect("the index of an entry")
    }

    /// A child.
    #[inline]
    pub(super) fn child<'a, H: ByteHeap<Names = N>>(
        &'a self,
        heap: &'a H,
        index: usize,
    ) -> &'a Self {
        self.children
            .get(heap, index)
            .expect("the index of a child")
    }

    /// A child, mutable.
    #[inline]
    pub(super) fn child_mut<'a, H: ByteHeap<Names = N>>(
        &'a mut self,
        heap: &'a H,
        index: usize,
    ) -> &'a mut Self {
        let child = self.children.get_mut(heap, index);
        child.expect("the index of a child")
    }

    /// How many entries are before a key, and whether the next one has it: as `compare` says how a
    /// key is to it.
    #[inline]
    pub(super) fn search<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
        mut compare: impl FnMut(&K) -> Ordering,
    ) -> (usize, bool) {
        match self.entries.contiguous(heap) {
            Some(entries) => match entries.binary_search_by(|(key, _)| compare(key)) {
                Ok(at) => (at, true),
                Err(at) => (at, false),
            },
            None => self.search_in_pieces(heap, compare),
        }
    }

    /// As `search`, of a node whose entries are in pieces.
    #[inline(never)]
    fn search_in_pieces<H: ByteHeap<Names = N>>(
        &self,
        heap: &H,
        mut compare: impl FnMut(&K) -> Ordering,
    ) -> (usize, bool) {
        let mut before = 0;
        for slice in self.entries.slices(heap) {
            match slice.binary_search_by(|(key, _)| compare(key)) {
                Ok(at) => return (before + at, true),
                Err(at) if at < slice.len() => return (before + at, false),
                Err(at) => before += at,
            }
        }
        (before, false)
    }

    /// As `search`, for a query.
    #[inline]
    pub(super) fn find<H: ByteHeap<Names = N>, Q: ?Sized>(
        &self,
        heap: &H,
        query: &Q,
    ) -> (usize, bool)
    where
        K: Compare<H, Q>,
    {
        self.search(heap, |key| key.compare(query, heap))
    }

    // ---- growing -------------------------------------------------------------------------------

    /// Splits a full child: its upper half goes to a new node behind it, which has room, and the
    /// entry between them comes here. There is room here.
    pub(super) fn split_child<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        index: usize,
        mut upper: Self,
    ) where
        K: Send,
        V: Send,
    {
        let child = self.child_mut(heap, index);
        move_end(heap, &mut child.entries, Self::HALF, &mut upper.entries);
        if !child.is_leaf() {
            move_end(heap, &mut child.children, Self::HALF, &mut upper.children);
        }
        let between = child.entries.pop(heap).expect("a full node");
        self.entries.insert_within_capacity(heap, index, between);
        self.children.insert_within_capacity(heap, index + 1, upper);
    }

    // ---- shrinking -----------------------------------------------------------------------------

    /// Gives a child that has too few entries one of its neighbour's, or makes one node of both;
    /// the one that is not needed then.
    pub(super) fn fill_child<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        index: usize,
    ) -> Option<Self>
    where
        K: Send,
        V: Send,
    {
        let has_more = |it: Option<&Self>| it.is_some_and(|it| it.entries.len() > Self::FEWEST);
        let before = index.checked_sub(1);
        if before.is_some_and(|before| has_more(self.children.get(heap, before))) {
            self.take_from_before(heap, index);
            return None;
        }
        if has_more(self.children.get(heap, index + 1)) {
            self.take_from_behind(heap, index);
            return None;
        }
        // The root has two children at least, so there is one before or behind.
        Some(self.merge(heap, before.unwrap_or(index)))
    }

    /// Moves the last entry and child of the node before a child to its beginning.
    fn take_from_before<H: ByteHeap<Names = N>>(&mut self, heap: &H, index: usize)
    where
        K: Send,
        V: Send,
    {
        let before = self.child_mut(heap, index - 1);
        let (entry, child) = (before.entries.pop(heap), before.children.pop(heap));
        let between = self.exchange(heap, index - 1, entry.expect("it has more"));
        let node = self.child_mut(heap, index);
        node.entries.insert_within_capacity(heap, 0, between);
        if let Some(child) = child {
            node.children.insert_within_capacity(heap, 0, child);
        }
    }

    /// Moves the first entry and child of the node behind a child to its end.
    fn take_from_behind<H: ByteHeap<Names = N>>(&mut self, heap: &H, index: usize)
    where
        K: Send,
        V: Send,
    {
        let behind = self.child_mut(heap, index + 1);
        let entry = behind.entries.remove(heap, 0);
        let child = (!behind.is_leaf()).then(|| behind.children.remove(heap, 0));
        let between = self.exchange(heap, index, entry);
        let node = self.child_mut(heap, index);
        push(heap, &mut node.entries, between);
        if let Some(child) = child {
            push(heap, &mut node.children, child);
        }
    }

    /// Puts an entry into the place of another one, which it returns.
    pub(super) fn exchange<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &H,
        index: usize,
        entry: (K, V),
    ) -> (K, V) {
        let there = self.entries.get_mut(heap, index);
        core::mem::replace(there.expect("the index of an entry"), entry)
    }

    /// Moves the node behind a child, and the entry between them, into the child; returns that
    /// node, which is empty.
    fn merge<H: ByteHeap<Names = N>>(&mut self, heap: &H, index: usize) -> Self
    where
        K: Send,
        V: Send,
    {
        let mut behind = self.children.remove(heap, index + 1);
        let between = self.entries.remove(heap, index);
        let node = self.child_mut(heap, index);
        push(heap, &mut node.entries, between);
        move_end(heap, &mut behind.entries, 0, &mut node.entries);
        move_end(heap, &mut behind.children, 0, &mut node.children);
        behind
    }

    /// Frees the objects of a node without entries and children. May move objects.
    pub(super) fn free_empty<H: ByteHeap<Names = N>>(mut self, heap: &mut H) {
        debug_assert!(self.entries.is_empty() && self.children.is_empty());
        // An object without elements is freed, which is not refused.
        let _ = self.entries.shrink_to_fit(heap);
        let _ = self.children.shrink_to_fit(heap);
    }

    // ---- copies --------------------------------------------------------------------------------

    /// A copy of the node and all below it.
    pub(super) fn copy<H: ByteHeap<Names = N>, P>(
        &self,
        heap: &H,
    ) -> Result<Self, Refusal<K, V, N, P>>
    where
        K: Send,
        V: Send,
        (K, V): TryClone<H, Partial = P>,
    {
        let mut copy = Self::new();
        match clone_with_capacity(&self.entries, heap, Self::MOST) {
            Ok(entries) => copy.entries = entries,
            Err((Some((entries, partial)), refused)) => {
                copy.entries = entries;
                return Err((copy, partial, refused));
            }
            Err((None, refused)) => return Err((copy, None, refused)),
        }
        if self.is_leaf() {
            return Ok(copy);
        }
        match Vec::with_capacity(heap, Self::MOST + 1) {
            Ok(children) => copy.children = children,
            Err(refused) => return Err((copy, None, refused)),
        }
        for child in self.children.iter(heap) {
            let (child, refusal) = match child.copy(heap) {
                Ok(child) => (child, None),
                Err((child, partial, refused)) => (child, Some((partial, refused))),
            };
            push(heap, &mut copy.children, child);
            if let Some((partial, refused)) = refusal {
                return Err((copy, partial, refused));
            }
        }
        Ok(copy)
    }
}

/// Appends an element for which there is room.
fn push<T: Send, N: Names, H: ByteHeap<Names = N>>(heap: &H, vec: &mut Vec<T, N>, value: T) {
    let pushed = vec.push_within_capacity(heap, value);
    debug_assert!(pushed.is_ok(), "room was made");
}

/// Moves the elements from `start` on to the end of another vector, which has room, in their order.
fn move_end<T: Send, N: Names, H: ByteHeap<Names = N>>(
    heap: &H,
    from: &mut Vec<T, N>,
    start: usize,
    to: &mut Vec<T, N>,
) {
    from.reverse(heap, start, from.len());
    while from.len() > start {
        if let Some(value) = from.pop(heap) {
            push(heap, to, value);
        }
    }
}

impl<K: Release<H>, V: Release<H>, N: Names, H: ByteHeap<Names = N>> Release<H> for Node<K, V, N> {
    fn release(self, heap: &mut H) {
        (self.entries, self.children).release(heap);
    }
}
