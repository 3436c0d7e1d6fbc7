#![allow(unused)]

use core::alloc::Layout;
use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    heap.branded(|heap| {
        let name = heap.alloc_zeroed(Layout::new::<u64>()).unwrap().into_name();
        heap.free_bytes(name.with_len(100_000));
    });
}
