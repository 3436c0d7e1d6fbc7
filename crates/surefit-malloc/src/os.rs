//! The memory of the heap: parts of a range of addresses, mapped as they are needed.
//!
//! Nothing is reserved: the kernel counts each mapped address in RLIMIT_AS, locks it for mlockall,
//! and writes it into cores. The range lies below what is mapped when the heap begins. The kernel
//! maps what others ask for from there downwards, and the heap grows upwards from the range's first
//! address. What others have in the range stays theirs, and the heap grows up to there.
//!
//! ```text
//! | shared, instances → | records → | slots → | divisions → | units →            ← others | libraries, stacks |
//! first                                                                        first + bytes
//! ```
//! Each of the five parts is mapped from its beginning on. Purged addresses stay mapped, without
//! memory. A purge unmaps the units behind the last object.
//!
//! The functions are called by the C library's names, so that a test can put its own in their
//! place.

use core::ffi::{c_int, c_void};
use core::ptr::{NonNull, null_mut, with_exposed_provenance_mut, without_provenance_mut};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use surefit_direct::shared::Source;
use surefit_interpose::calls::page_bytes;
use surefit_interpose::system;

use crate::soft_limit;

/// The number of addresses that is tried first: more than any machine has memory, and an eighth of
/// what a process can have.
const MOST_BYTES: usize = 1 << 44;
/// The smallest number of addresses that is worth a heap.
const LEAST_BYTES: usize = 64 << 20;
/// How many ranges of one length are tried.
const PLACES: usize = 6;
/// The alignment of the heap's first address: the bytes of a huge page.
const ALIGN: usize = 2 << 20;
/// How many pages of a large object are looked at, to see whether most of it was written.
const LOOKS: usize = 16;
const FLAGS: c_int = system::MAP_PRIVATE | system::MAP_ANONYMOUS | system::MAP_NORESERVE;

/// Calls a function and restores `errno`: a program may read it after a call that succeeded.
pub(crate) fn keeping_errno<R>(call: impl FnOnce() -> R) -> R {
    let before = system::errno();
    let result = call();
    system::set_errno(before);
    result
}

/// Addresses that nobody used when they were chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range {
    pub(crate) base: NonNull<u8>,
    pub(crate) bytes: usize,
}

/// Chooses 16 TiB of addresses; if there are not so many, half of them, and so on. `None` if there
/// are not even 64 MiB.
pub(crate) fn choose() -> Option<Range> {
    let page = page_bytes();
    // Where the kernel maps what has no place of its own.
    let usual = keeping_errno(|| {
        // SAFETY: a new private mapping at an address of the kernel's choice.
        let at = unsafe { system::mmap(null_mut(), page, system::PROT_NONE, FLAGS, -1, 0) };
        (at != system::MAP_FAILED).then(|| {
            unmap(at, page);
            at.addr()
        })
    })?;
    let mut bytes = MOST_BYTES;
    while bytes >= LEAST_BYTES {
        // Below libraries, another heap of this process, or the program; and away from them.
        for below in 1..=PLACES {
            let first = usual.checked_sub(below * (bytes + bytes / 16));
            let first = first.map_or(0, |first| first.next_multiple_of(ALIGN));
            if first > 0 && is_unused(first, bytes) {
                let base = NonNull::new(with_exposed_provenance_mut(first));
                return base.map(|base| Range { base, bytes });
            }
        }
        if let Some(range) = in_a_gap(bytes) {
            return Some(range);
        }
        bytes /= 2;
    }
    None
}

/// The second half of a gap of the kernel's choice, of so many bytes: where nothing is below what
/// others map, as under valgrind, which maps upwards.
fn in_a_gap(bytes: usize) -> Option<Range> {
    keeping_errno(|| {
        // SAFETY: a new private mapping at an address of the kernel's choice.
        let at = unsafe { system::mmap(null_mut(), bytes, system::PROT_NONE, FLAGS, -1, 0) };
        if at == system::MAP_FAILED {
            return None;
        }
        unmap(at, bytes);
        let first = (at.addr() + bytes / 2).next_multiple_of(ALIGN);
        let base = NonNull::new(with_exposed_provenance_mut(first))?;
        Some(Range {
            base,
            bytes: at.addr() + bytes - first,
        })
    })
}

/// Whether nothing is mapped in a range. If the process may not have so many addresses: whether
/// nothing is mapped at its beginning.
fn is_unused(first: usize, bytes: usize) -> bool {
    match map(first, bytes, system::PROT_NONE) {
        Ok(()) => {
            keeping_errno(|| unmap(without_provenance_mut(first), bytes));
            true
        }
        Err(system::EEXIST) => false,
        Err(_) if bytes > page_bytes() => is_unused(first, page_bytes()),
        Err(_) => false,
    }
}

