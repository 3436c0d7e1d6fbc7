//! What a heap reports.

use core::ffi::c_void;

use crate::heap::{heap, surefit_heap};
use crate::status::{put, status, surefit_status};
use crate::words::with_heap;

/// Counters of a heap, and the account of its bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct surefit_stats {
    /// Page-blocks in use. An object in pieces has several.
    pub live_blocks: u32,
    /// Pages of all size-classes.
    pub pages: u32,
    /// Not-full pages of all size-classes.
    pub not_full_pages: u32,
    /// Pages that are free, once used or never.
    pub free_pages: u32,
    /// Entries whose generations are used up.
    pub retired_keys: u32,
    /// Page-blocks moved since the heap was made.
    pub moves: u64,
    /// Bytes that these moves copied.
    pub moved_bytes: u64,
    /// The most bytes that the free of one page-block copied.
    pub moved_bytes_max: u64,
    /// Bytes of page-blocks in use.
    pub block_bytes: usize,
    /// Bytes of pages that are free.
    pub free_page_bytes: usize,
    /// Bytes that the heap needs for itself.
    pub administrative_bytes: usize,
}

/// Writes the counters of a heap.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED. O(classes).
///
/// # Safety
/// The heap is NULL or came from surefit_heap_init; the other pointer is NULL or the caller's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_stats_get(
    heap: *const surefit_heap,
    stats: *mut surefit_stats,
) -> surefit_status {
    // SAFETY: the caller's promise.
    let any = unsafe { self::heap(heap) };
    status(any.and_then(|any| {
        let (counted, usage) = with_heap!(any, heap => (heap.stats(), heap.usage()));
        let filled = surefit_stats {
            live_blocks: counted.live_blocks,
            pages: counted.pages,
            not_full_pages: counted.not_full_pages,
            free_pages: counted.freed_pages.saturating_add(counted.fresh_pages),
            retired_keys: counted.retired_keys,
            moves: counted.moves_total,
            moved_bytes: counted.moved_bytes_total,
            moved_bytes_max: counted.moved_bytes_max_per_op,
            block_bytes: usage.block_bytes,
            free_page_bytes: usage.free_page_bytes,
            administrative_bytes: usage.administrative_bytes,
        };
        // SAFETY: the caller's promise.
        unsafe { put(stats, filled) }
    }))
}

/// A live page-block. An object in pieces has several.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct surefit_block {
    /// The number of its entry.
    pub entry: u32,
    /// Its bytes: those of the object, rounded up to its size-class.
    pub bytes: u32,
}

/// Shows all live page-blocks to a function, in the order of their entries, until it answers false.
/// The function must not change the heap, and must return: no longjmp, no exception.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED. O(entries ever made).
///
/// # Safety
/// As surefit_stats_get; the function takes its context.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_walk(
    heap: *const surefit_heap,
    show: Option<unsafe extern "C" fn(context: *mut c_void, block: surefit_block) -> bool>,
    context: *mut c_void,
) -> surefit_status {
    // SAFETY: the caller's promise.
    let any = unsafe { self::heap(heap) };
    status(any.and_then(|any| {
        let show = show.ok_or(surefit_status::Null)?;
        with_heap!(any, heap => {
            for block in heap.live_blocks() {
                let block = surefit_block { entry: block.index, bytes: block.block_bytes };
                // SAFETY: the caller's promise.
                if !unsafe { show(context, block) } {
                    break;
                }
            }
        });
        Ok(())
    }))
}

/// An invariant that does not hold.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct surefit_fault {
    /// The invariant's letter and number, such as "P2", ended by a zero.
    pub invariant: [core::ffi::c_char; 8],
    /// Where: a page, an entry or a class, as the invariant says.
    pub at: usize,
}

/// Verifies every invariant of a heap. Writes the first that does not hold, unless `fault` is NULL.
///
/// Answers NULL, NOT_A_HEAP, UNLOCKED, CORRUPT. O(region).
///
/// # Safety
/// As surefit_stats_get.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn surefit_check(
    heap: *const surefit_heap,
    fault: *mut surefit_fault,
) -> surefit_status {
    // SAFETY: the caller's promise.
    let any = unsafe { self::heap(heap) };
    status(any.and_then(|any| {
        with_heap!(any, heap => heap.check()).map_err(|corruption| {
            let mut found = surefit_fault {
                at: corruption.at,
                ..surefit_fault::default()
            };
            let name = corruption.invariant.bytes().take(7);
            for (place, byte) in found.invariant.iter_mut().zip(name) {
                *place = core::ffi::c_char::from_ne_bytes([byte]);
            }
            // SAFETY: NULL is not written to.
            let _ = unsafe { put(fault, found) };
            surefit_status::Corrupt
        })
    }))
}
