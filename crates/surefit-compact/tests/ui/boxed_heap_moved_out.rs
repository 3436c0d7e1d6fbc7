#![allow(unused)]

use surefit_compact::{BoxedHeap, Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = vec![core::mem::MaybeUninit::uninit(); 1 << 20];
    let mut other: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let mut heap: BoxedHeap = Heap::boxed(1 << 20, &CONFIG).unwrap();
    heap.with(|heap| std::mem::swap(heap, &mut other));
}
