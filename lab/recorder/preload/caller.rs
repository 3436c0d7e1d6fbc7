//! How the program was called, and in which environment: what the C library knows of it.

use core::ffi::CStr;

use surefit_interpose::system;

/// The program as it was called; empty before the C library has begun.
pub(crate) fn called() -> &'static [u8] {
    // SAFETY: the C library's own: null before it has begun, and then a text that ends with zero.
    let name = unsafe { system::program_invocation_name };
    if name.is_null() {
        return &[];
    }
    // SAFETY: as above.
    unsafe { CStr::from_ptr(name) }.to_bytes()
}

/// A variable of the environment.
pub(crate) fn environment(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: a name that ends with zero.
    let value = unsafe { system::getenv(name.as_ptr()) };
    // SAFETY: not null: a text that ends with zero. The program may change its environment: we look
    // at it at once.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })
}
