//! Locks in the place of a heap's own: one counts, one times, one lets the others go first.
//!
//! Every thread keeps its own counts and times, so that counting adds no line that threads share:
//! [`take_times`] empties the calling thread's.
//!
//! # Invariants
//! - K1 `since` is written by the holder of the lock only.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use hdrhistogram::Histogram;
use parking_lot::RawMutex;

use super::figures::{Times, nanoseconds};

impl fmt::Debug for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counted")
    }
}

impl fmt::Debug for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Timed")
    }
}

/// A lock that a heap of an experiment may have.
pub(crate) trait Probe: lock_api::RawMutex + Send + Sync + 'static {
    /// Whether it counts.
    const COUNTS: bool = false;
}

impl Probe for RawMutex {}

impl Probe for Counted {
    const COUNTS: bool = true;
}

impl Probe for Timed {}

/// What a thread did with locks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Locks {
    /// Times that it took one.
    pub(crate) taken: u64,
    /// Of these, times that another thread held it.
    pub(crate) contended: u64,
    /// The most threads, itself included, that waited for a lock when it came to wait.
    pub(crate) longest_queue: u32,
}

impl Locks {
    /// What was done since an earlier look.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            taken: self.taken - before.taken,
            contended: self.contended - before.contended,
            longest_queue: self.longest_queue,
        }
    }

    /// Both together.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            taken: self.taken + other.taken,
            contended: self.contended + other.contended,
            longest_queue: self.longest_queue.max(other.longest_queue),
        }
    }
}

thread_local! {
    static LOCKS: Cell<Locks> = const { Cell::new(Locks { taken: 0, contended: 0, longest_queue: 0 }) };
    /// Whether the last `try_lock` of this thread failed: a `lock` that follows is the same
    /// acquisition.
    static TRIED: Cell<bool> = const { Cell::new(false) };
    static TIMES: RefCell<Option<Times>> = const { RefCell::new(None) };
}

/// What the calling thread did with [`Counted`] locks so far.
pub(crate) fn counted() -> Locks {
    LOCKS.get()
}

/// The times of the calling thread with [`Timed`] locks, which begin anew.
pub(crate) fn take_times() -> Option<Times> {
    TIMES.with_borrow_mut(Option::take)
}

fn count(contended: bool) {
    let before = LOCKS.get();
    LOCKS.set(Locks {
        taken: before.taken + 1,
        contended: before.contended + u64::from(contended),
        ..before
    });
}

fn count_queue(waiting: u32) {
    let before = LOCKS.get();
    let longest_queue = before.longest_queue.max(waiting);
    LOCKS.set(Locks {
        longest_queue,
        ..before
    });
}

/// A `parking_lot` lock whose acquisitions are counted.
pub(crate) struct Counted {
    lock: RawMutex,
    waiting: AtomicU32,
}

// SAFETY: the lock inside is exclusive, and every call is passed on to it.
unsafe impl lock_api::RawMutex for Counted {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "how the trait hands out fresh locks"
    )]
    const INIT: Self = Self {
        lock: <RawMutex as lock_api::RawMutex>::INIT,
        waiting: AtomicU32::new(0),
    };

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        let contended = TRIED.replace(false) || !lock_api::RawMutex::try_lock(&self.lock);
        if contended {
            count_queue(self.waiting.fetch_add(1, Relaxed) + 1);
            lock_api::RawMutex::lock(&self.lock);
            self.waiting.fetch_sub(1, Relaxed);
        }
        count(contended);
    }

    fn try_lock(&self) -> bool {
        let taken = lock_api::RawMutex::try_lock(&self.lock);
        TRIED.set(!taken);
        if taken {
            count(false);
        }
        taken
    }

    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { lock_api::RawMutex::unlock(&self.lock) };
    }
}

/// A `parking_lot` lock that times how long it is held and how long threads wait for it.
pub(crate) struct Timed {
    lock: RawMutex,
    /// When the lock was taken, in nanoseconds of [`now`].
    since: AtomicU64,
}

/// Nanoseconds since the first call.
fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    nanoseconds(START.get_or_init(Instant::now).elapsed())
}

