//! `talc::base::Talc`, with its default bins.
#![no_std]
#![no_main]

use core::alloc::{GlobalAlloc, Layout};
use core::hint::black_box;

use cortex_m_rt::entry;
use talc::DefaultBinning;
use talc::base::Talc;
use talc::source::Manual;

/// The crate asks for a global allocator, and does not call it here.
struct Nobody;

// SAFETY: it has no object.
unsafe impl GlobalAlloc for Nobody {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static NOBODY: Nobody = Nobody;

#[entry]
fn main() -> ! {
    let memory = flash::memory();
    let mut heap: Talc<Manual, DefaultBinning> = Talc::new(Manual);
    // SAFETY: the region is this heap's alone.
    unsafe { heap.claim(memory.as_mut_ptr().cast(), memory.len()) };
    loop {
        let layout = flash::layout();
        // SAFETY: the layout has bytes; the object is live, and of that layout.
        unsafe {
            if let Some(object) = heap.allocate(layout) {
                heap.deallocate(black_box(object).as_ptr(), layout);
            }
        }
    }
}
