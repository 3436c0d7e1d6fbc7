//! What a survey of an arena finds.
#![deny(unsafe_code)]

/// What a survey finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The root.
    Root,
    /// An object. Objects come in ascending order of their numbers.
    Object {
        /// Its number, which it keeps. After it is freed, another object may have the number.
        number: u32,
        /// The number of its type.
        kind: u32,
        /// The bytes of its payload: its value, the arena's words behind it, and rounding.
        bytes: u32,
    },
    /// A reference to an object, from the root or object that was seen last. References come in the
    /// order in which the type traces them.
    Reference(u32),
}
