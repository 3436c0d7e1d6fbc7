#![allow(unused)]

use surefit_compact::Handle;

fn shorten<'a>(handle: Handle<&'static str>) -> Handle<&'a str> {
    handle
}

fn main() {}
