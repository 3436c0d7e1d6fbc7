//! A heap whose size the compiler computes from what the program demands: no allocation inside the
//! demand can fail.
//!
//! The same code runs without an operating system. The demand: at most 500 messages at once, each
//! of up to 256 bytes, 32 KiB in all, in any mix and in any order.

use std::alloc::Layout;
use std::collections::VecDeque;

use surefit::compact::certify::{Demand, certify, region_bytes};
use surefit::compact::{Config, Heap, Narrow};
use surefit::{Page1K, Region};

const MESSAGES: usize = 500;
const LONGEST: usize = 256;
const BYTES: usize = 32 << 10;

static CONFIG: Config = Config::TINY;

const DEMAND: Demand<'static> =
    Demand::of_mix::<Narrow>(&CONFIG, MESSAGES as u64, LONGEST, BYTES as u64);

static MEMORY: Region<{ region_bytes::<Narrow>(&CONFIG, &DEMAND) }, Page1K> = Region::new();

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut heap: Heap<Narrow> = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
    let certificate = certify::<Narrow>(&CONFIG, &DEMAND)?;

    // Sizes change from round to round, and one message in seven outlives its round: what fragments
    // other heaps.
    let (mut served, mut live_bytes) = (0, 0);
    let mut messages = VecDeque::new();
    for size in [24, 40, 96, 160, LONGEST].into_iter().cycle().take(50) {
        let layout = Layout::from_size_align(size, 8)?;
        while messages.len() < MESSAGES && live_bytes + size <= BYTES {
            messages.push_back(heap.alloc_zeroed(layout)?);
            live_bytes += size;
            served += 1;
        }
        for number in 0..messages.len() {
            let message = messages.pop_front().ok_or("as many as counted")?;
            if number % 7 == 0 {
                messages.push_back(message);
            } else {
                live_bytes -= message.len();
                heap.free_bytes(message);
            }
        }
    }
    println!(
        "{served} messages served from {} bytes; one free moves at most {} page-blocks and copies at most {} bytes",
        certificate.aligned_bytes, certificate.moves_max_per_op, certificate.moved_bytes_max_per_op
    );
    Ok(())
}
