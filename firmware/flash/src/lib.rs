//! What the least programs have in common: the memory, a layout, the loop of global allocators, and
//! a panic that says nothing.
#![no_std]

use core::alloc::{GlobalAlloc, Layout};
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

/// Allocates and frees, without end, in a heap that has the memory. It is a part of its program, as
/// where each heap has its own types: a call would be counted.
#[inline(always)]
pub fn serve(heap: &impl GlobalAlloc) -> ! {
    loop {
        let layout = layout();
        // SAFETY: the layout has bytes; the object is live, and of that layout.
        unsafe {
            let object = heap.alloc(layout);
            if !object.is_null() {
                heap.dealloc(black_box(object), layout);
            }
        }
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
