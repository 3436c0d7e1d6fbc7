//! How entries come into an ordered map, and leave it.
#![deny(unsafe_code)]

use surefit_compact::Full;
use surefit_core::Refused;

use super::map::BTreeMap;
use super::node::Node;
use super::path::{LEVELS, Path};
use crate::clone::TryClone;
use crate::compare::Compare;
use crate::heap::ByteHeap;
use crate::names::Names;
use crate::release::{Later, Release, release_and_keep};

/// The entries for which the first insertion makes room.
const LEAST: usize = 4;

impl<K, V, N: Names> BTreeMap<K, V, N> {
    // ---- insertion -----------------------------------------------------------------------------

    /// Sets the value of a key. Returns the former value; the key that was there stays, and the new
    /// one is released. May move objects.
    ///
    /// # Errors
    /// The key, the value, and what was exhausted or [`Refused::ForeignHandle`]; the map is
    /// unchanged. [`Refused::TooLarge`] if a piece does not hold one entry, or 48 bytes.
    ///
    /// # Panics
    /// If the comparison of keys, or the release of the new key panics: what would have been
    /// returned is released, or what was given if it is not in the map. A second panic ends the
    /// process.
    ///
    /// # Complexity
    /// O(log entries); allocates and moves at most half a node for each level.
    pub fn insert<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        key: K,
        value: V,
    ) -> Result<Option<V>, Full<(K, V)>>
    where
        K: Compare<H, K> + Release<H> + Send,
        V: Release<H> + Send,
    {
        if !self.is_of(heap) {
            return Err(Full {
                value: (key, value),
                refused: Refused::ForeignHandle,
            });
        }
        let given = Later::new((key, value), heap);
        let (path, is_there) = self.find(given.heap, &given.value().0);
        let (key, value) = given.into_value();
        if is_there {
            let entry = self.entry_at(heap, &path);
            let former = core::mem::replace(&mut entry.1, value);
            return Ok(Some(release_and_keep(key, heap, former)));
        }
        self.add(heap, path, (key, value))?;
        Ok(None)
    }

    /// Adds an entry in the leaf to which a path leads; the path to where it is then.
    pub(super) fn add<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        mut path: Path,
        entry: (K, V),
    ) -> Result<Path, Full<(K, V)>>
    where
        K: Send,
        V: Send,
    {
        let mut leaf = path.last_mut(&mut self.root, heap);
        if leaf.is_full() || leaf.entries.len() == leaf.entries.capacity(heap) {
            if let Err(refused) = self.make_room(heap, &mut path) {
                return Err(Full {
                    value: entry,
                    refused,
                });
            }
            leaf = path.last_mut(&mut self.root, heap);
        }
        leaf.entries
            .insert_within_capacity(heap, path.index(), entry);
        self.len += 1;
        Ok(path)
    }

    /// Makes room for an entry in the leaf to which a path leads, which has none, and changes the
    /// path to where that is then.
    #[inline(never)]
    fn make_room<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        path: &mut Path,
    ) -> Result<(), Refused>
    where
        K: Send,
        V: Send,
    {
        if path.levels() == 1 && !self.root.is_full() {
            return self.lengthen_root(heap);
        }
        let full = (0..path.levels()).rev();
        let full = full.take_while(|level| path.node(&self.root, heap, *level).is_full());
        self.split(heap, path, full.count())
    }

    /// Makes room in a root that is a leaf, and not full, but has none.
    fn lengthen_root<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Result<(), Refused> {
        let entries = &mut self.root.entries;
        let len = entries.len();
        let doubled = (2 * len).max(LEAST).min(Node::<K, V, N>::MOST);
        match entries.reserve_exact(heap, doubled - len) {
            Ok(()) => Ok(()),
            Err(_) => entries.reserve_exact(heap, 1),
        }
    }

    /// Splits the last `full` nodes of a path, which are full, and changes the path to where it
    /// leads then.
    fn split<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        path: &mut Path,
        full: usize,
    ) -> Result<(), Refused>
    where
        K: Send,
        V: Send,
    {
        let is_root_full = full == path.levels();
        if is_root_full && path.levels() == LEVELS {
            return Err(Refused::TooLarge { limit: LEVELS });
        }
        // All that is needed, the leaf first, before anything changes.
        let mut spares: [Option<Node<K, V, N>>; LEVELS] = [const { None }; LEVELS];
        let needed = full + usize::from(is_root_full);
        for (level, spare) in spares.iter_mut().enumerate().take(needed) {
            match Node::with_room(heap, level == 0) {
                Ok(node) => *spare = Some(node),
                Err((node, refused)) => {
                    node.free_empty(heap);
                    let allocated = spares.into_iter().flatten();
                    allocated.for_each(|node| node.free_empty(heap));
                    return Err(refused);
                }
            }
        }
        let mut spares = spares.into_iter().flatten().rev();
        let mut take = || spares.next().expect("one for each node");
        if is_root_full {
            let below = core::mem::replace(&mut self.root, take());
            self.root.children.insert_within_capacity(heap, 0, below);
            path.add_root();
        }
        // From the top down: each parent has room.
        for level in path.levels() - full..path.levels() {
            let parent = path.node_mut(&mut self.root, heap, level - 1);
            parent.split_child(heap, path.at(level - 1), take());
            path.split(level, Node::<K, V, N>::HALF);
        }
        Ok(())
    }

    // ---- removal -------------------------------------------------------------------------------

    /// Takes the entry at a path out, and fills nodes that have too few entries then.
    pub(super) fn remove_at<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, path: &Path) -> (K, V)
    where
        K: Send,
        V: Send,
    {
        let mut way = *path;
        let node = path.last_mut(&mut self.root, heap);
        let entry = if node.is_leaf() {
            node.entries.remove(heap, path.index())
        } else {
            // The entry before it, which is the last one of a leaf, takes its place.
            let level = path.levels();
            way.push_last(node.child(heap, path.index()), heap);
            debug_assert!(way.levels() > level);
            let leaf = way.last_mut(&mut self.root, heap);
            let before = leaf.entries.pop(heap).expect("a leaf has entries");
            let node = path.last_mut(&mut self.root, heap);
            node.exchange(heap, path.index(), before)
        };
        self.len -= 1;
        self.fill(heap, &way);
        entry
    }

    /// Fills nodes of a path that have too few entries, from the leaf up.
    fn fill<H: ByteHeap<Names = N>>(&mut self, heap: &mut H, path: &Path)
    where
        K: Send,
        V: Send,
    {
        for level in (1..path.levels()).rev() {
            let node = path.node(&self.root, heap, level);
            if node.entries.len() >= Node::<K, V, N>::FEWEST {
                return;
            }
            let parent = path.node_mut(&mut self.root, heap, level - 1);
            if let Some(empty) = parent.fill_child(heap, path.at(level - 1)) {
                empty.free_empty(heap);
            }
        }
        if self.root.entries.is_empty() {
            let below = self.root.children.pop(heap).unwrap_or_default();
            core::mem::replace(&mut self.root, below).free_empty(heap);
        }
    }

    /// Takes a value out, and releases its key. May move objects.
    ///
    /// # Panics
    /// If the comparison of keys, or the release of the key panics; then the value is released.
    ///
    /// # Complexity
    /// O(log entries); moves at most a node for each level.
    pub fn remove<H: ByteHeap<Names = N>, Q: ?Sized>(
        &mut self,
        heap: &mut H,
        query: &Q,
    ) -> Option<V>
    where
        K: Compare<H, Q> + Release<H> + Send,
        V: Release<H> + Send,
    {
        let (key, value) = self.remove_entry(heap, query)?;
        Some(release_and_keep(key, heap, value))
    }

    /// Takes a key and its value out. May move objects.
    ///
    /// # Panics
    /// If the comparison of keys panics.
    ///
    /// # Complexity
    /// As [`BTreeMap::remove`].
    pub fn remove_entry<H: ByteHeap<Names = N>, Q: ?Sized>(
        &mut self,
        heap: &mut H,
        query: &Q,
    ) -> Option<(K, V)>
    where
        K: Compare<H, Q> + Send,
        V: Send,
    {
        let (path, is_there) = self.find(heap, query);
        is_there.then(|| self.remove_at(heap, &path))
    }

    /// Takes the first key and its value out. May move objects.
    ///
    /// # Complexity
    /// As [`BTreeMap::remove`].
    pub fn pop_first<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Option<(K, V)>
    where
        K: Send,
        V: Send,
    {
        let path = self.end(heap, false)?;
        Some(self.remove_at(heap, &path))
    }

    /// Takes the last key and its value out. May move objects.
    ///
    /// # Complexity
    /// As [`BTreeMap::remove`].
    pub fn pop_last<H: ByteHeap<Names = N>>(&mut self, heap: &mut H) -> Option<(K, V)>
    where
        K: Send,
        V: Send,
    {
        let path = self.end(heap, true)?;
        Some(self.remove_at(heap, &path))
    }

    /// Releases all entries for which `keep` returns `false`: they are looked at in their order.
    /// May move objects.
    ///
    /// # Panics
    /// If `keep` panics: those for which it returned `false` are released, and all others are still
    /// there; a second panic ends the process. If the release of an entry panics: the others are
    /// released.
    ///
    /// # Complexity
    /// O(entries · log entries).
    pub fn retain<H: ByteHeap<Names = N>>(
        &mut self,
        heap: &mut H,
        mut keep: impl FnMut(&K, &mut V) -> bool,
    ) where
        K: Release<H> + Send,
        V: Release<H> + Send,
    {
        let first = self.end(heap, false);
        let mut sorted = Sorted {
            kept: first,
            next: first,
            released: 0,
            map: self,
            heap,
        };
        while let Some(path) = sorted.next {
            let (key, value) = sorted.map.entry_at(sorted.heap, &path);
            let is_kept = keep(key, value);
            sorted.put(&path, is_kept);
        }
    }

    /// Exchanges two entries: keys are out of their order then.
    fn swap<H: ByteHeap<Names = N>>(&mut self, heap: &H, one: &Path, two: &Path) {
        // The entries of one node, for a moment elsewhere.
        let of_one = &mut one.last_mut(&mut self.root, heap).entries;
        if one.is_beside(two) {
            return of_one.swap(heap, one.index(), two.index());
        }
        let mut of_one = core::mem::take(of_one);
        let of_two = &mut two.last_mut(&mut self.root, heap).entries;
        if let (Some(one), Some(two)) = (
            of_one.get_mut(heap, one.index()),
            of_two.get_mut(heap, two.index()),
        ) {
            core::mem::swap(one, two);
        }
        one.last_mut(&mut self.root, heap).entries = of_one;
    }

    /// Releases all entries, and frees all objects. May move objects.
    ///
    /// # Panics
    /// If the map has an object of another heap. If the release of a key or a value panics: the
    /// others are released.
    pub fn clear<H: ByteHeap<Names = N>>(&mut self, heap: &mut H)
    where
        K: Release<H>,
        V: Release<H>,
    {
        assert!(self.is_of(heap), "the map belongs to another heap");
        core::mem::take(self).free(heap);
    }

    /// Frees the map, and releases its entries. May move objects.
    ///
    /// # Panics
    /// If the map has an object of another heap: it leaks. If the release of a key or a value
    /// panics: the others are released, and all objects are freed; a second panic ends the process.
    pub fn free<H: ByteHeap<Names = N>>(self, heap: &mut H)
    where
        K: Release<H>,
        V: Release<H>,
    {
        assert!(self.is_of(heap), "the map belongs to another heap");
        self.root.release(heap);
    }

    /// A copy of the map, of its keys and values. Moves nothing unless it is refused.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; what was copied before is released.
    ///
    /// # Panics
    /// If the copy of a key or a value does: then what was copied before leaks.
    pub fn try_clone<H: ByteHeap<Names = N>>(&self, heap: &mut H) -> Result<Self, Refused>
    where
        K: TryClone<H, Partial: Release<H>> + Release<H> + Send,
        V: TryClone<H, Partial: Release<H>> + Release<H> + Send,
    {
        if !self.is_of(heap) {
            return Err(Refused::ForeignHandle);
        }
        if self.is_empty() {
            return Ok(Self::new());
        }
        match self.root.copy(&*heap) {
            Ok(root) => Ok(Self {
                root,
                len: self.len,
            }),
            Err((root, partial, refused)) => {
                (root, partial).release(heap);
                Err(refused)
            }
        }
    }
}

