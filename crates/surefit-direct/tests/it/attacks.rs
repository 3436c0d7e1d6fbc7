//! Numbers of any size, up to the largest: they are served if possible, otherwise refused, and then
//! the heap is unchanged.

use core::alloc::Layout;
use std::mem::MaybeUninit;

use surefit_core::RawHeap;
use surefit_direct::DirectHeap;

/// Around every power of two, and both ends.
fn sizes() -> Vec<usize> {
    let powers = (0..usize::BITS).flat_map(|bit| {
        let power = 1_usize << bit;
        [power - 1, power, power + 1]
    });
    powers.chain([usize::MAX - 1, usize::MAX]).collect()
}

/// The valid layouts of these sizes and alignments.
fn layouts() -> Vec<Layout> {
    let aligns = (0..usize::BITS - 1).step_by(5).map(|bit| 1 << bit);
    let all = aligns.flat_map(|align| sizes().into_iter().map(move |size| (size, align)));
    all.filter_map(|(size, align)| Layout::from_size_align(size, align).ok())
        .collect()
}

#[test]
fn a_direct_heap_answers_lengths_of_any_size() {
    let mut memory = vec![MaybeUninit::new(9); 1 << 17];
    let mut heap = DirectHeap::new(&mut memory).expect("large enough");
    for layout in layouts() {
        if let Ok(object) = heap.allocate(layout) {
            // SAFETY: allocated just now, with this layout.
            unsafe { heap.free(object, layout) };
        }
        let _ = heap.degree_of_fragmentation(layout.size());
    }
    for size in sizes() {
        for align in sizes() {
            let _ = heap.class_stats(size, align);
        }
        let _ = heap.degree_of_fragmentation(size);
    }
    heap.check().expect("sound");
    assert_eq!(heap.stats().live_objects, 0);
}
