#![allow(unused)]

use surefit_compact::Handle;

fn forge(other: Handle<u32>) -> Handle<u64> {
    Handle { index: other.index, heap: other.heap }
}

fn main() {}
