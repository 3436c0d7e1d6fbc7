//! White-box tests of the buddy system: tilings of regions of any size, merging, and every word of
//! metadata corrupted.

extern crate alloc;
use alloc::vec::Vec;
use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use surefit_core::{RawHeap, Refused};
use surefit_testkit::JunkRegion;

use super::Buddy;
use super::map::{Block, MOST_ALIGNED};
use crate::chunk::NOBODYS_WORDS;
use crate::memory::Slot;

fn bytes(size: usize) -> Layout {
    Layout::from_size_align(size, 1).expect("a valid layout")
}

fn free<const S: usize>(heap: &mut Buddy<'_, S>, object: NonNull<u8>, size: usize) {
    // SAFETY: the tests free what they allocated, once.
    unsafe { heap.free(object, bytes(size)) };
}

fn resize<const S: usize>(
    heap: &mut Buddy<'_, S>,
    object: NonNull<u8>,
    old: usize,
    new: usize,
) -> Result<NonNull<u8>, Refused> {
    // SAFETY: the tests resize what they allocated.
    unsafe { heap.resize(object, bytes(old), new) }
}

/// The blocks of a sound heap, from the first unit to the last.
fn blocks<const S: usize>(heap: &Buddy<'_, S>) -> Vec<(Block, bool)> {
    let mut blocks = Vec::new();
    let mut unit = heap.map.first();
    while unit < heap.map.last() {
        let (block, is_free) = heap.map.block_at(unit).expect("a sound map");
        blocks.push((block, is_free));
        unit = block.end();
    }
    blocks
}

#[test]
fn orders_are_those_of_the_next_power_of_two() {
    for size in 0..100_000_usize {
        let block = size.max(16).next_power_of_two();
        assert_eq!(Buddy::<16>::bytes(Buddy::<16>::order_for(size)), block);
    }
}

/// Checks the tiling of an empty heap: maximal aligned blocks, at most two of an order.
fn check_empty_tiling<const S: usize>(region: &mut [MaybeUninit<u8>]) {
    let start = region.as_ptr().addr();
    let len = region.len();
    let heap = Buddy::<S>::new(region).expect("large enough");
    assert_eq!(heap.check(), Ok(()));
    let blocks = blocks(&heap);
    assert!(blocks.iter().all(|(_, is_free)| *is_free));
    for order in 0..heap.map.orders_count() {
        let same = blocks.iter().filter(|(block, _)| block.order == order);
        assert!(same.count() <= 2, "order {order}");
    }
    for &(block, _) in &blocks {
        let address = heap.map.address(block).addr().get();
        let size = S << block.order;
        assert_eq!(address % size.min(MOST_ALIGNED), 0);
        assert!(address >= start && address + size <= start + len);
    }
    let usage = heap.usage();
    assert_eq!(usage.total(), len);
    let map = usage.free_chunk_bytes / S;
    let least_waste = 8 * NOBODYS_WORDS + map;
    assert!(
        usage.administrative_bytes <= least_waste + 4 * 32 + 4 * S,
        "{usage:?}"
    );
}

#[test]
fn regions_of_any_size_and_start_are_tiled() {
    for (offset, len) in (0..700).map(|n| (n * 13 % 97, 400 + n * 37)) {
        let mut region = JunkRegion::misaligned(len, 64, offset, 1);
        check_empty_tiling::<16>(region.memory());
        check_empty_tiling::<8>(region.memory());
    }
    for (offset, len) in (0..40).map(|n| (n * 1003, 40_000 + n * 9973)) {
        let mut region = JunkRegion::misaligned(len, MOST_ALIGNED, offset, 1);
        check_empty_tiling::<4096>(region.memory());
        check_empty_tiling::<128>(region.memory());
    }
}

#[test]
fn regions_too_small_are_refused_with_the_size_that_would_do() {
    fn claim<const S: usize>() {
        let needed = match Buddy::<S>::new(&mut []) {
            Err(Refused::Region { needed }) => needed,
            other => panic!("{other:?}"),
        };
        let mut region = JunkRegion::new(needed + S, MOST_ALIGNED, 1);
        for start in 0..S {
            let enough = &mut region.memory()[start..][..needed];
            let mut heap = Buddy::<S>::new(enough).expect("enough");
            assert!(heap.allocate(bytes(S)).is_ok());
            assert_eq!(heap.check(), Ok(()));
        }
        for len in 0..needed - 14 {
            let refused = Buddy::<S>::new(&mut region.memory()[..len]).map(|_| ());
            assert_eq!(refused, Err(Refused::Region { needed }), "{len}");
        }
    }
    claim::<8>();
    claim::<16>();
    claim::<256>();
}

