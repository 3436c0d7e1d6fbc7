#![allow(unused)]

use surefit_compact::shared::Counted;

fn write(mut one: Counted<'_, '_, u64, parking_lot::RawMutex>) {
    let guard = one.pin().unwrap();
    *one.get_mut().unwrap() = 1;
    assert_eq!(*guard, 1);
}

fn main() {}
