//! Dense numbers for reference slots.
//!
//! The recorder numbers fields as the virtual machine's tool interface does: primitive fields and those of interfaces count
//! too, so the numbers exceed the count of reference fields, but no more of them occur than there are reference fields.

use std::collections::HashMap;

/// Whose slots are numbered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Owner {
    /// All instances of a class.
    Class(u32),
    /// One object of unknown class.
    Object(u32),
}

/// The numbers given so far.
#[derive(Debug, Default)]
pub(super) struct SlotNumbers {
    numbers: HashMap<(Owner, u32), u32>,
    given: HashMap<Owner, u32>,
}

impl SlotNumbers {
    /// The number of a recorded slot: the next one if it is new; `None` if that were `room` or more.
    pub(super) fn number(&mut self, owner: Owner, recorded: u32, room: u32) -> Option<u32> {
        let key = (owner, recorded);
        if let Some(&number) = self.numbers.get(&key) {
            return (number < room).then_some(number);
        }
        let given = self.given.entry(owner).or_default();
        if *given >= room {
            return None;
        }
        self.numbers.insert(key, *given);
        *given += 1;
        Some(*given - 1)
    }

    /// How many slots of this owner have numbers.
    pub(super) fn given(&self, owner: Owner) -> u32 {
        self.given.get(&owner).copied().unwrap_or_default()
    }
}
