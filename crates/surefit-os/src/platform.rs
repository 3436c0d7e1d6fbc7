//! The platform's malloc, called by its C names, so that a preloaded library replaces it.
//!
//! This module does not use `std::alloc::System`, which calls `posix_memalign` for objects that are
//! smaller than their alignment. No C program does that.

use std::alloc::Layout;
use std::io;
use std::ptr::NonNull;

/// The alignment that malloc always gives: 16 bytes on every 64-bit platform that we build for.
const MALLOC_ALIGN: usize = 16;

/// Allocates an object with `malloc`, or with `posix_memalign` for an alignment over 16 bytes.
#[inline]
#[must_use]
pub fn allocate(layout: Layout) -> Option<NonNull<u8>> {
    if layout.align() > MALLOC_ALIGN {
        return aligned(layout);
    }
    // SAFETY: malloc has no preconditions.
    NonNull::new(unsafe { libc::malloc(layout.size().max(1)) }.cast())
}

/// Allocates an object of zeroed bytes, with `calloc` where the alignment allows it.
#[inline]
#[must_use]
pub fn allocate_zeroed(layout: Layout) -> Option<NonNull<u8>> {
    if layout.align() > MALLOC_ALIGN {
        let object = aligned(layout)?;
        // SAFETY: the object is at least as long as requested.
        unsafe { object.as_ptr().write_bytes(0, layout.size()) };
        return Some(object);
    }
    // SAFETY: calloc has no preconditions.
    NonNull::new(unsafe { libc::calloc(1, layout.size().max(1)) }.cast())
}

fn aligned(layout: Layout) -> Option<NonNull<u8>> {
    let mut object = std::ptr::null_mut();
    // SAFETY: `object` is a valid place to write to; the alignment is a power of two and a multiple
    // of a pointer's size, being over 16. On failure `object` stays null.
    let status =
        unsafe { libc::posix_memalign(&raw mut object, layout.align(), layout.size().max(1)) };
    (status == 0).then(|| NonNull::new(object.cast())).flatten()
}

/// Frees an object.
///
/// # Safety
/// S1: the object came from this module and is live.
#[inline]
pub unsafe fn free(object: NonNull<u8>) {
    // SAFETY: S1 is the contract of `free`.
    unsafe { libc::free(object.as_ptr().cast()) }
}

/// Changes an object's size with `realloc`. An alignment over 16 bytes takes a new object and a
/// copy.
///
/// Returns `None` if there is no memory; then the object is unchanged.
///
/// # Safety
/// S1: the object came from this module and is live. S2: `layout` is its layout.
#[inline]
#[must_use]
pub unsafe fn resize(object: NonNull<u8>, layout: Layout, new_size: usize) -> Option<NonNull<u8>> {
    if layout.align() <= MALLOC_ALIGN {
        // SAFETY: S1; the new size is never zero, so realloc never frees.
        let moved = unsafe { libc::realloc(object.as_ptr().cast(), new_size.max(1)) };
        return NonNull::new(moved.cast());
    }
    let moved = aligned(Layout::from_size_align(new_size, layout.align()).ok()?)?;
    let common = layout.size().min(new_size);
    // SAFETY: both objects are live, distinct, and at least `common` bytes long (S2).
    unsafe { std::ptr::copy_nonoverlapping(object.as_ptr(), moved.as_ptr(), common) };
    // SAFETY: S1.
    unsafe { free(object) };
    Some(moved)
}

/// The bytes that malloc takes for an object: those that it may use (`malloc_usable_size`), and the
/// word in which glibc's malloc notes them. Another malloc may note them elsewhere.
///
/// # Safety
/// S1: the object came from this module and is live.
#[must_use]
pub unsafe fn chunk_bytes(object: NonNull<u8>) -> usize {
    // SAFETY: S1.
    let usable = unsafe { malloc_usable_size(object.as_ptr().cast()) };
    usable + size_of::<usize>()
}

