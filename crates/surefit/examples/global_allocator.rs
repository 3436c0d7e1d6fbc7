//! A whole program on one heap of raw pointers over a static region: `#[global_allocator]`.
//!
//! On a microcontroller the program is the same without `std`, with
//! `surefit::compact::shared::CriticalSection` as its lock.

use std::collections::BTreeMap;
use std::thread;

use spinning_top::RawSpinlock;
use surefit::direct::DirectHeap;
use surefit::{Locked, Page64K, RawHeap, Refused, Region};

/// All memory of the program. It takes no space in the program's file.
static MEMORY: Region<{ 4 << 20 }, Page64K> = Region::new();

#[global_allocator]
static HEAP: Locked<RawSpinlock, DirectHeap<'static>> =
    Locked::new(|| DirectHeap::new(MEMORY.take().ok_or(Refused::Busy)?));

/// Counts words by their length, in strings of their own.
fn count(text: &str) -> BTreeMap<usize, Vec<String>> {
    let mut lengths: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for word in text.split_whitespace() {
        lengths.entry(word.len()).or_default().push(word.to_owned());
    }
    lengths
}

fn main() -> Result<(), Refused> {
    let text = "every string and every node of these maps lies in the region";
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(move || count(text))).collect();
    let maps: Vec<_> = threads
        .into_iter()
        .filter_map(|it| it.join().ok())
        .collect();
    println!(
        "{} maps; the longest words: {:?}",
        maps.len(),
        maps[0].values().last()
    );

    let usage = HEAP.inspect(|heap| heap.usage())?;
    println!(
        "in objects: {} bytes of {}",
        usage.block_bytes,
        usage.total()
    );

    // What the region cannot hold is refused; the program goes on.
    let refused = Vec::<u8>::new().try_reserve_exact(8 << 20).is_err();
    println!("8 MiB: {}", if refused { "refused" } else { "served" });
    Ok(())
}
