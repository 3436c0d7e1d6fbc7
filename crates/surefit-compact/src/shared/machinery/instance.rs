//! An instance of Compact-fit inside a shared heap: its number, its pages, its quota, and the
//! threads that allocate from it.
//!
//! ```text
//! threads    0 .. most registered threads, or CLOSED while the instance is being destroyed
//!            enter: one more ──▶ leave: one less
//!            close: only from 0 ──▶ CLOSED ──▶ open: 0
//! ```
//!
//! # Invariants
//! - I1 `pages` is the number of pages of the instance's groups. No page is added at or above
//!   `quota`.
//! - I2 While it is CLOSED, no thread allocates from it.
#![deny(unsafe_code)]

use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};

use surefit_core::Refused;

use super::sync::AtomicU32;

/// The number that no heap has.
pub(crate) const NO_ID: u32 = 0;

/// `threads` of an instance that is being destroyed.
const CLOSED: u32 = u32::MAX;

/// One instance, on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Instance {
    /// The process-unique number that the names of its objects carry.
    id: AtomicU32,
    pages: AtomicU32,
    quota: AtomicU32,
    /// Registered threads that allocate from it.
    threads: AtomicU32,
}

impl Instance {
    /// An instance without pages or quota.
    pub(crate) const fn new(id: u32) -> Self {
        Self {
            id: AtomicU32::new(id),
            pages: AtomicU32::new(0),
            quota: AtomicU32::new(u32::MAX),
            threads: AtomicU32::new(0),
        }
    }

    /// The number that the names of its objects carry.
    ///
    /// Relaxed: a pin, or the group's lock, has acquired any renaming that came before its objects
    /// were destroyed.
    #[inline]
    pub(crate) fn id(&self) -> u32 {
        self.id.load(Relaxed)
    }

    /// Gives the instance another number: names with the former one are stale from then on. Called
    /// before its objects are destroyed.
    pub(crate) fn rename(&self, id: u32) {
        self.id.store(id, Relaxed);
    }

    /// Pages of the instance.
    pub(crate) fn pages(&self) -> u32 {
        self.pages.load(Relaxed)
    }

    /// The most pages that the instance may have.
    pub(crate) fn quota(&self) -> u32 {
        self.quota.load(Relaxed)
    }

    /// Sets the most pages that the instance may have. Pages that it already has above that stay.
    pub(crate) fn set_quota(&self, pages: u32) {
        self.quota.store(pages, Relaxed);
    }

    /// Counts one more page, unless the quota forbids it. Lock-free.
    pub(crate) fn admit_page(&self) -> bool {
        let mut pages = self.pages();
        while pages < self.quota() {
            match self
                .pages
                .compare_exchange(pages, pages + 1, Relaxed, Relaxed)
            {
                Ok(_) => return true,
                Err(now) => pages = now,
            }
        }
        false
    }

    /// Counts one page fewer.
    pub(crate) fn return_page(&self) {
        self.pages.fetch_sub(1, Relaxed);
    }

    /// Registered threads that allocate from it, unless it is being destroyed.
    pub(crate) fn threads(&self) -> Option<u32> {
        let threads = self.threads.load(Relaxed);
        (threads != CLOSED).then_some(threads)
    }

    /// Registers a thread if exactly `before` are registered. Lock-free.
    pub(crate) fn enter_at(&self, before: u32) -> bool {
        // Acquire: what was done before the instance was opened again.
        self.threads
            .compare_exchange(before, before + 1, Acquire, Relaxed)
            .is_ok()
    }

    /// Registers a thread if fewer than `most` are registered. Lock-free.
    ///
    /// # Errors
    /// [`Refused::NoLocal`] if `most` are registered; [`Refused::Busy`] while the instance is being
    /// destroyed.
    pub(crate) fn enter(&self, most: u32) -> Result<(), Refused> {
        loop {
            let threads = self.threads().ok_or(Refused::Busy)?;
            if threads >= most {
                return Err(Refused::NoLocal);
            }
            if self.enter_at(threads) {
                return Ok(());
            }
        }
    }

    /// Ends the registration of a thread.
    pub(crate) fn leave(&self) {
        // Release: what the thread did, to a thread that closes the instance or enters it.
        self.threads.fetch_sub(1, Release);
    }

    /// Prevents threads from registering, if none is registered. Returns whether it did.
    pub(crate) fn close(&self) -> bool {
        // Acquire: what the threads that have left did.
        self.threads
            .compare_exchange(0, CLOSED, AcqRel, Relaxed)
            .is_ok()
    }

    /// Lets threads register again.
    pub(crate) fn open(&self) {
        // Release: the end of the destruction, to threads that enter.
        self.threads.store(0, Release);
    }
}

#[cfg(test)]
impl Instance {
    /// Its words.
    pub(crate) fn words(&self) -> [(&'static str, &AtomicU32); 4] {
        [
            ("number", &self.id),
            ("pages of an instance", &self.pages),
            ("quota", &self.quota),
            ("threads", &self.threads),
        ]
    }
}
