//! The type of an arena's root: one type for every `'gc`.
#![deny(unsafe_code)]

use super::trace::Trace;

/// A family of root types, one for every lifetime of a mutation: what [`Rootable!`](crate::Rootable!) makes.
pub trait Rootable<'gc>: 'static {
    /// The type of the root while the lifetime lasts.
    type Root: Trace + 'gc;
}

/// The root type of an arena, for a lifetime that is given a name.
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
