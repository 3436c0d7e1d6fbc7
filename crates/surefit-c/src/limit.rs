//! Heaps with a limit of the pages that they may use: a quota, or a bank of memory that is switched
//! on and off.

use core::ffi::c_void;

use surefit_compact::Keyed;
use surefit_compact::layout::table_bytes;

use crate::config::surefit_config;
use crate::heap::{heap, heap_mut, init, surefit_heap};
use crate::place::control_bytes;
use crate::status::{put, status, surefit_status};
use crate::words::{AnyHeap, for_width, with_heap};

/// As surefit_heap_init, of a heap that may use only the whole pages in the first `limit` bytes of
/// its region, and the tables at the region's end: with entries for `objects` objects at once, all
/// pieces of long ones counted. It touches no byte between these: see surefit_untouched.
///
/// A demand is served while the limit has at least the certificate's pages, and `objects` is at
/// least its entries.
///
/// Answers as surefit_heap_init; REGION if it is shorter than a page and
/// surefit_limited_table_bytes. O(classes), and 16 bytes written per page of the region.
///
/// # Safety
/// As surefit_heap_init.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_heap_init_limited(
    region: *mut c_void,
    bytes: usize,
    config: *const surefit_config,
    limit: usize,
    objects: usize,
    heap: *mut *mut surefit_heap,
) -> surefit_status {
    let make = |region, config| AnyHeap::with_limit(region, config, limit, objects);
    // SAFETY: the caller's promise.
    status(unsafe { init(region.cast(), bytes, config, heap, make) })
}

/// The bytes at the end of a region of `bytes` bytes that a heap of surefit_heap_init_limited
/// always uses, with entries for `objects` objects: tables, entries and the control structure,
/// wherever the region begins. 0 if the region is too short for them and a page, and without a
/// configuration. O(1).
///
/// # Safety
/// The configuration is NULL, or one of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_limited_table_bytes(
    config: *const surefit_config,
    bytes: usize,
    objects: usize,
) -> usize {
    if config.is_null() || !config.is_aligned() {
        return 0;
    }
    // SAFETY: not NULL, aligned; the caller's promise.
    let config = unsafe { &(*config).0 };
    let tables = || {
        // The pages begin at a multiple of their size, the control structure at one of its
        // alignment.
        let lost = config.geometry().page_bytes() - 1 + control_bytes::<surefit_heap>();
        let left = bytes.checked_sub(lost)?;
        let tables =
            for_width!(config, W => table_bytes::<Keyed<W>>(config, left, objects), else None);
        tables?.checked_add(lost)
    };
    tables().unwrap_or(0)
}

/// Raises or lowers the limit of a heap to `bytes`, rounded down to whole pages, as far as it can:
/// up to the heap's tables, and down to the pages that have objects: surefit_compact makes these
/// fewer. What lies in the last pages moves to free ones. Writes the limit that it reached.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, CONFIG if the heap was made without a limit. Raising is
/// O(1); lowering is O(1) per page that it takes away and per page-block that it moves, and moves
/// at most as many bytes as it takes away.
///
/// # Safety
/// The heap is NULL or came from surefit_heap_init_limited; the other pointer is NULL or the
/// caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_set_limit(
    heap: *mut surefit_heap,
    bytes: usize,
    reached: *mut usize,
) -> surefit_status {
    let set = || {
        if reached.is_null() {
            return Err(surefit_status::Null);
        }
        // SAFETY: the caller's promise.
        let any = unsafe { heap_mut(heap) }?;
        let limit = with_heap!(any, heap => {
            let limit = heap.limit_bytes().ok_or(surefit_status::Config)?;
            match bytes.checked_sub(limit) {
                Some(more) => limit + heap.raise_limit(more),
                None => limit - heap.lower_limit(limit - bytes),
            }
        });
        // SAFETY: not NULL.
        unsafe { put(reached, limit) }
    };
    status(set())
}

/// Writes the first and the last offset, plus one, of the bytes of the region that the heap does
/// not touch now: those between its limit and its tables. Two equal ones if there are none, as for
/// a heap without a limit. This memory may be off.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED. O(1).
///
/// # Safety
/// As surefit_set_limit.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_untouched(
    heap: *const surefit_heap,
    first: *mut usize,
    end: *mut usize,
) -> surefit_status {
    let untouched = || {
        if first.is_null() || end.is_null() {
            return Err(surefit_status::Null);
        }
        // SAFETY: the caller's promise.
        let any = unsafe { self::heap(heap) }?;
        let range = with_heap!(any, heap => heap.untouched());
        // SAFETY: not NULL.
        unsafe { put(first, range.start) }?;
        // SAFETY: not NULL.
        unsafe { put(end, range.end) }
    };
    status(untouched())
}
