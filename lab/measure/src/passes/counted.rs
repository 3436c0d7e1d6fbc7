//! The two functions that valgrind counts: each makes one call to an allocator.
//!
//! They take the allocator, the object and the layout themselves. A closure would be read from
//! memory, unless the linker passes its parts in registers, and that would be counted.

use std::alloc::Layout;

use surefit_core::Refused;

use crate::subject::Subject;

/// The name of the function that allocates one object.
pub const MALLOC: &str = "counted_malloc";

/// The name of the function that frees one object.
pub const FREE: &str = "counted_free";

#[inline(never)]
pub(super) fn counted_malloc<S: Subject>(
    subject: &mut S,
    layout: Layout,
    zeroed: bool,
) -> Result<S::Object, Refused> {
    subject.allocate(layout, zeroed)
}

/// # Safety
/// S1 and S2 of [`Subject::free`].
#[inline(never)]
pub(super) unsafe fn counted_free<S: Subject>(subject: &mut S, object: S::Object, layout: Layout) {
    // SAFETY: S1 and S2 are the caller's.
    unsafe { subject.free(object, layout) };
}
