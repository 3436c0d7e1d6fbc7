//! Files that a library keeps open in a program which knows nothing of them.

use core::ffi::{c_int, c_long};
use core::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use crate::system;

/// Descriptors are kept near the end of what a process may have, but no higher, for the kernel's
/// table of them is as long as the highest.
const HIGHEST: u64 = 1024;
const FROM_HIGHEST: u64 = 16;

/// A file that is kept open. A program may close what it does not know, and may get the number for
/// a file of its own: so which file it is is asked before each use.
#[derive(Debug)]
pub struct Kept {
    /// Its number plus one; 0 if it is not open.
    number: AtomicI32,
    device: AtomicU64,
    inode: AtomicU64,
}

impl Kept {
    /// No file.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            number: AtomicI32::new(0),
            device: AtomicU64::new(0),
            inode: AtomicU64::new(0),
        }
    }

    /// Keeps an open file by a further descriptor, out of the way of the program's own: under a
    /// high number, and not in programs that this process becomes. If it cannot be had, none is
    /// kept.
    pub fn keep(&self, descriptor: c_int) {
        let from = system::descriptor_limit()
            .min(HIGHEST)
            .saturating_sub(FROM_HIGHEST);
        let flags = system::F_DUPFD_CLOEXEC;
        // SAFETY: it makes a further descriptor.
        let number = unsafe { system::fcntl(descriptor, flags, from as c_long) };
        if number >= 0 {
            if let Some((device, inode)) = system::file_of(number) {
                self.device.store(device, Ordering::Relaxed);
                self.inode.store(inode, Ordering::Relaxed);
                self.number.store(number + 1, Ordering::Release);
            }
        }
    }

    /// Its number, if that still is the file.
    #[must_use]
    pub fn number(&self) -> Option<c_int> {
        let number = self.number.load(Ordering::Acquire).checked_sub(1)?;
        let known = (
            self.device.load(Ordering::Relaxed),
            self.inode.load(Ordering::Relaxed),
        );
        (number >= 0 && system::file_of(number) == Some(known)).then_some(number)
    }

    /// Closes it, and has none.
    pub fn close(&self) {
        if let Some(number) = self.number() {
            // SAFETY: it still is the file that `keep` opened a descriptor of, and nobody else has
            // that number.
            unsafe { system::close(number) };
        }
        self.number.store(0, Ordering::Relaxed);
    }
}
