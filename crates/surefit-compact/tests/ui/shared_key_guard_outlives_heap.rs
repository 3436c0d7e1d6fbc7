#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::Config;
use surefit_compact::shared::{SharedConfig, SharedKeyHeap};

static CONFIG: SharedConfig = SharedConfig::new(Config::DEFAULT);

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let heap: SharedKeyHeap<'_, parking_lot::RawMutex> =
        SharedKeyHeap::new(&mut memory, &CONFIG).unwrap();
    let key = heap.register().unwrap().insert(7_u64).unwrap();
    let guard = heap.pin(key).unwrap();
    drop(heap);
    assert_eq!(*guard, 7);
}
