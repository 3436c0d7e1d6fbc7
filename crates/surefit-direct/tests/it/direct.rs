//! `DirectHeap` as its users see it.

use std::alloc::Layout;
use std::ptr::NonNull;

use proptest::prelude::*;
use surefit_core::{RawHeap, Refused};
use surefit_direct::{DirectHeap, MAX_ALIGN, Partition, Partitioning, Small, Standard, Tiny};
use surefit_testkit::{JunkRegion, Op, Shape, Tally, ops_from_bytes, run_script, script};

const UNIT: usize = 1024;

fn layout(bytes: usize, align: usize) -> Layout {
    Layout::from_size_align(bytes, align).expect("a layout")
}

fn allocate(heap: &mut DirectHeap<'_>, bytes: usize) -> NonNull<u8> {
    heap.allocate(layout(bytes, 8)).expect("room")
}

fn free(heap: &mut DirectHeap<'_>, object: NonNull<u8>, bytes: usize) {
    // SAFETY: S1, S2: the tests free what they allocated, once, with its layout.
    unsafe { heap.free(object, layout(bytes, 8)) };
}

/// Allocates until the heap refuses.
fn fill(heap: &mut DirectHeap<'_>, bytes: usize) -> Vec<NonNull<u8>> {
    let allocate = || heap.allocate(layout(bytes, 8)).ok();
    std::iter::from_fn(allocate).collect()
}

fn run<S: Partitioning>(bytes: usize, misaligned: usize, ops: &[Op]) -> Tally {
    let mut region = JunkRegion::misaligned(bytes, UNIT, misaligned, 7);
    let span = region.span();
    let mut heap = DirectHeap::<S>::with(region.memory()).expect("a heap");
    let empty = heap.usage();
    let tally = run_script(&mut heap, span, ops, 1).expect("no fault");
    assert_eq!(heap.usage(), empty, "an empty heap is as good as new");
    tally
}

