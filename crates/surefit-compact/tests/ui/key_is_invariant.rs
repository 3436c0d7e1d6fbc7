#![allow(unused)]

use surefit_compact::Key;

fn lengthen<'a>(key: Key<&'a str>) -> Key<&'static str> {
    key
}

fn main() {}
