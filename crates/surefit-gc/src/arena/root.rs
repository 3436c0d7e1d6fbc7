//! The type of an arena's root: one type for every `'gc`.
#![deny(unsafe_code)]

use super::trace::Trace;

/// A family of root types, one for every lifetime of a mutation: what [`Rootable!`](crate::Rootable) makes.
pub trait Rootable<'gc>: 'static {
    /// The type of the root while the lifetime lasts.
    type Root: Trace + 'gc;
}

impl<'gc, F, R> Rootable<'gc> for F
where
    F: Fn(&'gc ()) -> R + 'static,
    R: Trace + 'gc,
{
    type Root = R;
}

/// The root type of an arena: write the lifetime of its references as `'_`.
///
/// # Examples
/// ```
/// # use surefit_gc::{Arena, Gc, Rootable};
/// type Words<'m> = Arena<'m, Rootable![Option<Gc<'_, u32>>]>;
/// ```
#[macro_export]
macro_rules! Rootable {
    ($root:ty) => {
        fn(&()) -> $root
    };
}
