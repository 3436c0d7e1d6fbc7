#![allow(unused)]

use surefit_compact::shared::SharedCounted;

fn write(mut one: SharedCounted<'_, '_, u64, parking_lot::RawMutex>) {
    let guard = one.pin().unwrap();
    *one.get_mut().unwrap() = 1;
    assert_eq!(*guard, 1);
}

fn main() {}
