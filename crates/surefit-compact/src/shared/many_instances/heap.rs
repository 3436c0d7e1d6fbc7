//! `ShardedHeap`: n-CF(κ,ι), several Compact-fit instances over one region.
//!
//! ```text
//! heap.register      a thread's `Local` in a vacant instance, or in the least used one
//! local.insert       from that instance: takes no lock of another one
//! heap.pin           of any instance: one atomic addition, and a comparison with its number
//! local.free         of any instance: under the lock of its size-class there; lock-free if
//!                    there is no bound to keep
//! heap.set_quota     the most bytes of an instance
//! heap.destroy       all objects of an instance at once
//! ```

use core::fmt;
use core::mem::MaybeUninit;

use lock_api::RawMutex;
use surefit_core::{Corruption, Refused, Usage};
use zerocopy::Immutable;

use super::guard::{ShardedPinned, ShardedPinnedMut};
use crate::handle::{Byte, Bytes, Handle};
use crate::shared::config::SharedConfig;
use crate::shared::local::Local;
use crate::shared::lock::{PerClass, Stepwise};
use crate::shared::machinery::build::Outlive;
use crate::shared::machinery::bytes::{copy_in, copy_out};
use crate::shared::machinery::objects::Objects;
use crate::shared::machinery::pool::NO_SLOT;
use crate::shared::machinery::stats::SharedStats;

/// Several Compact-fit instances over one region. `R` is the kind of lock. `G` is how much a lock
/// covers: an instance ([`PerHeap`](crate::shared::PerHeap)) or one size-class of it.
///
/// Each instance has its own size-classes, locks and pages. All instances share one pool of free
/// pages and one table of handles. A thread registers in one instance and allocates from it. Any
/// thread that has a handle may pin or free its object, whichever instance the object is in.
///
/// # Bounds
/// Each instance keeps the compaction bound by itself. So the bound of the heap is the bound of one
/// instance, times the number of instances.
///
/// # Drawbacks
/// A size-class that several instances use has partly filled pages in each of them. Handles of a
/// destroyed instance are detected, so every access compares one number more than in a
/// [`SharedHeap`](crate::shared::SharedHeap).
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
/// Page locks are not available: under them a page belongs to no instance that could be locked.
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
    /// The most bytes of pages that it may have, if there is a quota.
    pub quota_bytes: Option<usize>,
    /// Registered threads that allocate from it; `None` while it is being destroyed.
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
    /// Creates a heap of several instances over a region. The configured threads are spread evenly:
    /// an instance has at most ⌈locals / instances⌉ of them, its *sharing degree*. With as many
    /// instances as threads, each thread has an instance of its own.
    ///
    /// # Errors
    /// [`Refused::Region`] if not even one page fits. [`Refused::TooLarge`] if the region exceeds
    /// 32 GiB, or if all instances together have more than 4096 size-classes (the number per
    /// instance is rounded up to a power of two). [`Refused::NoHeapId`] after 2³² heaps and
    /// instances.
    ///
    /// # Panics
    /// If `instances` is zero.
    pub fn new(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m SharedConfig<G>,
        instances: u16,
    ) -> Result<Self, Refused> {
        assert!(instances > 0, "a heap has an instance");
        let objects = Objects::new(region, config, usize::from(instances), Outlive::Instances)?;
        Ok(Self { objects })
    }

    /// The number of instances.
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

    /// Registers a thread in the instance with the fewest threads; among those, in the one with the
    /// most pages. The caller uses the `Local`, or gives it to another thread.
    ///
    /// So a new thread adopts the objects and pages of an instance whose threads have all left,
    /// before it takes an empty instance.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if the configured number of threads is registered already;
    /// [`Refused::Busy`] if all instances are being destroyed.
    ///
    /// # Complexity
    /// O(instances + locals).
    pub fn register(&self) -> Result<Local<'_, 'm, R, G>, Refused> {
        Local::anywhere(&self.objects)
    }

    /// Registers a thread in a given instance.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if [`threads_per_instance`](Self::threads_per_instance) threads are
    /// registered there already, or as many in the heap as the configuration allows;
    /// [`Refused::Busy`] while the instance is being destroyed.
    ///
    /// # Panics
    /// If there is no such instance.
    ///
    /// # Complexity
    /// O(locals).
    pub fn register_in(&self, instance: u32) -> Result<Local<'_, 'm, R, G>, Refused> {
        Local::new(&self.objects, instance)
    }

    /// Limits the pages of an instance: it gets no page with which it would have more than `bytes`,
    /// rounded down to whole pages. `usize::MAX` removes the limit. Pages that it already has above
    /// the limit stay.
    ///
    /// An allocation above the quota first compacts the instance. If no page becomes free, the
    /// allocation is refused with [`Refused::Quota`]. Handles and free pages do not count: they
    /// belong to all instances.
    ///
    /// # Panics
    /// If there is no such instance.
    ///
    /// # Complexity
    /// O(1). An allocation that reaches the quota moves as many objects as
    /// [`compact_instance`](Self::compact_instance).
    pub fn set_quota(&self, instance: u32, bytes: usize) {
        let engine = &self.objects.engine;
        let pages = match bytes {
            usize::MAX => u32::MAX,
            bytes => u32::try_from(bytes >> engine.pages.geometry.page_shift()).unwrap_or(u32::MAX),
        };
        engine.instances[instance as usize].set_quota(pages);
    }

    /// Frees the memory of all objects of an instance without dropping their values, and returns
    /// how many objects there were. Their handles are stale from then on: pins and frees of them
    /// return [`Refused::ForeignHandle`] and change nothing.
    ///
    /// What the values own is leaked, as if they were forgotten; objects in other instances, for
    /// example. An object that a thread pins at this very moment stays until it is unpinned.
    ///
    /// # Errors
    /// [`Refused::Busy`] if a thread is registered in the instance, or one of its objects is
    /// pinned; [`Refused::NoHeapId`] after 2³² heaps and instances. Nothing has changed then.
    ///
    /// # Panics
    /// If there is no such instance.
    ///
    /// # Complexity
    /// O(most handles in use at once so far + objects of the instance). It takes the lock of one
    /// size-class at a time, for one object.
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

    /// As [`compact`](Self::compact), for one instance.
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

