//! The layouts of what Lua requests.
#![deny(unsafe_code)]

use core::alloc::Layout;

/// The alignment of all memory that Lua requests, in bytes: its `LUAI_MAXALIGN` is a union of a
/// double, a pointer and integers.
const ALIGN: usize = 8;

const _: () = assert!(
    align_of::<f64>() <= ALIGN && align_of::<i64>() <= ALIGN && align_of::<*const ()>() <= ALIGN,
    "the members of LUAI_MAXALIGN"
);

/// The layout of a request.
pub(super) fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes, ALIGN).ok()
}
