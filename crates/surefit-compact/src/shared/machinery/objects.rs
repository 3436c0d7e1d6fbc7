//! Objects of a shared heap: from entries and page-blocks to values and handles. Both shared heaps
//! use it.
//!
//! # Invariants
//! - O1 A live handle names a live entry of this heap. Its page-block is large and aligned enough
//!   for the handle's type, and holds a value of it.
//! - O2 Handles of different objects name different page-blocks.
//! - O3 A pinned object does not move, and its page-block is not reused. A thread that may write to
//!   an object in motion has ended the move first (`settled`).

use core::alloc::Layout;
use core::mem::{MaybeUninit, needs_drop};
use core::ptr::NonNull;

use lock_api::RawMutex;
use surefit_classes::SizeClass;
use surefit_core::{Corruption, Refused, ensure};

use super::build::{self, Outlive};
use super::engine::SharedEngine;
use super::entry::{Entry, NotPinned, State};
use super::guard::{Pinned, PinnedMut};
use super::pool::{NO_SLOT, Slot};
use crate::handle::{Byte, Bytes, Full, Handle, HeapId, Name};
use crate::shared::config::SharedConfig;
use crate::shared::lock::Granularity;

/// An engine, and the objects in it.
pub(crate) struct Objects<'m, R: RawMutex, G: Granularity> {
    pub(crate) engine: SharedEngine<'m, R, G>,
    /// Bytes of the region that were skipped for alignment.
    pub(crate) skipped: usize,
    /// The number of the first instance when the heap was made. In a heap of one instance, names
    /// carry it.
    id: u32,
}

// SAFETY: everything of an engine that several threads may reach is atomic, or guarded by a lock:
// groups, page records and page tails by G1, free pages by L1, the pool and the buffers by their
// mutexes. Objects cross threads: `insert` requires `T: Send + Sync`. `R: Send + Sync` are locks.
unsafe impl<R: RawMutex + Send + Sync, G: Granularity> Sync for Objects<'_, R, G> {}
// SAFETY: as above; the region is owned like a `&mut [MaybeUninit<u8>]` (M1).
unsafe impl<R: RawMutex + Send, G: Granularity> Send for Objects<'_, R, G> {}

impl<'m, R: RawMutex, G: Granularity> Objects<'m, R, G> {
    pub(crate) fn new(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m SharedConfig<G>,
        instances: usize,
        names: Outlive,
    ) -> Result<Self, Refused> {
        let (engine, skipped) = build::engine(region, config, instances, names)?;
        let id = engine.instances[0].id();
        Ok(Self {
            engine,
            skipped,
            id,
        })
    }

    /// As [`SharedEngine::check`], and that the number that names carry is the instance's.
    pub(crate) fn check(&self, debts: bool) -> Result<(), Corruption> {
        let known = self.engine.stale_names || self.id == self.engine.instances[0].id();
        ensure(
            known,
            "I2",
            "the instance has another number",
            self.id as usize,
        )?;
        self.engine.check(debts)
    }

    /// The size-class of a request.
    pub(crate) fn class_of(&self, layout: Layout) -> Result<SizeClass, Refused> {
        let geometry = self.engine.config.config.geometry();
        let class = geometry.class_for(layout.size(), layout.align());
        class.ok_or_else(|| {
            let limit = geometry.page_bytes();
            if layout.align() > limit {
                Refused::TooAligned { limit }
            } else {
                Refused::TooLarge { limit }
            }
        })
    }

    /// The number that names of an instance's objects carry.
    pub(crate) fn id_of(&self, instance: u32) -> HeapId {
        let id = self.engine.instances[instance as usize].id();
        HeapId::numbered(id).expect("an instance in use has a number")
    }

    /// Refuses a name that names no entry of this heap. If names can be stale, the object may have
    /// ended.
    #[inline]
    fn vet(&self, name: Name) -> Result<(), Refused> {
        let known = if self.engine.stale_names {
            self.engine.table.contains(name.index())
        } else {
            name.heap_number() == self.id
        };
        match known {
            true => Ok(()),
            false => Err(Refused::ForeignHandle),
        }
    }

    /// Whether `heap` is the number of the entry's instance. The entry must be pinned, or its group
    /// locked.
    #[inline]
    pub(crate) fn is_of(&self, heap: u32, state: State) -> bool {
        !self.engine.stale_names || heap == self.engine.instance_of(state.group()).id()
    }