/// Fills a heap with objects of a size; returns them in the order of their addresses.
fn fill(heap: &mut Buddy<'_, 16>, size: usize) -> Vec<NonNull<u8>> {
    let mut objects: Vec<_> = core::iter::from_fn(|| heap.allocate(bytes(size)).ok()).collect();
    objects.sort();
    objects
}

#[test]
fn a_block_merges_only_with_a_whole_free_buddy() {
    let mut region = JunkRegion::new(4096, MOST_ALIGNED, 1);
    let mut heap = Buddy::<16>::new(region.memory()).expect("large enough");
    let objects = fill(&mut heap, 256);
    let crumbs = heap.usage().free_chunk_bytes;
    let [a, b, c, d] = *objects.last_chunk().expect("many objects");
    let quarter = heap.map.block_in_use(a);
    let whole = quarter.parent().parent();
    assert_eq!(
        quarter.unit, whole.unit,
        "the last four are one block of 1024"
    );
    free(&mut heap, b, 256);
    free(&mut heap, c, 256);
    assert_eq!(heap.check(), Ok(()));
    assert_eq!(heap.usage().free_chunk_bytes, crumbs + 512);
    let refused = heap.allocate(bytes(512));
    assert_eq!(
        refused,
        Err(Refused::NoChunk),
        "neighbours that are no buddies stay apart"
    );
    free(&mut heap, a, 256);
    assert!(heap.map.is_free(quarter.parent()));
    assert!(
        !heap.map.is_free(whole),
        "its buddy starts with a free block, but `d` lives"
    );
    free(&mut heap, d, 256);
    assert!(heap.map.is_free(whole), "all four are one block again");
    for &object in &objects[..objects.len() - 4] {
        free(&mut heap, object, 256);
    }
    assert_eq!(heap.counters().merges, heap.counters().splits);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn a_call_splits_and_merges_at_most_once_an_order() {
    let mut region = JunkRegion::new(1 << 20, MOST_ALIGNED, 1);
    let mut heap = Buddy::<16>::new(region.memory()).expect("large enough");
    let all = fill(&mut heap, 16);
    assert_eq!(heap.usage().free_chunk_bytes, 0, "no unit is lost");
    all.into_iter()
        .for_each(|object| free(&mut heap, object, 16));
    let largest = heap.largest_request();
    assert_eq!(largest, 1 << 19);
    let order = (largest / 16).ilog2();
    assert_eq!(heap.counters().most_per_call, order, "the bound is reached");
    assert_eq!(heap.counters().merges, heap.counters().splits);
    assert!(heap.allocate(bytes(largest)).is_ok());
}

#[test]
fn a_quarter_of_a_block_is_unused_on_average() {
    let mut region = JunkRegion::new(1 << 22, MOST_ALIGNED, 1);
    let mut heap = Buddy::<16>::new(region.memory()).expect("large enough");
    let sizes = 1025..=2048;
    let requested: usize = sizes.clone().sum();
    for size in sizes {
        heap.allocate(bytes(size)).expect("there is room");
    }
    let blocks = heap.usage().block_bytes;
    assert_eq!(blocks, 1024 * 2048);
    assert_eq!((blocks - requested) * 1000 / blocks, 249);
}

#[test]
fn exhaustion_and_limits_are_refusals() {
    let mut region = JunkRegion::new(100_000, MOST_ALIGNED, 1);
    let mut heap = Buddy::<16>::new(region.memory()).expect("large enough");
    let limit = heap.largest_request();
    let empty = heap.usage();
    assert_eq!(
        heap.allocate(bytes(limit + 1)),
        Err(Refused::TooLarge { limit })
    );
    let most = Layout::from_size_align(1, MOST_ALIGNED).expect("a valid layout");
    assert_eq!(heap.allocate(most), Err(Refused::TooLarge { limit }));
    let strict = Layout::from_size_align(1, 2 * MOST_ALIGNED).expect("a valid layout");
    assert_eq!(
        heap.allocate(strict),
        Err(Refused::TooAligned {
            limit: MOST_ALIGNED
        })
    );
    let largest = fill(&mut heap, limit);
    assert_eq!(heap.allocate(bytes(limit)), Err(Refused::NoChunk));
    let too_large = resize(&mut heap, largest[0], limit, limit + 1);
    assert_eq!(too_large, Err(Refused::TooLarge { limit }));
    let small = heap.allocate(bytes(8)).expect("a small one");
    assert_eq!(resize(&mut heap, small, 8, limit), Err(Refused::NoChunk));
    assert_eq!(heap.check(), Ok(()));
    free(&mut heap, small, 8);
    for object in largest {
        free(&mut heap, object, limit);
    }
    assert_eq!(heap.usage().free_chunk_bytes, empty.free_chunk_bytes);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn resize_stays_in_place_while_the_upper_buddies_are_free() {
    let mut region = JunkRegion::new(1 << 16, MOST_ALIGNED, 1);
    let mut heap = Buddy::<16>::new(region.memory()).expect("large enough");
    let empty = heap.usage();
    let object = heap.allocate(bytes(4096)).expect("room");
    assert_eq!(resize(&mut heap, object, 4096, 2049), Ok(object));
    assert_eq!(heap.usage().block_bytes, 4096, "the same block");
    assert_eq!(resize(&mut heap, object, 2049, 16), Ok(object));
    assert_eq!(heap.usage().block_bytes, 16);
    assert_eq!(heap.check(), Ok(()));
    assert_eq!(
        resize(&mut heap, object, 16, 4000),
        Ok(object),
        "grows back"
    );
    assert_eq!(heap.check(), Ok(()));
    assert_eq!(resize(&mut heap, object, 4000, 100), Ok(object));
    let fence = heap.allocate(bytes(100)).expect("room");
    assert_eq!(fence.addr().get(), object.addr().get() + 128, "its buddy");
    assert_eq!(resize(&mut heap, object, 100, 128), Ok(object));
    let moved = resize(&mut heap, object, 128, 129).expect("room elsewhere");
    assert_ne!(moved, object);
    assert_eq!(heap.check(), Ok(()));
    let upper = resize(&mut heap, fence, 100, 200).expect("room elsewhere");
    assert_ne!(upper, fence, "an upper half cannot grow over its start");
    free(&mut heap, moved, 129);
    free(&mut heap, upper, 200);
    assert_eq!((heap.usage(), heap.check()), (empty, Ok(())));
}

#[test]
fn the_checker_objects_to_every_corruption() {
    let mut region = JunkRegion::new(8200, 4096, 1);
    let mut heap = Buddy::<16>::new(region.memory()).expect("large enough");
    let sizes = (0..40).map(|n| [16, 100, 40, 250, 12][n % 5]);
    let objects: Vec<_> = sizes
        .map(|size| (heap.allocate(bytes(size)).expect("room"), size))
        .collect();
    for &(object, size) in objects.iter().step_by(3) {
        free(&mut heap, object, size);
    }
    assert_eq!(heap.check(), Ok(()));
    let mut slots: Vec<_> = (NOBODYS_WORDS..heap.map.table_words() as usize)
        .map(Slot::new)
        .collect();
    for (block, _) in blocks(&heap).into_iter().filter(|(_, is_free)| *is_free) {
        let next = heap.map.links(block).next();
        slots.extend([next, Slot::new(next.number() as usize + 1)]);
    }
    let words: Vec<_> = slots
        .iter()
        .map(|&slot| heap.map.memory.get(slot))
        .collect();
    for (&slot, &sound) in slots.iter().zip(&words) {
        let flipped = (0..u32::BITS).map(|bit| sound ^ 1 << bit);
        for wrong in flipped.chain(words.iter().copied()) {
            heap.map.memory.set(slot, wrong);
            assert_eq!(
                heap.check().is_err(),
                wrong != sound,
                "{wrong:#x} in {slot:?}"
            );
        }
        heap.map.memory.set(slot, sound);
    }
    for bit in 0..u32::BITS {
        heap.filled ^= 1 << bit;
        assert_eq!(heap.check().expect_err("K4").invariant, "K4");
        heap.filled ^= 1 << bit;
    }
    heap.live += 1;
    assert_eq!(heap.check().expect_err("K5").invariant, "K5");
    heap.live -= 1;
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn the_checker_objects_to_buddies_left_apart() {
    let mut region = JunkRegion::new(4096, MOST_ALIGNED, 1);
    let mut heap = Buddy::<16>::new(region.memory()).expect("large enough");
    let order = heap.filled.ilog2();
    let whole = heap.map.first_free(order).expect("its bit is set");
    heap.remove(whole);
    let half = Block {
        order: order - 1,
        ..whole
    };
    heap.insert(half);
    heap.insert(half.buddy());
    assert_eq!(heap.check().expect_err("K2").invariant, "K2");
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "S1: the object is not live")]
fn freeing_twice_is_caught_in_debug_builds() {
    let mut region = JunkRegion::new(4096, MOST_ALIGNED, 1);
    let mut heap = Buddy::<16>::new(region.memory()).expect("large enough");
    let object = heap.allocate(bytes(40)).expect("room");
    free(&mut heap, object, 40);
    free(&mut heap, object, 40);
}
