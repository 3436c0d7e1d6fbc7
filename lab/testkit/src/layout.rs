//! Layouts of byte objects.

use core::alloc::Layout;

/// The layout of so many bytes, aligned to eight.
///
/// # Panics
/// If there is no such layout.
#[inline]
#[must_use]
pub fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 8).expect("a layout")
}
