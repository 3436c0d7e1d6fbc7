#![allow(unused)]

use core::alloc::Layout;
use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    heap.branded(|heap| {
        let mut bytes = heap.alloc_zeroed(Layout::new::<u64>()).unwrap();
        let kept = heap.chunk_mut(&mut bytes, 0);
        heap.resize(&mut bytes, Layout::new::<u32>()).unwrap();
        kept[0] = 1;
    });
}
