//! Handles that are given up for the numbers of their entries, and made again.

use std::alloc::Layout;
use std::mem::MaybeUninit;

use surefit_compact::{Bytes, Config, Heap};

static CONFIG: Config = Config::DEFAULT;

fn layout(len: usize) -> Layout {
    Layout::from_size_align(len, 1).expect("valid")
}

/// The byte that object `number` of the test holds everywhere.
fn mark(number: usize) -> u8 {
    u8::try_from(number % 251).expect("small")
}

#[test]
fn a_number_names_its_object_wherever_that_moves() {
    let mut memory = vec![MaybeUninit::uninit(); 4 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).expect("room");
    let lens = [1_usize, 40, 4096, 4097, 20_000];
    let named: Vec<(u32, usize)> = (0..200)
        .map(|number| {
            let len = lens[number % lens.len()];
            let mut bytes = heap.alloc_zeroed(layout(len)).expect("room");
            heap.chunks_mut(&mut bytes)
                .for_each(|chunk| chunk.fill(mark(number)));
            (bytes.into_entry(&heap), len)
        })
        .collect();
    let (mut freed, mut kept) = (0, Vec::new());
    for (number, &(entry, len)) in named.iter().enumerate() {
        if number % 3 == 0 {
            kept.push((number, entry, len));
        } else {
            // SAFETY: this heap gave the number, with this length, and it is freed once.
            let bytes: Bytes = unsafe { Bytes::from_entry(&heap, entry, len) };
            heap.free_bytes(bytes);
            freed += 1;
        }
    }
    assert!(freed > 100 && heap.stats().moves_total > 0);
    for (number, entry, len) in kept {
        // SAFETY: as above; the bytes were zeroed and then filled.
        let bytes: Bytes = unsafe { Bytes::from_entry(&heap, entry, len) };
        assert_eq!(bytes.len(), len);
        let mut chunks = heap.chunks(&bytes);
        assert!(chunks.all(|chunk| chunk.iter().all(|&byte| byte == mark(number))));
        heap.free_bytes(bytes);
    }
    assert_eq!(heap.stats().live_blocks, 0);
    heap.check().expect("sound");
}
