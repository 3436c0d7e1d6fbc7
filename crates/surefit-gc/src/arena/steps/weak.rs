//! Weak references of an arena in steps: an upgrade tells the collector.

use core::fmt;

use super::barriered::Barriered;
use super::mutation::StepMutation;
use crate::arena::full::Full;
use crate::arena::gc::Gc;
use crate::arena::trace::{Trace, Tracer};
use crate::arena::weak::WeakGc;

/// A reference in a [`StepArena`](crate::StepArena) that does not keep its object alive: a cycle
/// that finds nothing else that leads to the object frees it.
///
/// [`StepMutation::downgrade`] makes it.
pub struct StepWeak<'gc, T> {
    weak: WeakGc<'gc, T>,
}

impl<'gc> StepMutation<'gc> {
    /// Allocates a weak reference to an object.
    ///
    /// # Errors
    /// As [`StepMutation::alloc`].
    pub fn downgrade<T>(&self, object: Gc<'gc, T>) -> Result<StepWeak<'gc, T>, Full> {
        self.weak(object).map(|weak| StepWeak { weak })
    }
}

impl<'gc, T: Trace + 'gc> StepWeak<'gc, T> {
    /// The object, or `None` if a cycle has found it dead. What is upgraded while the collector
    /// marks is kept by the cycle.
    #[must_use]
    pub fn upgrade(self, mc: &StepMutation<'gc>) -> Option<Gc<'gc, T>> {
        let target = self.weak.target()?;
        if mc.is_condemned(target) {
            return None;
        }
        // SAFETY: S1: the cell is not cleared, so its target was not freed: a cycle clears all weak
        // cells of dead objects before it drops or frees any. It is not condemned (A8), and what
        // may still become so is shaded below.
        let object = unsafe { Gc::new(target.cast()) };
        mc.shade(&object);
        Some(object)
    }
}

impl<T> Clone for StepWeak<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for StepWeak<'_, T> {}

impl<T> fmt::Debug for StepWeak<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("StepWeak").field(&self.weak).finish()
    }
}

// SAFETY: T1: the weak cell is reported. T2: no `Drop`. T3: nothing is changed. T4: `T: 'gc` is
// written down.
unsafe impl<'gc, T: Trace + 'gc> Trace for StepWeak<'gc, T> {
    const TRACED: bool = true;

    #[inline]
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.weak.trace(tracer);
    }
}

// SAFETY: B1: it cannot be changed through a shared reference.
unsafe impl<'gc, T: Trace + 'gc> Barriered for StepWeak<'gc, T> {}
