#![allow(unused)]

use core::mem::MaybeUninit;
use core::alloc::Layout;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let bytes = heap.alloc(Layout::new::<u64>()).unwrap();
    let read: &[u8] = heap.chunk(&bytes, 0);
}
