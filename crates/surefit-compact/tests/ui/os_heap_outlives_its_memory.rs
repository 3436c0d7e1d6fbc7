#![allow(unused)]

use surefit_compact::os::{Limits, OsHeap};
use surefit_compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let heap: OsHeap = OsHeap::new(&CONFIG, Limits::new(1 << 20, 1 << 20)).unwrap();
    let kept: &Heap<'_> = heap.heap();
    drop(heap);
    kept.check().unwrap();
}
