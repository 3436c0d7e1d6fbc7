//! Guards of a heap of several instances. If an object is destroyed while it is pinned, the last
//! unpin gives its memory back.
#![deny(unsafe_code)]

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};

use lock_api::RawMutex;

use crate::shared::lock::Granularity;
use crate::shared::machinery::entry::{Entry, Unpinned};
use crate::shared::machinery::guard;
use crate::shared::machinery::objects::Objects;

/// A pinned object, borrowed. Dropping the guard unpins it: one atomic subtraction, and a push on a
/// list if the object was destroyed meanwhile.
///
/// If a guard is forgotten, its pin stays on the entry: an object that uses the entry later is
/// never moved, and its instance cannot be destroyed.
#[must_use = "the object is pinned as long as the guard lives"]
pub struct ShardedPinned<'a, T: ?Sized, R: RawMutex, G: Granularity> {
    object: ManuallyDrop<guard::Pinned<'a, T>>,
    objects: &'a Objects<'a, R, G>,
}

/// A pinned object, borrowed mutably.
#[must_use = "the object is pinned as long as the guard lives"]
pub struct ShardedPinnedMut<'a, T: ?Sized, R: RawMutex, G: Granularity> {
    object: ManuallyDrop<guard::PinnedMut<'a, T>>,
    objects: &'a Objects<'a, R, G>,
}

impl<'a, T: ?Sized, R: RawMutex, G: Granularity> ShardedPinned<'a, T, R, G> {
    /// The guard of an object of this heap.
    #[inline]
    pub(crate) fn new(object: guard::Pinned<'a, T>, objects: &'a Objects<'a, R, G>) -> Self {
        let object = ManuallyDrop::new(object);
        Self { object, objects }
    }
}

impl<'a, T: ?Sized, R: RawMutex, G: Granularity> ShardedPinnedMut<'a, T, R, G> {
    /// The guard of an object of this heap.
    #[inline]
    pub(crate) fn new(object: guard::PinnedMut<'a, T>, objects: &'a Objects<'a, R, G>) -> Self {
        let object = ManuallyDrop::new(object);
        Self { object, objects }
    }
}

/// Unpins an object of this heap. The guard that held the pin must not be dropped afterwards.
#[inline]
fn unpin<R: RawMutex, G: Granularity>(objects: &Objects<'_, R, G>, entry: &Entry) {
    if let Unpinned::Claimed(state) = entry.unpin() {
        give_back(objects, entry, state.group());
    }
}

#[cold]
fn give_back<R: RawMutex, G: Granularity>(objects: &Objects<'_, R, G>, entry: &Entry, group: u32) {
    let engine = &objects.engine;
    let index = engine.table.index_of(&engine.pages.memory, entry);
    engine.defer(group, index);
}

impl<T: ?Sized, R: RawMutex, G: Granularity> Drop for ShardedPinned<'_, T, R, G> {
    #[inline]
    fn drop(&mut self) {
        unpin(self.objects, self.object.entry());
    }
}

impl<T: ?Sized, R: RawMutex, G: Granularity> Drop for ShardedPinnedMut<'_, T, R, G> {
    #[inline]
    fn drop(&mut self) {
        unpin(self.objects, self.object.entry());
    }
}

impl<T: ?Sized, R: RawMutex, G: Granularity> Deref for ShardedPinned<'_, T, R, G> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T: ?Sized, R: RawMutex, G: Granularity> Deref for ShardedPinnedMut<'_, T, R, G> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T: ?Sized, R: RawMutex, G: Granularity> DerefMut for ShardedPinnedMut<'_, T, R, G> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

impl<T: ?Sized + fmt::Debug, R: RawMutex, G: Granularity> fmt::Debug
    for ShardedPinned<'_, T, R, G>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Debug, R: RawMutex, G: Granularity> fmt::Debug
    for ShardedPinnedMut<'_, T, R, G>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
