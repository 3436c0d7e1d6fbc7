#![allow(unused)]

use core::mem::MaybeUninit;
use surefit_compact::{Config, EntryHeap};

static CONFIG: Config = Config::DEFAULT;

fn main() {
    let mut memory = [MaybeUninit::uninit(); 1 << 16];
    let heap: EntryHeap = EntryHeap::new(&mut memory, &CONFIG).unwrap();
    let entry = heap.allocate_entry(10_000).unwrap();
    heap.entries_of(entry, 10_000, &mut |_| true);
}
