#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let a = heap.insert(1_u64).unwrap();
    let kept = heap.get(&a);
    heap.compact(1);
    assert_eq!(*kept, 1);
}
