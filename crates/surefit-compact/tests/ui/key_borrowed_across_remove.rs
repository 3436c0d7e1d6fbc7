#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, KeyHeap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: KeyHeap = KeyHeap::new(&mut memory, &CONFIG).unwrap();
    let (a, b) = (heap.insert(1_u64).unwrap(), heap.insert(2_u64).unwrap());
    let kept = heap.get(a).unwrap();
    heap.remove(b).unwrap();
    assert_eq!(*kept, 1);
}
