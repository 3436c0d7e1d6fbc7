#![allow(unused)]

use surefit_compact::shared::SharedCounted;

fn read(one: SharedCounted<'_, '_, u64, parking_lot::RawMutex>) {
    let guard = one.pin().unwrap();
    drop(one);
    assert_eq!(*guard, 1);
}

fn main() {}