/// Maps addresses that nobody uses, or says why not: [`EEXIST`](system::EEXIST) if somebody does.
fn map(first: usize, bytes: usize, protection: c_int) -> Result<(), c_int> {
    let flags = FLAGS | system::MAP_FIXED_NOREPLACE;
    let wanted = without_provenance_mut(first);
    keeping_errno(|| {
        // SAFETY: a new private mapping, in the place of no other.
        let at = unsafe { system::mmap(wanted, bytes, protection, flags, -1, 0) };
        if at == system::MAP_FAILED {
            return Err(system::errno());
        }
        at.expose_provenance();
        if at == wanted {
            return Ok(());
        }
        // A kernel before 4.17 maps it elsewhere if the place is taken.
        unmap(at, bytes);
        Err(system::EEXIST)
    })
}

/// Unmaps addresses that this module mapped and nobody uses. Says whether the kernel did it.
fn unmap(at: *mut c_void, bytes: usize) -> bool {
    // SAFETY: nobody knows them; if the kernel refuses, they stay unused.
    unsafe { system::munmap(at, bytes) == 0 }
}

/// Unmaps all parts of the range: no heap was made in it.
pub(crate) fn unmap_all() {
    for part in &MAPPED {
        let (first, end) = part.get();
        if first < end {
            keeping_errno(|| unmap(without_provenance_mut(first), end - first));
        }
        part.set(0, 0);
    }
}

/// From now on, asks the system for huge pages when addresses are mapped; one without them
/// ignores it.
pub(crate) fn ask_for_huge_pages() {
    HUGE.store(true, Ordering::Relaxed);
}

static HUGE: AtomicBool = AtomicBool::new(false);

/// A mapped part of the range: its beginning and its current end. Only the holder of the heap's
/// lock changes it, or the thread that makes the heap.
struct Part(AtomicUsize, AtomicUsize);

static MAPPED: [Part; 5] = [const { Part(AtomicUsize::new(0), AtomicUsize::new(0)) }; 5];

impl Part {
    fn get(&self) -> (usize, usize) {
        (
            self.0.load(Ordering::Relaxed),
            self.1.load(Ordering::Relaxed),
        )
    }

    fn set(&self, first: usize, end: usize) {
        self.0.store(first, Ordering::Relaxed);
        self.1.store(end, Ordering::Relaxed);
    }

    /// Whether pages belong to this part: they begin inside it or at its end. An empty part takes
    /// any pages.
    fn takes(&self, first: usize) -> bool {
        let (start, end) = self.get();
        start == end || (start..=end).contains(&first)
    }
}

/// Parts of the range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Os;

/// The system's pages that hold a range, as their first address and bytes.
fn pages_around(at: NonNull<u8>, bytes: usize) -> (*mut c_void, usize) {
    let page = page_bytes();
    let before = at.addr().get() % page;
    // SAFETY: the range begins at a page, so that of these bytes is inside it.
    let start = unsafe { at.sub(before) };
    (
        start.as_ptr().cast(),
        (bytes + before).next_multiple_of(page),
    )
}

// SAFETY: anonymous private memory is zero until it is written, and after MADV_DONTNEED; it stays
// accessible because nothing is unmapped but what is withdrawn.
unsafe impl Source for Os {
    const ZEROED: bool = true;
    const PURGES: bool = true;

    unsafe fn commit(&self, at: NonNull<u8>, bytes: usize) -> bool {
        let (start, bytes) = pages_around(at, bytes);
        let (first, end) = (start.addr(), start.addr() + bytes);
        let Some(part) = MAPPED.iter().find(|part| part.takes(first)) else {
            return false;
        };
        let (start, mapped) = match part.get() {
            (0, 0) => (first, first),
            known => known,
        };
        if end <= mapped {
            return true;
        }
        if map(mapped, end - mapped, system::PROT_READ | system::PROT_WRITE).is_err() {
            return false;
        }
        if HUGE.load(Ordering::Relaxed) {
            let at = without_provenance_mut(mapped);
            // SAFETY: mapped above; its bytes stay what they are. A system without huge pages
            // refuses, and nothing changes.
            keeping_errno(|| unsafe { system::madvise(at, end - mapped, system::MADV_HUGEPAGE) });
        }
        part.set(start, end);
        true
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

    unsafe fn is_sparse(&self, at: NonNull<u8>, bytes: usize) -> bool {
        let page = page_bytes();
        let each = bytes / LOOKS;
        let is_there = |look: &usize| {
            let mut there = 0_u8;
            // SAFETY: inside the object.
            let place = unsafe { at.add(look * each + each / 2) };
            let start = place.as_ptr().map_addr(|address| address / page * page);
            // SAFETY: a page of the range, and a byte for the answer.
            let known = unsafe { system::mincore(start.cast(), page, &raw mut there) } == 0;
            !known || there & 1 == 1
        };
        keeping_errno(|| (0..LOOKS).filter(is_there).count() < LOOKS / 2)
    }

    unsafe fn withdraw(&self, at: NonNull<u8>, bytes: usize) -> bool {
        let page = page_bytes();
        let first = at.addr().get().next_multiple_of(page);
        let end = (at.addr().get() + bytes).next_multiple_of(page);
        let ends = |part: &&Part| part.get().0 < first && part.get().1 == end;
        let Some(part) = MAPPED.iter().find(ends).filter(|_| first < end) else {
            return false;
        };
        let gone = keeping_errno(|| unmap(without_provenance_mut(first), end - first));
        if gone {
            part.set(part.get().0, first);
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
