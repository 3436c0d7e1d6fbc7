//! What the least programs have in common: the memory, and a panic that says nothing.
#![no_std]

use core::alloc::Layout;
use core::hint::black_box;
use core::mem::MaybeUninit;

use surefit::{Page1K, Region};

static MEMORY: Region<{ 64 << 10 }, Page1K> = Region::new();

/// The memory of the heap.
pub fn memory() -> &'static mut [MaybeUninit<u8>] {
    match MEMORY.take() {
        Some(memory) => memory,
        None => stop(),
    }
}

/// A layout that the compiler does not know.
pub fn layout() -> Layout {
    match Layout::from_size_align(black_box(24), 8) {
        Ok(layout) => layout,
        Err(_) => stop(),
    }
}

/// Does nothing more.
pub fn stop() -> ! {
    loop {
        cortex_m::asm::wfi();
    }
}

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    stop()
}
