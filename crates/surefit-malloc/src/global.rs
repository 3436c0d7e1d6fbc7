//! The allocator of Rust programs.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::{c_int, c_void};
use core::ptr::{NonNull, null_mut};

use surefit_direct::shared::GRANULE;
use surefit_interpose::calls::Calls;
use surefit_interpose::system::{EINVAL, ENOMEM, set_errno};

use crate::serve;

/// The allocator of the process: n-CF with raw pointers over the operating system's memory.
///
/// All values of this type are the same allocator. It also has malloc's family, for a library that
/// exports it.
///
/// # Examples
/// ```
/// use surefit_malloc::SurefitMalloc;
///
/// #[global_allocator]
/// static ALLOCATOR: SurefitMalloc = SurefitMalloc;
///
/// assert_eq!(vec![7; 1000].iter().sum::<i32>(), 7000);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SurefitMalloc;

#[cold]
#[inline(never)]
fn alloc_more(layout: Layout) -> *mut u8 {
    pointer(serve::allocate(layout.size(), layout.align()))
}

fn pointer(object: Option<NonNull<u8>>) -> *mut u8 {
    object.map_or(null_mut(), NonNull::as_ptr)
}

// SAFETY: objects of the heap are disjoint, stay until they are freed, and have the size and
// alignment asked for. Nothing here unwinds but for a defect.
unsafe impl GlobalAlloc for SurefitMalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= GRANULE {
            if let Some(object) = serve::allocate_from_list(layout.size()) {
                return object.as_ptr();
            }
        }
        alloc_more(layout)
    }

    #[inline]
    unsafe fn dealloc(&self, object: *mut u8, _layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { serve::free(object) };
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        pointer(serve::allocate_zeroed(layout.size(), layout.align()))
    }

    unsafe fn realloc(&self, object: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let Some(object) = NonNull::new(object) else {
            return null_mut();
        };
        // SAFETY: the caller's promise.
        pointer(unsafe { serve::resize(object, bytes, layout.align()) })
    }
}

/// The pointer that C gets; a failure sets `errno`.
#[inline]
fn to_c(object: Option<NonNull<u8>>) -> *mut c_void {
    match object {
        Some(object) => object.as_ptr().cast(),
        None => refused(),
    }
}

#[cold]
#[inline(never)]
fn malloc_more(size: usize) -> *mut c_void {
    to_c(serve::allocate(size, 1))
}

#[cold]
fn refused() -> *mut c_void {
    set_errno(ENOMEM);
    null_mut()
}

// SAFETY: as for `GlobalAlloc`.
unsafe impl Calls for SurefitMalloc {
    #[inline]
    fn malloc(&self, size: usize) -> *mut c_void {
        match serve::allocate_from_list(size) {
            Some(object) => object.as_ptr().cast(),
            None => malloc_more(size),
        }
    }

    fn calloc(&self, count: usize, size: usize) -> *mut c_void {
        to_c(
            count
                .checked_mul(size)
                .and_then(|bytes| serve::allocate_zeroed(bytes, 1)),
        )
    }

    unsafe fn realloc(&self, old: *mut c_void, size: usize) -> *mut c_void {
        let Some(object) = NonNull::new(old.cast()) else {
            return self.malloc(size);
        };
        if size == 0 {
            // SAFETY: the caller's promise.
            unsafe { serve::free(object.as_ptr()) };
            return null_mut();
        }
        // SAFETY: the caller's promise.
        to_c(unsafe { serve::resize(object, size, 1) })
    }

    #[inline]
    unsafe fn free(&self, old: *mut c_void) {
        // SAFETY: the caller's promise.
        unsafe { serve::free(old.cast()) };
    }

    /// As glibc: an alignment that is not a power of two becomes the next one.
    fn memalign(&self, align: usize, size: usize) -> *mut c_void {
        match align.checked_next_power_of_two() {
            Some(align) => to_c(serve::allocate(size, align)),
            None => invalid(),
        }
    }

    fn aligned_alloc(&self, align: usize, size: usize) -> *mut c_void {
        if align.is_power_of_two() {
            to_c(serve::allocate(size, align))
        } else {
            invalid()
        }
    }

    unsafe fn usable_size(&self, of: *mut c_void) -> usize {
        NonNull::new(of.cast()).map_or(0, serve::usable_bytes)
    }
}

fn invalid() -> *mut c_void {
    let invalid: c_int = EINVAL;
    set_errno(invalid);
    null_mut()
}
