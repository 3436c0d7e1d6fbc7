//! The lock of the C library's list of open streams.
//!
//! `fork` takes it after it called the handlers: GNU's library expects that malloc's locks come
//! after it, because whoever has it may allocate, and may wait for a stream that a thread holds
//! which allocates. A malloc that takes its locks in a handler takes this one before them. It is
//! recursive, so that `fork` takes it once more.

use core::ffi::{CStr, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::system;

/// A function of the C library without arguments; null if there is none.
struct Function(AtomicPtr<c_void>);

impl Function {
    const fn unknown() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    fn find(&self, name: &CStr) {
        // SAFETY: a name that ends with zero.
        let found = unsafe { system::dlsym(system::RTLD_DEFAULT, name.as_ptr()) };
        self.0.store(found, Ordering::Relaxed);
    }

    fn call(&self) {
        let found = self.0.load(Ordering::Relaxed);
        // SAFETY: null is `None`; else it is GNU's function of that name, which takes and answers
        // nothing.
        let function = unsafe { transmute::<*mut c_void, Option<unsafe extern "C" fn()>>(found) };
        if let Some(function) = function {
            // SAFETY: it may be called at any time, but for `unlock`, whose callers promise that
            // they locked.
            unsafe { function() };
        }
    }
}

static LOCK: Function = Function::unknown();
static UNLOCK: Function = Function::unknown();
static RESET: Function = Function::unknown();

/// Looks for the functions; before that, and in other libraries, the others do nothing. It may
/// allocate.
pub fn find() {
    UNLOCK.find(c"_IO_list_unlock");
    RESET.find(c"_IO_list_resetlock");
    LOCK.find(c"_IO_list_lock");
}

/// Takes the lock, before a fork.
pub fn lock() {
    LOCK.call();
}

/// Releases it, in the parent.
///
/// # Safety
/// This thread called [`lock`].
pub unsafe fn unlock() {
    UNLOCK.call();
}

/// Has nobody hold it, in a child: its only thread is the caller.
pub fn reset() {
    RESET.call();
}
