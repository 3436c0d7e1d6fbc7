#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, KeyHeap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let mut heap: KeyHeap = KeyHeap::new(&mut memory, &CONFIG).unwrap();
    let key = heap.insert(7_u32).unwrap();
    let confused: &u64 = heap.get(key).unwrap();
}
