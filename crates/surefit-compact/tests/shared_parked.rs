//! Parked pairs of shared heaps: freed page-blocks that stay bound to their entries until the next
//! allocation of their size-class. Every state is checked by `check`, which walks the stacks.

use std::mem::MaybeUninit;

use surefit_compact::shared::{
    Granularity, PerClass, PerHeap, PerPage, ShardedHeap, SharedConfig, SharedHeap,
};
use surefit_compact::{Bound, Bytes, Config, Fraction, Geometry, GeometrySpec, Spacing, Tail};
use surefit_core::Refused;
use surefit_testkit::layout;

type Lock = parking_lot::RawMutex;

const PAGE: usize = 1024;
/// Page-blocks of 256 and 512 bytes: π = 4 and 2.
const SMALL: usize = 200;
const LARGE: usize = 500;

fn holes(base: u32) -> Bound {
    let fraction = Fraction::new(0, 1).unwrap();
    Bound::Holes { base, fraction }
}

fn config<G: Granularity>(bound: Bound) -> SharedConfig<G> {
    let geometry = Geometry::new(&GeometrySpec {
        page_bytes: PAGE,
        granule: 8,
        smallest: 16,
        spacing: Spacing::Explicit(&[256, 512]),
        tail: Tail::BackReferences { bytes: 4 },
    });
    let config = Config::new(geometry.unwrap(), bound).unwrap();
    let config = SharedConfig::new(config.with_pieces(None).unwrap());
    config.with_locals(2, 0).unwrap()
}

fn region() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::new(0xA5); 24 << 10]
}

type Of<'m, G> = SharedHeap<'m, Lock, G>;

/// Frees every object but those of even numbers; the hole bound's first check is behind it then.
fn thin<G: Granularity>(heap: &Of<'_, G>, count: usize, freed: usize) -> Vec<Bytes<u8>> {
    let local = heap.register().unwrap();
    let mut live: Vec<_> = (0..count)
        .map(|_| local.alloc_zeroed(layout(SMALL)).unwrap())
        .collect();
    for number in (0..freed).rev() {
        local.free_bytes(live.swap_remove(number * 2)).unwrap();
        heap.check(false).unwrap();
    }
    live
}

fn parks<G: Granularity>(bound: Bound, expected: u64) {
    let config = config::<G>(bound);
    let mut memory = region();
    let heap: Of<'_, G> = SharedHeap::new(&mut memory, &config).unwrap();
    let live = thin(&heap, 12, 3);
    let before = heap.stats();
    assert_eq!(before.parked_blocks, expected, "{bound} {before:?}");
    // A parked block is a hole, and no page became not-full.
    if let Bound::Holes { .. } = bound {
        assert_eq!(before.holes, 2, "{before:?}");
    }
    let local = heap.register().unwrap();
    let again: Vec<_> = (0..expected)
        .map(|_| local.alloc_zeroed(layout(SMALL)).unwrap())
        .collect();
    let after = heap.stats();
    heap.check(false).unwrap();
    assert_eq!((after.parked_blocks, after.pages), (0, before.pages));
    assert_eq!(after.not_full_pages, before.not_full_pages);
    assert_eq!(after.live_blocks, before.live_blocks + expected);
    for bytes in live.into_iter().chain(again) {
        local.free_bytes(bytes).unwrap();
        heap.check(false).unwrap();
    }
    let stats = heap.stats();
    assert_eq!((stats.pages, stats.parked_blocks), (0, 0));
}

#[test]
fn frees_park_under_the_hole_bound_and_without_one() {
    // The first free has to check the bound.
    parks::<PerClass>(holes(8), 2);
    parks::<PerHeap>(holes(8), 2);
    parks::<PerClass>(Bound::Unbounded, 3);
    parks::<PerHeap>(Bound::Unbounded, 3);
    for bound in [holes(8), Bound::Unbounded, Bound::Pages(1)] {
        parks::<PerPage>(bound, 0);
    }
    parks::<PerClass>(Bound::Pages(2), 0);
}

#[test]
fn a_group_parks_half_of_its_buffer_and_keeps_as_many_objects_as_pages() {
    for buffer in [1, 2, 3] {
        let config = config::<PerClass>(Bound::Unbounded);
        let config = config.with_handle_buffer(buffer).unwrap();
        let mut memory = region();
        let heap: Of<'_, PerClass> = SharedHeap::new(&mut memory, &config).unwrap();
        let local = heap.register().unwrap();
        let mut live: Vec<_> = (0..12)
            .map(|_| local.alloc_zeroed(layout(SMALL)).unwrap())
            .collect();
        let mut reached = false;
        while let Some(bytes) = live.pop() {
            local.free_bytes(bytes).unwrap();
            heap.check(false).unwrap();
            let stats = heap.stats();
            let most = u64::from(buffer.div_ceil(2));
            assert!(stats.parked_blocks <= most, "{stats:?}");
            reached |= stats.parked_blocks == most;
            assert!(stats.pages <= stats.live_blocks, "{stats:?}");
        }
        assert!(reached, "buffer {buffer}");
    }
}

