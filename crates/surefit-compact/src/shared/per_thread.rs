//! A [`Local`] for every thread, registered on its first use. For programs with an operating
//! system.
//!
//! ```text
//! with(f)   this thread's Local ── none yet ──▶ register ──▶ f(&local)
//! ```
//! The `thread_local` crate finds the place of a thread by a table look-up. It numbers places for
//! the whole process. When a thread ends, its place and its `Local` wait for the next thread that
//! has no place and takes the lowest free number. So there are at most as many `Local`s as threads
//! that ever used that crate at the same time. All of them are returned when the [`PerThread`] is
//! dropped.
//!
//! # Drawbacks
//! A thread that has ended stays registered until another thread takes its place. Until then its
//! instance counts as used, and [`ShardedHeap::destroy`] of that instance returns `Busy`. What the
//! thread buffers stays buffered, but the heap takes it back before it refuses anything.
#![deny(unsafe_code)]

use core::fmt;

use lock_api::RawMutex;
use surefit_core::Refused;
use thread_local::ThreadLocal;

use super::local::Local;
use super::lock::{Granularity, Stepwise};
use super::machinery::objects::Objects;
use super::many_instances::heap::ShardedHeap;
use super::one_instance::heap::SharedHeap;

/// The threads of a shared heap, each with its [`Local`].
///
/// # Examples
/// ```
/// use core::mem::MaybeUninit;
/// use surefit_compact::{Config, shared::{SharedConfig, ShardedHeap}};
///
/// static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);
/// let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
/// let heap: ShardedHeap<parking_lot::RawMutex> = ShardedHeap::new(&mut memory, &CONFIG, 16)?;
/// let threads = heap.per_thread();
/// let handle = threads.with(|local| local.insert(7_u64))??;
/// std::thread::scope(|scope| {
///     scope.spawn(|| threads.with(|local| local.free(handle)).unwrap().unwrap());
/// });
/// assert_eq!(heap.stats().live_blocks, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct PerThread<'h, 'm, R: RawMutex + Send + Sync, G: Granularity> {
    objects: &'h Objects<'m, R, G>,
    locals: ThreadLocal<Local<'h, 'm, R, G>>,
}

impl<R: RawMutex + Send + Sync, G: Granularity> fmt::Debug for PerThread<'_, '_, R, G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerThread").finish_non_exhaustive()
    }
}

impl<'m, R: RawMutex + Send + Sync, G: Granularity> SharedHeap<'m, R, G> {
    /// A [`Local`] for every thread that asks for one. No thread is registered yet.
    pub fn per_thread(&self) -> PerThread<'_, 'm, R, G> {
        PerThread::new(&self.objects)
    }
}

impl<'m, R: RawMutex + Send + Sync, G: Stepwise> ShardedHeap<'m, R, G> {
    /// A [`Local`] for every thread that asks for one, as [`register`](Self::register) returns it.
    /// No thread is registered yet.
    pub fn per_thread(&self) -> PerThread<'_, 'm, R, G> {
        PerThread::new(&self.objects)
    }
}

impl<'h, 'm, R: RawMutex + Send + Sync, G: Granularity> PerThread<'h, 'm, R, G> {
    fn new(objects: &'h Objects<'m, R, G>) -> Self {
        let locals = ThreadLocal::new();
        Self { objects, locals }
    }

    /// Calls `f` with the [`Local`] of the calling thread. A thread without one is registered
    /// first, in the instance that [`ShardedHeap::register`] chooses.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if the thread has no `Local`, and the configured number of threads is
    /// registered already.
    ///
    /// # Complexity
    /// One table look-up. Once per thread also O(instances + locals), and memory from the system's
    /// allocator.
    pub fn with<T>(&self, f: impl FnOnce(&Local<'h, 'm, R, G>) -> T) -> Result<T, Refused> {
        let local = self.locals.get_or_try(|| Local::anywhere(self.objects))?;
        Ok(f(local))
    }
}
