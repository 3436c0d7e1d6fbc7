#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, KeyHeap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: KeyHeap = KeyHeap::new(&mut memory, &CONFIG).unwrap();
    let key = heap.insert(7_u64).unwrap();
    let one = heap.get_mut(key).unwrap();
    let two = heap.get_mut(key).unwrap();
    core::mem::swap(one, two);
}
