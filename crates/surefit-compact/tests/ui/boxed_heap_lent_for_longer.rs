#![allow(unused)]

use surefit_compact::{BoxedHeap, Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let heap: BoxedHeap = Heap::boxed(1 << 20, &CONFIG).unwrap();
    let object = heap.insert(7_u32).unwrap();
    let kept = heap.get(&object);
    drop(heap);
    assert_eq!(*kept, 7);
}
