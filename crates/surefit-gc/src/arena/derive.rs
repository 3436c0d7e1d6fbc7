//! What `#[derive(Trace)]` generates calls of. Not for other callers; it may change.
#![deny(unsafe_code)]

use core::marker::PhantomData;

use crate::{Trace, Tracer};

/// Implemented for every type that implements `Drop`, and by the derive for every type that may hold a reference: for a type
/// that does both, the two conflict.
///
/// A `Drop` that reads a `Gc` would read an object that the same collection has freed.
pub trait MustNotImplementDrop {}

#[allow(
    drop_bounds,
    reason = "it asks for an implementation, not for what is dropped"
)]
impl<T: Drop + ?Sized> MustNotImplementDrop for T {}

/// Traces a field, of the type that the derive has seen: no coercion can turn the field's type into that one.
#[inline]
pub fn visit<T: Trace + ?Sized>(field: &T, _seen: PhantomData<T>, tracer: &mut Tracer<'_>) {
    field.trace(tracer);
}

/// Asks that a field that is not visited hold no reference: it is `'static`, which no `Gc` is.
#[inline]
pub const fn skip<T: ?Sized + 'static>(_field: &T) {}
