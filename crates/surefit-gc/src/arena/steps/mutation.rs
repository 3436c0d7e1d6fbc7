//! Mutations of an arena in steps: new objects are noted, and what is lost is shaded.
#![deny(unsafe_code)]

use core::cell::RefCell;
use core::fmt;
use core::ptr::NonNull;

use surefit_core::Refused;

use super::barriered::Barriered;
use super::phase::ArenaPhase;
use super::tables::Tables;
use crate::arena::allocator::Allocator;
use crate::arena::array::{GcArray, GcStr};
use crate::arena::full::Full;
use crate::arena::gc::Gc;
use crate::arena::mutation::Mutation;
use crate::arena::supply::Supply;
use crate::arena::trace::Trace;
use crate::arena::weak::WeakGc;

/// The right to allocate in a [`StepArena`](crate::StepArena) and to change references in it, for
/// as long as a call of [`StepArena::mutate`](crate::StepArena::mutate) lasts.
///
/// No step is made meanwhile, so no reference has to be registered.
pub struct StepMutation<'gc> {
    inner: Mutation<'gc>,
    tables: &'gc RefCell<Tables<'gc>>,
    /// These do not change while the mutation lasts.
    phase: ArenaPhase,
    black_from: u32,
}

impl<'gc> StepMutation<'gc> {
    pub(super) fn new(
        allocator: &'gc Allocator<'gc, dyn Supply + 'gc>,
        tables: &'gc RefCell<Tables<'gc>>,
    ) -> Self {
        let (phase, black_from) = {
            let state = &*tables.borrow();
            (state.state.phase, state.state.black_from())
        };
        Self {
            inner: Mutation::new(allocator),
            tables,
            phase,
            black_from,
        }
    }

    #[inline]
    fn born(&self, object: NonNull<u8>) {
        self.tables.borrow_mut().born(object, self.black_from);
    }

    /// Allocates an object.
    ///
    /// # Errors
    /// [`Full`] if there is no room now, or can never be; the value is dropped.
    ///
    /// # Complexity
    /// As [`Mutation::alloc`], and at most two bits.
    #[inline]
    pub fn alloc<T: Barriered + 'gc>(&self, value: T) -> Result<Gc<'gc, T>, Full> {
        let object = self.inner.alloc(value)?;
        self.born(object.as_ptr().cast());
        Ok(object)
    }

    /// Allocates an array. `element` makes its elements one after the other, and may allocate.
    ///
    /// # Errors
    /// [`Full`] if there is no room now, or can never be; then no element is made.
    ///
    /// # Panics
    /// If `element` panics; the elements that it made are dropped.
    pub fn alloc_array<T: Barriered + 'gc>(
        &self,
        length: usize,
        element: impl FnMut(usize) -> T,
    ) -> Result<GcArray<'gc, T>, Full> {
        let note = |array| self.born(array);
        self.inner.alloc_array_noted(length, element, note)
    }

    /// Allocates a copy of a string.
    ///
    /// # Errors
    /// As [`StepMutation::alloc_array`].
    pub fn alloc_str(&self, string: &str) -> Result<GcStr<'gc>, Full> {
        let copy = self.inner.alloc_str(string)?;
        self.born(copy.object());
        Ok(copy)
    }

    /// Allocates the cell of a weak reference.
    pub(super) fn weak<T>(&self, object: Gc<'gc, T>) -> Result<WeakGc<'gc, T>, Full> {
        let weak = self.inner.downgrade(object)?;
        self.born(weak.cell());
        Ok(weak)
    }

    /// What the collector does at the moment. It stays as it is while the mutation lasts.
    #[must_use]
    pub const fn phase(&self) -> ArenaPhase {
        self.phase
    }

    /// Marks what a value refers to, if the collector marks.
    #[inline]
    pub(super) fn shade<T: Trace>(&self, value: &T) {
        if T::TRACED && matches!(self.phase, ArenaPhase::Mark) {
            self.tables.borrow_mut().shade(value);
        }
    }

    /// Whether an object is dead, and only not freed yet, as the weak references that lead to it
    /// are only not cleared yet.
    pub(super) fn is_condemned(&self, object: NonNull<u8>) -> bool {
        matches!(self.phase, ArenaPhase::Weak) && !self.tables.borrow().is_marked(object)
    }

    /// Free bytes, headers included. They may be in chunks that are too short for a request.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        self.inner.free_bytes()
    }

    /// Why the last refused request was refused; `None` if none was.
    #[must_use]
    pub fn refused(&self) -> Option<Refused> {
        self.inner.refused()
    }
}

impl fmt::Debug for StepMutation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StepMutation")
            .field("phase", &self.phase)
            .field("free_bytes", &self.free_bytes())
            .finish_non_exhaustive()
    }
}
