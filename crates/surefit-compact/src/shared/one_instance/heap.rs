//! `SharedHeap`: 1-CF(κ,ι), one Compact-fit heap for many threads.
//!
//! ```text
//! register           a thread's `Local`: the thread allocates and frees with it
//! local.insert       takes a page-block and an entry under the lock of the size-class;
//!                    writes the value outside it
//! heap.pin           one atomic addition; the object stays where it is until the guard is dropped
//! local.free         gives the page-block back under the lock; moves in steps of ι bytes,
//!                    without the lock in between
//! ```
//! Any thread that owns or borrows a handle may pin or free its object. Guards borrow the handle,
//! so a pinned object cannot be freed.

use core::fmt;
use core::mem::MaybeUninit;

use lock_api::RawMutex;
#[cfg(feature = "slack")]
use surefit_classes::Bound;
use surefit_classes::SizeClass;
use surefit_core::{Corruption, Refused, Usage};
use zerocopy::Immutable;

use crate::handle::{Byte, Bytes, Handle};
#[cfg(feature = "slack")]
use crate::layout::refused_beside;
use crate::shared::config::SharedConfig;
use crate::shared::local::Local;
use crate::shared::lock::{Granularity, PerClass};
use crate::shared::machinery::build::Outlive;
use crate::shared::machinery::bytes::{copy_in, copy_out};
use crate::shared::machinery::guard::{Pinned, PinnedMut};
use crate::shared::machinery::objects::Objects;
use crate::shared::machinery::pool::NO_SLOT;
#[cfg(feature = "slack")]
use crate::shared::machinery::slack::{Slack, table_bytes};
use crate::shared::machinery::stats::{ClassUsage, SharedStats};

