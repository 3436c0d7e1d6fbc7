//! A registered thread of a shared heap: what it allocates and frees with, in heaps of one instance and of several.
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

/// What byte objects are aligned to.
const MIN_ALIGN: usize = 8;

/// A registered thread: what it allocates and frees with. Any thread may have it, one at a time.
///
/// Dropping it gives the free pages that it buffers back; objects and pages of its instance stay there for who comes next.
pub struct Local<'h, 'm, R: RawMutex, G: Granularity> {
    pub(crate) objects: &'h Objects<'m, R, G>,
    pub(crate) slot: Slot,
    instance: u32,
    /// `Send`, not `Sync`.
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

    /// Registers in the instance that serves best.
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

    /// The instance that it allocates from: 0 in a [`SharedHeap`](super::SharedHeap), any in a [`ShardedHeap`](super::ShardedHeap).
    #[must_use]
    pub fn instance(&self) -> u32 {
        self.instance
    }

    /// Moves a value into the heap. Never moves another object, unless a quota is in the way
    /// ([`ShardedHeap::set_quota`](super::ShardedHeap::set_quota)).
    ///
    /// # Errors
    /// The value, and what was exhausted; a type larger than a page, or aligned beyond it, is [`Refused::TooLarge`] or
    /// [`Refused::TooAligned`].
    ///
    /// # Complexity
    /// O(1) under the size-class's lock, and the write of the value outside it. Where it would be refused, it first frees
    /// what waits to be freed, and takes back what other threads buffer.
    #[inline]
    pub fn insert<T: Send + Sync + 'static>(&self, value: T) -> Result<Handle<T>, Full<T>> {
        self.objects.insert(self.slot, self.instance, value)
    }

    /// A byte object of `len` bytes, zeroed or uninitialised; in pieces above the configuration's piece size. Moves others
    /// as [`Local::insert`] does.
    ///
    /// # Errors
    /// What was exhausted; [`Refused::TooLarge`] above a page if the configuration has no pieces.
    pub fn insert_bytes<B: Byte>(&self, len: usize) -> Result<Bytes<B>, Refused> {
        self.insert_bytes_aligned(len, MIN_ALIGN)
    }

    /// As [`Local::insert_bytes`], the object or each of its pieces aligned to a power of two.
    ///
    /// # Errors
    /// As [`Local::insert_bytes`]; [`Refused::TooAligned`] beyond a page.
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

    /// Changes the length of a byte object; bytes up to the lesser length are kept, gained ones are zeroed if `B` is `u8`.
    /// The object is aligned to eight bytes afterwards; [`Local::resize_aligned`] keeps a stricter alignment.
    ///
    /// # Errors
    /// What was exhausted, or [`Refused::ForeignHandle`]; the object is unchanged. Unless the size-class stays, old and
    /// new are live at once for a moment.
    pub fn resize<B: Byte>(&self, bytes: &mut Bytes<B>, len: usize) -> Result<(), Refused> {
        self.resize_aligned(bytes, len, MIN_ALIGN)
    }

    /// As [`Local::resize`], the object or each of its pieces aligned to a power of two.
    ///
    /// # Errors
    /// As [`Local::resize`]; [`Refused::TooAligned`] beyond a page.
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

    /// Takes a value out of the heap, and frees its memory. Moves other objects as the bound asks for.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`], [`Refused::TooManyPins`]; the object stays where it is, and is leaked.
    pub fn remove<T>(&self, handle: Handle<T>) -> Result<T, Refused> {
        self.objects.remove(self.slot, self.instance, handle)
    }

    /// Drops an object, outside of any lock, and frees its memory. Moves other objects as the bound asks for.
    ///
    /// # Errors
    /// As [`Local::remove`].
    #[inline]
    pub fn free<T>(&self, handle: Handle<T>) -> Result<(), Refused> {
        self.objects.free(self.slot, self.instance, handle)
    }

    /// Frees a byte object.
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
