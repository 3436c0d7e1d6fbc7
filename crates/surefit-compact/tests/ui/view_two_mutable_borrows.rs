#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let mut handle = heap.insert(7_u64).unwrap();
    let view = heap.view();
    let one = view.get_mut(&mut handle);
    let two = view.get_mut(&mut handle);
    core::mem::swap(one, two);
}
