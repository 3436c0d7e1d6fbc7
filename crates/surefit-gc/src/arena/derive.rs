//! What `#[derive(Trace)]` generates calls of. Methods, so that no name in scope of a type can stand for them.
#![deny(unsafe_code)]

use core::marker::PhantomData;

use super::trace::{Trace, Tracer};

#[doc(hidden)]
impl Tracer<'_> {
    /// Traces a field, of the type that the derive has seen: no coercion can turn another type into that one.
    #[inline]
    pub fn visit<T: Trace + ?Sized>(&mut self, field: &T, _seen: PhantomData<T>) {
        field.trace(self);
    }

    /// Asks that a field that is not visited hold no reference: it is `'static`, which no `Gc` is.
    #[inline]
    pub const fn skip<T: ?Sized + 'static>(&mut self, _field: &T) {}
}
