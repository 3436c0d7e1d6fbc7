//! Guards: a pinned object stays alive and in place as long as its guard.

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use super::entry::Entry;

/// A pinned object, borrowed. Dropping the guard unpins it: one atomic subtraction.
#[must_use = "the object is pinned as long as the guard lives"]
pub struct Pinned<'a, T: ?Sized> {
    object: NonNull<T>,
    entry: &'a Entry,
}

/// A pinned object, borrowed mutably.
#[must_use = "the object is pinned as long as the guard lives"]
pub struct PinnedMut<'a, T: ?Sized> {
    object: NonNull<T>,
    entry: &'a Entry,
    exclusive: core::marker::PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> Pinned<'a, T> {
    /// A guard of an object that the caller has pinned.
    ///
    /// # Safety
    /// S1: `object` is the live object of `entry`, pinned once for this guard. S2: nobody writes to
    /// it for `'a`.
    #[inline]
    pub(crate) unsafe fn new(object: NonNull<T>, entry: &'a Entry) -> Self {
        Self { object, entry }
    }
}

impl<'a, T: ?Sized> PinnedMut<'a, T> {
    /// A guard of an object that the caller has pinned.
    ///
    /// # Safety
    /// S1: `object` is the live object of `entry`, pinned once for this guard, and not in motion.
    /// S2: nobody else reads or writes it for `'a`.
    #[inline]
    pub(crate) unsafe fn new(object: NonNull<T>, entry: &'a Entry) -> Self {
        Self {
            object,
            entry,
            exclusive: core::marker::PhantomData,
        }
    }
}

impl<'a, T: ?Sized> Pinned<'a, T> {
    /// The entry, pinned once for this guard.
    pub(crate) fn entry(&self) -> &'a Entry {
        self.entry
    }
}

impl<'a, T: ?Sized> PinnedMut<'a, T> {
    /// The entry, pinned once for this guard.
    pub(crate) fn entry(&self) -> &'a Entry {
        self.entry
    }
}

impl<T: ?Sized> Deref for Pinned<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: S1 and S2 of `Pinned::new`.
        unsafe { self.object.as_ref() }
    }
}

impl<T: ?Sized> Deref for PinnedMut<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: S1 and S2 of `PinnedMut::new`.
        unsafe { self.object.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for PinnedMut<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: S1 and S2 of `PinnedMut::new`; the guard is borrowed exclusively.
        unsafe { self.object.as_mut() }
    }
}

impl<T: ?Sized> Drop for Pinned<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // The handle is borrowed, so nobody has freed the object and nothing is claimed.
        let _ = self.entry.unpin();
    }
}

impl<T: ?Sized> Drop for PinnedMut<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let _ = self.entry.unpin();
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Pinned<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for PinnedMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

// SAFETY: a guard is a shared borrow of the object, and an unpin, which any thread may do.
unsafe impl<T: ?Sized + Sync> Send for Pinned<'_, T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Sync> Sync for Pinned<'_, T> {}
// SAFETY: a guard is an exclusive borrow of the object, and an unpin, which any thread may do.
unsafe impl<T: ?Sized + Send> Send for PinnedMut<'_, T> {}
// SAFETY: as above; a shared guard gives only `&T`.
unsafe impl<T: ?Sized + Sync> Sync for PinnedMut<'_, T> {}
