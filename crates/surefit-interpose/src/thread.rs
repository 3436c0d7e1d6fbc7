//! One word for each thread.
//!
//! It is a key of the threads' library rather than a thread-local variable: a preloaded library's
//! variables may be allocated at first use, by the very malloc that is called.

use core::ffi::c_uint;
use core::sync::atomic::{AtomicU32, Ordering};

use crate::system;

/// A word of each thread, at first 0.
///
/// # Complexity
/// O(1): of the first keys of a process the C library keeps the words in each thread's own record,
/// so that neither call allocates. A library that is loaded first gets one of those.
#[derive(Debug)]
pub struct ThreadWord {
    /// The key plus one; 0 before there is one.
    key: AtomicU32,
}

impl ThreadWord {
    /// A word without a key; the first call makes one.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            key: AtomicU32::new(0),
        }
    }

    /// The word of this thread; 0 if it was never set, or could not be.
    #[inline]
    #[must_use]
    pub fn get(&self) -> usize {
        match self.key.load(Ordering::Acquire) {
            0 => 0,
            // SAFETY: the key was made, and is never deleted.
            key => unsafe { system::pthread_getspecific(key - 1) }.addr(),
        }
    }

    /// Sets the word of this thread.
    pub fn set(&self, word: usize) {
        if let Some(key) = self.key() {
            // SAFETY: the key was made; it has no destructor that would follow the word.
            unsafe { system::pthread_setspecific(key, core::ptr::without_provenance(word)) };
        }
    }

    fn key(&self) -> Option<c_uint> {
        if let Some(key) = self.key.load(Ordering::Acquire).checked_sub(1) {
            return Some(key);
        }
        let mut key = 0;
        // SAFETY: a place for the key; no destructor.
        if unsafe { system::pthread_key_create(&raw mut key, None) } != 0 {
            return None;
        }
        // Of two threads that make one at once, the second leaves its own unused.
        let first = self
            .key
            .compare_exchange(0, key + 1, Ordering::AcqRel, Ordering::Acquire);
        Some(first.map_or_else(|other| other - 1, |_| key))
    }
}

impl Default for ThreadWord {
    fn default() -> Self {
        Self::new()
    }
}
