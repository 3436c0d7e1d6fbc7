//! The allocator that serves the program.

use core::ffi::CStr;

use surefit_interpose::next::Next;
use surefit_interpose::system;

use crate::thread::unrecorded;

pub(crate) static NEXT: Next = Next::new();

/// The library that its `malloc` is in; `None` if that is the program itself, or not known.
pub(crate) fn library() -> Option<&'static CStr> {
    let loaded = unrecorded(|| system::loaded_at(NEXT.address()?))?;
    // SAFETY: the linker's record of a library that serves the program, and so stays.
    let name = unsafe { (*loaded.map).name };
    // SAFETY: null, or a text that ends with zero, which stays as long as the record.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) })
}
