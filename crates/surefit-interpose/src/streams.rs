//! The lock of the C library's list of open streams.
//!
//! `fork` takes it after it called the handlers: GNU's library expects that malloc's locks come
//! after it, because whoever has it may allocate, and may wait for a stream that a thread holds
//! which allocates. A malloc that takes its locks in a handler takes this one before them. It is
//! recursive, so that `fork` takes it once more.

use core::ffi::{CStr, c_char, c_void};
use core::mem::transmute;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

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

/// `__libc_single_threaded`, a character that is not zero while the process has one thread; null if
/// there is none.
static ALONE: AtomicPtr<c_char> = AtomicPtr::new(null_mut());

/// Whether the thread that forks took the lock.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Looks for the functions; before that, and in other libraries, the others do nothing. It may
/// allocate.
pub fn find() {
    // SAFETY: a name that ends with zero.
    let alone = unsafe { system::dlsym(system::RTLD_DEFAULT, c"__libc_single_threaded".as_ptr()) };
    ALONE.store(alone.cast(), Ordering::Relaxed);
    UNLOCK.find(c"_IO_list_unlock");
    RESET.find(c"_IO_list_resetlock");
    LOCK.find(c"_IO_list_lock");
}

/// Takes the lock, before a fork; not in a process of one thread, as `fork` does not: a stream of
/// the program's own may fork while the list is flushed, and unlock it in the child.
pub fn lock() {
    let alone = ALONE.load(Ordering::Relaxed);
    // SAFETY: null, or a character of the C library.
    let is_alone = !alone.is_null() && unsafe { alone.read_volatile() } != 0;
    if !is_alone {
        LOCK.call();
    }
    TAKEN.store(!is_alone, Ordering::Relaxed);
}

/// Releases it, in the parent.
///
/// # Safety
/// This thread called [`lock`], and neither this nor [`reset`] since.
pub unsafe fn unlock() {
    if TAKEN.load(Ordering::Relaxed) {
        UNLOCK.call();
    }
}

/// Has nobody hold it, in a child: its only thread is the caller.
///
/// # Safety
/// As [`unlock`].
pub unsafe fn reset() {
    if TAKEN.load(Ordering::Relaxed) {
        RESET.call();
    }
}
