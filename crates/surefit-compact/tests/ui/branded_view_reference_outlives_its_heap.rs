#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let kept = heap.branded(|heap| {
        let handle = heap.insert(7_u64).unwrap();
        heap.view().get(&handle)
    });
    assert_eq!(*kept, 7);
}
