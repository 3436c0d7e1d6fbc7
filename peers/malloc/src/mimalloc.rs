//! mimalloc, version 3.

use std::ffi::c_void;

use libmimalloc_sys as mi;
use surefit_interpose::calls::Calls;

/// The process's mimalloc.
#[derive(Clone, Copy, Debug)]
pub struct Mimalloc;

// SAFETY: mimalloc's own contract.
unsafe impl Calls for Mimalloc {
    #[inline]
    fn malloc(&self, size: usize) -> *mut c_void {
        // SAFETY: any size will do.
        unsafe { mi::mi_malloc(size) }
    }

    #[inline]
    fn calloc(&self, count: usize, size: usize) -> *mut c_void {
        // SAFETY: any size will do.
        unsafe { mi::mi_calloc(count, size) }
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut c_void, size: usize) -> *mut c_void {
        // SAFETY: the caller's.
        unsafe { mi::mi_realloc(old, size) }
    }

    #[inline]
    unsafe fn free(&self, old: *mut c_void) {
        // SAFETY: the caller's.
        unsafe { mi::mi_free(old) }
    }

    fn memalign(&self, align: usize, size: usize) -> *mut c_void {
        // SAFETY: any numbers will do.
        unsafe { mi::mi_malloc_aligned(size, align) }
    }

    unsafe fn usable_size(&self, of: *mut c_void) -> usize {
        // SAFETY: the caller's.
        unsafe { mi::mi_usable_size(of) }
    }
}
