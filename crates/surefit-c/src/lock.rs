//! Heaps that threads or interrupts share, by the caller's lock.

use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::status::{Answer, surefit_status};

/// The caller's lock: a mutex, or what keeps interrupts out. Its functions must not use the heap,
/// and must return: no longjmp, no exception.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct surefit_lock {
    /// Handed to the three functions.
    pub context: *mut c_void,
    /// Takes the lock, and waits until it is free. Must not be NULL.
    pub acquire: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// Gives the lock back. Must not be NULL.
    pub release: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// A number of the thread or interrupt that calls: whoever holds the lock is told from all
    /// others by it. The number 0 is nobody's: whoever has it is answered UNLOCKED, and the lock is
    /// not taken. Where the number is the address of a task that is NULL before the scheduler
    /// starts, give another number then, such as 1. Must not be NULL.
    pub caller: Option<unsafe extern "C" fn(context: *mut c_void) -> usize>,
}

// A function for each: in a heap without a lock none of them is called, and who bounds an image's
// stack leaves them out by name.
impl surefit_lock {
    /// The number of the thread or interrupt that calls.
    #[inline(never)]
    fn caller(&self) -> usize {
        // SAFETY: the caller of `surefit_share` gave a function that takes its context.
        let number = self.caller.map(|caller| unsafe { caller(self.context) });
        number.unwrap_or(0)
    }

    #[inline(never)]
    fn take(&self) {
        if let Some(acquire) = self.acquire {
            // SAFETY: as in `caller`.
            unsafe { acquire(self.context) };
        }
    }

    /// Gives the lock back; nothing of the heap is read or written.
    #[inline(never)]
    pub(crate) fn give(&self) {
        if let Some(release) = self.release {
            // SAFETY: as in `caller`.
            unsafe { release(self.context) };
        }
    }
}

/// The lock of a heap, and who holds it.
#[derive(Debug)]
pub(crate) struct Shared {
    lock: surefit_lock,
    holder: AtomicUsize,
}

impl Shared {
    pub(crate) fn new(lock: surefit_lock) -> Result<Self, surefit_status> {
        if lock.acquire.is_none() || lock.release.is_none() || lock.caller.is_none() {
            return Err(surefit_status::Null);
        }
        Ok(Self {
            lock,
            holder: AtomicUsize::new(0),
        })
    }

    /// The caller's lock, for whoever ends the heap: it outlives the region.
    pub(crate) fn lock(&self) -> surefit_lock {
        self.lock
    }

    /// Whether the thread that calls holds the lock. Only that thread ever finds its own number
    /// here, so no order with other memory is needed.
    pub(crate) fn is_held(&self) -> bool {
        let caller = self.lock.caller();
        caller != 0 && self.holder.load(Ordering::Relaxed) == caller
    }

    /// Takes the lock of a heap. The heap may have ended while the thread waited: `is_there` says
    /// so, once the lock is taken. Then the lock is given back, and nothing of the heap is written.
    ///
    /// # Errors
    /// [`surefit_status::Unlocked`] for a thread without a number: it could not give the lock back.
    /// [`surefit_status::Locked`] if the thread holds it, [`surefit_status::NotAHeap`] if the heap
    /// ended.
    pub(crate) fn acquire(&self, is_there: impl FnOnce() -> bool) -> Answer {
        let lock = self.lock;
        let caller = lock.caller();
        if caller == 0 {
            return Err(surefit_status::Unlocked);
        }
        if self.holder.load(Ordering::Relaxed) == caller {
            return Err(surefit_status::Locked);
        }
        lock.take();
        if !is_there() {
            lock.give();
            return Err(surefit_status::NotAHeap);
        }
        self.holder.store(caller, Ordering::Relaxed);
        Ok(())
    }

    /// Gives the lock back.
    ///
    /// # Errors
    /// [`surefit_status::Unlocked`] if the thread does not hold it.
    pub(crate) fn release(&self) -> Answer {
        if !self.is_held() {
            return Err(surefit_status::Unlocked);
        }
        self.give_back();
        Ok(())
    }

    /// Gives the lock back, which the thread holds.
    pub(crate) fn give_back(&self) {
        self.holder.store(0, Ordering::Relaxed);
        self.lock.give();
    }
}
