#![allow(unused)]

use core::sync::atomic::AtomicU32;
use surefit_compact::Key;
use surefit_compact::shared::SharedKeyHeap;

fn read(heap: &SharedKeyHeap<'_, parking_lot::RawMutex>, key: Key<AtomicU32>) {
    heap.pin(key);
}

fn main() {}
