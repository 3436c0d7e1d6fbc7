//! All systems against the shadow heap, with every invariant verified after every operation.

use std::mem::MaybeUninit;

use proptest::prelude::*;
use surefit_core::{RawHeap, Refused};
use surefit_freelist::{BestFit, BinnedFit, FirstFit, HalfFit, NextFit, Tlsf, TreeFit, WorstFit};
use surefit_testkit::{JunkRegion, Op, Shape, Tally, ops_from_bytes, run_script, script};

/// Generates the conformance suite for one system.
macro_rules! conformance {
    ($module:ident $heap:ident) => {
        mod $module {
            use super::*;

            fn run(region: &mut JunkRegion, ops: &[Op], check_every: usize) -> Tally {
                let span = region.span();
                let mut heap = $heap::new(region.memory()).expect("a large enough region");
                let empty = heap.usage();
                let tally = run_script(&mut heap, span, ops, check_every).expect("no fault");
                assert_eq!(heap.usage(), empty, "an empty heap is one chunk again");
                assert_eq!(heap.live_objects(), 0);
                tally
            }

            #[test]
            fn every_shape_keeps_every_invariant() {
                for shape in Shape::ALL {
                    for (bytes, largest) in [(16 << 10, 2000), (64 << 10, 300), (256 << 10, 20000)] {
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

            #[test]
            fn regions_may_start_and_end_anywhere() {
                for (offset, bytes) in (0..24).zip(8000..) {
                    let mut region = JunkRegion::misaligned(bytes, 64, offset, 3);
                    let ops = script(Shape::Random, offset as u64, 300, 600);
                    run(&mut region, &ops, 1);
                }
            }

            #[test]
            fn regions_too_small_are_refused_with_the_size_that_would_do() {
                let needed = match $heap::new(&mut []) {
                    Err(Refused::Region { needed }) => needed,
                    other => panic!("{other:?}"),
                };
                let mut memory = vec![MaybeUninit::uninit(); needed + 8];
                for start in 0..8 {
                    let enough = &mut memory[start..][..needed];
                    assert_eq!($heap::new(enough).expect("enough").check(), Ok(()));
                }
                for bytes in 0..needed - 14 {
                    let refused = $heap::new(&mut memory[..bytes]).map(|_| ());
                    assert!(matches!(refused, Err(Refused::Region { .. })), "{bytes}");
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
        }
    };
}

conformance! { tlsf Tlsf }
conformance! { first_fit FirstFit }
conformance! { best_fit BestFit }
conformance! { worst_fit WorstFit }
conformance! { next_fit NextFit }
conformance! { half_fit HalfFit }
conformance! { tree_fit TreeFit }
conformance! { binned_fit BinnedFit }
