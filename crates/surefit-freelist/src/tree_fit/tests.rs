//! The balance of the tree, the nodes that it visits, ties, and every link corrupted.
#![allow(unsafe_code, reason = "the tests free what they allocated")]

extern crate alloc;
use alloc::vec::Vec;
use core::alloc::Layout;

use surefit_core::RawHeap;
use surefit_testkit::JunkRegion;

use super::SizeTree;
use super::avl::{MOST_LEVELS, ROOT};
use crate::heap::Heap;
use crate::memory::Slot;

fn bytes(size: usize) -> Layout {
    Layout::from_size_align(size, 8).expect("a valid layout")
}

/// Holes of `sizes` granules between live chunks, made in this order.
fn make_holes(heap: &mut Heap<'_, SizeTree>, sizes: impl Iterator<Item = usize>) -> usize {
    let holes: Vec<_> = sizes
        .map(|granules| {
            let hole = heap
                .allocate(bytes(8 * granules - 4))
                .expect("there is room");
            heap.allocate(bytes(8)).expect("there is room");
            (hole, 8 * granules - 4)
        })
        .collect();
    for &(hole, size) in &holes {
        // SAFETY: the hole was allocated above, once.
        unsafe { heap.free(hole, bytes(size)) };
    }
    holes.len()
}

#[test]
fn every_order_of_insertions_and_removals_keeps_the_balance() {
    let sizes = 3..203;
    let orders: [Vec<usize>; 4] = [
        sizes.clone().collect(),
        sizes.clone().rev().collect(),
        sizes.clone().map(|n| 3 + n * 77 % 199).collect(),
        sizes.map(|n| 3 + n % 2).collect(),
    ];
    for insertions in &orders {
        for removals in &orders {
            let mut region = JunkRegion::new(1 << 18, 64, 1);
            let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
            make_holes(&mut heap, insertions.iter().copied());
            assert_eq!(heap.check(), Ok(()));
            for granules in removals {
                let object = heap.allocate(bytes(8 * granules - 4));
                assert!(object.is_ok());
                assert_eq!(heap.check(), Ok(()));
            }
        }
    }
}

#[test]
fn visits_grow_with_the_logarithm_of_the_free_chunks() {
    for holes in [10_usize, 100, 1000, 3000] {
        let mut region = JunkRegion::new(64 << 20, 64, 1);
        let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
        assert_eq!(make_holes(&mut heap, 3..3 + holes), holes);
        let levels = (1.4405 * (holes as f64 + 3.0).log2() - 0.3277).floor() as u64;
        let mut most = [0; 2];
        for granules in (4..3 + holes).step_by(3) {
            let before = [heap.counters().visits, heap.tree_visits()];
            let object = heap.allocate(bytes(8 * granules - 4)).expect("a hole");
            // SAFETY: the object was just allocated.
            unsafe { heap.free(object, bytes(8 * granules - 4)) };
            let after = [heap.counters().visits, heap.tree_visits()];
            most = [0, 1].map(|n: usize| most[n].max(after[n] - before[n]));
        }
        assert!(
            most[0] <= levels,
            "{holes} holes: {} visits in a search",
            most[0]
        );
        let changes = 3 * levels;
        assert!(
            most[1] <= changes,
            "{holes} holes: {} visits in a pair",
            most[1]
        );
        assert!(most[0] * 2 > levels, "the bound is not far away");
    }
}

#[test]
fn of_equal_sizes_the_least_address_is_chosen() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
    let objects: Vec<_> = (0..40)
        .map(|_| heap.allocate(bytes(60)).expect("room"))
        .collect();
    for n in [30, 10, 20] {
        // SAFETY: each of these objects is freed once.
        unsafe { heap.free(objects[n], bytes(60)) };
    }
    for n in [10, 20, 30] {
        assert_eq!(heap.allocate(bytes(57)), Ok(objects[n]));
    }
}

#[test]
fn an_aligned_request_takes_a_hole_that_happens_to_fit() {
    let mut region = JunkRegion::new(1 << 16, 4096, 1);
    let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
    let layout = Layout::from_size_align(500, 512).expect("a valid layout");
    let aligned: Vec<_> = (0..8)
        .map(|_| heap.allocate(layout).expect("room"))
        .collect();
    // SAFETY: the object was just allocated.
    unsafe { heap.free(aligned[3], layout) };
    assert_eq!(heap.allocate(layout), Ok(aligned[3]));
    assert_eq!(heap.check(), Ok(()));
}

/// The links of the tree: the root, and both words of every free chunk.
fn links(heap: &Heap<'_, SizeTree>) -> Vec<Slot> {
    let mut links = alloc::vec![ROOT];
    let mut chunk = heap.first;
    while chunk < heap.end {
        if heap.memory.header(chunk).is_free() {
            let left = chunk.next().number() as usize;
            links.extend([Slot::new(left), Slot::new(left + 1)]);
        }
        chunk = chunk.after(heap.memory.header(chunk).granules());
    }
    links
}

#[test]
fn the_checker_objects_to_every_wrong_link() {
    let mut region = JunkRegion::new(1 << 15, 64, 1);
    let mut heap = Heap::<SizeTree>::new(region.memory()).expect("large enough");
    make_holes(&mut heap, (0..50).map(|n| 3 + n * 7 % 20));
    let links = links(&heap);
    let words: Vec<_> = links.iter().map(|&link| heap.memory.get(link)).collect();
    for (&link, &sound) in links.iter().zip(&words) {
        let flipped = (0..u32::BITS).map(|bit| sound ^ 1 << bit);
        for wrong in flipped.chain(words.iter().copied()) {
            heap.memory.set(link, wrong);
            let found = heap.check();
            assert_eq!(found.is_err(), wrong != sound, "{wrong:#x} in {link:?}");
            let known = found
                .err()
                .is_none_or(|c| ["A1", "A2", "A3", "A4"].contains(&c.invariant));
            assert!(known);
        }
        heap.memory.set(link, sound);
    }
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn the_levels_suffice_for_the_largest_region() {
    let bound = 1.4405 * (f64::from(1_u32 << 29) + 2.0).log2() - 0.3277;
    assert_eq!(bound.ceil() as usize, MOST_LEVELS);
}
