//! The handle heap in a few lines: insert, read, change, free, and what compaction did.

use std::mem::MaybeUninit;

use surefit::compact::{Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut memory = vec![MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;

    let mut handles = Vec::new();
    for number in 0..5_000_u64 {
        handles.push(heap.insert([number; 5])?);
    }
    let mut number = 0;
    let (kept, freed): (Vec<_>, Vec<_>) = handles.into_iter().partition(|_| {
        number += 1;
        number % 10 == 0
    });
    freed.into_iter().for_each(|handle| heap.free(handle));

    for (i, handle) in kept.iter().enumerate() {
        assert_eq!(heap.get(handle)[4], i as u64 * 10 + 9);
    }
    let stats = heap.stats();
    println!(
        "{} objects of 40 bytes are left in {} pages; {} moves copied {} bytes; a page is {} bytes",
        kept.len(),
        stats.pages,
        stats.moves_total,
        stats.moved_bytes_total,
        CONFIG.geometry().page_bytes(),
    );
    Ok(())
}
