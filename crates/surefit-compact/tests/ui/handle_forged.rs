#![allow(unused)]

use surefit_compact::Handle;

fn forge(other: Handle<u32>) -> Handle<u64> {
    Handle { name: other.name }
}

fn main() {}
