//! A registered thread of a shared heap, with which a program allocates and frees. Heaps of one
//! instance and of several have the same one.
#![deny(unsafe_code)]

use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

use lock_api::RawMutex;
use surefit_core::Refused;

use super::lock::Granularity;
use super::machinery::objects::Objects;
use super::machinery::pool::Slot;
use crate::handle::{Byte, Bytes, Full, Handle};

/// A registered thread: a program allocates and frees with it. It may be sent to another thread,
/// but only one thread at a time may use it.
///
/// Dropping it returns the free pages that it buffers to the heap. The objects and pages of its
/// instance stay there for the next thread.
pub struct Local<'h, 'm, R: RawMutex, G: Granularity> {
    pub(crate) objects: &'h Objects<'m, R, G>,
    pub(crate) slot: Slot,
    instance: u32,
    /// Makes it `Send`, but not `Sync`.
    one_at_a_time: PhantomData<Cell<()>>,
}

impl<R: RawMutex, G: Granularity> fmt::Debug for Local<'_, '_, R, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Local({} of instance {})", self.slot, self.instance)
    }
}

impl<'h, 'm, R: RawMutex, G: Granularity> Local<'h, 'm, R, G> {
    /// Registers in an instance.
    pub(crate) fn new(objects: &'h Objects<'m, R, G>, instance: u32) -> Result<Self, Refused> {
        objects.engine.join(instance)?;
        Self::joined(objects, instance)
    }

    /// Registers in the instance that [`ShardedHeap::register`](super::ShardedHeap::register)
    /// chooses.
    pub(crate) fn anywhere(objects: &'h Objects<'m, R, G>) -> Result<Self, Refused> {
        let instance = objects.engine.join_best()?;
        Self::joined(objects, instance)
    }

    fn joined(objects: &'h Objects<'m, R, G>, instance: u32) -> Result<Self, Refused> {
        let Some(slot) = objects.engine.store.register() else {
            objects.engine.instances[instance as usize].leave();
            return Err(Refused::NoLocal);
        };
        Ok(Self {
            objects,
            slot,
            instance,
            one_at_a_time: PhantomData,
        })
    }

    /// The instance that this thread allocates from. It is always 0 in a
    /// [`SharedHeap`](super::SharedHeap).
    #[must_use]
    pub fn instance(&self) -> u32 {
        self.instance
    }

    /// Moves a value into the heap. No other object moves, unless the instance has reached its
    /// quota ([`ShardedHeap::set_quota`](super::ShardedHeap::set_quota)).
    ///
    /// # Errors
    /// Returns the value, and the resource that is exhausted. A type that is larger than a page is
    /// refused with [`Refused::TooLarge`]; a type with a stricter alignment than a page with
    /// [`Refused::TooAligned`].
    ///
    /// # Complexity
    /// O(1) under the lock of the size-class; the value is written outside the lock. Before the
    /// heap refuses, it frees the objects on deferred lists, and takes back what other threads
    /// buffer: linear in those objects, in the size-classes and in the configured threads.
    #[inline]
    pub fn insert<T: Send + Sync + 'static>(&self, value: T) -> Result<Handle<T>, Full<T>> {
        self.objects.insert(self.slot, self.instance, value)
    }

    /// Allocates a byte object whose bytes are not initialised. An object above the configured
    /// piece size consists of pieces. Other objects move only as in [`Local::insert`].
    ///
    /// The alignment applies to the object or, if it is in pieces, to each piece. A size of zero is
    /// served like a size of one.
    ///
    /// # Errors
    /// The resource that is exhausted; [`Refused::TooLarge`] above the bytes of the region, or
    /// above a page if the configuration has no pieces; [`Refused::TooAligned`] if the alignment
    /// exceeds a page.
    ///
    /// # Complexity
    /// As [`Local::insert`], once for each piece and once for the spine.
    pub fn alloc(&self, layout: Layout) -> Result<Bytes<MaybeUninit<u8>>, Refused> {
        self.objects
            .allocate_bytes(self.slot, self.instance, layout)
    }

    /// Allocates a byte object of zeros, otherwise as [`Local::alloc`].
    ///
    /// # Errors
    /// As [`Local::alloc`].
    ///
    /// # Complexity
    /// As [`Local::alloc`]; the bytes are zeroed outside the lock.
    pub fn alloc_zeroed(&self, layout: Layout) -> Result<Bytes<u8>, Refused> {
        self.objects
            .allocate_bytes(self.slot, self.instance, layout)
    }

    /// Changes the length of a byte object, and its alignment if the layout requires a stricter
    /// one. The bytes up to the smaller length are kept; added bytes are zeroed if `B` is `u8`.
    /// Unless the size-class stays the same, the old and the new object are both live for a moment.
    ///
    /// # Errors
    /// As [`Local::alloc`], or [`Refused::ForeignHandle`]. The object is unchanged then.
    pub fn resize<B: Byte>(&self, bytes: &mut Bytes<B>, layout: Layout) -> Result<(), Refused> {
        self.objects.resize(self.slot, self.instance, bytes, layout)
    }

    /// Takes a value out of the heap, and frees its memory. Other objects move if the compaction
    /// bound requires it.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`], [`Refused::TooManyPins`]. The object stays in the heap then, and
    /// is leaked.
    pub fn remove<T>(&self, handle: Handle<T>) -> Result<T, Refused> {
        self.objects.remove(self.slot, self.instance, handle)
    }

    /// Drops an object outside of any lock, and frees its memory. Other objects move if the
    /// compaction bound requires it.
    ///
    /// # Errors
    /// As [`Local::remove`].
    #[inline]
    pub fn free<T>(&self, handle: Handle<T>) -> Result<(), Refused> {
        self.objects.free(self.slot, self.instance, handle)
    }

    /// Frees a byte object. Other objects move if the compaction bound requires it.
    ///
    /// # Errors
    /// As [`Local::remove`].
    #[inline]
    pub fn free_bytes<B: Byte>(&self, bytes: Bytes<B>) -> Result<(), Refused> {
        self.objects.free_bytes(self.slot, self.instance, bytes)
    }
}

impl<R: RawMutex, G: Granularity> Drop for Local<'_, '_, R, G> {
    fn drop(&mut self) {
        let engine = &self.objects.engine;
        engine
            .store
            .unregister(&engine.pages, self.slot, |index| engine.entry(index));
        engine.instances[self.instance as usize].leave();
    }
}
