//! `surefit::freelist::Tlsf`.
#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use surefit::RawHeap;
use surefit::freelist::Tlsf;

#[entry]
fn main() -> ! {
    let Ok(mut heap) = Tlsf::new(flash::memory()) else {
        flash::stop()
    };
    loop {
        let layout = flash::layout();
        if let Ok(object) = heap.allocate(layout) {
            // SAFETY: it is live, and of that layout.
            unsafe { heap.free(black_box(object), layout) };
        }
    }
}
