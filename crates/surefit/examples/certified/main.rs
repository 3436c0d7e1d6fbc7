//! Heaps whose bytes were certified before the program was built: of 4 KiB, 64 KiB and 1 MiB, and
//! one for two kinds of records and what lives beside them.
//!
//! Each module here is what `surefit certify --emit rust` wrote for the demand in the file beside
//! it:
//!
//! ```text
//! surefit certify --demand heap_4k.json --allocator cf:page=1K,width=16,spacing=1/4,k=1 --emit rust
//! ```
//! `--propose` instead of `--emit` shows what other pages, words, size-classes and bounds cost.

mod heap_1m;
mod heap_4k;
mod heap_64k;
mod heap_mixed;

use std::alloc::Layout;

use surefit::compact::{Bytes, Config, Heap, Narrow};

/// Numbers that look random, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// What is live, and what may be: objects of each size, or bytes in all.
struct Live {
    objects: Vec<(Bytes<u8>, usize)>,
    bytes: usize,
}

impl Live {
    fn count(&self, len: usize) -> usize {
        self.objects
            .iter()
            .filter(|(_, other)| *other == len)
            .count()
    }
}

/// Allocates at random as long as `is_within` the demand, frees at random, and counts what was
/// served. A refusal ends the program.
fn serve(
    heap: &mut Heap<'_, Narrow>,
    sizes: impl Fn(&mut Numbers) -> usize,
    is_within: impl Fn(&Live, usize) -> bool,
) -> Result<u32, Box<dyn std::error::Error>> {
    let (mut numbers, mut served) = (Numbers(0x9e37_79b9), 0);
    let mut live = Live {
        objects: Vec::new(),
        bytes: 0,
    };
    for _ in 0..200 {
        for _ in 0..400 {
            let len = sizes(&mut numbers);
            if is_within(&live, len) {
                let object = heap.alloc_zeroed(Layout::from_size_align(len, 8)?)?;
                live.objects.push((object, len));
                live.bytes += len;
                served += 1;
            }
        }
        for _ in 0..live.objects.len() / 2 {
            let at = numbers.below(live.objects.len());
            let (object, len) = live.objects.swap_remove(at);
            heap.free_bytes(object);
            live.bytes -= len;
        }
    }
    Ok(served)
}

/// Fills the heap with records, and beside them allocates, resizes and frees at random; counts what
/// was served.
fn serve_beside_records(heap: &mut Heap<'_, Narrow>) -> Result<u32, Box<dyn std::error::Error>> {
    let (mut numbers, mut served) = (Numbers(0x9e37_79b9), 0);
    for _ in 0..40 {
        let (mut others, mut records) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        for _ in 0..200 {
            let (len, align) = (16 + numbers.below(85), 8 << numbers.below(2));
            if bytes + len <= 1000 {
                let layout = Layout::from_size_align(len, align)?;
                others.push((heap.alloc_zeroed(layout)?, layout));
                (bytes, served) = (bytes + len, served + 1);
            }
        }
        for (len, align, most) in [(200, 64, 60), (700, 8, 6)] {
            for _ in 0..most {
                records.push(heap.alloc_zeroed(Layout::from_size_align(len, align)?)?);
                served += 1;
            }
        }
        for (object, layout) in &mut others {
            let new = Layout::from_size_align(16 + numbers.below(85), layout.align())?;
            if bytes - layout.size() + new.size() <= 1000 {
                heap.resize(object, new)?;
                bytes = bytes - layout.size() + new.size();
                (*layout, served) = (new, served + 1);
            }
        }
        while !records.is_empty() {
            heap.free_bytes(records.swap_remove(numbers.below(records.len())));
        }
        for (object, _) in others {
            heap.free_bytes(object);
        }
    }
    Ok(served)
}

fn heap(
    memory: Option<&'static mut [std::mem::MaybeUninit<u8>]>,
    config: &'static Config,
) -> Result<Heap<'static, Narrow>, Box<dyn std::error::Error>> {
    Ok(Heap::new(memory.ok_or("the region was taken")?, config)?)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut small = heap(heap_4k::MEMORY.take(), &heap_4k::CONFIG)?;
    let most = [(24, 36), (64, 12), (200, 4)];
    let served = serve(
        &mut small,
        |numbers| most[numbers.below(3)].0,
        |live, len| {
            most.iter()
                .any(|(bytes, most)| *bytes == len && live.count(len) < *most)
        },
    )?;
    println!(
        "{served} requests of three sizes from {} bytes",
        heap_4k::REGION_BYTES
    );

    let mut middle = heap(heap_64k::MEMORY.take(), &heap_64k::CONFIG)?;
    let served = serve(
        &mut middle,
        |numbers| 16 + numbers.below(241),
        |live, len| live.bytes + len <= 28_000,
    )?;
    println!(
        "{served} requests of 16 to 256 bytes from {} bytes",
        heap_64k::REGION_BYTES
    );

    let memory = heap_1m::MEMORY.take().ok_or("the region was taken")?;
    let mut large = Heap::with_slack(memory, &heap_1m::CONFIG, heap_1m::SLACK_BYTES)?;
    let served = serve(
        &mut large,
        |numbers| 24 + (numbers.below(4073) >> numbers.below(8)),
        |live, len| live.bytes + len <= 500_000,
    )?;
    println!(
        "{served} requests of 24 to 4,096 bytes from {} bytes",
        heap_1m::REGION_BYTES
    );

    let mut mixed = heap(heap_mixed::MEMORY.take(), &heap_mixed::CONFIG)?;
    let served = serve_beside_records(&mut mixed)?;
    println!(
        "{served} records, requests beside them and resizes from {} bytes",
        heap_mixed::REGION_BYTES
    );
    Ok(())
}
