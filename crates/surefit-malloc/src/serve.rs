//! Allocate, free and resize, for every interface.

use core::ptr::NonNull;

use crate::misuse;
use crate::process::{Own, heap_if_begun, units};
use crate::thread::{own, with, with_some};
use crate::word::own_or_nobody;

/// An object of `bytes` bytes aligned to `align`, a power of two (16 at least is given).
#[inline]
pub(crate) fn allocate(bytes: usize, align: usize) -> Option<NonNull<u8>> {
    match own() {
        Some(own) => own.allocate(bytes, align),
        None => with_some(|own| own.allocate(bytes, align))?,
    }
}

/// An object of `bytes` bytes aligned to 16, if the free list of its class has one.
#[inline]
pub(crate) fn allocate_from_list(bytes: usize) -> Option<NonNull<u8>> {
    // SAFETY: the word of this thread.
    unsafe { Own::allocate_from_list(own_or_nobody(), bytes) }
}

/// As [`allocate`], all bytes zero.
pub(crate) fn allocate_zeroed(bytes: usize, align: usize) -> Option<NonNull<u8>> {
    with(|own| own.allocate_zeroed(bytes, align))?
}

/// Frees an object; null is ignored.
///
/// # Safety
/// It is live, and nobody uses it any more. Misuse that is detected is reported instead.
#[inline(always)]
#[expect(clippy::inline_always, reason = "else `free` only leads here")]
pub(crate) unsafe fn free(object: *mut u8) {
    // SAFETY: the word of this thread; the object is the caller's.
    if unsafe { units().put_back(own_or_nobody(), object) } {
        return;
    }
    // SAFETY: the caller's.
    unsafe { free_more(object) };
}

/// # Safety
/// As [`free`].
#[cold]
#[inline(never)]
unsafe fn free_more(object: *mut u8) {
    // SAFETY: the word of this thread; the object is the caller's.
    if unsafe { units().put_back_mixed(own_or_nobody(), object) } {
        return;
    }
    let Some(object) = NonNull::new(object) else {
        return;
    };
    // SAFETY: the caller's.
    let freed = with(|own| unsafe { own.try_free(object) });
    if let Some(Err(found)) = freed {
        misuse::found(found, object);
    }
}

/// Changes the size of an object to `bytes`, and keeps its alignment `align`.
///
/// # Safety
/// As [`free`], if the result is another address.
pub(crate) unsafe fn resize(
    object: NonNull<u8>,
    bytes: usize,
    align: usize,
) -> Option<NonNull<u8>> {
    // SAFETY: the caller's.
    match with(|own| unsafe { own.resize(object, bytes, align) })? {
        Ok(resized) => resized,
        Err(found) => {
            misuse::found(found, object);
            None
        }
    }
}

/// The bytes of an object that the program may use; 0 if no object begins there.
pub(crate) fn usable_bytes(object: NonNull<u8>) -> usize {
    heap_if_begun()
        .and_then(|heap| heap.usable_bytes(object.as_ptr()))
        .unwrap_or(0)
}
