//! `ShardedHeap`: n-CF(κ,ι), several Compact-fit instances over one region.
//!
//! ```text
//! heap.register      a thread's `Local` in a vacant or the least used instance
//! local.insert       from that instance: no lock of another one
//! heap.pin           of any instance: one atomic addition, and a comparison with the instance's number
//! local.free         of any instance: under the lock of its size-class there; lock-free if there is no bound to keep
//! heap.set_quota     the most bytes of an instance
//! heap.destroy       all objects of an instance at once
//! ```

use core::fmt;
use core::mem::MaybeUninit;

use lock_api::RawMutex;
use surefit_core::{Corruption, Parts, Refused};
use zerocopy::Immutable;

use super::guard::{ShardedPinned, ShardedPinnedMut};
use crate::handle::{Byte, Bytes, Handle};
use crate::shared::config::SharedConfig;
use crate::shared::local::Local;
use crate::shared::lock::{PerClass, Stepwise};
use crate::shared::machinery::bytes::{copy_in, copy_out};
use crate::shared::machinery::objects::Objects;
use crate::shared::machinery::pool::NO_SLOT;
use crate::shared::machinery::stats::SharedStats;

/// Several Compact-fit instances over one region; `R` is the kind of lock, `G` how much a lock covers: an instance
/// ([`PerHeap`](crate::shared::PerHeap)) or a size-class of it.
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_compact::{Config, shared::{SharedConfig, ShardedHeap}};
///
/// static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let heap: ShardedHeap<parking_lot::RawMutex> = ShardedHeap::new(&mut memory, &CONFIG, 4)?;
/// let (here, there) = (heap.register()?, heap.register()?);
/// assert_ne!(here.instance(), there.instance());
///
/// let greeting = here.insert(*b"hello")?;
/// assert_eq!(&*heap.pin(&greeting)?, b"hello");
/// there.free(greeting)?; // of another instance
///
/// let left = here.insert(7_u64)?;
/// let owner = here.instance();
/// drop(here);
/// assert_eq!(heap.destroy(owner)?, 1);
/// assert!(heap.pin(&left).is_err()); // stale
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Under page locks a page belongs to no instance that could be locked:
/// ```compile_fail
/// use surefit_compact::shared::{PerPage, ShardedHeap};
/// fn heap(_: ShardedHeap<'_, parking_lot::RawMutex, PerPage>) {}
/// ```
pub struct ShardedHeap<'m, R: RawMutex, G: Stepwise = PerClass> {
    pub(crate) objects: Objects<'m, R, G>,
}

/// One instance: its counters, pages and threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InstanceStats {
    /// Counters of its size-classes.
    pub counters: SharedStats,
    /// Bytes of its pages.
    pub bytes: usize,
    /// The most bytes that it may have, if there is a quota.
    pub quota_bytes: Option<usize>,
    /// Registered threads that allocate from it; nothing while it is being destroyed.
    pub threads: Option<u32>,
}

impl<R: RawMutex, G: Stepwise> fmt::Debug for ShardedHeap<'_, R, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut heap = f.debug_struct("ShardedHeap");
        heap.field("instances", &self.instances())
            .finish_non_exhaustive()
    }
}

/// Instances and threads.
impl<'m, R: RawMutex, G: Stepwise> ShardedHeap<'m, R, G> {
    /// A heap of some instances over a region. The configuration's threads are spread evenly: an instance has
    /// ⌈locals / instances⌉ of them at most, the sharing degree; with as many instances as threads each has its own.
    ///
    /// # Errors
    /// [`Refused::Region`] if not even one page fits; [`Refused::TooLarge`] if the region is over 32 GiB, or there are
    /// more than 4096 size-classes in all instances together (their number in one is rounded up to a power of two);
    /// [`Refused::NoHeapId`] after 2³² heaps and instances.
    ///
    /// # Panics
    /// If the configuration's back-references are not four bytes, or there is no instance.
    pub fn new(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m SharedConfig<G>,
        instances: u16,
    ) -> Result<Self, Refused> {
        assert!(instances > 0, "a heap has an instance");
        let objects = Objects::new(region, config, usize::from(instances), false)?;
        Ok(Self { objects })
    }

    /// Instances.
    ///
    /// # Panics
    /// Never.
    #[must_use]
    pub fn instances(&self) -> u32 {
        u32::try_from(self.objects.engine.instances.len()).expect("at most 4096 instances")
    }

    /// The sharing degree: the most threads that are registered in one instance.
    #[must_use]
    pub fn threads_per_instance(&self) -> u32 {
        self.objects.engine.threads_per_instance()
    }