/// A Compact-fit heap that several threads share. `R` is the kind of lock, `G` is how much a lock
/// covers.
///
/// Any thread that owns or borrows a handle may pin or free its object. Guards borrow the handle,
/// so a pinned object cannot be freed.
///
/// # Drawbacks
/// Each object costs an entry of twelve bytes and a back-reference of four bytes. Each access costs
/// two atomic operations.
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
    /// Creates a heap over a region.
    ///
    /// # Errors
    /// [`Refused::Region`] if not even one page fits; [`Refused::TooLarge`] if the region exceeds
    /// 32 GiB; [`Refused::NoHeapId`] after 2³² heaps.
    pub fn new(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m SharedConfig<G>,
    ) -> Result<Self, Refused> {
        let objects = Objects::new(region, config, 1, Outlive::Never)?;
        Ok(Self { objects })
    }

    /// As [`SharedHeap::new`], with `slack` bytes of pages that the size-classes share as holes, in
    /// place of the δ and ε that each of them has by the configuration.
    ///
    /// A free moves an object only if its class has as many holes as it was lent, and no slack for
    /// another one is spare. With the slack that
    /// [`shared_slack_bytes`](crate::certify::shared_slack_bytes) computes for a demand and this
    /// region, the heap refuses nothing that stays within the demand. At most 4 GiB are lent,
    /// unless the slack is the greatest number that it returns: then nothing is ever moved.
    ///
    /// Where the configuration bounds classes in pages, or not at all, slack means nothing. A table
    /// at the end of the region holds what is lent: at most 11 bytes, and 4 per size-class.
    /// [`certify_shared_with_slack`](crate::certify::certify_shared_with_slack) says what one call
    /// costs then.
    ///
    /// # Errors
    /// As [`SharedHeap::new`].
    ///
    /// # Examples
    /// ```
    /// use surefit_compact::certify::{Demand, Sharing, shared_slack_bytes};
    /// use surefit_compact::shared::{PerClass, SharedConfig, SharedHeap};
    /// use surefit_compact::{Config, Wide};
    ///
    /// type Lock = parking_lot::RawMutex;
    /// static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
    /// // At most 1000 objects of up to 512 bytes at once, 48 KiB in all, two threads, in 2 MiB.
    /// let demand = Demand::of_mix::<Wide>(CONFIG.config(), 1000, 512, 48 << 10);
    /// let sharing = Sharing::new(2);
    /// let mut memory = vec![core::mem::MaybeUninit::uninit(); 2 << 20];
    /// // The region may begin anywhere: a page less a byte is skipped at most.
    /// let bytes = memory.len() - (CONFIG.config().geometry().page_bytes() - 1);
    /// let slack = shared_slack_bytes::<Lock, _>(&CONFIG, &sharing, &demand, bytes)?;
    /// let heap: SharedHeap<Lock, PerClass> = SharedHeap::with_slack(&mut memory, &CONFIG, slack)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "slack")]
    #[cfg_attr(docsrs, doc(cfg(feature = "slack")))]
    pub fn with_slack(
        region: &'m mut [MaybeUninit<u8>],
        config: &'m SharedConfig<G>,
        slack: usize,
    ) -> Result<Self, Refused> {
        if !matches!(config.config().bound(), Bound::Holes { .. }) {
            return Self::new(region, config);
        }
        let before = region.len();
        let classes = config.config().geometry().class_count();
        let (slack, region) = Slack::split(region, classes, slack);
        let table = before - region.len();
        let heap = Self::new(region, config);
        let mut heap = heap.map_err(|refused| refused_beside(refused, table_bytes(classes)))?;
        heap.objects.engine.slack = Some(slack);
        heap.objects.skipped += table;
        Ok(heap)
    }

    /// Registers a thread. The caller uses the `Local`, or gives it to another thread.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if the configured number of threads is registered already.
    ///
    /// # Complexity
    /// O(locals).
    pub fn register(&self) -> Result<Local<'_, 'm, R, G>, Refused> {
        Local::new(&self.objects, 0)
    }

    /// Pins an object without interior mutability. Never waits. If a move of the object is in
    /// flight, it continues, and is abandoned if the pin is still there when the move would end.
    ///
    /// # Errors
    /// [`Refused::ForeignHandle`] for a handle of another heap; [`Refused::TooManyPins`] if the
    /// object has 32767 pins already.
    ///
    /// # Complexity
    /// One atomic addition, and one atomic subtraction when the guard is dropped.
    #[inline]
    pub fn pin<'a, T: Immutable>(
        &'a self,
        handle: &'a Handle<T>,
    ) -> Result<Pinned<'a, T>, Refused> {
        self.objects.borrow_owned(handle)
    }

    /// Pins an object that may change behind a shared reference. If the object is in motion, the
    /// call takes the lock of its size-class once, and ends the move. Other threads hold that lock
    /// for at most min(β, ι) copied bytes at a time.
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
    /// As [`SharedHeap::pin`]; [`Refused::TooLarge`] for an object in pieces: use
    /// [`SharedHeap::chunk`] to pin one of them.
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

    /// Pins the bytes from `offset` to the end of their piece, or of the object. The result is
    /// empty if `offset` is the length.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`].
    ///
    /// # Panics
    /// If `offset` exceeds the length.
    pub fn chunk<'a, B: Byte>(
        &'a self,
        bytes: &'a Bytes<B>,
        offset: usize,
    ) -> Result<Pinned<'a, [B]>, Refused> {
        self.objects.chunk(bytes, offset)
    }

    /// As [`SharedHeap::chunk`], to change the bytes. Waits as [`SharedHeap::pin_settled`] does.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`].
    ///
    /// # Panics
    /// If `offset` exceeds the length.
    pub fn chunk_mut<'a, B: Byte>(
        &'a self,
        bytes: &'a mut Bytes<B>,
        offset: usize,
    ) -> Result<PinnedMut<'a, [B]>, Refused> {
        self.objects.chunk_mut(bytes, offset)
    }

    /// Copies the bytes from `offset` on to `target`.
    ///
    /// # Errors
    /// As [`SharedHeap::pin`].
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
    /// As [`SharedHeap::pin`]. Bytes before the piece that could not be pinned are written then.
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
            self.objects.chunk_mut(bytes, at)
        })
    }

    /// Moves at most `budget` objects, until no size-class has more than one not-full page. The
    /// lock is released after every step. Pays every debt that no pin prevents. Returns the number
    /// of moves begun.
    pub fn compact(&self, budget: u64) -> u64 {
        let groups = self.objects.engine.all_groups();
        self.objects.engine.compact(NO_SLOT, groups, budget)
    }

    /// Counters. Takes the lock of every size-class, one after another.
    pub fn stats(&self) -> SharedStats {
        let engine = &self.objects.engine;
        engine.stats(engine.all_groups())
    }

    /// What a size-class holds now; `None` if the heap's geometry has no such class. O(1), under
    /// one lock.
    pub fn class_usage(&self, class: SizeClass) -> Option<ClassUsage> {
        self.objects.engine.class_usage(0, class)
    }

    /// Where every byte of the region is. If no other thread works on the heap, the parts add up to
    /// its size. Otherwise a page that changes its size-class meanwhile may be counted twice, or
    /// not at all.
    pub fn usage(&self) -> Usage {
        self.objects.engine.usage(self.objects.skipped)
    }

    /// Verifies every numbered invariant. With `debts`, size-classes may exceed their bound, which
    /// pins and frees in progress can cause. The result is exact only if no other thread works on
    /// the heap. O(classes · entries + region).
    ///
    /// # Errors
    /// The first invariant that is violated.
    pub fn check(&self, debts: bool) -> Result<(), Corruption> {
        self.objects.check(debts)
    }
}
