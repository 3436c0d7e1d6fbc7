//! No heap: what every program takes.
#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;

#[entry]
fn main() -> ! {
    black_box(flash::memory());
    loop {
        black_box(flash::layout());
    }
}
