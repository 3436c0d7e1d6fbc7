//! Typed values of up to a frame, used in place.

use core::ptr::NonNull;

use surefit_compact::{Full, Width};
use surefit_core::Refused;

use super::handle::{Handle, Name};
use super::heap::{BlockTableHeap, foreign};
use super::words::Row;

impl<W: Width<Generation = ()>> BlockTableHeap<'_, W> {
    /// Moves a value into a frame, where it stays until it is removed.
    ///
    /// # Errors
    /// Returns the value, and the resource that is exhausted. A type that is larger than a frame is
    /// refused with [`Refused::TooLarge`]; a type with a stricter alignment than a frame with
    /// [`Refused::TooAligned`].
    ///
    /// # Complexity
    /// O(1), plus the write of the value.
    #[inline]
    pub fn insert<T: Send>(&self, value: T) -> Result<Handle<T>, Full<T>> {
        match self.take_frame_for::<T>() {
            Ok(name) => {
                self.objects.set(self.objects.get() + 1);
                // SAFETY: the frame of a fresh row is large and aligned enough, and nobody refers
                // to it (B1).
                unsafe { self.place::<T>(name).write(value) };
                Ok(Handle::new(name))
            }
            Err(refused) => Err(Full { value, refused }),
        }
    }

    fn take_frame_for<T>(&self) -> Result<Name, Refused> {
        let limit = self.config.frame_bytes();
        if size_of::<T>() > limit {
            return Err(Refused::TooLarge { limit });
        }
        if align_of::<T>() > limit {
            return Err(Refused::TooAligned { limit });
        }
        let entry = self.take_row(1, 1, core::iter::empty())?;
        Ok(Name::new(entry, self.id))
    }

    /// Borrows a value.
    ///
    /// # Panics
    /// If the handle belongs to another heap; [`BlockTableHeap::try_get`] returns an error instead.
    ///
    /// # Complexity
    /// One comparison and two loads.
    #[inline]
    #[must_use]
    pub fn get<'a, T>(&'a self, handle: &'a Handle<T>) -> &'a T {
        self.try_get(handle).unwrap_or_else(|_| foreign())
    }

    /// Borrows a value mutably: an exclusive handle gives exclusive access.
    ///
    /// # Panics
    /// If the handle belongs to another heap; [`BlockTableHeap::try_get_mut`] returns an error
    /// instead.
    #[inline]
    #[must_use]
    pub fn get_mut<'a, T>(&'a self, handle: &'a mut Handle<T>) -> &'a mut T {
        self.try_get_mut(handle).unwrap_or_else(|_| foreign())
    }

    /// Borrows a value.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] if the handle belongs to another heap.
    #[inline]
    pub fn try_get<'a, T>(&'a self, handle: &'a Handle<T>) -> Result<&'a T, Refused> {
        self.own(handle.name)?;
        // SAFETY: a handle of this heap names a live row whose frame holds a `T`; its borrow
        // excludes mutable ones, and frames never move.
        Ok(unsafe { self.place::<T>(handle.name).as_ref() })
    }

    /// Borrows a value mutably.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] if the handle belongs to another heap.
    #[inline]
    pub fn try_get_mut<'a, T>(&'a self, handle: &'a mut Handle<T>) -> Result<&'a mut T, Refused> {
        self.own(handle.name)?;
        // SAFETY: as in `try_get`; no other handle names the frame (B1), and this one is borrowed
        // exclusively.
        Ok(unsafe { self.place::<T>(handle.name).as_mut() })
    }

    /// Takes a value out of the heap, and frees its memory. It may move up to two rows, but never
    /// an object.
    ///
    /// # Panics
    /// If the handle belongs to another heap.
    #[inline]
    pub fn remove<T>(&self, handle: Handle<T>) -> T {
        self.assert_own(handle.name);
        // SAFETY: the handle is consumed, so nobody reads the bits again, and it is not borrowed,
        // so nobody refers to it.
        let value = unsafe { self.place::<T>(handle.name).read() };
        self.objects.set(self.objects.get() - 1);
        self.give_row(handle.name.entry(), 1);
        value
    }

    /// Drops a value, and frees its memory. It may move up to two rows, but never an object:
    /// references into other objects stay valid.
    ///
    /// # Panics
    /// If the handle belongs to another heap, or if the value's `drop` panics (its memory is freed
    /// all the same).
    #[inline]
    pub fn free<T>(&self, handle: Handle<T>) {
        drop(self.remove(handle));
    }

    /// The address of the value of a live handle.
    #[inline]
    fn place<T>(&self, name: Name) -> NonNull<T> {
        let row = Row {
            entry: name.entry(),
            words: 1,
        };
        self.frames.address(self.frame(row, 0)).cast()
    }
}
