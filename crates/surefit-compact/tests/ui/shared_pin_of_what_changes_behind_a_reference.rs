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
    let handle = local.insert(core::sync::atomic::AtomicU64::new(7)).unwrap();
    heap.pin(&handle).unwrap();
}
