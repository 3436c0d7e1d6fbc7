//! The cell for references that change in an arena in steps.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

use super::barriered::Barriered;
use super::mutation::StepMutation;
use crate::arena::trace::{Trace, Tracer};

/// A place whose value changes, and which may hold references of a
/// [`StepArena`](crate::StepArena): the barrier of its collector is in the methods that change it.
///
/// While the collector marks, what a value refers to is marked before the value is lost. Else a
/// change costs one comparison. The cell lends nothing: values are copied or moved.
///
/// The lifetime is that of the references, so a mutation of another arena cannot change it.
///
/// # Complexity
/// A change follows the references in the old value itself: one for an `Option<Gc>`, as many as it
/// has for a `Vec<Gc>`. The bytes of a `Vec` are malloc's: they are not counted.
pub struct GcCell<'gc, T> {
    value: Cell<T>,
    /// Neither longer nor shorter than this `'gc`.
    brand: PhantomData<Cell<&'gc ()>>,
}

impl<T> GcCell<'_, T> {
    /// A cell with a value.
    #[inline]
    #[must_use]
    pub const fn new(value: T) -> Self {
        Self {
            value: Cell::new(value),
            brand: PhantomData,
        }
    }

    /// The value.
    #[inline]
    #[must_use]
    pub fn get(&self) -> T
    where
        T: Copy,
    {
        self.value.get()
    }

    /// The value of a cell that is no part of an object.
    #[inline]
    #[must_use]
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<'gc, T: Trace + 'gc> GcCell<'gc, T> {
    /// Sets the value. The old one is dropped.
    #[inline]
    pub fn set(&self, mc: &StepMutation<'gc>, value: T) {
        drop(self.replace(mc, value));
    }

    /// Sets the value, and returns the old one.
    #[inline]
    pub fn replace(&self, mc: &StepMutation<'gc>, value: T) -> T {
        // SAFETY: the cell lends nothing, so nobody holds a reference to its value; `shade` only
        // traces, which changes nothing that it can reach (T3).
        mc.shade(unsafe { &*self.value.as_ptr() });
        self.value.replace(value)
    }

    /// Leaves the default value, and returns the old one.
    #[inline]
    pub fn take(&self, mc: &StepMutation<'gc>) -> T
    where
        T: Default,
    {
        self.replace(mc, T::default())
    }
}

impl<T: Default> Default for GcCell<'_, T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> fmt::Debug for GcCell<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GcCell").finish_non_exhaustive()
    }
}

// SAFETY: T1: the value is traced. T2: it is only dropped. T3: nothing is changed. T4: `T: 'gc` is
// written down.
unsafe impl<'gc, T: Trace + 'gc> Trace for GcCell<'gc, T> {
    const TRACED: bool = T::TRACED;

    #[inline]
    fn trace(&self, tracer: &mut Tracer<'_>) {
        // SAFETY: the cell lends nothing, and nobody changes its value meanwhile: `trace` cannot
        // (T3).
        unsafe { &*self.value.as_ptr() }.trace(tracer);
    }
}

// SAFETY: B1: nothing in the value can be changed through the cell, which lends nothing, except by
// `replace`, which shades it.
unsafe impl<'gc, T: Trace + 'gc> Barriered for GcCell<'gc, T> {}
