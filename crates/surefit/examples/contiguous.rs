//! Frames of 100,000 contiguous bytes beside small objects that fill the same heap: in exactly the
//! certified bytes, no frame and no object is ever refused.

use std::alloc::Layout;
use std::mem::MaybeUninit;

use surefit::compact::certify::{ContiguousDemand, Demand, certify_contiguous};
use surefit::compact::{Config, Heap, Wide};

static CONFIG: Config = Config::DEFAULT;

/// At most 10,000 small objects at once, each of up to 208 bytes, in any mix.
const SMALL: u64 = 10_000;
/// At most four frames at once.
const FRAMES: [ContiguousDemand; 1] = [ContiguousDemand {
    bytes: 100_000,
    objects: 4,
}];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let demand = Demand::of_requests::<Wide>(&CONFIG, SMALL, 208);
    let certificate = certify_contiguous::<Wide>(&CONFIG, &demand, &FRAMES)?;
    let mut memory = vec![MaybeUninit::uninit(); certificate.heap.heap_bytes];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG)?;
    let layout = Layout::from_size_align(FRAMES[0].bytes, 4096)?;

    let (mut small, mut frames, mut sum, mut most) = (Vec::new(), Vec::new(), 0, 0);
    for round in 0..40_u8 {
        // Small objects take all pages that are not in use; then three in four of them are freed.
        while small.len() < 10_000 {
            small.push(heap.insert([round; 200])?);
        }
        let mut number = 0;
        small = small
            .into_iter()
            .filter_map(|object| {
                number += 1;
                if number % 4 == 0 {
                    return Some(object);
                }
                heap.free(object);
                None
            })
            .collect();
        if frames.len() == 4 {
            heap.free_contiguous(frames.swap_remove(usize::from(round) % 4));
        }
        let before = heap.stats().moved_bytes_total;
        let mut frame = heap.alloc_contiguous_zeroed(layout)?;
        most = most.max(heap.stats().moved_bytes_total - before);
        heap.contiguous_mut(&mut frame).fill(round);
        sum += heap
            .contiguous(&frame)
            .iter()
            .map(|&byte| u64::from(byte))
            .sum::<u64>();
        frames.push(frame);
    }
    assert_eq!(sum, (0..40).sum::<u64>() * 100_000);
    assert!(most <= certificate.moved_bytes_max_per_call);
    println!(
        "40 frames in a heap of {} bytes; making one free moved at most {most} bytes, certified {}",
        certificate.heap.heap_bytes, certificate.moved_bytes_max_per_call,
    );
    Ok(())
}
