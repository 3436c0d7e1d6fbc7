//! What every interface is made of: allocate, free, resize.

use core::ptr::NonNull;

use surefit_compact::shared_direct::GRANULE;

use crate::misuse;
use crate::process::heap_if_begun;
use crate::thread::{own, with, with_some};

/// An object of `bytes` bytes aligned to `align`, a power of two (16 at least is given).
#[inline]
pub(crate) fn allocate(bytes: usize, align: usize) -> Option<NonNull<u8>> {
    match own() {
        Some(own) => own.allocate(bytes, align),
        None => with_some(|own| own.allocate(bytes, align))?,
    }
}

/// As [`allocate`], at 16 bytes.
#[inline]
pub(crate) fn allocate_plain(bytes: usize) -> Option<NonNull<u8>> {
    match own() {
        Some(own) => own.allocate(bytes, GRANULE),
        None => allocate_first(bytes),
    }
}

#[cold]
#[inline(never)]
fn allocate_first(bytes: usize) -> Option<NonNull<u8>> {
    with_some(|own| own.allocate(bytes, GRANULE))?
}

/// As [`allocate`], all bytes zero.
pub(crate) fn allocate_zeroed(bytes: usize, align: usize) -> Option<NonNull<u8>> {
    with(|own| own.allocate_zeroed(bytes, align))?
}

/// Frees an object.
///
/// # Safety
/// It is live, and nobody uses it any more; but for misuse that is found.
#[inline]
pub(crate) unsafe fn free(object: NonNull<u8>) {
    let freed = match own() {
        // SAFETY: the caller's.
        Some(own) => unsafe { own.try_free(object) },
        // SAFETY: the caller's.
        None => return unsafe { free_first(object) },
    };
    if let Err(found) = freed {
        misuse::found(found, object);
    }
}

/// # Safety
/// As [`free`].
#[cold]
#[inline(never)]
unsafe fn free_first(object: NonNull<u8>) {
    // SAFETY: the caller's.
    let freed = with_some(|own| unsafe { own.try_free(object) });
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
