#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [[MaybeUninit::uninit(); 1 << 16]; 2];
    let [first, second] = &mut memory;
    let mut first: Heap = Heap::new(first, &CONFIG).unwrap();
    let mut second: Heap = Heap::new(second, &CONFIG).unwrap();
    first.branded(|first| {
        second.branded(|second| {
            let handle = first.insert(7_u64).unwrap();
            second.get(&handle);
        });
    });
}
