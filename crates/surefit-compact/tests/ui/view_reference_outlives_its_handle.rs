#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let view = heap.view();
    let kept = {
        let handle = heap.insert(1_u64).unwrap();
        view.get(&handle)
    };
    assert_eq!(*kept, 1);
}
