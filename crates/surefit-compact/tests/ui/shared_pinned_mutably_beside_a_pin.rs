#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::Config;
use surefit_compact::shared::{SharedConfig, SharedHeap};

type Heap<'m> = SharedHeap<'m, parking_lot::RawMutex>;
static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let heap: Heap = Heap::new(&mut memory, &CONFIG).unwrap();
    let local = heap.register().unwrap();
    let mut handle = local.insert(7_u64).unwrap();
    let shared = heap.pin(&handle).unwrap();
    let exclusive = heap.pin_mut(&mut handle).unwrap();
    assert_eq!(*shared, 7);
}
