//! `surefit::compact::Heap`, of `Config::TINY` and words of two bytes.
#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use surefit::compact::{Config, Heap, Narrow};

static CONFIG: Config = Config::TINY;

#[entry]
fn main() -> ! {
    let Ok(mut heap) = Heap::<Narrow>::new(flash::memory(), &CONFIG) else {
        flash::stop()
    };
    loop {
        if let Ok(mut object) = heap.alloc_zeroed(flash::layout()) {
            black_box(heap.chunk_mut(&mut object, 0));
            heap.free_bytes(object);
        }
    }
}
