//! `rlsf::Tlsf`, with 16 lists of 16 lengths.
#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;

#[entry]
fn main() -> ! {
    let mut heap: rlsf::Tlsf<u16, u16, 16, 16> = rlsf::Tlsf::new();
    heap.insert_free_block(flash::memory());
    loop {
        let layout = flash::layout();
        if let Some(object) = heap.allocate(layout) {
            // SAFETY: it is live, and of that layout.
            unsafe { heap.deallocate(black_box(object), layout.align()) };
        }
    }
}
