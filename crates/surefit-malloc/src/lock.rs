//! The heap's locks: each is one word, valid when zero, on the kernel's futex. A waiting thread
//! sleeps.

use core::ffi::{c_int, c_void};
use core::hint::spin_loop;
use core::ptr::null;
use core::sync::atomic::{AtomicU32, Ordering};

use lock_api::{GuardNoSend, RawMutex};
use surefit_interpose::system;

use crate::os::keeping_errno;

const FREE: u32 = 0;
const LOCKED: u32 = 1;
/// Locked, and somebody may sleep.
const AWAITED: u32 = 2;

/// How often a thread tries before it sleeps: a lock is held for some hundred instructions, or for
/// a system call.
const LOOKS: u32 = 100;

/// A lock for the threads of one process.
#[derive(Debug)]
pub(crate) struct Futex(AtomicU32);

// SAFETY: one thread at a time changes FREE into something else, and only `unlock` changes it back.
unsafe impl RawMutex for Futex {
    const INIT: Self = Self(AtomicU32::new(FREE));

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        if !self.try_lock() {
            self.wait();
        }
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.0
            .compare_exchange(FREE, LOCKED, Ordering::Acquire, Ordering::Relaxed)
            .is_ok()
    }

    #[inline]
    unsafe fn unlock(&self) {
        if self.0.swap(FREE, Ordering::Release) == AWAITED {
            self.wake();
        }
    }
}

impl Futex {
    #[cold]
    fn wait(&self) {
        for _ in 0..LOOKS {
            if self.0.load(Ordering::Relaxed) == FREE && self.try_lock() {
                return;
            }
            spin_loop();
        }
        // From here on it is AWAITED whenever this thread may sleep, and after it has the lock too:
        // others may sleep.
        while self.0.swap(AWAITED, Ordering::Acquire) != FREE {
            self.call(system::FUTEX_WAIT_PRIVATE, AWAITED);
        }
    }

    #[cold]
    fn wake(&self) {
        self.call(system::FUTEX_WAKE_PRIVATE, 1);
    }

    fn call(&self, what: c_int, number: u32) {
        // SAFETY: the word lives as long as the lock; without a time the kernel waits until it is
        // woken.
        keeping_errno(|| unsafe {
            system::syscall(
                system::SYS_FUTEX,
                self.0.as_ptr(),
                what,
                number,
                null::<c_void>(),
            )
        });
    }
}
