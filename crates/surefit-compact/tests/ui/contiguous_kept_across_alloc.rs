#![allow(unused)]

use core::mem::MaybeUninit;
use core::alloc::Layout;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let layout = Layout::new::<[u64; 9000]>();
    let object = heap.alloc_contiguous_zeroed(layout).unwrap();
    let kept = heap.contiguous(&object);
    let other = heap.alloc_contiguous(layout).unwrap();
    assert_eq!(kept[0], 0);
}