/// Entries that are kept in their order first, then those that go, then those that were not looked
/// at. When it is dropped, the keys are in their order again, and what goes is released.
struct Sorted<'m, 'h, K, V, H>
where
    K: Release<H> + Send,
    V: Release<H> + Send,
    H: ByteHeap,
{
    map: &'m mut BTreeMap<K, V, H::Names>,
    heap: &'h mut H,
    /// Behind the entries that are kept.
    kept: Option<Path>,
    /// The first entry that was not looked at.
    next: Option<Path>,
    /// How many entries go.
    released: usize,
}

impl<K, V, H> Sorted<'_, '_, K, V, H>
where
    K: Release<H> + Send,
    V: Release<H> + Send,
    H: ByteHeap,
{
    /// The path to the entry behind one.
    fn after(&self, mut path: Path) -> Option<Path> {
        path.step(&self.map.root, self.heap).then_some(path)
    }

    /// Puts the next entry to those that are kept, or to those that go.
    fn put(&mut self, next: &Path, is_kept: bool) {
        self.next = self.after(*next);
        match self.kept {
            Some(kept) if is_kept => {
                self.kept = self.after(kept);
                if self.released > 0 {
                    self.map.swap(self.heap, &kept, next);
                }
            }
            _ => self.released += 1,
        }
    }
}

