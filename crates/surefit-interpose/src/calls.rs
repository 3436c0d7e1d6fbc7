//! The calls of malloc's family, and the macro that makes a library export them.

use core::ffi::{c_int, c_void};

/// Who serves the calls of malloc's family in place of the C library. Each does what the C
/// library's manual says of the function with its name.
///
/// # Safety
/// What is returned is memory as the manual says, of the size and alignment asked for, and nobody
/// else's; or null.
pub unsafe trait Calls {
    /// `malloc`.
    fn malloc(&self, size: usize) -> *mut c_void;

    /// `calloc`.
    fn calloc(&self, count: usize, size: usize) -> *mut c_void;

    /// `realloc`; `reallocarray` comes here too.
    ///
    /// # Safety
    /// The pointer is null, or one that this gave and that was not freed since.
    unsafe fn realloc(&self, old: *mut c_void, size: usize) -> *mut c_void;

    /// `free`; `free_sized`, `free_aligned_sized` and `cfree` come here too.
    ///
    /// # Safety
    /// As [`Calls::realloc`].
    unsafe fn free(&self, old: *mut c_void);

    /// `memalign`; `posix_memalign`, `valloc` and `pvalloc` come here too. The alignment is any
    /// number: what is no power of two is the callee's to refuse.
    fn memalign(&self, align: usize, size: usize) -> *mut c_void;

    /// `aligned_alloc`, which may refuse other numbers than [`Calls::memalign`] does.
    fn aligned_alloc(&self, align: usize, size: usize) -> *mut c_void {
        self.memalign(align, size)
    }

    /// `malloc_usable_size`.
    ///
    /// # Safety
    /// As [`Calls::realloc`].
    unsafe fn usable_size(&self, of: *mut c_void) -> usize;
}

/// `posix_memalign` by way of [`Calls::memalign`].
///
/// # Safety
/// `out` is a valid place for a pointer.
pub unsafe fn posix_memalign(
    calls: &impl Calls,
    out: *mut *mut c_void,
    align: usize,
    size: usize,
) -> c_int {
    if !align.is_power_of_two() || align % size_of::<usize>() != 0 {
        return crate::system::EINVAL;
    }
    // It says its error, and leaves the thread's alone.
    let before = crate::system::errno();
    let given = calls.memalign(align, size);
    crate::system::set_errno(before);
    if given.is_null() {
        return crate::system::ENOMEM;
    }
    // SAFETY: the caller's.
    unsafe { *out = given };
    0
}

/// The bytes of a page of the operating system.
#[must_use]
pub fn page_bytes() -> usize {
    // SAFETY: it reads a constant of the system.
    usize::try_from(unsafe { crate::system::sysconf(crate::system::SC_PAGESIZE) }).unwrap_or(4096)
}

/// The bytes of an array, or null's reason: sets the thread's error if they overflow.
#[must_use]
pub fn array_bytes(count: usize, size: usize) -> Option<usize> {
    let bytes = count.checked_mul(size);
    if bytes.is_none() {
        crate::system::set_errno(crate::system::ENOMEM);
    }
    bytes
}

/// The bytes of the pages that hold an object, at least one; or null's reason, as [`array_bytes`].
#[must_use]
pub fn whole_pages(size: usize) -> Option<usize> {
    let bytes = size.max(1).checked_next_multiple_of(page_bytes());
    if bytes.is_none() {
        crate::system::set_errno(crate::system::ENOMEM);
    }
    bytes
}

