//! The memory of the heap: one reservation of addresses, of which parts are made usable and given back.
//!
//! The kernel counts reserved addresses nowhere but in RLIMIT_AS. The functions are called by the C library's
//! names, so that a test can put its own in their place.

use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};

use surefit_compact::shared_direct::Source;
use surefit_interpose::calls::page_bytes;
use surefit_interpose::system;

use crate::soft_limit;

/// Addresses that are asked for first: more than any machine has memory, an eighth of what a process can have.
const MOST_BYTES: usize = 1 << 44;
/// The fewest that are worth a heap.
const LEAST_BYTES: usize = 64 << 20;
/// Where the heap begins is a multiple of this: the bytes of a huge page.
const ALIGN: usize = 2 << 20;

/// Calls a function, and leaves the thread's error as it was: a program may look at it after a call that succeeded.
pub(crate) fn keeping_errno<R>(call: impl FnOnce() -> R) -> R {
    let before = system::errno();
    let result = call();
    system::set_errno(before);
    result
}

/// Addresses that nobody else uses, and that cannot be accessed yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reserved {
    pub(crate) base: NonNull<u8>,
    pub(crate) bytes: usize,
}

/// Reserves 16 TiB of addresses, or half of it as often as the kernel refuses. `None` under 64 MiB.
pub(crate) fn reserve() -> Option<Reserved> {
    let mut bytes = MOST_BYTES;
    while bytes >= LEAST_BYTES {
        if let Some(reserved) = reserve_exactly(bytes) {
            return Some(reserved);
        }
        bytes /= 2;
    }
    None
}

fn reserve_exactly(bytes: usize) -> Option<Reserved> {
    let flags = system::MAP_PRIVATE | system::MAP_ANONYMOUS | system::MAP_NORESERVE;
    let all = bytes + ALIGN;
    // SAFETY: a new private mapping at an address of the kernel's choice.
    let at = unsafe { system::mmap(null_mut(), all, system::PROT_NONE, flags, -1, 0) };
    if at == system::MAP_FAILED {
        return None;
    }
    let before = at.addr().wrapping_neg() % ALIGN;
    let at: *mut u8 = at.cast();
    // SAFETY: inside the mapping.
    let base = unsafe { at.add(before) };
    unmap(at, before);
    // SAFETY: inside the mapping, or its end.
    unmap(unsafe { base.add(bytes) }, ALIGN - before);
    let base = NonNull::new(base)?;
    Some(Reserved { base, bytes })
}

/// Gives addresses back that this module reserved and nobody uses.
fn unmap(at: *mut u8, bytes: usize) {
    if bytes > 0 {
        // SAFETY: nobody knows them; if the kernel refuses, they stay unused.
        unsafe { system::munmap(at.cast(), bytes) };
    }
}

/// Asks the system to serve what was reserved with huge pages, where it has them.
pub(crate) fn ask_for_huge_pages(reserved: &Reserved) {
    let start = reserved.base.as_ptr().cast();
    // SAFETY: the whole reservation; its bytes stay what they are. A system without huge pages refuses, and nothing changes.
    keeping_errno(|| unsafe { system::madvise(start, reserved.bytes, system::MADV_HUGEPAGE) });
}

/// The end of something that was reserved for nothing.
pub(crate) fn release(reserved: Reserved) {
    unmap(reserved.base.as_ptr(), reserved.bytes);
}

/// Parts of the reservation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Os;

/// The system's pages that hold a range, as their first address and bytes.
fn pages_around(at: NonNull<u8>, bytes: usize) -> (*mut c_void, usize) {
    let page = page_bytes();
    let before = at.addr().get() % page;
    // SAFETY: the reservation begins at a page, so that of the range is inside it.
    let start = unsafe { at.sub(before) };
    (
        start.as_ptr().cast(),
        (bytes + before).next_multiple_of(page),
    )
}

// SAFETY: anonymous private memory is zero until it is written, and after MADV_DONTNEED; it stays accessible
// because nothing takes the protection back.
unsafe impl Source for Os {
    const ZEROED: bool = true;
    const PURGES: bool = true;

    unsafe fn commit(&self, at: NonNull<u8>, bytes: usize) -> bool {
        let (start, bytes) = pages_around(at, bytes);
        let protection = system::PROT_READ | system::PROT_WRITE;
        // SAFETY: pages of the reservation, which nobody but the heap has; what is accessible stays so.
        keeping_errno(|| unsafe { system::mprotect(start, bytes, protection) }) == 0
    }

    unsafe fn purge(&self, at: NonNull<u8>, bytes: usize) -> bool {
        let page = page_bytes();
        let first = at.addr().get();
        let inside = first.next_multiple_of(page) - first;
        let end = (first + bytes) / page * page;
        let Some(whole) = end.checked_sub(first + inside).filter(|bytes| *bytes > 0) else {
            return false;
        };
        // SAFETY: inside the range.
        let start = unsafe { at.add(inside) };
        let advice = system::MADV_DONTNEED;
        // SAFETY: whole pages of a range whose bytes nobody needs.
        let gone =
            keeping_errno(|| unsafe { system::madvise(start.as_ptr().cast(), whole, advice) }) == 0;
        if gone {
            // Where the system's pages are larger than units, the ends are only parts of pages.
            // SAFETY: inside the range, usable, and nobody needs the bytes.
            unsafe { at.write_bytes(0, inside) };
            // SAFETY: inside the range, or its end.
            let rest = unsafe { start.add(whole) };
            // SAFETY: as the other end.
            unsafe { rest.write_bytes(0, bytes - inside - whole) };
        }
        gone
    }

    fn above(&self) {
        soft_limit::call();
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "milliseconds that may wrap"
    )]
    fn now(&self) -> u32 {
        let mut time = [0, 0];
        // SAFETY: a place for seconds and nanoseconds. If the clock fails, nothing gets older.
        unsafe { system::clock_gettime(system::CLOCK_MONOTONIC_COARSE, &raw mut time) };
        (time[0] as u32)
            .wrapping_mul(1000)
            .wrapping_add((time[1] / 1_000_000) as u32)
    }
}