fn record(what: impl FnOnce(&mut Times) -> &mut Histogram<u64>, ns: u64) {
    TIMES.with_borrow_mut(|times| {
        what(times.get_or_insert_with(Times::new)).saturating_record(ns);
    });
}

// SAFETY: the lock inside is exclusive, and every call is passed on to it.
unsafe impl lock_api::RawMutex for Timed {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "how the trait hands out fresh locks"
    )]
    const INIT: Self = Self {
        lock: <RawMutex as lock_api::RawMutex>::INIT,
        since: AtomicU64::new(0),
    };

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        let came = now();
        lock_api::RawMutex::lock(&self.lock);
        let since = now();
        self.since.store(since, Relaxed);
        record(|times| &mut times.waited, since - came);
    }

    fn try_lock(&self) -> bool {
        let taken = lock_api::RawMutex::try_lock(&self.lock);
        if taken {
            self.since.store(now(), Relaxed);
        }
        taken
    }

    unsafe fn unlock(&self) {
        let held = now() - self.since.load(Relaxed);
        // SAFETY: the caller holds the lock.
        unsafe { lock_api::RawMutex::unlock(&self.lock) };
        record(|times| &mut times.held, held);
    }
}

/// A `parking_lot` lock after whose release the thread gives its core up: threads take turns
/// section by section, as they do where each has a core of its own. For what is seen while a load
/// runs, not for times.
pub(crate) struct Yielding(RawMutex);

impl fmt::Debug for Yielding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Yielding")
    }
}

impl Probe for Yielding {}

// SAFETY: the lock inside is exclusive, and every call is passed on to it.
unsafe impl lock_api::RawMutex for Yielding {
    #[allow(
        clippy::declare_interior_mutable_const,
        reason = "how the trait hands out fresh locks"
    )]
    const INIT: Self = Self(<RawMutex as lock_api::RawMutex>::INIT);

    type GuardMarker = lock_api::GuardNoSend;

    fn lock(&self) {
        lock_api::RawMutex::lock(&self.0);
    }

    fn try_lock(&self) -> bool {
        lock_api::RawMutex::try_lock(&self.0)
    }

    unsafe fn unlock(&self) {
        // SAFETY: the caller holds the lock.
        unsafe { lock_api::RawMutex::unlock(&self.0) };
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Timed, counted, take_times};
    use lock_api::{Mutex, RawMutex};
    use std::thread;

    #[test]
    fn acquisitions_are_counted_once_however_they_were_made() {
        let mutex = Mutex::<Counted, u32>::new(0);
        let before = counted();
        *mutex.lock() += 1;
        drop(mutex.try_lock());
        let held = mutex.lock();
        assert!(mutex.try_lock().is_none());
        drop(held);
        // what a heap's section does: try, then lock
        // SAFETY: the lock is not held by this thread through a guard.
        let raw = unsafe { mutex.raw() };
        raw.lock();
        // SAFETY: taken in the line above.
        unsafe { raw.unlock() };
        assert_eq!(counted().since(before).taken, 4);
    }

    #[test]
    fn who_waits_is_counted_as_contended_and_in_the_queue() {
        let mutex = Mutex::<Counted, ()>::new(());
        let held = mutex.lock();
        let waited = thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                drop(mutex.lock());
                counted()
            });
            // SAFETY: only a look at the number of threads that wait.
            while unsafe { mutex.raw() }.waiting.load(super::Relaxed) == 0 {
                thread::yield_now();
            }
            drop(held);
            waiter.join().expect("no panic")
        });
        assert_eq!(
            (waited.taken, waited.contended, waited.longest_queue),
            (1, 1, 1)
        );
    }

    #[test]
    fn times_are_taken_and_begin_anew() {
        let mutex = Mutex::<Timed, ()>::new(());
        take_times();
        drop(mutex.lock());
        drop(mutex.try_lock());
        let times = take_times().expect("recorded");
        assert_eq!((times.held.len(), times.waited.len()), (2, 1));
        assert!(take_times().is_none());
    }
}