    /// The address of a location.
    #[inline]
    pub(crate) fn address<T>(&self, location: u32) -> NonNull<T> {
        // SAFETY: a location of a live entry lies inside the region (E1).
        unsafe { self.engine.pages.memory.address((location as usize) << 3) }.cast()
    }

    /// Pins the object of a name, in whichever instance it is.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`], [`Refused::TooManyPins`].
    pub(crate) fn pin(&self, name: Name) -> Result<(&'m Entry, State, u32), Refused> {
        self.vet(name)?;
        self.pin_entry(name.index(), name.heap_number())
    }

    /// As `pin`, in a heap of one instance whose objects have one name. It is a function of its own
    /// so that state and location stay in registers: where the paths joined, they were stored in
    /// halves and loaded as one word, which took twice the time of both atomic additions.
    #[inline(always)]
    fn pin_owned(&self, name: Name) -> Result<(&'m Entry, State, u32), Refused> {
        debug_assert!(
            !self.engine.stale_names,
            "the heap has one instance, for ever"
        );
        if name.heap_number() != self.id {
            return Err(Refused::ForeignHandle);
        }
        let entry = self.engine.entry(name.index());
        match entry.pin() {
            Ok((state, location)) => Ok((entry, state, location)),
            // The caller has borrowed or owns the object's only name, so undoing the pin has
            // claimed nothing.
            Err(_) => Err(Refused::TooManyPins),
        }
    }

    /// Pins an entry that was made, if its object belongs to the instance with the number `heap`.
    ///
    /// # Errors
    /// As `pin`.
    #[inline]
    pub(crate) fn pin_entry(
        &self,
        index: u32,
        heap: u32,
    ) -> Result<(&'m Entry, State, u32), Refused> {
        let entry = self.engine.entry(index);
        let (state, location) = match entry.pin() {
            Ok(pinned) => pinned,
            Err(NotPinned(undone)) => {
                self.engine.after_unpin(undone, index);
                return Err(Refused::TooManyPins);
            }
        };
        if !self.is_of(heap, state) {
            self.unpin(entry, index);
            return Err(Refused::ForeignHandle);
        }
        Ok((entry, state, location))
    }

    /// Undoes a pin on an object that turned out to be another one.
    #[cold]
    pub(crate) fn unpin(&self, entry: &Entry, index: u32) {
        self.engine.after_unpin(entry.unpin(), index);
    }

    /// As `pin`, and ends a move of the object that was in flight.
    pub(crate) fn pin_settled(&self, name: Name) -> Result<(&'m Entry, u32), Refused> {
        let (entry, state, location) = self.pin(name)?;
        if state.is_moving() {
            self.engine.revoke(NO_SLOT, state.group(), name.index());
        }
        Ok((entry, location))
    }

