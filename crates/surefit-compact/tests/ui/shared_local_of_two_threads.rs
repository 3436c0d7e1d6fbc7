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
    std::thread::scope(|threads| {
        threads.spawn(|| local.insert(7_u64).is_ok());
    });
}