    /// Registers the calling thread, or whoever is given the `Local`, in the instance with the fewest threads; among
    /// those in the one with the most pages. So the objects and pages of an instance whose threads have all left are
    /// adopted before an empty instance is taken.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if as many are registered as the configuration says; [`Refused::Busy`] if all instances are
    /// being destroyed.
    ///
    /// # Complexity
    /// O(instances + locals).
    pub fn register(&self) -> Result<Local<'_, 'm, R, G>, Refused> {
        Local::anywhere(&self.objects)
    }

    /// Registers in a given instance.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if it has [`threads_per_instance`](Self::threads_per_instance) already, or as many are
    /// registered as the configuration says; [`Refused::Busy`] while it is being destroyed.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn register_in(&self, instance: u32) -> Result<Local<'_, 'm, R, G>, Refused> {
        Local::new(&self.objects, instance)
    }

    /// Gives an instance a quota: it gets no page by which it would have more than `bytes`, counted in whole pages;
    /// `usize::MAX` is none. What it has above that it keeps.
    ///
    /// An allocation above the quota first compacts the instance; if no page comes back, it is
    /// [`Refused::Quota`]. Handles and free pages are not counted: they belong to all instances.
    ///
    /// # Panics
    /// If there is no such instance.
    ///
    /// # Complexity
    /// O(1); an allocation that meets the quota moves as many objects as [`compact_instance`](Self::compact_instance).
    pub fn set_quota(&self, instance: u32, bytes: usize) {
        let engine = &self.objects.engine;
        let pages = match bytes {
            usize::MAX => u32::MAX,
            bytes => u32::try_from(bytes >> engine.pages.geometry.page_shift()).unwrap_or(u32::MAX),
        };
        engine.instances[instance as usize].set_quota(pages);
    }

    /// Gives the memory of all objects of an instance back, without dropping their values; returns how many there were.
    /// Their handles are stale from now on: pins and frees of them are [`Refused::ForeignHandle`], and touch nothing.
    ///
    /// What the values own is leaked as if they were forgotten: objects in other instances, for example. An object that
    /// somebody pins at the very moment stays until it is unpinned.
    ///
    /// # Errors
    /// [`Refused::Busy`] if a thread is registered in the instance, or one of its objects is pinned;
    /// [`Refused::NoHeapId`] after 2³² heaps and instances. Nothing has changed.
    ///
    /// # Panics
    /// If there is no such instance.
    ///
    /// # Complexity
    /// O(handles in use at once so far + objects of the instance). Locks one size-class at a time, for one object.
    pub fn destroy(&self, instance: u32) -> Result<u64, Refused> {
        self.objects.engine.destroy(instance)
    }

    /// Counters of an instance. Takes the lock of each of its size-classes, one after another.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn instance_stats(&self, instance: u32) -> InstanceStats {
        let engine = &self.objects.engine;
        let number = instance;
        let instance = &engine.instances[number as usize];
        let bytes = |pages: u32| (pages as usize) << engine.pages.geometry.page_shift();
        let quota = instance.quota();
        InstanceStats {
            counters: engine.stats(engine.groups_of(number)),
            bytes: bytes(instance.pages()),
            quota_bytes: (quota != u32::MAX).then(|| bytes(quota)),
            threads: instance.threads(),
        }
    }

    /// As [`compact`](Self::compact), of one instance.
    ///
    /// # Panics
    /// If there is no such instance.
    pub fn compact_instance(&self, instance: u32, budget: u64) -> u64 {
        assert!(instance < self.instances(), "no such instance");
        let engine = &self.objects.engine;
        engine.drain_groups(NO_SLOT, engine.groups_of(instance));
        engine.compact(NO_SLOT, engine.groups_of(instance), budget)
    }
}

