//! `SharedHeap`: 1-CF(κ,ι), one Compact-fit heap for many threads.
//!
//! ```text
//! register           a thread's `Local`: what it allocates and frees with
//! local.insert       a page-block and an entry under the lock of the size-class; the value is written outside it
//! heap.pin           one atomic addition; the object stays where it is until the guard is dropped
//! local.free         under the lock: the page-block is given back; moves, in steps of ι bytes, the lock free in between
//! ```
//! A handle may be pinned or freed by any thread that owns or borrows it. Guards borrow the handle, so a pinned object
//! cannot be freed.
//!
//! # Drawbacks
//! Every object costs an entry of twelve bytes and a back-reference of four; every access two atomic operations.

use core::alloc::Layout;
use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::{Deref, DerefMut};

use lock_api::RawMutex;
use surefit_core::{Corruption, Parts, Refused};
use zerocopy::Immutable;

use super::config::SharedConfig;
use super::guard::{Pinned, PinnedMut};
use super::lock::{Granularity, PerClass};
use super::objects::Objects;
use super::pool::{NO_SLOT, Slot};
use super::stats::SharedStats;
use crate::handle::{Byte, Bytes, Full, Handle};

/// A Compact-fit heap that many threads share; `R` is the kind of lock, `G` how much a lock covers.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_compact::{Config, shared::{SharedConfig, SharedHeap}};
///
/// static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let heap: SharedHeap<parking_lot::RawMutex> = SharedHeap::new(&mut memory, &CONFIG)?;
/// let local = heap.register()?;
/// let mut greeting = local.insert(*b"hello")?;
/// std::thread::scope(|threads| {
///     threads.spawn(|| assert_eq!(&*heap.pin(&greeting).unwrap(), b"hello"));
/// });
/// heap.pin_mut(&mut greeting)?[0] = b'j';
/// assert_eq!(&local.remove(greeting)?, b"jello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A pinned object cannot be freed:
/// ```compile_fail
/// # use core::mem::MaybeUninit;
/// # use surefit_compact::{Config, shared::{SharedConfig, SharedHeap}};
/// # static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
/// # let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// # let heap: SharedHeap<parking_lot::RawMutex> = SharedHeap::new(&mut memory, &CONFIG).unwrap();
/// # let local = heap.register().unwrap();
/// let handle = local.insert(7_u64).unwrap();
/// let pinned = heap.pin(&handle).unwrap();
/// local.free(handle).unwrap();
/// assert_eq!(*pinned, 7);
/// ```
pub struct SharedHeap<'m, R: RawMutex, G: Granularity = PerClass> {
    pub(crate) objects: Objects<'m, R, G>,
}

impl<R: RawMutex, G: Granularity> fmt::Debug for SharedHeap<'_, R, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedHeap").finish_non_exhaustive()
    }
}

impl<'m, R: RawMutex, G: Granularity> SharedHeap<'m, R, G> {
    /// A heap over a region.
    ///
    /// # Errors
    /// [`Refused::Region`] if not even one page fits; [`Refused::TooLarge`] if the region is over 32 GiB;
    /// [`Refused::NoHeapId`] after 2³² heaps.
    ///
    /// # Panics
    /// If the configuration's back-references are not four bytes.
    pub fn new(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m SharedConfig<G>,
    ) -> Result<Self, Refused> {
        let objects = Objects::new(region, config, 1, false)?;
        Ok(Self { objects })
    }

    /// Registers the calling thread, or whoever is given the `Local`.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if as many are registered as the configuration says.
    pub fn register(&self) -> Result<Local<'_, 'm, R, G>, Refused> {
        Local::new(&self.objects, 0)
    }

