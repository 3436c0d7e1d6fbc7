//! Slices and iterators that are kept while the same heap allocates, frees, resizes and compacts.

use core::alloc::Layout;
use std::mem::MaybeUninit;

use surefit_compact::{Bound, Narrow, Wide, Width};
use surefit_papers::block_table::{BlockTableConfig, BlockTableHeap, Bytes};

const REGION: usize = 60_000;

/// No event of a block table moves an object: everything can be kept across every event.
fn slices_of_a_block_table<W: Width<Generation = ()>>() {
    let config = BlockTableConfig::with_pages::<W>(32, Bound::Pages(1), 1024).expect("valid");
    let mut memory = vec![MaybeUninit::new(0xA5); REGION];
    let heap: BlockTableHeap<'_, W> = BlockTableHeap::new(&mut memory, &config).expect("room");
    let layout = |len| Layout::from_size_align(len, 1).expect("valid");
    let alloc = |len: usize, content: u8| {
        let mut bytes = heap.alloc_zeroed(layout(len)).expect("room");
        heap.write_at(&mut bytes, 0, &vec![content; len]);
        bytes
    };
    let (kept, mut written) = (alloc(3000, 1), alloc(3000, 2));
    let mut number = heap.insert(7_u64).expect("room");
    let value = heap.get_mut(&mut number);
    let (mut reads, mut writes) = (heap.chunks(&kept), heap.chunks_mut(&mut written));
    let mut others: Vec<Bytes<u8>> = Vec::new();
    let mut small: Vec<Bytes<u8>> = (0..300).map(|_| alloc(1, 5)).collect();
    let mut steps = 0;
    while let (Some(read), Some(slice)) = (reads.next(), writes.next()) {
        steps += 1;
        others.push(alloc(1 + 97 * (steps % 20), 3));
        others.push(alloc(20, 3));
        heap.free_bytes(small.swap_remove(steps * 7 % small.len()));
        if steps % 3 == 0 {
            heap.free_bytes(others.swap_remove(steps % others.len()));
            heap.compact(u64::MAX);
        }
        let last = others.last_mut().expect("two more");
        heap.resize(last, layout(1 + 61 * (steps % 20)))
            .expect("room");
        slice.fill(4);
        *value += 1;
        assert!(read.iter().all(|&byte| byte == 1));
        if others.len() > 10 {
            others.drain(..8).for_each(|bytes| heap.free_bytes(bytes));
        }
        heap.check().expect("sound");
    }
    assert_eq!((steps, *value), (94, 7 + 94));
    drop(writes);
    assert!(heap.chunks(&written).flatten().all(|&byte| byte == 4));
    assert!(heap.stats().moves_total > 0);
}

#[test]
fn slices_of_a_block_table_stay_good_whatever_is_freed() {
    slices_of_a_block_table::<Wide>();
    slices_of_a_block_table::<Narrow>();
}
