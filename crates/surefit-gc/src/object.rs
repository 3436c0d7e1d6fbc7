//! References to objects.
#![deny(unsafe_code)]

use core::num::NonZeroU32;

/// A reference to an object: the object's number in its space. It has four bytes and is never 0.
///
/// A reference can be copied at no cost; a copy is not a root. When its object was collected, a
/// reference names nothing, or the object that has the number later. Access is checked, so it never
/// reads freed memory, but it may read another object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object(NonZeroU32);

impl Object {
    /// The object with a number that was stored in a slot; `None` for 0.
    #[inline]
    #[must_use]
    pub const fn of(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// The number, to be stored in a slot.
    #[inline]
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0.get()
    }
}