/// Makes the library export malloc and its family, served by a static that is [`Calls`]. C++'s
/// `new` and `delete` come by way of these.
#[macro_export]
macro_rules! export {
    ($calls:expr) => {
        const _: () = {
            use core::ffi::{c_int, c_void};
            use $crate::calls::{self, Calls};

            #[unsafe(no_mangle)]
            extern "C" fn malloc(size: usize) -> *mut c_void {
                $calls.malloc(size)
            }

            #[unsafe(no_mangle)]
            extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
                $calls.calloc(count, size)
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn realloc(old: *mut c_void, size: usize) -> *mut c_void {
                // SAFETY: the C caller's promise.
                unsafe { $calls.realloc(old, size) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn reallocarray(
                old: *mut c_void,
                count: usize,
                size: usize,
            ) -> *mut c_void {
                match calls::array_bytes(count, size) {
                    // SAFETY: the C caller's promise.
                    Some(bytes) => unsafe { $calls.realloc(old, bytes) },
                    None => core::ptr::null_mut(),
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn free(old: *mut c_void) {
                // SAFETY: the C caller's promise.
                unsafe { $calls.free(old) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn cfree(old: *mut c_void) {
                // SAFETY: the C caller's promise.
                unsafe { $calls.free(old) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn free_sized(old: *mut c_void, _size: usize) {
                // SAFETY: the C caller's promise.
                unsafe { $calls.free(old) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn free_aligned_sized(old: *mut c_void, _align: usize, _size: usize) {
                // SAFETY: the C caller's promise.
                unsafe { $calls.free(old) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
                $calls.memalign(align, size)
            }

            #[unsafe(no_mangle)]
            extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
                $calls.aligned_alloc(align, size)
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn posix_memalign(
                out: *mut *mut c_void,
                align: usize,
                size: usize,
            ) -> c_int {
                // SAFETY: the C caller's promise.
                unsafe { calls::posix_memalign(&$calls, out, align, size) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn valloc(size: usize) -> *mut c_void {
                $calls.memalign(calls::page_bytes(), size)
            }

            #[unsafe(no_mangle)]
            extern "C" fn pvalloc(size: usize) -> *mut c_void {
                match calls::whole_pages(size) {
                    Some(bytes) => $calls.memalign(calls::page_bytes(), bytes),
                    None => core::ptr::null_mut(),
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn malloc_usable_size(of: *mut c_void) -> usize {
                // SAFETY: the C caller's promise.
                unsafe { $calls.usable_size(of) }
            }
        };
    };
}

/// Makes the library export the names that GNU's C library has for malloc's family beside the
/// standard ones, by which some programs call it: `__libc_malloc` and the like. Else they would
/// reach the C library's heap, and what they give would be freed here.
#[macro_export]
macro_rules! export_libc {
    ($calls:expr) => {
        const _: () = {
            use core::ffi::{c_int, c_void};
            use $crate::calls::{self, Calls};

            #[unsafe(no_mangle)]
            extern "C" fn __libc_malloc(size: usize) -> *mut c_void {
                $calls.malloc(size)
            }

            #[unsafe(no_mangle)]
            extern "C" fn __libc_calloc(count: usize, size: usize) -> *mut c_void {
                $calls.calloc(count, size)
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn __libc_realloc(old: *mut c_void, size: usize) -> *mut c_void {
                // SAFETY: the C caller's promise.
                unsafe { $calls.realloc(old, size) }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn __libc_free(old: *mut c_void) {
                // SAFETY: the C caller's promise.
                unsafe { $calls.free(old) }
            }

            #[unsafe(no_mangle)]
            extern "C" fn __libc_memalign(align: usize, size: usize) -> *mut c_void {
                $calls.memalign(align, size)
            }

            #[unsafe(no_mangle)]
            extern "C" fn __libc_valloc(size: usize) -> *mut c_void {
                $calls.memalign(calls::page_bytes(), size)
            }

            #[unsafe(no_mangle)]
            extern "C" fn __libc_pvalloc(size: usize) -> *mut c_void {
                match calls::whole_pages(size) {
                    Some(bytes) => $calls.memalign(calls::page_bytes(), bytes),
                    None => core::ptr::null_mut(),
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn __posix_memalign(
                out: *mut *mut c_void,
                align: usize,
                size: usize,
            ) -> c_int {
                // SAFETY: the C caller's promise.
                unsafe { calls::posix_memalign(&$calls, out, align, size) }
            }
        };
    };
}