impl<K, V, H> Drop for Sorted<'_, '_, K, V, H>
where
    K: Release<H> + Send,
    V: Release<H> + Send,
    H: ByteHeap,
{
    fn drop(&mut self) {
        // After a panic of `keep`, what was not looked at is kept.
        while let Some(next) = self.next {
            self.put(&next, true);
        }
        let mut gone = Gone {
            map: &mut *self.map,
            heap: &mut *self.heap,
            left: self.released,
        };
        gone.release_all();
    }
}

/// The last entries of a map, which are released, also if the release of one panics.
struct Gone<'m, 'h, K, V, H>
where
    K: Release<H> + Send,
    V: Release<H> + Send,
    H: ByteHeap,
{
    map: &'m mut BTreeMap<K, V, H::Names>,
    heap: &'h mut H,
    left: usize,
}

impl<K, V, H> Gone<'_, '_, K, V, H>
where
    K: Release<H> + Send,
    V: Release<H> + Send,
    H: ByteHeap,
{
    fn release_all(&mut self) {
        while let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            self.map.pop_last(self.heap).release(self.heap);
        }
    }
}

impl<K, V, H> Drop for Gone<'_, '_, K, V, H>
where
    K: Release<H> + Send,
    V: Release<H> + Send,
    H: ByteHeap,
{
    fn drop(&mut self) {
        self.release_all();
    }
}

impl<K, V, N, H> Release<H> for BTreeMap<K, V, N>
where
    K: Release<H>,
    V: Release<H>,
    N: Names,
    H: ByteHeap<Names = N>,
{
    fn release(self, heap: &mut H) {
        self.free(heap);
    }

    fn belongs_to(&self, heap: &H) -> bool {
        self.is_of(heap)
    }
}
