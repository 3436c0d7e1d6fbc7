//! `surefit::compact::KeyHeap`, of `Config::TINY` and words of two bytes.
#![no_std]
#![no_main]

use core::hint::black_box;

use cortex_m_rt::entry;
use surefit::compact::{Config, KeyHeap, Narrow};

static CONFIG: Config = Config::TINY;

#[entry]
fn main() -> ! {
    let Ok(mut heap) = KeyHeap::<Narrow>::new(flash::memory(), &CONFIG) else {
        flash::stop()
    };
    loop {
        if let Ok(key) = heap.alloc_zeroed(flash::layout()) {
            let _ = black_box(heap.chunk_mut(key, 0));
            let _ = heap.free_bytes(key);
        }
    }
}