/// What is parked in one size-class serves another one before it is refused, and nothing moves.
#[test]
fn what_is_parked_is_given_back_before_an_allocation_is_refused() {
    for bound in [holes(8), Bound::Unbounded] {
        let config = config::<PerClass>(bound);
        let mut memory = region();
        let heap: Of<'_, PerClass> = SharedHeap::new(&mut memory, &config).unwrap();
        let local = heap.register().unwrap();
        let mut live = Vec::new();
        let refused = loop {
            match local.alloc_zeroed(layout(SMALL)) {
                Ok(bytes) => live.push(bytes),
                Err(refused) => break refused,
            }
        };
        assert_eq!(refused, Refused::NoPage);
        assert_eq!(live.len() % 4, 0, "all pages are full");
        // One free that checks the bound; then the last page's objects.
        local.free_bytes(live.remove(0)).unwrap();
        for _ in 0..4 {
            local.free_bytes(live.pop().unwrap()).unwrap();
        }
        let stats = heap.stats();
        assert!(stats.parked_blocks >= 4, "{stats:?}");
        let large: Bytes<u8> = local.alloc_zeroed(layout(LARGE)).unwrap();
        heap.check(false).unwrap();
        let after = heap.stats();
        assert_eq!((after.parked_blocks, after.pages), (0, stats.pages));
        assert_eq!(after.moves_total, stats.moves_total);
        local.free_bytes(large).unwrap();
        for bytes in live {
            local.free_bytes(bytes).unwrap();
        }
        heap.check(false).unwrap();
    }
}

#[test]
fn a_compaction_gives_parked_pairs_back() {
    let config = config::<PerClass>(holes(8));
    let mut memory = region();
    let heap: Of<'_, PerClass> = SharedHeap::new(&mut memory, &config).unwrap();
    let live = thin(&heap, 12, 3);
    assert_eq!(heap.stats().parked_blocks, 2);
    assert_eq!(heap.compact(0), 0);
    let stats = heap.stats();
    assert_eq!((stats.parked_blocks, stats.live_blocks), (0, 9));
    heap.check(false).unwrap();
    heap.compact(u64::MAX);
    assert!(heap.stats().not_full_pages <= 1);
    heap.check(false).unwrap();
    let local = heap.register().unwrap();
    for bytes in live {
        local.free_bytes(bytes).unwrap();
    }
}

#[test]
fn instances_lend_each_other_what_they_have_parked() {
    let config = config::<PerClass>(Bound::Unbounded);
    let mut memory = region();
    let heap: ShardedHeap<'_, Lock> = ShardedHeap::new(&mut memory, &config, 2).unwrap();
    let (one, two) = (heap.register_in(0).unwrap(), heap.register_in(1).unwrap());
    let mut live = Vec::new();
    while let Ok(bytes) = one.alloc_zeroed(layout(SMALL)) {
        live.push(bytes);
    }
    for _ in 0..4 {
        one.free_bytes(live.pop().unwrap()).unwrap();
    }
    assert_eq!(heap.stats().parked_blocks, 4);
    let other: Bytes<u8> = two.alloc_zeroed(layout(SMALL)).unwrap();
    heap.check(false).unwrap();
    assert_eq!(heap.stats().parked_blocks, 0);
    two.free_bytes(other).unwrap();
    // An instance that is destroyed keeps none.
    one.free_bytes(live.pop().unwrap()).unwrap();
    assert_eq!(heap.instance_stats(0).counters.parked_blocks, 1);
    drop((one, two));
    let left = live.len() as u64;
    assert_eq!(heap.destroy(0), Ok(left));
    let stats = heap.instance_stats(0).counters;
    assert_eq!((stats.pages, stats.parked_blocks), (0, 0));
    heap.check(false).unwrap();
}

/// At its quota an instance takes its own parked pages first: nothing moves.
#[test]
fn an_instance_at_its_quota_gives_back_before_it_compacts() {
    let config = config::<PerClass>(Bound::Unbounded);
    let mut memory = region();
    let heap: ShardedHeap<'_, Lock> = ShardedHeap::new(&mut memory, &config, 2).unwrap();
    heap.set_quota(0, 3 * PAGE);
    let local = heap.register_in(0).unwrap();
    let mut live: Vec<_> = (0..12)
        .map(|_| local.alloc_zeroed(layout(SMALL)).unwrap())
        .collect();
    for _ in 0..4 {
        local.free_bytes(live.pop().unwrap()).unwrap();
    }
    assert_eq!(heap.instance_stats(0).counters.parked_blocks, 4);
    let large: Bytes<u8> = local.alloc_zeroed(layout(LARGE)).unwrap();
    let stats = heap.instance_stats(0).counters;
    assert_eq!((stats.moves_total, stats.pages), (0, 3));
    heap.check(false).unwrap();
    local.free_bytes(large).unwrap();
    assert_eq!(local.alloc_zeroed(layout(LARGE)).map(drop), Ok(()));
    for bytes in live {
        local.free_bytes(bytes).unwrap();
    }
}
