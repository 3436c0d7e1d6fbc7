//! Weak references. Each has a cell of its own, which the collector clears.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::gc::Gc;
use super::kinds::{End, Kind};
use super::trace::{Trace, Tracer};

/// The cell of a weak reference: a finalizable object. The collection that finds its target dead
/// clears it.
#[derive(Debug)]
pub(super) struct WeakCell {
    target: Cell<Option<NonNull<u8>>>,
}

/// The kind of weak cells. A weak cell keeps no object alive.
pub(super) const WEAK: &Kind = &Kind {
    trace: |_, _, _| {},
    end: End::Weak,
};

impl WeakCell {
    pub(super) const fn new(target: NonNull<u8>) -> Self {
        Self {
            target: Cell::new(Some(target)),
        }
    }

    /// What the cell names.
    pub(super) fn target(&self) -> Option<NonNull<u8>> {
        self.target.get()
    }

    /// Clears the cell unless its target lives on.
    pub(super) fn clear_unless(&self, lives: impl Fn(NonNull<u8>) -> bool) {
        self.target
            .set(self.target.get().filter(|&target| lives(target)));
    }
}

/// A reference that does not keep its object alive: if nothing else leads to the object, a
/// collection frees it.
///
/// [`Mutation::downgrade`](crate::Mutation::downgrade) makes it.
pub struct WeakGc<'gc, T> {
    cell: Gc<'gc, WeakCell>,
    target: PhantomData<Gc<'gc, T>>,
}

impl<'gc, T> WeakGc<'gc, T> {
    /// A weak reference through a cell.
    ///
    /// # Safety
    /// S1: the cell's target is, until it is cleared, a live `T` of the arena of `'gc`.
    pub(super) const unsafe fn new(cell: Gc<'gc, WeakCell>) -> Self {
        Self {
            cell,
            target: PhantomData,
        }
    }

    /// The object, or `None` if a collection has freed it.
    #[inline]
    #[must_use]
    pub fn upgrade(self) -> Option<Gc<'gc, T>> {
        let target = self.cell.target.get()?;
        // SAFETY: S1 of `new`; a collection clears the cell before it drops or frees the target.
        Some(unsafe { Gc::new(target.cast()) })
    }
}

impl<T> WeakGc<'_, T> {
    /// The object, which a collection in steps may have found dead; `None` if the cell was cleared.
    pub(super) fn target(self) -> Option<NonNull<u8>> {
        self.cell.target.get()
    }

    /// The cell, an object itself.
    pub(super) const fn cell(self) -> NonNull<u8> {
        self.cell.as_ptr().cast()
    }
}

impl<T> Clone for WeakGc<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for WeakGc<'_, T> {}

impl<T> fmt::Debug for WeakGc<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WeakGc")
            .field(&self.cell.target.get())
            .finish()
    }
}

// SAFETY: T1: the cell, all that it keeps, is reported. T2: no `Drop`. T3: nothing is changed. T4:
// `T: 'gc` is written down.
unsafe impl<'gc, T: Trace + 'gc> Trace for WeakGc<'gc, T> {
    const TRACED: bool = true;

    #[inline]
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.cell.trace(tracer);
    }
}

// SAFETY: T1: what a weak cell names is not to be kept. T2: no `Drop`. T3: nothing is done.
unsafe impl Trace for WeakCell {
    const TRACED: bool = false;

    fn trace(&self, _tracer: &mut Tracer<'_>) {}
}