    /// As `borrow`, in a heap of one instance.
    #[inline(always)]
    pub(crate) fn borrow_owned<T>(&self, handle: &Handle<T>) -> Result<Pinned<'m, T>, Refused> {
        let (entry, _, location) = self.pin_owned(handle.name)?;
        // SAFETY: as in `borrow`.
        Ok(unsafe { Pinned::new(self.address(location), entry) })
    }

    /// As `borrow_mut`, in a heap of one instance.
    #[inline(always)]
    pub(crate) fn borrow_owned_mut<T>(
        &self,
        handle: &Handle<T>,
    ) -> Result<PinnedMut<'m, T>, Refused> {
        let (entry, state, location) = self.pin_owned(handle.name)?;
        if state.is_moving() {
            let (group, index) = (state.group(), handle.name.index());
            self.engine.revoke(NO_SLOT, group, index);
        }
        // SAFETY: as in `borrow_mut`.
        Ok(unsafe { PinnedMut::new(self.address(location), entry) })
    }

    #[inline]
    pub(crate) fn borrow<T>(&self, handle: &Handle<T>) -> Result<Pinned<'m, T>, Refused> {
        let (entry, _, location) = self.pin(handle.name)?;
        // SAFETY: O1 and O3: pinned; the handle is borrowed for as long as the caller says, which
        // excludes writers.
        Ok(unsafe { Pinned::new(self.address(location), entry) })
    }

    pub(crate) fn borrow_settled<T>(&self, handle: &Handle<T>) -> Result<Pinned<'m, T>, Refused> {
        let (entry, location) = self.pin_settled(handle.name)?;
        // SAFETY: as in `borrow`; no move copies what a shared reference may change.
        Ok(unsafe { Pinned::new(self.address(location), entry) })
    }

    pub(crate) fn borrow_mut<T>(&self, handle: &Handle<T>) -> Result<PinnedMut<'m, T>, Refused> {
        let (entry, location) = self.pin_settled(handle.name)?;
        // SAFETY: O1 to O3: pinned, not in motion; the caller has borrowed the handle exclusively.
        Ok(unsafe { PinnedMut::new(self.address(location), entry) })
    }

    /// All bytes of a contiguous byte object.
    pub(crate) fn borrow_bytes<B: Byte>(
        &self,
        bytes: &Bytes<B>,
    ) -> Result<Pinned<'m, [B]>, Refused> {
        self.is_contiguous(bytes)?;
        self.chunk(bytes, 0)
    }

    pub(crate) fn borrow_bytes_mut<B: Byte>(
        &self,
        bytes: &Bytes<B>,
    ) -> Result<PinnedMut<'m, [B]>, Refused> {
        self.is_contiguous(bytes)?;
        self.chunk_mut(bytes, 0)
    }

    fn is_contiguous<B: Byte>(&self, bytes: &Bytes<B>) -> Result<(), Refused> {
        let limit = self.piece_bytes();
        if bytes.len() > limit {
            return Err(Refused::TooLarge { limit });
        }
        Ok(())
    }

    /// Allocates a page-block of a group. Tries to make room before it refuses.
    #[inline]
    pub(crate) fn allocate(&self, slot: Slot, group: u32) -> Result<(u32, u32), Refused> {
        match self.engine.allocate(slot, group) {
            Err(refused) => self.engine.allocate_after_relief(slot, group, refused),
            allocated => allocated,
        }
    }

    /// Moves a value into an instance.
    #[inline]
    pub(crate) fn insert<T>(
        &self,
        slot: Slot,
        instance: u32,
        value: T,
    ) -> Result<Handle<T>, Full<T>> {
        let allocated = self
            .class_of(Layout::new::<T>())
            .and_then(|class| self.allocate(slot, self.engine.group_of(instance, class)));
        match allocated {
            Ok((index, location)) => {
                // SAFETY: the page-block of an entry under construction is large and aligned
                // enough, nobody refers to it, and nobody moves it.
                unsafe { self.address::<T>(location).write(value) };
                self.engine.end_construction(index);
                Ok(Handle::new(Name::new(index, self.id_of(instance))))
            }
            Err(refused) => Err(Full { value, refused }),
        }
    }

    /// Takes a value out.
    pub(crate) fn remove<T>(
        &self,
        slot: Slot,
        instance: u32,
        handle: Handle<T>,
    ) -> Result<T, Refused> {
        let (entry, _, location) = self.pin(handle.name)?;
        // SAFETY: O1: the object is live and pinned; the handle is consumed, so nobody reads the
        // bits again. A move may copy them meanwhile, which only reads.
        let value = unsafe { self.address::<T>(location).read() };
        self.engine.after_unpin(entry.unpin(), handle.name.index());
        // Fails only if the instance was destroyed since the pin. The value belongs to the caller
        // all the same.
        let _ = self.free_name(slot, instance, handle.name);
        Ok(value)
    }

    /// Drops an object, and frees its memory.
    pub(crate) fn free<T>(
        &self,
        slot: Slot,
        instance: u32,
        handle: Handle<T>,
    ) -> Result<(), Refused> {
        if needs_drop::<T>() {
            return self.remove(slot, instance, handle).map(drop);
        }
        self.free_name(slot, instance, handle.name)
    }

    /// Frees the memory of an object whose owner has consumed its name.
    #[inline]
    pub(crate) fn free_name(&self, slot: Slot, instance: u32, name: Name) -> Result<(), Refused> {
        self.vet(name)?;
        self.free_entry(slot, instance, name.index(), name.heap_number())
    }

    /// As `free_name`, for an entry that was made.
    #[inline]
    pub(crate) fn free_entry(
        &self,
        slot: Slot,
        instance: u32,
        index: u32,
        heap: u32,
    ) -> Result<(), Refused> {
        if self.engine.stale_names {
            return self.free_of_many(slot, instance, index, heap);
        }
        self.engine.free(slot, index);
        Ok(())
    }
}
