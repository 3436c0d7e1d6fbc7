//! Functions that the code of `#[derive(Trace)]` calls. They are methods, so that no name in the
//! scope of a type can replace them.
#![deny(unsafe_code)]

use core::marker::PhantomData;

use super::trace::{Trace, Tracer};

#[doc(hidden)]
impl Tracer<'_> {
    /// Traces a field whose type is the one that the derive has seen: no coercion can turn another
    /// type into it.
    #[inline]
    pub fn visit<T: Trace + ?Sized>(&mut self, field: &T, _seen: PhantomData<T>) {
        field.trace(self);
    }

    /// Requires that a field that is not visited holds no reference: it is `'static`, which no `Gc`
    /// is.
    #[inline]
    pub const fn skip<T: ?Sized + 'static>(&mut self, _field: &T) {}
}
