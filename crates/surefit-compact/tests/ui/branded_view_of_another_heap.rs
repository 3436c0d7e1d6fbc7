#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut regions = [[const { MaybeUninit::uninit() }; 1 << 16]; 2];
    let [one, two] = &mut regions;
    let mut one: Heap = Heap::new(one, &CONFIG).unwrap();
    let mut two: Heap = Heap::new(two, &CONFIG).unwrap();
    one.branded(|one| {
        two.branded(|two| {
            let handle = one.insert(1_u64).unwrap();
            two.view().get(&handle);
        });
    });
}
