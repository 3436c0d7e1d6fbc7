#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let (a, b) = (heap.insert(1_u64).unwrap(), heap.insert(2_u64).unwrap());
    let view = heap.view();
    heap.free(b);
    assert_eq!(*view.get(&a), 1);
}
