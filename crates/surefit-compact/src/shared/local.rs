//! A registered thread of a shared heap, with which a program allocates and frees. Heaps of one
//! instance and of several have the same one.
#![deny(unsafe_code)]

use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

use lock_api::RawMutex;
use surefit_core::Refused;

use super::lock::Granularity;
use super::machinery::objects::Objects;
use super::machinery::pool::Slot;
use crate::handle::{Byte, Bytes, Full, Handle};

/// The alignment of byte objects, in bytes.
const MIN_ALIGN: usize = 8;

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

    /// Allocates a byte object of `len` bytes: zeroed if `B` is `u8`, otherwise uninitialised. An
    /// object above the configured piece size consists of pieces. Other objects move only as in
    /// [`Local::insert`].
    ///
    /// # Errors
    /// The resource that is exhausted; [`Refused::TooLarge`] above a page if the configuration has
    /// no pieces.
    pub fn insert_bytes<B: Byte>(&self, len: usize) -> Result<Bytes<B>, Refused> {
        self.insert_bytes_aligned(len, MIN_ALIGN)
    }

    /// As [`Local::insert_bytes`]; the object, or each of its pieces, is aligned to `align` bytes,
    /// a power of two.
    ///
    /// # Errors
    /// As [`Local::insert_bytes`]; [`Refused::TooAligned`] if `align` exceeds a page.
    ///
    /// # Panics
    /// If `align` is not a power of two.
    pub fn insert_bytes_aligned<B: Byte>(
        &self,
        len: usize,
        align: usize,
    ) -> Result<Bytes<B>, Refused> {
        self.objects
            .allocate_bytes(self.slot, self.instance, layout(len, align)?)
    }

    /// Changes the length of a byte object. Bytes up to the lesser length are kept; new bytes are
    /// zeroed if `B` is `u8`. Afterwards the object is aligned to eight bytes;
    /// [`Local::resize_aligned`] keeps a stricter alignment.
    ///
    /// # Errors
    /// The resource that is exhausted, or [`Refused::ForeignHandle`]. The object is unchanged then.
    ///
    /// Unless the size-class stays the same, the old and the new object are both live for a moment.
    pub fn resize<B: Byte>(&self, bytes: &mut Bytes<B>, len: usize) -> Result<(), Refused> {
        self.resize_aligned(bytes, len, MIN_ALIGN)
    }

    /// As [`Local::resize`]; the object, or each of its pieces, is aligned to `align` bytes, a
    /// power of two.
    ///
    /// # Errors
    /// As [`Local::resize`]; [`Refused::TooAligned`] if `align` exceeds a page.
    ///
    /// # Panics
    /// If `align` is not a power of two.
    pub fn resize_aligned<B: Byte>(
        &self,
        bytes: &mut Bytes<B>,
        len: usize,
        align: usize,
    ) -> Result<(), Refused> {
        let layout = layout(len, align)?;
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

fn layout(len: usize, align: usize) -> Result<Layout, Refused> {
    assert!(align.is_power_of_two(), "an alignment is a power of two");
    let limit = isize::MAX.unsigned_abs();
    Layout::from_size_align(len, align).map_err(|_| Refused::TooLarge { limit })
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
