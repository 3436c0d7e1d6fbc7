//! The type of an arena's root: a type for every `'gc`.

use core::mem::ManuallyDrop;
use core::ptr::NonNull;

use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};

use super::trace::Trace;

/// The default heap of an arena: the fastest of those that were measured.
pub(super) type Lists = Segregated<Bitmap, Immediate, Tree, 256>;

/// The root of an arena during a mutation.
pub type Root<'gc, R> = <R as Rootable<'gc>>::Root;

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

/// The same root, as it is between mutations.
pub(super) fn unbranded<R: for<'gc> Rootable<'gc> + ?Sized>(root: Root<'_, R>) -> Root<'static, R> {
    let root = ManuallyDrop::new(root);
    // SAFETY: types that differ in lifetimes alone are the same in memory, and the original is not
    // used again.
    unsafe { NonNull::from(&root).cast().read() }
}
