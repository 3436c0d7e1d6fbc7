//! The program that allocates: where its objects are, and its roots.

use std::collections::HashMap;

use surefit_gc::{Client, Clock, Edges, Incremental, Object, Scanned, Space, Stepwise};
use surefit_trace::graph::{self, Change};

use super::heap::Heap;
use super::roots::Roots;

/// The word of an object that holds its id in the recording.
const ID: u32 = 0;
/// The word that holds its class.
const CLASS: u32 = 1;
/// The word that holds the number of its slots, and [`HAS_CLASS_LEVEL`].
const SLOTS: u32 = 2;
/// The word of its first slot.
const FIRST_SLOT: u32 = 3;
/// Set in the word of slots if the object holds references of its class.
const HAS_CLASS_LEVEL: u32 = 1 << 31;
/// The word of slots of the object that stands for the roots: no other has as many.
const OF_ROOTS: u32 = u32::MAX;

/// Where all objects are, and which of them are roots.
#[derive(Debug)]
pub(super) struct Mutator {
    /// For each id, the object that was allocated last with it, dead or alive.
    places: Vec<Option<Object>>,
    roots: Roots,
    /// The ids that class objects refer to for their classes: slots beside the heap.
    class_level: HashMap<u32, Vec<u32>>,
}

/// A reference between two ids to an object that the collector freed. An id of 0 stands for the
/// roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Freed {
    pub(super) from: u32,
    pub(super) to: u32,
}

impl Mutator {
    /// A program that has allocated nothing yet and uses ids up to `last_id`.
    pub(super) fn new(last_id: u32) -> Self {
        Self {
            places: vec![None; last_id as usize + 1],
            roots: Roots::default(),
            class_level: HashMap::new(),
        }
    }

    /// Lets a new object stand for the roots: a collector gets them in parts. Nothing may be a root
    /// yet.
    pub(super) fn stand_for_roots<G: Heap>(&mut self, gc: &mut G, object: Object) {
        gc.store_data(object, SLOTS, OF_ROOTS);
        self.roots.table = Some(object);
    }

    /// Writes the header of a new object, and makes it a root until the next walk ends.
    #[inline]
    pub(super) fn give<G: Heap>(&mut self, gc: &mut G, given: &graph::Object, object: Object) {
        gc.store_data(object, ID, given.id);
        gc.store_data(object, CLASS, given.class);
        gc.store_data(object, SLOTS, given.slots);
        self.places[given.id as usize] = Some(object);
        self.roots.given.push(object);
    }

    /// Makes room for `given` objects, twice, so that none has to be made while the clock runs.
    pub(super) fn expect(&mut self, given: usize) {
        self.roots.given.reserve(2 * given);
    }

    /// Whether an object was allocated with this id before.
    #[inline]
    pub(super) fn knows(&self, id: u32) -> bool {
        self.places[id as usize].is_some()
    }

    /// As [`Mutator::give`], for objects that were given already. [`Mutator::forget_again`] undoes
    /// all changes.
    pub(super) fn give_again<G: Heap>(&mut self, gc: &mut G, given: &[graph::Object]) {
        for given in given {
            if let Some(object) = self.places[given.id as usize] {
                self.give(gc, given, object);
            }
        }
    }

    /// Forgets that `given` objects were given again.
    pub(super) fn forget_again(&mut self, given: usize) {
        self.roots.given.truncate(self.roots.given.len() - given);
    }

    /// The object with an id, unless the collector has freed it.
    pub(super) fn find<G: Heap>(&self, gc: &G, id: u32) -> Option<Object> {
        let object = self.places[id as usize]?;
        (gc.contains(object) && gc.load(object, ID) == id).then_some(object)
    }

    /// Bytes of the objects that roots lead to now, and of the one that stands for the roots. It is
    /// a search of its own, which changes nothing.
    pub(super) fn reached_bytes<S: Stepwise, K: Clock>(&self, gc: &Incremental<'_, S, K>) -> u64 {
        let bytes = |object| 4 * u64::from(gc.words(object));
        let mut seen = vec![false; self.places.len()];
        let mut stack = self.roots.all(&self.places);
        let mut sum = self.roots.table.map_or(0, bytes);
        while let Some(object) = stack.pop() {
            let id = gc.load(object, ID);
            if std::mem::replace(&mut seen[id as usize], true) {
                continue;
            }
            sum += bytes(object);
            let slots = gc.load(object, SLOTS) & !HAS_CLASS_LEVEL;
            stack.extend((0..slots).filter_map(|slot| gc.reference(object, FIRST_SLOT + slot)));
            let beside = self.class_level.get(&id).into_iter().flatten();
            stack.extend(beside.filter_map(|&id| self.places[id as usize]));
        }
        sum
    }