#[test]
fn every_shape_of_script_runs() {
    for (seed, shape) in (0..).zip(Shape::ALL) {
        for largest in [40, 700, 6000, 20_000] {
            let ops = script(shape, seed as u64, 1200, largest);
            let tally = run::<Standard>(96 << 10, 8 * seed, &ops);
            assert!(tally.allocated > 100, "{shape:?} {largest}: {tally:?}");
            let tally = run::<Small>(48 << 10, 8 * seed, &ops);
            assert!(tally.allocated > 50, "{shape:?} {largest}: {tally:?}");
            let ops = script(shape, seed as u64, 1200, largest.min(900));
            let tally = run::<Tiny>(4 << 10, 8 * seed, &ops);
            assert!(tally.allocated > 20, "{shape:?} {largest}: {tally:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_script_runs(bytes in prop::collection::vec(any::<u8>(), 0..2000), largest in 1_usize..9000, misaligned in 0_usize..2000) {
        let ops = ops_from_bytes(&bytes, largest);
        run::<Standard>(64 << 10, misaligned, &ops);
        run::<Tiny>(16 << 10, misaligned, &ops);
        run::<Partition<1024, 512, 2>>(16 << 10, misaligned, &ops);
        run::<Partition<4096, 256, 8>>(32 << 10, misaligned, &ops);
    }
}

#[test]
fn objects_without_bytes_have_addresses_of_their_own() {
    let mut region = JunkRegion::new(32 << 10, UNIT, 1);
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    let objects = [0, 0, 1].map(|bytes| allocate(&mut heap, bytes));
    assert!(objects[0] != objects[1] && objects[1] != objects[2] && objects[0] != objects[2]);
}

#[test]
fn an_exhausted_heap_refuses_and_is_unchanged() {
    for bytes in [8, 40, 1000, 2048, 2049, 9000] {
        let mut region = JunkRegion::new(128 << 10, UNIT, 2);
        let mut heap = DirectHeap::new(region.memory()).expect("a heap");
        let (empty, largest) = (heap.usage(), heap.largest_free());
        let objects = fill(&mut heap, bytes);
        let full = heap.usage();
        assert_eq!(heap.allocate(layout(bytes, 8)), Err(Refused::NoPage));
        assert_eq!(heap.allocate(layout(1 << 20, 8)), Err(Refused::NoPage));
        assert_eq!(heap.usage(), full);
        heap.check().expect("sound");
        for object in objects {
            free(&mut heap, object, bytes);
        }
        assert_eq!((heap.usage(), heap.largest_free()), (empty, largest));
        heap.check().expect("sound");
    }
}

#[test]
fn the_degree_of_fragmentation_can_be_allocated() {
    for bytes in [1, 8, 24, 100, 648, 2000, 2048, 2049, 5000, 8192, 10_000] {
        let mut region = JunkRegion::misaligned(700 << 10, UNIT, 500, 3);
        let mut heap = DirectHeap::new(region.memory()).expect("a heap");
        let others: Vec<_> = (0..200)
            .map(|i| (allocate(&mut heap, 17 * i % 900), 17 * i % 900))
            .collect();
        for &(object, bytes) in others.iter().skip(1).step_by(2) {
            free(&mut heap, object, bytes);
        }
        let degree = heap.degree_of_fragmentation(bytes);
        assert!(degree > 0 || bytes > heap.largest_free());
        assert_eq!(fill(&mut heap, bytes).len(), degree, "{bytes}");
        assert_eq!(heap.degree_of_fragmentation(bytes), 0);
    }
}

#[test]
fn the_largest_free_request_is_served() {
    let mut region = JunkRegion::new(256 << 10, UNIT, 4);
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    while heap.largest_free() > 0 {
        let largest = heap.largest_free();
        allocate(&mut heap, largest.div_ceil(3).max(2049).min(largest));
        let largest = heap.largest_free();
        if largest > 0 {
            let object = allocate(&mut heap, largest);
            free(&mut heap, object, largest);
        }
        heap.check().expect("sound");
    }
    assert_eq!(heap.allocate(layout(1, 8)), Err(Refused::NoPage));
}

#[test]
fn alignments_up_to_64_kib_are_kept() {
    let mut region = JunkRegion::misaligned(1 << 20, MAX_ALIGN, 8, 5);
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    for bytes in [1, 24, 100, 3000, 20_000] {
        for align in (0..=16).map(|log2| 1 << log2) {
            let object = heap.allocate(layout(bytes, align)).expect("room");
            assert_eq!(object.addr().get() % align, 0, "{bytes} at {align}");
            heap.check().expect("sound");
            // SAFETY: S1, S2: just allocated, with this layout.
            unsafe { heap.free(object, layout(bytes, align)) };
        }
    }
    let refused = Refused::TooAligned { limit: MAX_ALIGN };
    assert_eq!(heap.allocate(layout(1, 2 * MAX_ALIGN)), Err(refused));
    assert_eq!(heap.stats().free_runs, 1);
}

fn resize(heap: &mut DirectHeap<'_>, object: NonNull<u8>, old: usize, new: usize) -> NonNull<u8> {
    // SAFETY: S1, S2: the tests name a live object and the size it has.
    unsafe { heap.resize(object, layout(old, 8), new) }.expect("room")
}

#[test]
fn an_object_stays_while_its_class_does() {
    let mut region = JunkRegion::new(128 << 10, UNIT, 6);
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    let object = allocate(&mut heap, 33);
    assert_eq!(resize(&mut heap, object, 33, 40), object);
    assert_ne!(resize(&mut heap, object, 40, 41), object);
}

#[test]
fn a_large_object_grows_into_the_run_behind_it_and_gives_it_back() {
    let mut region = JunkRegion::new(128 << 10, UNIT, 6);
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    let object = allocate(&mut heap, 5000);
    let before = heap.usage();
    assert_eq!(resize(&mut heap, object, 5000, 30_000), object);
    heap.check().expect("sound");
    let behind = allocate(&mut heap, 5000);
    assert_eq!(resize(&mut heap, object, 30_000, 5000), object);
    free(&mut heap, behind, 5000);
    assert_eq!(heap.usage(), before);
    heap.check().expect("sound");
}

#[test]
fn an_object_that_cannot_move_shrinks_where_it_is() {
    let mut region = JunkRegion::new(64 << 10, UNIT, 6);
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    let objects = fill(&mut heap, 5000);
    let rest = fill(&mut heap, 2049);
    assert_eq!(resize(&mut heap, objects[0], 5000, 40), objects[0]);
    heap.check().expect("sound");
    let again = allocate(&mut heap, 2049);
    free(&mut heap, objects[0], 40);
    free(&mut heap, again, 2049);
    for (object, bytes) in objects[1..]
        .iter()
        .map(|o| (*o, 5000))
        .chain(rest.iter().map(|o| (*o, 2049)))
    {
        free(&mut heap, object, bytes);
    }
    heap.check().expect("sound");
    assert_eq!(heap.stats().free_runs, 1);
}

#[test]
fn statistics_count_objects_and_pages() {
    let mut region = JunkRegion::new(256 << 10, UNIT, 8);
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    let objects: Vec<_> = (0..300).map(|_| allocate(&mut heap, 64)).collect();
    let _large = allocate(&mut heap, 4000);
    free(&mut heap, objects[0], 64);
    let class = heap.class_stats(64, 8).expect("page-blocks");
    assert_eq!((class.block_bytes, class.blocks), (64, 128));
    assert_eq!((class.live, class.pages, class.not_full_pages), (299, 3, 2));
    let stats = heap.stats();
    assert_eq!((stats.live_objects, stats.large_objects), (300, 1));
    assert_eq!(
        (stats.pages, stats.not_full_pages, stats.holes),
        (3, 2, 3 * 128 - 299)
    );
    assert_eq!(heap.class_stats(4000, 8), None);
    assert_eq!(heap.usage().large_tail_bytes, 4096 - 4000);
}

#[test]
fn a_region_too_small_is_refused() {
    // The heads of 46 classes, two units, and what a unit's alignment skips.
    const NEEDED: usize = 46 * 4 + 3 * UNIT - 1;
    for bytes in 0..4 * UNIT {
        for misaligned in [0, 1, 1023] {
            let mut region = JunkRegion::misaligned(bytes, UNIT, misaligned, 9);
            match DirectHeap::new(region.memory()) {
                Ok(heap) => heap.check().expect("sound"),
                Err(refused) => {
                    assert_eq!(refused, Refused::Region { needed: NEEDED });
                    assert!(bytes < NEEDED, "{bytes} at {misaligned}");
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "no object begins here")]
fn a_large_object_freed_twice_panics() {
    let mut region = JunkRegion::new(64 << 10, UNIT, 10);
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    let [object, _other] = [5000, 5000].map(|bytes| allocate(&mut heap, bytes));
    free(&mut heap, object, 5000);
    free(&mut heap, object, 5000);
}

#[test]
#[should_panic(expected = "no object begins here")]
fn the_last_object_of_a_page_freed_twice_panics() {
    let mut region = JunkRegion::new(64 << 10, UNIT, 11);
    let mut heap = DirectHeap::new(region.memory()).expect("a heap");
    let object = allocate(&mut heap, 40);
    free(&mut heap, object, 40);
    free(&mut heap, object, 40);
}