    /// Pins an object without interior mutability. Never waits; a move of the object that is in flight goes on, and is
    /// given up if the pin is still there when it would end.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`]; [`Refused::TooManyPins`] from 32767 pins on.
    ///
    /// # Complexity
    /// An atomic addition, and one when the guard is dropped.
    #[inline]
    pub fn pin<'a, T: Immutable>(
        &'a self,
        handle: &'a Handle<T>,
    ) -> Result<Pinned<'a, T>, Refused> {
        self.objects.borrow_owned(handle)
    }

    /// Pins an object that may change behind a shared reference. If it is in motion, takes its size-class's
    /// lock once: behind sections of at most min(β, ι) copied bytes each.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`].
    pub fn pin_settled<'a, T>(&'a self, handle: &'a Handle<T>) -> Result<Pinned<'a, T>, Refused> {
        self.objects.borrow_settled(handle)
    }

    /// Pins an object to change it. Waits as [`SharedHeap::pin_settled`] does.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`].
    #[inline]
    pub fn pin_mut<'a, T>(
        &'a self,
        handle: &'a mut Handle<T>,
    ) -> Result<PinnedMut<'a, T>, Refused> {
        self.objects.borrow_owned_mut(handle)
    }

    /// Pins a contiguous byte object.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`]; [`Refused::TooLarge`] for one in pieces, of which [`SharedHeap::chunk`] pins one.
    #[inline]
    pub fn pin_bytes<'a, B: Byte>(
        &'a self,
        bytes: &'a Bytes<B>,
    ) -> Result<Pinned<'a, [B]>, Refused> {
        self.objects.borrow_bytes(bytes)
    }

    /// Pins a contiguous byte object to change it. Waits as [`SharedHeap::pin_settled`] does.
    ///
    /// # Errors
    /// As [`SharedHeap::pin_bytes`].
    pub fn pin_bytes_mut<'a, B: Byte>(
        &'a self,
        bytes: &'a mut Bytes<B>,
    ) -> Result<PinnedMut<'a, [B]>, Refused> {
        self.objects.borrow_bytes_mut(bytes)
    }

    /// Pins the bytes from `offset` to the end of their piece (or of the object); none at the end.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`].
    ///
    /// # Panics
    /// If `offset` is above the length.
    pub fn chunk<'a, B: Byte>(
        &'a self,
        bytes: &'a Bytes<B>,
        offset: usize,
    ) -> Result<Pinned<'a, [B]>, Refused> {
        self.objects.chunk(bytes, offset)
    }

    /// As [`SharedHeap::chunk`], to change them. Waits as [`SharedHeap::pin_settled`] does.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`].
    ///
    /// # Panics
    /// If `offset` is above the length.
    pub fn chunk_mut<'a, B: Byte>(
        &'a self,
        bytes: &'a mut Bytes<B>,
        offset: usize,
    ) -> Result<PinnedMut<'a, [B]>, Refused> {
        self.objects.chunk_mut(bytes, offset)
    }

    /// Copies bytes out, from `offset` on.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`].
    ///
    /// # Panics
    /// If the range goes beyond the object.
    pub fn read_at<B: Byte>(
        &self,
        bytes: &Bytes<B>,
        offset: usize,
        target: &mut [B],
    ) -> Result<(), Refused> {
        copy_out(offset, target, |at| self.chunk(bytes, at))
    }

    /// Copies bytes in, from `offset` on.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`]; bytes before the piece that could not be pinned are written.
    ///
    /// # Panics
    /// If the range goes beyond the object.
    pub fn write_at<B: Byte>(
        &self,
        bytes: &mut Bytes<B>,
        offset: usize,
        source: &[B],
    ) -> Result<(), Refused> {
        copy_in(offset, source, |at| self.objects.chunk_mut(bytes, at))
    }

    /// Moves objects until no size-class has more than one not-full page, at most `budget` of them, the lock free after
    /// every step; returns the moves begun. Pays every debt that no pin stands in the way of.
    pub fn compact(&self, budget: u64) -> u64 {
        let groups = self.objects.engine.all_groups();
        self.objects.engine.compact(NO_SLOT, groups, budget)
    }

    /// Counters. Takes the lock of every size-class, one after another.
    pub fn stats(&self) -> SharedStats {
        let engine = &self.objects.engine;
        engine.stats(engine.all_groups())
    }

    /// Where every byte of the region is; when nothing else runs, the parts add up to its size. Beside working threads a page
    /// that changes its size-class meanwhile may be counted twice, or not at all.
    pub fn parts(&self) -> Parts {
        self.objects.engine.parts(self.objects.skipped)
    }

    /// Verifies every numbered invariant; with `debts`, size-classes may be over their bound, as pins and frees in
    /// progress leave them. Exact when no other thread works on the heap. O(classes · entries + region).
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self, debts: bool) -> Result<(), Corruption> {
        self.objects.engine.check(debts)
    }
}

/// Copies bytes out of an object, chunk by chunk.
pub(crate) fn copy_out<B: Byte, C: Deref<Target = [B]>>(
    offset: usize,
    target: &mut [B],
    mut chunk: impl FnMut(usize) -> Result<C, Refused>,
) -> Result<(), Refused> {
    let mut done = 0;
    while done < target.len() {
        let chunk = chunk(offset + done)?;
        assert!(!chunk.is_empty(), "the range goes beyond the object");
        let n = chunk.len().min(target.len() - done);
        target[done..done + n].copy_from_slice(&chunk[..n]);
        done += n;
    }
    Ok(())
}

/// Copies bytes into an object, chunk by chunk.
pub(crate) fn copy_in<B: Byte, C: DerefMut<Target = [B]>>(
    offset: usize,
    source: &[B],
    mut chunk: impl FnMut(usize) -> Result<C, Refused>,
) -> Result<(), Refused> {
    let mut done = 0;
    while done < source.len() {
        let mut chunk = chunk(offset + done)?;
        assert!(!chunk.is_empty(), "the range goes beyond the object");
        let n = chunk.len().min(source.len() - done);
        chunk[..n].copy_from_slice(&source[done..done + n]);
        done += n;
    }
    Ok(())
}

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

    /// The instance that it allocates from: 0 in a [`SharedHeap`], any in a [`ShardedHeap`](crate::sharded::ShardedHeap).
    #[must_use]
    pub fn instance(&self) -> u32 {
        self.instance
    }

    /// Moves a value into the heap. Never moves another object, unless a quota is in the way
    /// ([`ShardedHeap::set_quota`](crate::sharded::ShardedHeap::set_quota)).
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
