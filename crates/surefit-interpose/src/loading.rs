//! Libraries that are loaded while the program runs: all of them shall have the malloc that stands
//! in, and the library that it is in must stay.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::system;

/// A library that is loaded so looks for symbols in itself and in what it needs before it looks at
/// what was preloaded: it would have the C library's malloc and free beside those of the program.
pub const RTLD_DEEPBIND: c_int = 8;

/// A function of the C library; null before somebody looked, and if there is none.
struct Next(AtomicPtr<c_void>);

impl Next {
    const fn new() -> Self {
        Self(AtomicPtr::new(null_mut()))
    }

    fn find(&self, name: &core::ffi::CStr) -> *mut c_void {
        let known = self.0.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: a name that ends with zero.
        let found = unsafe { system::dlsym(system::RTLD_NEXT, name.as_ptr()) };
        self.0.store(found, Ordering::Relaxed);
        found
    }
}

/// `dlopen` of the C library, or null.
pub extern "C" fn next_dlopen() -> *mut c_void {
    static NEXT: Next = Next::new();
    NEXT.find(c"dlopen")
}

/// `dlmopen` of the C library, or null.
pub extern "C" fn next_dlmopen() -> *mut c_void {
    static NEXT: Next = Next::new();
    NEXT.find(c"dlmopen")
}

/// Has the library stay that holds an address, whoever closes it: its functions may be called when
/// a thread ends. Nothing is to do for the program itself, and for what it began with. The caller
/// holds no lock.
///
/// # Safety
/// The linker calls the caller when it has loaded the library.
pub unsafe fn keep_loaded(address: usize) {
    let Some(loaded) = system::loaded_at(address) else {
        return;
    };
    // SAFETY: the linker's record of what holds the caller's address, and the name in it, which
    // ends with zero.
    let name = unsafe { (*loaded.map).name };
    // SAFETY: as above.
    if name.is_null() || unsafe { *name } == 0 {
        return;
    }
    // SAFETY: the caller's. `dlopen` allocates, and programs that never do need no heap.
    if unsafe { system::began_with(loaded.map) } {
        return;
    }
    let flags = system::RTLD_LAZY | system::RTLD_NOLOAD | system::RTLD_NODELETE;
    // SAFETY: a name that ends with zero; it loads nothing.
    if unsafe { system::dlopen(name, flags) }.is_null() {
        // SAFETY: it forgets the error, which is none of the program's.
        unsafe { system::dlerror() };
    }
}

/// Makes the library export `dlopen` and `dlmopen`, which take [`RTLD_DEEPBIND`] out of the flags.
/// They go on to the C library's by a jump: it looks at who called, for the folders of the caller's
/// RUNPATH and for the caller's namespace.
#[cfg(target_arch = "x86_64")]
#[macro_export]
macro_rules! export_dlopen {
    () => {
        const _: () = {
            use core::ffi::{c_char, c_int, c_long, c_void};

            /// # Safety
            /// As the manual says.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void {
                core::arch::naked_asm!(
                    "push rdi",
                    "push rsi",
                    "sub rsp, 8",
                    "call {next}",
                    "add rsp, 8",
                    "pop rsi",
                    "pop rdi",
                    "test rax, rax",
                    "je 2f",
                    "and esi, {kept}",
                    "jmp rax",
                    "2:",
                    "ret",
                    next = sym $crate::loading::next_dlopen,
                    kept = const !$crate::loading::RTLD_DEEPBIND,
                )
            }

            /// # Safety
            /// As the manual says.
            #[unsafe(naked)]
            #[unsafe(no_mangle)]
            unsafe extern "C" fn dlmopen(
                namespace: c_long,
                name: *const c_char,
                flags: c_int,
            ) -> *mut c_void {
                core::arch::naked_asm!(
                    "push rdi",
                    "push rsi",
                    "push rdx",
                    "call {next}",
                    "pop rdx",
                    "pop rsi",
                    "pop rdi",
                    "test rax, rax",
                    "je 2f",
                    "and edx, {kept}",
                    "jmp rax",
                    "2:",
                    "ret",
                    next = sym $crate::loading::next_dlmopen,
                    kept = const !$crate::loading::RTLD_DEEPBIND,
                )
            }
        };
    };
}

/// Makes the library export `dlopen` and `dlmopen`, which take [`RTLD_DEEPBIND`] out of the flags.
/// On this machine they call the C library's: for it this library is the caller, whose RUNPATH and
/// namespace count.
#[cfg(not(target_arch = "x86_64"))]
#[macro_export]
macro_rules! export_dlopen {
    () => {
        const _: () = {
            use core::ffi::{c_char, c_int, c_long, c_void};
            use core::mem::transmute;
            use core::ptr::null_mut;
            use $crate::loading::{RTLD_DEEPBIND, next_dlmopen, next_dlopen};

            type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;
            type OpenIn = unsafe extern "C" fn(c_long, *const c_char, c_int) -> *mut c_void;

            #[unsafe(no_mangle)]
            unsafe extern "C" fn dlopen(name: *const c_char, flags: c_int) -> *mut c_void {
                // SAFETY: null is `None`; else it is the C library's function of that name.
                match unsafe { transmute::<*mut c_void, Option<Open>>(next_dlopen()) } {
                    // SAFETY: the C caller's promise.
                    Some(open) => unsafe { open(name, flags & !RTLD_DEEPBIND) },
                    None => null_mut(),
                }
            }

            #[unsafe(no_mangle)]
            unsafe extern "C" fn dlmopen(
                namespace: c_long,
                name: *const c_char,
                flags: c_int,
            ) -> *mut c_void {
                // SAFETY: null is `None`; else it is the C library's function of that name.
                match unsafe { transmute::<*mut c_void, Option<OpenIn>>(next_dlmopen()) } {
                    // SAFETY: the C caller's promise.
                    Some(open) => unsafe { open(namespace, name, flags & !RTLD_DEEPBIND) },
                    None => null_mut(),
                }
            }
        };
    };
}
