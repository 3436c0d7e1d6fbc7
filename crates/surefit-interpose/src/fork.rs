//! Forks: memory that a forked child finds zero, whatever its parent wrote there; and who is called
//! first.

use core::ffi::{c_int, c_void};
use core::mem::transmute;
use core::ptr::NonNull;

use crate::system;

/// `bytes` bytes of zeros, aligned to a page; in a child that is forked later they are zero again.
/// `None` if the kernel refuses (it has this since Linux 4.14).
///
/// They live until the process ends.
///
/// # Complexity
/// Two system calls.
#[must_use]
pub fn wiped(bytes: usize) -> Option<NonNull<u8>> {
    let protection = system::PROT_READ | system::PROT_WRITE;
    let flags = system::MAP_PRIVATE | system::MAP_ANONYMOUS;
    // SAFETY: a new private mapping at an address of the kernel's choice.
    let at = unsafe { system::mmap(core::ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if at == system::MAP_FAILED {
        return None;
    }
    // SAFETY: the mapping above.
    if unsafe { system::madvise(at, bytes, system::MADV_WIPEONFORK) } != 0 {
        // SAFETY: the mapping above; nobody has seen it.
        unsafe { system::munmap(at, bytes) };
        return None;
    }
    NonNull::new(at.cast())
}

/// What the C library calls at a fork.
pub type Handler = Option<unsafe extern "C" fn()>;

type Register = unsafe extern "C" fn(Handler, Handler, Handler, *mut c_void) -> c_int;

/// `__register_atfork` of the C library, by which its `pthread_atfork` comes: handlers of a
/// library, which is named by an address of it.
///
/// # Safety
/// As for `pthread_atfork`: they are functions that live as long as the library.
pub unsafe fn register(
    before: Handler,
    in_parent: Handler,
    in_child: Handler,
    library: *mut c_void,
) -> c_int {
    // SAFETY: a name that ends with zero.
    let found = unsafe { system::dlsym(system::RTLD_NEXT, c"__register_atfork".as_ptr()) };
    // SAFETY: null is `None`; else it is the C library's function of that name, which has this
    // type.
    match unsafe { transmute::<*mut c_void, Option<Register>>(found) } {
        // SAFETY: the caller's.
        Some(register) => unsafe { register(before, in_parent, in_child, library) },
        None => system::ENOMEM,
    }
}

/// Makes the library export `__register_atfork`: a function is called before each registration goes
/// on to the C library. So a library that registers its own handlers there has the first of all,
/// whoever registers when: they are called last before a fork, and first after it.
#[macro_export]
macro_rules! export_register_atfork {
    ($first:expr) => {
        const _: () = {
            use core::ffi::{c_int, c_void};
            use $crate::fork::{Handler, register};

            #[unsafe(no_mangle)]
            unsafe extern "C" fn __register_atfork(
                before: Handler,
                in_parent: Handler,
                in_child: Handler,
                library: *mut c_void,
            ) -> c_int {
                $first();
                // SAFETY: the C caller's promise.
                unsafe { register(before, in_parent, in_child, library) }
            }
        };
    };
}
