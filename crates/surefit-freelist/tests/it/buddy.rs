//! `Buddy` against the shadow heap, every invariant verified after every operation, with several
//! smallest blocks.

use proptest::prelude::*;
use surefit_core::RawHeap;
use surefit_freelist::Buddy;
use surefit_testkit::{JunkRegion, Op, Shape, Tally, ops_from_bytes, run_script, script};

fn run<const SMALLEST: usize>(region: &mut JunkRegion, ops: &[Op], check_every: usize) -> Tally {
    let span = region.span();
    let mut heap = Buddy::<SMALLEST>::new(region.memory()).expect("a large enough region");
    let empty = heap.usage();
    let tally = run_script(&mut heap, span, ops, check_every).expect("no fault");
    assert_eq!(heap.usage(), empty, "an empty heap has no block in use");
    assert_eq!(heap.live_objects(), 0);
    let counters = heap.counters();
    assert_eq!(
        counters.splits, counters.merges,
        "every half is whole again"
    );
    let levels = (empty.free_chunk_bytes / SMALLEST).ilog2();
    assert!(counters.most_per_call <= levels, "{counters:?}");
    tally
}

#[test]
fn every_shape_keeps_every_invariant() {
    for shape in Shape::ALL {
        for (bytes, largest) in [(16 << 10, 2000), (64 << 10, 300), (200_001, 20_000)] {
            let ops = script(shape, bytes as u64, 1000, largest);
            let tally = run::<16>(&mut JunkRegion::new(bytes, 4096, 11), &ops, 1);
            assert!(tally.allocated > 100, "{shape:?}: {tally:?}");
        }
    }
}

#[test]
fn other_smallest_blocks_serve_as_well() {
    for shape in [Shape::Random, Shape::Sawtooth, Shape::Comb] {
        let ops = script(shape, 7, 1000, 3000);
        run::<8>(&mut JunkRegion::new(60_000, 64, 1), &ops, 7);
        run::<64>(&mut JunkRegion::new(90_000, 64, 2), &ops, 7);
        run::<4096>(&mut JunkRegion::new(900_000, 64, 3), &ops, 7);
    }
}

#[test]
fn long_scripts_end_without_a_fault() {
    for shape in Shape::ALL {
        let ops = script(shape, 99, 20_000, 5000);
        run::<16>(&mut JunkRegion::new(1 << 20, 4096, 5), &ops, 1999);
    }
}

#[test]
fn resizes_happen_in_place_and_elsewhere() {
    let ops = script(Shape::Random, 5, 5000, 4000);
    let tally = run::<16>(&mut JunkRegion::new(1 << 18, 4096, 5), &ops, 500);
    assert!(
        tally.in_place > 100 && tally.resized > tally.in_place + 100,
        "{tally:?}"
    );
}

#[test]
fn regions_may_start_and_end_anywhere() {
    for (offset, bytes) in (0..48).zip(8000..) {
        let mut region = JunkRegion::misaligned(bytes, 64, offset, 3);
        run::<16>(
            &mut region,
            &script(Shape::Random, offset as u64, 300, 600),
            1,
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_scripts_keep_every_invariant(
        bytes in prop::collection::vec(any::<u8>(), 0..1500),
        size in 8000_usize..64_000,
    ) {
        let ops = ops_from_bytes(&bytes, size / 4);
        run::<16>(&mut JunkRegion::new(size, 16, 1), &ops, 1);
    }
}
