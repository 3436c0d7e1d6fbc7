//! Memory that a forked child finds zero, whatever its parent wrote there.

use core::ptr::NonNull;

use crate::system;

/// `bytes` bytes of zeros, aligned to a page; in a child that is forked later they are zero again.
/// `None` if the kernel refuses (it has this since Linux 4.14).
///
/// They live until the process ends.
///
/// # Complexity
/// Two system calls.
#[must_use]
pub fn wiped(bytes: usize) -> Option<NonNull<u8>> {
    let protection = system::PROT_READ | system::PROT_WRITE;
    let flags = system::MAP_PRIVATE | system::MAP_ANONYMOUS;
    // SAFETY: a new private mapping at an address of the kernel's choice.
    let at = unsafe { system::mmap(core::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if at == system::MAP_FAILED {
        return None;
    }
    // SAFETY: the mapping above.
    if unsafe { system::madvise(at, bytes, system::MADV_WIPEONFORK) } != 0 {
        // SAFETY: the mapping above; nobody has seen it.
        unsafe { system::munmap(at, bytes) };
        return None;
    }
    NonNull::new(at.cast())
}
