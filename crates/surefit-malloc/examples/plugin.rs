//! A library that a program loads while it runs, whose allocator is [`SurefitMalloc`]: it has a
//! heap of its own, and stays until the process ends, because threads that used it call it when
//! they end.

use surefit_malloc::SurefitMalloc;

#[global_allocator]
static ALLOCATOR: SurefitMalloc = SurefitMalloc;

/// Works with so many bytes; answers whether that went well.
#[unsafe(no_mangle)]
pub extern "C" fn surefit_plugin_work(bytes: usize) -> bool {
    let numbers: Vec<u8> = vec![7; bytes];
    numbers.iter().all(|number| *number == 7)
}

/// As many bytes, which stay; null if there are none.
#[unsafe(no_mangle)]
pub extern "C" fn surefit_plugin_keep(bytes: usize) -> *mut u8 {
    let mut kept: Vec<u8> = Vec::new();
    if kept.try_reserve_exact(bytes).is_err() {
        return core::ptr::null_mut();
    }
    kept.leak().as_mut_ptr()
}
