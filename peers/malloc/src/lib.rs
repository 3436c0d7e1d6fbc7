//! Allocators of other crates as malloc, each for a library that is preloaded: one example, one
//! feature and one crate each.
//!
//! | feature | crate | what it needs beside a call |
//! | --- | --- | --- |
//! | `mimalloc` | libmimalloc-sys | nothing |
//! | `rpmalloc` | rpmalloc-sys | to be told of the process, and of each thread's beginning and end |
//! | `snmalloc` | snmalloc-sys | nothing |
//!
//! What a library exports is what ours does: `surefit_interpose::export!`.

#[cfg(feature = "mimalloc")]
pub mod mimalloc;
#[cfg(feature = "rpmalloc")]
pub mod rpmalloc;
#[cfg(feature = "snmalloc")]
pub mod snmalloc;

/// Whether an allocator may be asked for it: the alignment is a power of two, and no size overflows
/// when it is rounded up. The thread's error says what is wrong.
#[cfg(any(feature = "rpmalloc", feature = "snmalloc"))]
fn can_align(align: usize, size: usize) -> bool {
    use surefit_interpose::system::{EINVAL, ENOMEM, set_errno};

    if !align.is_power_of_two() {
        set_errno(EINVAL);
        return false;
    }
    let fits = size <= isize::MAX.unsigned_abs() - align / 2;
    if !fits {
        set_errno(ENOMEM);
    }
    fits
}
