#![allow(unused)]

use core::mem::MaybeUninit;
use core::alloc::Layout;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let layout = Layout::new::<u64>();
    let a = heap.alloc_zeroed(layout).unwrap();
    let mut b = heap.alloc_zeroed(layout).unwrap();
    let kept = heap.chunk(&a, 0);
    heap.resize(&mut b, Layout::new::<[u64; 9]>()).unwrap();
    assert_eq!(kept[0], 0);
}