    /// Handles an object that is there again after a walk missed it. Returns whether it must be
    /// allocated again.
    ///
    /// The walk reports its references again.
    pub(super) fn revive<G: Heap>(&mut self, gc: &mut G, id: u32) -> bool {
        self.forget_beside(gc, id);
        let found = self.find(gc, id);
        let Some(object) = found.filter(|&object| gc.upgrade(object)) else {
            return true;
        };
        clear(gc, object);
        self.roots.given.push(object);
        false
    }

    /// Applies a walk: first the references of the objects that changed, then the roots.
    pub(super) fn apply<G: Heap>(
        &mut self,
        gc: &mut G,
        walk: &graph::Walk,
        mut freed: impl FnMut(Freed),
    ) {
        walk.changes()
            .for_each(|change| self.change(gc, &change, &mut freed));
        for &id in &walk.roots_gained {
            match self.find(gc, id) {
                Some(_) => {
                    self.roots.recorded.insert(id);
                }
                None => freed(Freed { from: 0, to: id }),
            }
        }
        for id in &walk.roots_lost {
            self.roots.recorded.remove(id);
            self.places[*id as usize]
                .into_iter()
                .for_each(|object| gc.forget(object));
        }
        self.roots
            .given
            .drain(..)
            .for_each(|object| gc.forget(object));
    }

    /// Replaces all references of an object.
    fn change<G: Heap>(&mut self, gc: &mut G, change: &Change<'_>, freed: &mut impl FnMut(Freed)) {
        let from = change.object;
        let Some(object) = self.find(gc, from) else {
            return freed(Freed { from: 0, to: from });
        };
        clear(gc, object);
        for reference in change.references {
            let to = reference.target;
            match self.find(gc, to) {
                Some(target) => gc.store(object, FIRST_SLOT + reference.slot, Some(target)),
                None => freed(Freed { from, to }),
            }
        }
        self.forget_beside(gc, from);
        let found = |&&to: &&u32| {
            let is_found = self.find(gc, to).is_some();
            if !is_found {
                freed(Freed { from, to });
            }
            is_found
        };
        let class_level: Vec<_> = change.class_level.iter().filter(found).copied().collect();
        if !class_level.is_empty() {
            gc.store_data(object, SLOTS, gc.load(object, SLOTS) | HAS_CLASS_LEVEL);
            self.class_level.insert(from, class_level);
        }
    }

    /// Forgets the slots beside the heap of an object. What they led to may not be marked yet.
    fn forget_beside<G: Heap>(&mut self, gc: &mut G, id: u32) {
        let old = self.class_level.remove(&id).into_iter().flatten();
        for object in old.filter_map(|id| self.places[id as usize]) {
            gc.upgrade(object);
        }
    }

    /// The slots beside the heap of an object that has some.
    #[cold]
    fn beside(&self, id: u32) -> &[u32] {
        self.class_level.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// Clears all references of an object.
fn clear<G: Heap>(gc: &mut G, object: Object) {
    let slots = gc.load(object, SLOTS) & !HAS_CLASS_LEVEL;
    gc.store_data(object, SLOTS, slots);
    (0..slots).for_each(|slot| gc.store(object, FIRST_SLOT + slot, None));
}

impl<S: Space> Client<S> for Mutator {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.roots.report(&self.places, edges);
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        let word = object.load(SLOTS);
        let slots = word & !HAS_CLASS_LEVEL;
        let beside = if word == slots {
            &[]
        } else if word == OF_ROOTS {
            return self.roots.report_part(&self.places, from, edges);
        } else {
            self.beside(object.load(ID))
        };
        let all = slots + beside.len() as u32;
        let end = all.min(from.saturating_add(Edges::STRIDE));
        if end < all {
            edges.again_from(end);
        }
        for slot in from..end.min(slots) {
            if let Some(target) = object.reference(FIRST_SLOT + slot) {
                edges.report(target);
            }
        }
        for slot in from.max(slots)..end {
            let id = beside[(slot - slots) as usize];
            if let Some(target) = self.places[id as usize] {
                edges.report(target);
            }
        }
    }
}
