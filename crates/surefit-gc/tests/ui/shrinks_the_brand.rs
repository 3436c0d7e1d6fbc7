#![allow(unused)]

use surefit_gc::Gc;

fn shrink<'short, 'long: 'short>(long: Gc<'long, u32>) -> Gc<'short, u32> {
    long
}

fn main() {}
