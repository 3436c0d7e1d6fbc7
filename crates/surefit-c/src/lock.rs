//! Heaps that threads or interrupts share, by the caller's lock.

use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::status::{Answer, surefit_status};

/// The caller's lock: a mutex, or what keeps interrupts out. Its functions must not use the heap.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct surefit_lock {
    /// Handed to the three functions.
    pub context: *mut c_void,
    /// Takes the lock, and waits until it is free. Must not be NULL.
    pub acquire: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// Gives the lock back. Must not be NULL.
    pub release: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// A number of the thread or interrupt that calls, never 0: whoever holds the lock is told from all others by
    /// it. Must not be NULL.
    pub caller: Option<unsafe extern "C" fn(context: *mut c_void) -> usize>,
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

    /// The same lock with the same holder, for whoever ends the heap.
    pub(crate) fn taken_over(&self) -> Self {
        Self {
            lock: self.lock,
            holder: AtomicUsize::new(self.holder.load(Ordering::Relaxed)),
        }
    }

    fn caller(&self) -> usize {
        // SAFETY: the caller of `surefit_share` gave a function that takes its context.
        let number = self
            .lock
            .caller
            .map(|caller| unsafe { caller(self.lock.context) });
        number.unwrap_or(0)
    }

    /// Whether the thread that calls holds the lock. Only that thread ever finds its own number here, so no order with other
    /// memory is needed.
    pub(crate) fn is_held(&self) -> bool {
        let caller = self.caller();
        caller != 0 && self.holder.load(Ordering::Relaxed) == caller
    }

    /// Takes the lock.
    ///
    /// # Errors
    /// [`surefit_status::Locked`] if the thread holds it.
    pub(crate) fn acquire(&self) -> Answer {
        if self.is_held() {
            return Err(surefit_status::Locked);
        }
        if let Some(acquire) = self.lock.acquire {
            // SAFETY: as in `caller`.
            unsafe { acquire(self.lock.context) };
        }
        self.holder.store(self.caller(), Ordering::Relaxed);
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
        self.holder.store(0, Ordering::Relaxed);
        if let Some(release) = self.lock.release {
            // SAFETY: as in `caller`.
            unsafe { release(self.lock.context) };
        }
        Ok(())
    }
}
