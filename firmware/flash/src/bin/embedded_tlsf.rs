//! `embedded_alloc::TlsfHeap`.
#![no_std]
#![no_main]

use core::alloc::GlobalAlloc;
use core::hint::black_box;

use cortex_m_rt::entry;
use embedded_alloc::TlsfHeap;

#[entry]
fn main() -> ! {
    let memory = flash::memory();
    let heap = TlsfHeap::empty();
    // SAFETY: the region is this heap's alone.
    unsafe { heap.init(memory.as_mut_ptr().expose_provenance(), memory.len()) };
    loop {
        let layout = flash::layout();
        // SAFETY: the layout has bytes; the object is live, and of that layout.
        unsafe {
            let object = heap.alloc(layout);
            if !object.is_null() {
                heap.dealloc(black_box(object), layout);
            }
        }
    }
}
