//! What the table of a replay holds of an object behind a handle: its name without its length. So
//! names of handles are as long as pointers, and an access takes the length from the same place for
//! both, the step.

use std::mem::MaybeUninit;
use std::ptr;

use surefit_compact::{Bytes, BytesName};

/// An owning name, of eight bytes.
pub(super) type Name = BytesName<MaybeUninit<u8>>;

const _: () = assert!(size_of::<Name>() == size_of::<*mut u8>());

/// The handle of a live object that the table goes on to name.
///
/// # Safety
/// The object has this length. The handle is another owner of the object: either it is not freed,
/// or the name is never used again.
#[inline(always)]
pub(super) unsafe fn handle(name: &Name, len: usize) -> Bytes<MaybeUninit<u8>> {
    // SAFETY: the caller's promise; names have no destructor.
    unsafe { ptr::read(name).with_len(len) }
}
