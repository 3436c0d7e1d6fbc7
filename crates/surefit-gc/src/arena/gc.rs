//! References to objects of an arena. They cost what a pointer costs.
//!
//! # Invariants
//! - A1: A `Gc<'gc, T>` names a live object that holds a `T`. Only [`Mutation`](crate::Mutation)
//!   makes one. While `'gc` lasts, nothing is freed. A `Gc` outlasts its `'gc` only inside the root
//!   and the objects that the root leads to: a collection keeps these (T1).

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::NonNull;

use super::trace::{Trace, Tracer};

/// A reference to a `T` in an arena: a pointer that is copied, stored and followed at no extra
/// cost.
///
/// It lasts as long as the mutation that `'gc` stands for. So when objects are freed, references
/// exist only in the root and in objects. No other lifetime can stand for `'gc`, so a reference
/// cannot enter another arena. There may be any number of references to an object, so it changes
/// only by interior mutability: [`Cell`] or [`RefCell`](core::cell::RefCell).
///
/// # Examples
/// ```
/// # use core::{cell::Cell, mem::MaybeUninit};
/// # use surefit_gc::{Arena, Gc, Rootable};
/// # let mut region = [MaybeUninit::uninit(); 65536];
/// type Number = Rootable!['gc => Cell<Option<Gc<'gc, u32>>>];
/// let mut arena = Arena::<Number>::new(&mut region, |_| Ok(Cell::new(None)))?;
/// arena.mutate(|mc, root| {
///     let seven = mc.alloc(7)?;
///     root.set(Some(seven));
///     assert_eq!(*seven + 1, 8);
///     Ok::<_, surefit_gc::Full>(())
/// })?;
/// arena.collect();
/// assert_eq!(arena.mutate(|_, root| *root.get().expect("set before")), 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Gc<'gc, T> {
    object: NonNull<T>,
    /// Neither longer nor shorter than this `'gc`, and of no other `T`.
    brand: PhantomData<Cell<&'gc T>>,
}

impl<'gc, T> Gc<'gc, T> {
    /// A reference to an object.
    ///
    /// # Safety
    /// S1: `object` is a live object of the arena of `'gc`, holds a `T`, and may be read while
    /// `'gc` lasts.
    #[inline]
    pub(super) const unsafe fn new(object: NonNull<T>) -> Self {
        Self {
            object,
            brand: PhantomData,
        }
    }

    /// The object, for as long as the mutation lasts.
    #[inline]
    #[must_use]
    pub const fn as_ref(self) -> &'gc T {
        // SAFETY: A1: a live `T`, and while `'gc` lasts there is no `&mut` to any object, and none
        // is freed.
        unsafe { self.object.as_ref() }
    }

    /// Whether two references name the same object.
    #[inline]
    #[must_use]
    pub fn ptr_eq(self, other: Self) -> bool {
        self.object == other.object
    }

    /// The object's address. It never changes.
    #[inline]
    #[must_use]
    pub const fn as_ptr(self) -> NonNull<T> {
        self.object
    }
}

impl<T> Clone for Gc<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Gc<'_, T> {}

impl<T> Deref for Gc<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        (*self).as_ref()
    }
}

/// Shows only the address: an object may lead back to itself.
impl<T> fmt::Debug for Gc<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gc").field(&self.object).finish()
    }
}

// SAFETY: T1: it is reported. T2: it has no `Drop`. T3: nothing is changed. T4: `T: 'gc` is written
// down.
unsafe impl<'gc, T: Trace + 'gc> Trace for Gc<'gc, T> {
    const TRACED: bool = true;

    #[inline]
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.reach(self.object.cast(), T::TRACED);
    }
}
