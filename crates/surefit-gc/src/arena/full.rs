//! The refusal of an arena.
#![deny(unsafe_code)]

use core::fmt;

/// There is no room for an object. [`Mutation::refused`](crate::Mutation::refused) says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full(pub(super) ());

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the arena has no room for the object: collect, or give it a larger region")
    }
}

impl core::error::Error for Full {}
