//! Which slots the objects of a class have: from declarations, and from use where there is none.
//!
//! The recorder numbers fields as the virtual machine's tool interface does: primitive fields and
//! those of interfaces count too, so the numbers exceed the count of reference fields, but no more
//! of them occur than there are reference fields.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use std::collections::{HashMap, HashSet};

use crate::Problem;
use crate::graph::objects::Slots;
use crate::graph::step::{Class, Object};

/// Bytes of the header of an object, and of an array.
const HEADER_BYTES: u32 = 12;
const ARRAY_HEADER_BYTES: u32 = 16;
/// Bytes of a reference.
const REFERENCE_BYTES: u32 = 4;
/// Sizes of objects are multiples of it.
const OBJECT_ALIGN: u64 = 8;

/// What is known of the slots of all classes after reading a recording.
///
/// A class may be declared long after a walk found its first instance, or never; on a first reading
/// such an instance has as many slots as its size allows. A second reading that knows this gives it
/// as many as it uses.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    declared: HashMap<u32, Layout>,
    /// The dense numbers of fields.
    numbers: HashMap<(Owner, u32), u32>,
    given: HashMap<Owner, u32>,
    /// Undeclared arrays that hold references.
    arrays: HashSet<Owner>,
}

/// Where the references are in an instance of a declared class.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Fields(u32),
    Elements,
    /// An array without references.
    Opaque,
}

/// Whose slots are numbered together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Owner {
    /// All instances of a class.
    Class(u32),
    /// One object of unknown class.
    Object(u32),
}

impl Owner {
    fn of(object: u32, class: u32) -> Self {
        match class {
            0 => Self::Object(object),
            class => Self::Class(class),
        }
    }
}

impl Layouts {
    /// Slots of the class may have numbers already: walks may have found instances before.
    pub(super) fn declare(&mut self, class: &Class) -> Result<(), Problem> {
        let id = class.id;
        let layout = match (class.is_array_of_references(), class.is_array()) {
            (true, _) => Layout::Elements,
            (false, true) => Layout::Opaque,
            (false, false) => Layout::Fields(class.fields),
        };
        if let Layout::Fields(slots) = layout {
            let slot = self.given(Owner::Class(id));
            if slot > slots {
                return Err(Problem::Slot { id, slot, slots });
            }
        }
        match self.declared.insert(id, layout) {
            Some(_) => Err(Problem::ClassTwice(id)),
            None => Ok(()),
        }
    }

    /// The slots of an instance of a declared class; `None` if it is not declared.
    pub(super) fn of_declared(
        &self,
        class: u32,
        bytes: u32,
    ) -> Option<Result<(u32, Slots), Problem>> {
        let layout = self.declared.get(&class)?;
        Some(layout.slots(bytes))
    }

    /// The slots of an object whose class is not declared: no fewer than it will use.
    pub(super) fn of_undeclared(bytes: u32, length: Option<u32>) -> (u32, Slots) {
        match length {
            Some(length) => (possible_elements(bytes, length), Slots::Elements),
            None => (room(bytes, HEADER_BYTES), Slots::Fields),
        }
    }

    /// How many of the slots that an undeclared object may have it does use; these layouts are of
    /// the whole recording.
    pub(super) fn used(&self, object: u32, class: u32, may: u32, kind: Slots) -> u32 {
        let owner = Owner::of(object, class);
        match (self.declared.get(&class), kind) {
            (Some(&Layout::Fields(fields)), Slots::Fields) => may.min(fields),
            (None, Slots::Fields) => may.min(self.given(owner)),
            (Some(Layout::Elements), Slots::Elements) => may,
            (None, Slots::Elements) if self.arrays.contains(&owner) => may,
            _ => 0,
        }
    }

    /// The number of an object's slot, less than how many it has.
    pub(super) fn number(
        &mut self,
        object: Object,
        kind: Slots,
        slot: u32,
    ) -> Result<u32, Problem> {
        let owner = Owner::of(object.id, object.class);
        let layout = self.declared.get(&object.class);
        let slots = match layout {
            Some(&Layout::Fields(fields)) => fields.min(object.slots),
            _ => object.slots,
        };
        let is_undeclared = layout.is_none();
        let number = match kind {
            Slots::Elements => (slot < slots).then_some(slot),
            Slots::Fields => self.field(owner, slot, slots),
        };
        if is_undeclared && kind == Slots::Elements {
            self.arrays.insert(owner);
        }
        let id = object.id;
        number.ok_or(Problem::Slot { id, slot, slots })
    }

    /// The number of a recorded field: the next one if it is new; `None` if that were `room` or
    /// more.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "below the room of an object, numbers of 32 bits"
    )]
    fn field(&mut self, owner: Owner, recorded: u32, room: u32) -> Option<u32> {
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

    /// How many fields of this owner have numbers.
    fn given(&self, owner: Owner) -> u32 {
        self.given.get(&owner).copied().unwrap_or_default()
    }
}

impl Layout {
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "at most Class::MAX fields, or as many elements as the bytes hold"
    )]
    fn slots(self, bytes: u32) -> Result<(u32, Slots), Problem> {
        let (slots, header, kind) = match self {
            Self::Fields(fields) => (fields, HEADER_BYTES, Slots::Fields),
            Self::Elements => (
                room(bytes, ARRAY_HEADER_BYTES),
                ARRAY_HEADER_BYTES,
                Slots::Elements,
            ),
            Self::Opaque => (0, ARRAY_HEADER_BYTES, Slots::Elements),
        };
        if bytes < header + slots * REFERENCE_BYTES {
            return Err(Problem::SmallObject { bytes, slots });
        }
        Ok((slots, kind))
    }
}

/// How many references fit behind a header.
fn room(bytes: u32, header: u32) -> u32 {
    bytes.saturating_sub(header) / REFERENCE_BYTES
}

/// The references that an array of unknown class may hold: one an element if elements of that size
/// make up its size.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "products of numbers of 32 bits, in 64"
)]
fn possible_elements(bytes: u32, length: u32) -> u32 {
    let elements = u64::from(length) * u64::from(REFERENCE_BYTES);
    let with_header = u64::from(ARRAY_HEADER_BYTES) + elements;
    if with_header.next_multiple_of(OBJECT_ALIGN) == u64::from(bytes) {
        length
    } else {
        0
    }
}
