//! A heap whose size the compiler computes from what the program demands: no allocation inside the
//! demand can fail.
//!
//! The same code runs without an operating system. The demand: at most 500 messages at once, which
//! with their page-blocks take at most 40 KiB, each of up to 256 bytes, in any mix and in any
//! order.

use std::alloc::Layout;
use std::collections::VecDeque;

use surefit::compact::certify::{Budget, ClassSet, Demand, certify, region_bytes};
use surefit::compact::geometry::GeometrySpec;
use surefit::compact::{Bound, Config, Geometry, Heap, Narrow, Tail};
use surefit::{Page1K, Region};

const MESSAGES: u64 = 500;
const BLOCK_BYTES: u64 = 40 << 10;

/// 1 KiB pages and two-byte words: small heaps want small pages.
static CONFIG: Config = {
    let spec = GeometrySpec {
        page_bytes: 1024,
        tail: Tail::BackReferences { bytes: 2 },
        ..GeometrySpec::DEFAULT
    };
    match Geometry::new(&spec) {
        Ok(geometry) => match Config::new(geometry, Bound::DEFAULT) {
            Ok(config) => config,
            Err(_) => panic!("the configuration is valid"),
        },
        Err(error) => panic!("{}", error.message()),
    }
};

const DEMAND: Demand<'static> = Demand::Joint(Budget {
    objects: MESSAGES,
    block_bytes: BLOCK_BYTES,
    classes: ClassSet::of_requests(CONFIG.geometry(), 256),
});

static MEMORY: Region<{ region_bytes::<Narrow>(&CONFIG, &DEMAND) }, Page1K> = Region::new();

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut heap: Heap<Narrow> = Heap::new(MEMORY.take().expect("taken once"), &CONFIG)?;
    let certificate = certify::<Narrow>(&CONFIG, &DEMAND)?;

    // Sizes change from round to round, and one message in seven outlives its round: what fragments
    // other heaps.
    let (mut served, mut live_bytes) = (0, 0);
    let mut messages = VecDeque::new();
    for size in [24_usize, 40, 96, 160, 256].into_iter().cycle().take(50) {
        let layout = Layout::from_size_align(size, 8)?;
        let class = CONFIG.geometry().class_for(size, 8).ok_or("fits a page")?;
        let block = u64::from(CONFIG.geometry().layout(class).block_bytes);
        while messages.len() < MESSAGES as usize && live_bytes + block <= BLOCK_BYTES {
            messages.push_back((heap.alloc_zeroed(layout)?, block));
            live_bytes += block;
            served += 1;
        }
        for number in 0..messages.len() {
            let (message, block) = messages.pop_front().ok_or("as many as counted")?;
            if number % 7 == 0 {
                messages.push_back((message, block));
            } else {
                heap.free_bytes(message);
                live_bytes -= block;
            }
        }
    }
    println!(
        "{served} messages served from {} bytes; one free moves at most {} page-blocks and copies at most {} bytes",
        certificate.aligned_bytes, certificate.moves_max_per_op, certificate.moved_bytes_max_per_op
    );
    Ok(())
}
