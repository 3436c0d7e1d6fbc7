#![allow(unused)]

use surefit_gc::Gc;

fn grow<'short, 'long: 'short>(short: Gc<'short, u32>) -> Gc<'long, u32> {
    short
}

fn main() {}