/// Access to objects, whichever instance they are of.
impl<R: RawMutex, G: Stepwise> ShardedHeap<'_, R, G> {
    /// Pins an object without interior mutability. Never waits; a move of the object that is in flight goes on, and is
    /// given up if the pin is still there when it would end.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`]: of another heap, or of an instance that was destroyed; [`Refused::TooManyPins`] from
    /// 32767 pins on.
    ///
    /// # Complexity
    /// An atomic addition, and one when the guard is dropped.
    #[inline]
    pub fn pin<'a, T: Immutable>(
        &'a self,
        handle: &'a Handle<T>,
    ) -> Result<ShardedPinned<'a, T, R, G>, Refused> {
        let object = self.objects.borrow(handle)?;
        Ok(ShardedPinned::new(object, &self.objects))
    }

    /// Pins an object that may change behind a shared reference. If it is in motion, takes its size-class's
    /// lock once: behind sections of at most min(β, ι) copied bytes each.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`].
    pub fn pin_settled<'a, T>(
        &'a self,
        handle: &'a Handle<T>,
    ) -> Result<ShardedPinned<'a, T, R, G>, Refused> {
        let object = self.objects.borrow_settled(handle)?;
        Ok(ShardedPinned::new(object, &self.objects))
    }

    /// Pins an object to change it. Waits as [`ShardedHeap::pin_settled`] does.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`].
    pub fn pin_mut<'a, T>(
        &'a self,
        handle: &'a mut Handle<T>,
    ) -> Result<ShardedPinnedMut<'a, T, R, G>, Refused> {
        let object = self.objects.borrow_mut(handle)?;
        Ok(ShardedPinnedMut::new(object, &self.objects))
    }

    /// Pins a contiguous byte object.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`]; [`Refused::TooLarge`] for one in pieces, of which [`ShardedHeap::chunk`] pins one.
    #[inline]
    pub fn pin_bytes<'a, B: Byte>(
        &'a self,
        bytes: &'a Bytes<B>,
    ) -> Result<ShardedPinned<'a, [B], R, G>, Refused> {
        let object = self.objects.borrow_bytes(bytes)?;
        Ok(ShardedPinned::new(object, &self.objects))
    }

    /// Pins a contiguous byte object to change it. Waits as [`ShardedHeap::pin_settled`] does.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin_bytes`].
    pub fn pin_bytes_mut<'a, B: Byte>(
        &'a self,
        bytes: &'a mut Bytes<B>,
    ) -> Result<ShardedPinnedMut<'a, [B], R, G>, Refused> {
        let object = self.objects.borrow_bytes_mut(bytes)?;
        Ok(ShardedPinnedMut::new(object, &self.objects))
    }

    /// Pins the bytes from `offset` to the end of their piece (or of the object); none at the end.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`].
    ///
    /// # Panics
    /// If `offset` is above the length.
    pub fn chunk<'a, B: Byte>(
        &'a self,
        bytes: &'a Bytes<B>,
        offset: usize,
    ) -> Result<ShardedPinned<'a, [B], R, G>, Refused> {
        let object = self.objects.chunk(bytes, offset)?;
        Ok(ShardedPinned::new(object, &self.objects))
    }

    /// As [`ShardedHeap::chunk`], to change them. Waits as [`ShardedHeap::pin_settled`] does.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`].
    ///
    /// # Panics
    /// If `offset` is above the length.
    pub fn chunk_mut<'a, B: Byte>(
        &'a self,
        bytes: &'a mut Bytes<B>,
        offset: usize,
    ) -> Result<ShardedPinnedMut<'a, [B], R, G>, Refused> {
        let object = self.objects.chunk_mut(bytes, offset)?;
        Ok(ShardedPinnedMut::new(object, &self.objects))
    }

    /// Copies bytes out, from `offset` on.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`].
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
    /// As [`ShardedHeap::pin`]; bytes before the piece that could not be pinned are written.
    ///
    /// # Panics
    /// If the range goes beyond the object.
    pub fn write_at<B: Byte>(
        &self,
        bytes: &mut Bytes<B>,
        offset: usize,
        source: &[B],
    ) -> Result<(), Refused> {
        copy_in(offset, source, |at| {
            let object = self.objects.chunk_mut(bytes, at)?;
            Ok(ShardedPinnedMut::new(object, &self.objects))
        })
    }
}

/// The heap as a whole.
impl<R: RawMutex, G: Stepwise> ShardedHeap<'_, R, G> {
    /// Frees what waits on deferred lists; then moves objects until no size-class of an instance has more than one
    /// not-full page, at most `budget` of them, the lock free after every step; returns the moves begun.
    pub fn compact(&self, budget: u64) -> u64 {
        let engine = &self.objects.engine;
        engine.compact(NO_SLOT, engine.all_groups(), budget)
    }

    /// Counters of all instances. Takes the lock of every size-class, one after another. Objects that wait on deferred
    /// lists count as live.
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
    /// progress leave them. Exact when no other thread works on the heap. O(groups · entries + region).
    ///
    /// # Errors
    /// The first invariant that does not hold.
    pub fn check(&self, debts: bool) -> Result<(), Corruption> {
        self.objects.engine.check(debts)
    }
}
