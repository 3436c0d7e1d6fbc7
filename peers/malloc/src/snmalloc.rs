//! snmalloc.

use std::ffi::c_void;
use std::ptr::null_mut;

use snmalloc_sys as sn;
use surefit_interpose::calls::Calls;

use crate::can_align;

/// The process's snmalloc.
#[derive(Clone, Copy, Debug)]
pub struct Snmalloc;

// SAFETY: snmalloc's own contract.
unsafe impl Calls for Snmalloc {
    #[inline]
    fn malloc(&self, size: usize) -> *mut c_void {
        // SAFETY: any size will do.
        unsafe { sn::sn_malloc(size) }
    }

    #[inline]
    fn calloc(&self, count: usize, size: usize) -> *mut c_void {
        // SAFETY: any numbers will do.
        unsafe { sn::sn_calloc(count, size) }
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut c_void, size: usize) -> *mut c_void {
        // SAFETY: the caller's.
        unsafe { sn::sn_realloc(old, size) }
    }

    #[inline]
    unsafe fn free(&self, old: *mut c_void) {
        // SAFETY: the caller's.
        unsafe { sn::sn_free(old) }
    }

    fn memalign(&self, align: usize, size: usize) -> *mut c_void {
        if !can_align(align, size) {
            return null_mut();
        }
        // SAFETY: the alignment is a power of two. What it gives is freed like all else: its
        // size-classes are aligned by themselves.
        unsafe { sn::sn_rust_alloc(align, size.max(1)) }
    }

    unsafe fn usable_size(&self, of: *mut c_void) -> usize {
        // SAFETY: the caller's.
        unsafe { sn::sn_malloc_usable_size(of) }
    }
}
