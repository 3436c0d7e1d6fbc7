#![allow(unused)]

use surefit_compact::Key;
use surefit_compact::shared::{KeyPinned, PerClass, SharedKeyHeap};

fn read(heap: &SharedKeyHeap<'_, parking_lot::RawMutex>, key: Key<u32>) {
    heap.pin_mut::<f32>(key);
}

fn main() {}
