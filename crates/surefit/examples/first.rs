//! The program of docs/guide.md: a heap in exactly as many bytes as its demand is certified to
//! need.

use std::error::Error;

use surefit::compact::certify::{Demand, region_bytes};
use surefit::compact::{Config, Handle, Heap, Narrow};
use surefit::{Page1K, Region};

static CONFIG: Config = Config::MICRO;

/// The most that lives at once: 200 objects of up to 128 bytes, 8 KiB in all, in any mix.
const DEMAND: Demand<'static> = Demand::of_mix::<Narrow>(&CONFIG, 200, 128, 8 << 10);
const BYTES: usize = region_bytes::<Narrow>(&CONFIG, &DEMAND);
static MEMORY: Region<BYTES, Page1K> = Region::new();

fn main() -> Result<(), Box<dyn Error>> {
    let mut heap: Heap<Narrow> = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
    let mut readings: Vec<Handle<[u32; 6]>> = Vec::new();
    for number in 0..200 {
        readings.push(heap.insert([number; 6])?);
    }
    heap.get_mut(&mut readings[199])[0] = 7;
    for handle in readings.drain(..100) {
        heap.free(handle); // moves others into the holes; their handles stay valid
    }
    let last = heap.get(&readings[99]);
    println!("{BYTES} bytes serve the demand; the last reading is {last:?}");
    for handle in readings {
        heap.free(handle); // a handle that is dropped instead leaks its object
    }
    Ok(())
}
