//! Heaps with a limit of the pages that they may use: a quota, or a bank of memory that is switched
//! on and off.

use core::ffi::c_void;

use crate::config::surefit_config;
use crate::heap::{heap, heap_mut, init, surefit_heap};
use crate::status::{put, status, surefit_status};
use crate::words::{AnyHeap, with_heap};

/// As surefit_heap_init, of a heap that may use only the whole pages in the first `limit` bytes of
/// its region, and the tables at the region's end: with entries for `objects` objects at once, all
/// pieces of long ones counted. It touches no byte between these: see surefit_untouched.
///
/// A demand is served while the limit has at least the certificate's pages, and `objects` is at least
/// its entries.
///
/// Answers as surefit_heap_init. O(classes), and 16 bytes written per page of the region.
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

/// Raises or lowers the limit of a heap to `bytes`, rounded down to whole pages, as far as it can:
/// up to the heap's tables, and down to the pages that have objects: surefit_compact makes these
/// fewer. What lies in the last pages moves to free ones. Writes the limit that it reached.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, CONFIG if the heap was made without a limit. Raising is O(1); lowering
/// moves at most as many bytes as it takes away.
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
                Some(more) => limit + heap.add(more),
                None => limit - heap.take_back(limit - bytes),
            }
        });
        // SAFETY: not NULL.
        unsafe { put(reached, limit) }
    };
    status(set())
}

/// Writes the first and the last offset, plus one, of the bytes of the region that the heap does not
/// touch now: those between its limit and its tables. Two equal ones if there are none, as for a
/// heap without a limit. This memory may be off.
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