/// Access to the objects of all instances.
impl<R: RawMutex, G: Stepwise> ShardedHeap<'_, R, G> {
    /// Pins an object without interior mutability. Never waits. If a move of the object is in
    /// flight, it continues, and is abandoned if the pin is still there when the move would end.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] for a handle of another heap, or of a destroyed instance;
    /// [`Refused::TooManyPins`] if the object has 32767 pins already.
    ///
    /// # Complexity
    /// One atomic addition, and one atomic subtraction when the guard is dropped.
    #[inline]
    pub fn pin<'a, T: Immutable>(
        &'a self,
        handle: &'a Handle<T>,
    ) -> Result<ShardedPinned<'a, T, R, G>, Refused> {
        let object = self.objects.borrow(handle)?;
        Ok(ShardedPinned::new(object, &self.objects))
    }

    /// Pins an object that may change behind a shared reference. If the object is in motion, the
    /// call takes the lock of its size-class once, and ends the move. Other threads hold that lock
    /// for at most min(β, ι) copied bytes at a time.
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
    /// As [`ShardedHeap::pin`]; [`Refused::TooLarge`] for an object in pieces: use
    /// [`ShardedHeap::chunk`] to pin one of them.
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

    /// Pins the bytes from `offset` to the end of their piece, or of the object. The result is
    /// empty if `offset` is the length.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`].
    ///
    /// # Panics
    /// If `offset` exceeds the length.
    pub fn chunk<'a, B: Byte>(
        &'a self,
        bytes: &'a Bytes<B>,
        offset: usize,
    ) -> Result<ShardedPinned<'a, [B], R, G>, Refused> {
        let object = self.objects.chunk(bytes, offset)?;
        Ok(ShardedPinned::new(object, &self.objects))
    }

    /// As [`ShardedHeap::chunk`], to change the bytes. Waits as [`ShardedHeap::pin_settled`] does.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`].
    ///
    /// # Panics
    /// If `offset` exceeds the length.
    pub fn chunk_mut<'a, B: Byte>(
        &'a self,
        bytes: &'a mut Bytes<B>,
        offset: usize,
    ) -> Result<ShardedPinnedMut<'a, [B], R, G>, Refused> {
        let object = self.objects.chunk_mut(bytes, offset)?;
        Ok(ShardedPinnedMut::new(object, &self.objects))
    }

    /// Copies the bytes from `offset` on to `target`.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`].
    ///
    /// # Panics
    /// If the range exceeds the object.
    pub fn read_at<B: Byte>(
        &self,
        bytes: &Bytes<B>,
        offset: usize,
        target: &mut [B],
    ) -> Result<(), Refused> {
        copy_out(bytes.len(), offset, target, |at| self.chunk(bytes, at))
    }

    /// Copies `source` into the object, from `offset` on.
    ///
    /// # Errors
    /// As [`ShardedHeap::pin`]. Bytes before the piece that could not be pinned are written then.
    ///
    /// # Panics
    /// If the range exceeds the object.
    pub fn write_at<B: Byte>(
        &self,
        bytes: &mut Bytes<B>,
        offset: usize,
        source: &[B],
    ) -> Result<(), Refused> {
        copy_in(bytes.len(), offset, source, |at| {
            let object = self.objects.chunk_mut(bytes, at)?;
            Ok(ShardedPinnedMut::new(object, &self.objects))
        })
    }
}

/// The heap as a whole.
impl<R: RawMutex, G: Stepwise> ShardedHeap<'_, R, G> {
    /// Frees the objects on deferred lists. Then moves at most `budget` objects, until no
    /// size-class of an instance has more than one not-full page. The lock is released after every
    /// step. Returns the number of moves begun.
    pub fn compact(&self, budget: u64) -> u64 {
        let engine = &self.objects.engine;
        engine.compact(NO_SLOT, engine.all_groups(), budget)
    }

    /// Counters of all instances. Takes the lock of every size-class, one after another. Objects on
    /// deferred lists count as live.
    pub fn stats(&self) -> SharedStats {
        let engine = &self.objects.engine;
        engine.stats(engine.all_groups())
    }

    /// Where every byte of the region is. If no other thread works on the heap, the parts add up to
    /// its size. Otherwise a page that changes its size-class meanwhile may be counted twice, or
    /// not at all.
    pub fn usage(&self) -> Usage {
        self.objects.engine.usage(self.objects.skipped)
    }

    /// Verifies every numbered invariant. With `debts`, size-classes may exceed their bound, which
    /// pins and frees in progress can cause. The result is exact only if no other thread works on
    /// the heap. O(groups · entries + region).
    ///
    /// # Errors
    /// The first invariant that is violated.
    pub fn check(&self, debts: bool) -> Result<(), Corruption> {
        self.objects.engine.check(debts)
    }
}