/// Flushes the C library's standard output, and reports whether any output was ever lost. It is no
/// error if the reader has gone away.
///
/// # Errors
/// The error of a write, now or earlier; [`io::ErrorKind::Other`] where the C library does not give
/// a reason.
pub fn flush_output() -> io::Result<()> {
    // SAFETY: the C library's standard output is open as long as the process is; fflush takes any
    // open stream.
    let failed_now = unsafe { libc::fflush(stdout) } != 0;
    let cause = io::Error::last_os_error();
    // SAFETY: as before; ferror only reads.
    let failed_before = unsafe { libc::ferror(stdout) } != 0;
    match (failed_now, failed_before) {
        (false, false) => Ok(()),
        _ if reader_is_gone() => Ok(()),
        (true, _) => Err(cause),
        (false, true) => Err(io::Error::other("an earlier write failed")),
    }
}

/// Whether standard output is a pipe without a reader.
fn reader_is_gone() -> bool {
    let mut output = libc::pollfd {
        fd: libc::STDOUT_FILENO,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: `output` is one valid entry; the call does not wait.
    let count = unsafe { libc::poll(&raw mut output, 1, 0) };
    count > 0 && output.revents & libc::POLLERR != 0
}

unsafe extern "C" {
    #[cfg_attr(target_vendor = "apple", link_name = "__stdoutp")]
    static stdout: *mut libc::FILE;

    #[cfg_attr(target_vendor = "apple", link_name = "malloc_size")]
    fn malloc_usable_size(object: *const libc::c_void) -> usize;
}

#[cfg(test)]
mod tests {
    use super::{allocate, allocate_zeroed, chunk_bytes, free, resize};
    use std::alloc::Layout;

    #[test]
    fn a_chunk_is_larger_than_its_object_by_little() {
        for bytes in [1, 24, 40, 1000, 100_000] {
            let object = allocate(Layout::array::<u8>(bytes).expect("valid")).expect("memory");
            // SAFETY: the object is live.
            let chunk = unsafe { chunk_bytes(object) };
            assert!((bytes + 8..2 * bytes + 40).contains(&chunk), "{chunk}");
            // SAFETY: the object is live and not used afterwards.
            unsafe { free(object) };
        }
    }

    #[test]
    fn objects_are_aligned_and_keep_their_bytes() {
        for align in [1, 8, 16, 64, 4096] {
            let layout = Layout::from_size_align(100, align).expect("valid");
            let object = allocate_zeroed(layout).expect("memory");
            assert_eq!(object.as_ptr().addr() % align, 0);
            // SAFETY: the object is 100 bytes long and was zeroed.
            let bytes = unsafe { std::slice::from_raw_parts_mut(object.as_ptr(), 100) };
            assert!(bytes.iter().all(|byte| *byte == 0));
            bytes.fill(7);
            // SAFETY: the object is live and has this layout.
            let moved = unsafe { resize(object, layout, 1000) }.expect("memory");
            assert_eq!(moved.as_ptr().addr() % align, 0);
            // SAFETY: the first 100 bytes were written before the move.
            let kept = unsafe { std::slice::from_raw_parts(moved.as_ptr(), 100) };
            assert!(kept.iter().all(|byte| *byte == 7));
            // SAFETY: the object is live.
            unsafe { free(moved) };
        }
    }

    #[test]
    fn an_empty_object_has_an_address() {
        let object = allocate(Layout::from_size_align(0, 1).expect("valid")).expect("memory");
        // SAFETY: the object is live.
        unsafe { free(object) };
    }

    /// A size that no machine has gives `None`, and a refused size leaves the object unchanged.
    #[test]
    fn layouts_of_any_size_and_alignment_are_served_or_none() {
        let most = isize::MAX as usize;
        for log2 in 0..63 {
            for bytes in [0, 1, most - (1 << log2), most & !((1 << log2) - 1)] {
                let Ok(layout) = Layout::from_size_align(bytes, 1 << log2) else {
                    continue;
                };
                for object in [allocate(layout), allocate_zeroed(layout)] {
                    let Some(object) = object else {
                        assert!(bytes > 1 || log2 > 16, "{layout:?}");
                        continue;
                    };
                    assert_eq!(object.addr().get() % layout.align(), 0);
                    // SAFETY: the object is live and has this layout.
                    let grown = unsafe { resize(object, layout, most - layout.align()) };
                    assert!(grown.is_none(), "{layout:?}");
                    // SAFETY: the object is live: it was not resized.
                    unsafe { free(object) };
                }
            }
        }
    }
}
