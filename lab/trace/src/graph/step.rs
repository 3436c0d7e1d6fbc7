//! What a recording says, one step after another.
#![deny(clippy::arithmetic_side_effects, clippy::cast_possible_truncation)]

use crate::graph::walk::Walk;

/// One step of a recording; the module says how to replay them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A class is declared. Its class object was given by a step before; it may be one that a walk
    /// missed.
    Class(Class),
    /// The program allocates an object.
    Allocate(Object),
    /// A walk, or the declaration of a class, comes upon an object whose allocation was not
    /// recorded.
    Find(Object),
    /// A walk comes upon an object that was logged dead.
    Revive(Object),
    /// A walk ends.
    Walk(Box<Walk>),
}

/// A class of the recorded program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Class {
    /// The id of its class object, which is the name of the class as well.
    pub id: u32,
    /// The reference fields of an instance, inherited ones included; without meaning for arrays.
    pub fields: u32,
    /// The signature, as the virtual machine writes it. It comes from the file: escape it before
    /// printing.
    pub signature: String,
}

impl Class {
    /// The most reference fields of a class, and the most bytes of a signature.
    pub const MAX: u32 = 65_535;

    /// Whether the instances are arrays.
    #[must_use]
    pub fn is_array(&self) -> bool {
        self.signature.starts_with('[')
    }

    /// Whether the instances are arrays of references.
    #[must_use]
    pub fn is_array_of_references(&self) -> bool {
        self.signature.starts_with("[L") || self.signature.starts_with("[[")
    }
}

/// An object of the recorded program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its number, from 1 on; never used again for another object.
    pub id: u32,
    /// The id of its class; 0 if it is unknown.
    pub class: u32,
    /// Its size in the virtual machine, header included, in bytes.
    pub bytes: u32,
    /// The reference slots of its own: those of its class if that was declared before, else no
    /// fewer than it ever uses.
    pub slots: u32,
}
