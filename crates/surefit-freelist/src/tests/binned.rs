//! DL's bins: which sizes lie where, what a search costs, and every link of the queue and the bins
//! corrupted.

use super::*;
use crate::binned::bin_of;

#[test]
fn bins_are_as_wide_as_the_table_says() {
    let mut first = 0;
    for (bins, bytes) in [
        (64, 8),
        (32, 64),
        (16, 512),
        (8, 4096),
        (4, 32_768),
        (2, 262_144),
    ] {
        let width = bytes / 8;
        for _ in 0..bins {
            let bin = bin_of(first);
            assert_eq!(bin_of(first + width - 1), bin, "{first}");
            assert_eq!(bin_of(first + width), bin + 1, "{first}");
            first += width;
        }
    }
    assert_eq!((bin_of(first), bin_of((1 << 30) - 1)), (126, 126));
}

/// Holes of these sizes in bytes, headers included, which became free in this order.
fn make_holes(heap: &mut Heap<'_, Bins>, sizes: &[usize]) -> Vec<NonNull<u8>> {
    let fenced = sizes.iter().map(|size| {
        let hole = allocate(heap, size - 4);
        allocate(heap, 8);
        hole
    });
    let holes: Vec<_> = fenced.collect();
    for (&hole, size) in holes.iter().zip(sizes) {
        free(heap, hole, size - 4);
    }
    holes
}

#[test]
fn an_exact_fit_in_the_queue_ends_the_search_and_the_rest_waits() {
    let mut region = Region([JUNK; 16384]);
    let mut heap = Heap::<Bins>::new(&mut region.0).expect("large enough");
    let holes = make_holes(&mut heap, &[1000, 800, 600, 800]);
    let before = heap.counters().visits;
    // The remainder of the region is older than the holes.
    assert_eq!(allocate(&mut heap, 796), holes[1]);
    assert_eq!(heap.counters().visits - before, 3);
    assert_eq!(heap.check(), Ok(()));
    assert_eq!(allocate(&mut heap, 796), holes[3], "the next in the queue");
    assert_eq!(
        allocate(&mut heap, 500),
        holes[2],
        "the best fit of the bins"
    );
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn a_small_size_is_taken_from_its_bin_while_the_queue_waits() {
    let mut region = Region([JUNK; 16384]);
    let mut heap = Heap::<Bins>::new(&mut region.0).expect("large enough");
    let [small, late, _fence] =
        [44, 92, 8].map(|size| (allocate(&mut heap, size), allocate(&mut heap, 8)).0);
    free(&mut heap, small, 44);
    allocate(&mut heap, 3000);
    free(&mut heap, late, 92);
    let before = heap.counters().visits;
    assert_eq!(allocate(&mut heap, 44), small);
    assert_eq!(heap.counters().visits - before, 1);
    assert_eq!(allocate(&mut heap, 92), late, "it was in the queue");
}

/// The slides' claim: an allocation is linear in the holes, a free is not.
#[test]
fn the_first_search_passes_every_hole_and_the_next_none() {
    let visits = |holes: usize| {
        let mut region = surefit_testkit::JunkRegion::new(1 << 20, 64, 1);
        let mut heap = Heap::<Bins>::new(region.memory()).expect("large enough");
        make_holes(&mut heap, &alloc::vec![400; holes]);
        let freed = heap.counters().visits;
        allocate(&mut heap, 1000);
        let sorted = heap.counters().visits;
        allocate(&mut heap, 1000);
        [sorted - freed, heap.counters().visits - sorted]
    };
    // The remainder of the region was in the queue too; a search looks at one chunk more.
    assert_eq!(visits(10), [12, 2]);
    assert_eq!(visits(1000), [1002, 2]);
}

/// A bin is sorted by insertion, so the dearest order is quadratic.
#[test]
fn ascending_sizes_in_one_bin_are_sorted_in_quadratic_time() {
    let visits = |holes: usize| {
        let mut region = surefit_testkit::JunkRegion::new(1 << 23, 64, 1);
        let mut heap = Heap::<Bins>::new(region.memory()).expect("large enough");
        let sizes: Vec<_> = (0..holes).map(|n| 44_000 + 8 * n).collect();
        make_holes(&mut heap, &sizes);
        let freed = heap.counters().visits;
        allocate(&mut heap, 60_000);
        heap.counters().visits - freed
    };
    let [few, many] = [visits(20), visits(80)];
    assert!(many > 12 * few, "{few} to {many}");
}

#[test]
fn the_checker_objects_to_every_wrong_tail_and_to_a_bin_that_is_not_sorted() {
    let mut region = Region([JUNK; 16384]);
    let mut heap = Heap::<Bins>::new(&mut region.0).expect("large enough");
    let holes = make_holes(&mut heap, &[520, 536, 528]);
    for slot in metadata(&heap) {
        let sound = heap.index.set_tail(slot);
        let found = heap.check();
        assert_eq!(found.is_err(), slot != sound, "{slot:?}");
        assert!(found.err().is_none_or(|error| error.invariant == "Q3"));
        heap.index.set_tail(sound);
    }
    allocate(&mut heap, 9000);
    assert_eq!(heap.check(), Ok(()));
    let [first, second, third] =
        [0, 1, 2].map(|n: usize| Chunk::at(heap.memory.granule_of(holes[n])));
    assert_eq!(heap.memory.linked(first.next()), Some(third));
    heap.memory.unlink(first);
    heap.memory.link(second.next(), first);
    assert_eq!(heap.check().expect_err("unsorted").invariant, "Q2");
}
