//! `libsurefit_malloc.so`, for `LD_PRELOAD`: malloc's family, served by [`SurefitMalloc`].
//!
//! Built by the profile `preload` it does without the standard library. By others, for the tests,
//! with it. include/surefit_malloc.h declares what it exports beside malloc's family.
#![cfg_attr(panic = "abort", no_std)]

use core::ffi::c_void;
use core::sync::atomic::AtomicBool;

use surefit_malloc::SurefitMalloc;

surefit_interpose::export!(SurefitMalloc);
surefit_interpose::export_libc!(SurefitMalloc);
surefit_interpose::export_reports!(SurefitMalloc);
surefit_interpose::export_dlopen!();
surefit_interpose::export_register_atfork!(surefit_malloc::prepare_forks);

/// Whether the statistics of the process are written: a Rust program with the same allocator has
/// them written before.
#[unsafe(export_name = "surefit_malloc_written")]
static WRITTEN: AtomicBool = AtomicBool::new(false);

#[unsafe(no_mangle)]
extern "C" fn surefit_malloc_set_limit(bytes: usize) {
    SurefitMalloc.set_limit(bytes);
}

#[unsafe(no_mangle)]
extern "C" fn surefit_malloc_set_soft_limit(bytes: usize) {
    SurefitMalloc.set_soft_limit(bytes);
}

#[unsafe(no_mangle)]
extern "C" fn surefit_malloc_on_soft_limit(
    function: Option<extern "C" fn(*mut c_void)>,
    argument: *mut c_void,
) -> bool {
    SurefitMalloc.on_soft_limit(function, argument)
}

#[unsafe(no_mangle)]
extern "C" fn surefit_defrag_hint(object: *const c_void) -> bool {
    SurefitMalloc.defrag_hint(object)
}

#[cfg(panic = "abort")]
mod alone {
    use core::panic::PanicInfo;

    // What is needed of the C library.
    #[link(name = "c")]
    unsafe extern "C" {}

    /// A defect of the library: it cannot be trusted with another call.
    #[panic_handler]
    fn panicked(info: &PanicInfo<'_>) -> ! {
        surefit_malloc::end(info)
    }
}
