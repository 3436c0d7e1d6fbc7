//! `TreeFit` against the shadow heap, every invariant verified after every operation.

use proptest::prelude::*;
use surefit_core::RawHeap;
use surefit_freelist::TreeFit;
use surefit_testkit::{JunkRegion, Op, Shape, Tally, ops_from_bytes, run_script, script};

fn run(region: &mut JunkRegion, ops: &[Op], check_every: usize) -> Tally {
    let span = region.span();
    let mut heap = TreeFit::new(region.memory()).expect("a large enough region");
    let empty = heap.parts();
    let tally = run_script(&mut heap, span, ops, check_every).expect("no fault");
    assert_eq!(heap.parts(), empty, "an empty heap is one chunk again");
    assert_eq!(heap.live_objects(), 0);
    tally
}

#[test]
fn every_shape_keeps_every_invariant() {
    for shape in Shape::ALL {
        for (bytes, largest) in [(16 << 10, 2000), (64 << 10, 300), (256 << 10, 20_000)] {
            let ops = script(shape, bytes as u64, 1500, largest);
            let tally = run(&mut JunkRegion::new(bytes, 64, 11), &ops, 1);
            assert!(tally.allocated > 100, "{shape:?}: {tally:?}");
        }
    }
}

#[test]
fn long_scripts_end_without_a_fault() {
    for shape in Shape::ALL {
        let ops = script(shape, 99, 20_000, 5000);
        run(&mut JunkRegion::new(1 << 20, 4096, 5), &ops, 1999);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_scripts_keep_every_invariant(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        kib in 8_usize..64,
    ) {
        let ops = ops_from_bytes(&bytes, kib << 8);
        run(&mut JunkRegion::new(kib << 10, 16, 1), &ops, 1);
    }
}
