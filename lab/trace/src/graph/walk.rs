//! A walk over the reachable objects: everything that it found changed, to be applied at once.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

/// What a walk found. All of it holds when the walk ends: references may name objects that were
/// found during the walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The walks so far, this one included.
    pub number: u64,
    /// The clock: allocations so far.
    pub allocations: u64,
    /// The clock: allocated bytes so far.
    pub bytes: u64,
    /// The objects that are roots from now on, class objects included.
    pub roots_gained: Vec<u32>,
    /// The objects that are roots no longer; class objects may be among the dead.
    pub roots_lost: Vec<u32>,
    /// The objects found unreachable. Some may be revived: a walk can miss a reference.
    pub dead: Vec<u32>,
    /// What lives by this recording when the walk ends.
    pub live: Live,
    pub(super) ends: Vec<Ends>,
    pub(super) references: Vec<Reference>,
    pub(super) class_level: Vec<u32>,
    /// How many root changes were recorded.
    pub(super) root_changes: usize,
}

/// How much lives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Objects.
    pub objects: u64,
    /// The sum of their sizes in the virtual machine, in bytes.
    pub bytes: u64,
}

/// A changed object, and where its references end in the lists of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    pub(super) object: u32,
    /// The first byte of its record.
    pub(super) byte: u64,
    /// The class object of its class, if the record names it.
    pub(super) class: Option<u32>,
    pub(super) references: usize,
    pub(super) class_level: usize,
}

/// All references of one changed object. They replace the ones before; slots that are not named
/// hold no reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'w> {
    /// The object.
    pub object: u32,
    /// The references in its own slots, each slot at most once.
    pub references: &'w [Reference],
    /// The objects that it refers to on behalf of its class, in the recorder's order; some may be
    /// named twice.
    pub class_level: &'w [u32],
}

/// A reference slot and the object that it refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The slot, from 0 on; less than the object's [`slots`](super::Object::slots).
    pub slot: u32,
    /// The object referred to; it lives.
    pub target: u32,
}

impl Walk {
    /// The objects whose references changed, in the recorder's order.
    #[must_use]
    pub fn changes(&self) -> impl ExactSizeIterator<Item = Change<'_>> {
        (0..self.ends.len()).map(|index| {
            let end = self.ends[index];
            let (references, class_level) = self.begins(index);
            Change {
                object: end.object,
                references: &self.references[references..end.references],
                class_level: &self.class_level[class_level..end.class_level],
            }
        })
    }

    /// Adds an object whose references changed: all of its references from now on.
    pub fn add_change(&mut self, change: Change<'_>) {
        self.references.extend_from_slice(change.references);
        self.class_level.extend_from_slice(change.class_level);
        self.ends.push(Ends {
            object: change.object,
            byte: 0,
            class: None,
            references: self.references.len(),
            class_level: self.class_level.len(),
        });
    }

    /// Where the references of a changed object begin in both lists.
    pub(super) fn begins(&self, index: usize) -> (usize, usize) {
        match index.checked_sub(1) {
            Some(before) => (self.ends[before].references, self.ends[before].class_level),
            None => (0, 0),
        }
    }

    /// How many items the records of this walk listed so far.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "lengths of vectors of at most MOST_ITEMS each"
    )]
    pub(super) fn listed(&self) -> usize {
        self.references.len() + self.class_level.len() + self.ends.len() + self.root_changes
    }
}
