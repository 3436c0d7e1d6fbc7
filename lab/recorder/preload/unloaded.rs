//! `dlclose`: when it unloads something, what is loaded later may lie at the same addresses, so
//! that what was found out about these holds no more.
//!
//! What the C library unloads for itself (conversions of iconv) does not come by here; it is
//! noticed at the next `dlclose`. Until then callers in what takes its place may be missed or
//! wrong; nothing worse, for the stack is read within its bounds.

use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use surefit_interpose::system;

use crate::thread::unrecorded;
use crate::unwind;

type Close = unsafe extern "C" fn(*mut c_void) -> c_int;

/// The C library's function, once somebody asked.
static CLOSE: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// What had been unloaded when somebody last asked.
static UNLOADED: AtomicU64 = AtomicU64::new(0);

#[unsafe(no_mangle)]
unsafe extern "C" fn dlclose(library: *mut c_void) -> c_int {
    let Some(close) = next() else {
        // Nobody can close it: it stays.
        return 0;
    };
    // SAFETY: the caller's promise.
    let answer = unsafe { close(library) };
    let unloaded = system::unloaded();
    if UNLOADED.swap(unloaded, Ordering::AcqRel) != unloaded {
        unwind::forget();
    }
    answer
}

fn next() -> Option<Close> {
    let mut known = CLOSE.load(Ordering::Acquire);
    if known.is_null() {
        // SAFETY: a name that ends with zero.
        known = unrecorded(|| unsafe { system::dlsym(system::RTLD_NEXT, c"dlclose".as_ptr()) });
        CLOSE.store(known, Ordering::Release);
    }
    // SAFETY: null is `None`; else it is the C library's function of that name.
    unsafe { transmute::<*mut c_void, Option<Close>>(known) }
}
