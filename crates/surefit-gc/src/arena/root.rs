//! The type of an arena's root: a type for every `'gc`.
#![deny(unsafe_code)]

use super::trace::Trace;

/// A family of root types, one for every lifetime of a mutation. [`Rootable!`](crate::Rootable!)
/// makes one.
pub trait Rootable<'gc>: 'static {
    /// The type of the root during this lifetime.
    type Root: Trace + 'gc;
}

/// The root type of an arena, for a named lifetime.
///
/// # Examples
/// ```
/// # use surefit_gc::{Arena, Gc, Rootable};
/// type Words<'m> = Arena<'m, Rootable!['gc => Option<Gc<'gc, u32>>]>;
/// ```
#[macro_export]
macro_rules! Rootable {
    ($gc:lifetime => $root:ty) => {
        dyn for<$gc> $crate::Rootable<$gc, Root = $root>
    };
}
