//! Every combination of segregated lists against the shadow heap, and the three lookups against
//! each other.

use std::alloc::Layout;
use std::ptr::NonNull;

use proptest::prelude::*;
use surefit_core::{Corruption, RawHeap, Refused, Usage};
use surefit_freelist::{
    Bitmap, Coalescing, Deferred, Heap, Immediate, Index, LastList, Linear, Lookup, Never,
    NextHitTable, Scan, Segregated, SegregatedFit, Tree,
};
use surefit_testkit::{JunkRegion, Op, Shape, Tally, ops_from_bytes, run_script, script};

/// A heap whose free chunks and administrative space count as one part: a refused request may have
/// merged free chunks, whose headers are then free bytes.
struct Merging<H>(H);

// SAFETY: all is as the heap does it.
unsafe impl<H: RawHeap> RawHeap for Merging<H> {
    fn allocate(&mut self, layout: Layout) -> Result<NonNull<u8>, Refused> {
        self.0.allocate(layout)
    }

    unsafe fn free(&mut self, object: NonNull<u8>, layout: Layout) {
        // SAFETY: the caller's promises are the same.
        unsafe { self.0.free(object, layout) };
    }

    unsafe fn resize(
        &mut self,
        object: NonNull<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<NonNull<u8>, Refused> {
        // SAFETY: the caller's promises are the same.
        unsafe { self.0.resize(object, layout, new_size) }
    }

    fn usage(&self) -> Usage {
        let usage = self.0.usage();
        Usage {
            administrative_bytes: usage.administrative_bytes + usage.free_chunk_bytes,
            free_chunk_bytes: 0,
            ..usage
        }
    }

    fn check(&self) -> Result<(), Corruption> {
        self.0.check()
    }
}

/// Runs a script. Verifies all invariants every `check_every` operations, and at the end that
/// nothing was lost.
fn run<I: Index>(region: &mut JunkRegion, ops: &[Op], check_every: usize) -> Tally {
    let span = region.span();
    let heap = Heap::<I>::new(region.memory()).expect("a large enough region");
    let (empty, all) = (heap.usage(), heap.largest_request());
    let mut heap = Merging(heap);
    let tally = run_script(&mut heap, span, ops, check_every).expect("no fault");
    let Merging(mut heap) = heap;
    assert_eq!(heap.live_objects(), 0);
    heap.coalesce();
    assert_eq!(heap.check(), Ok(()));
    assert_eq!(heap.usage(), empty, "an empty heap is one chunk again");
    let layout = Layout::from_size_align(all, 8).expect("a small size");
    let object = heap.allocate(layout).expect("that chunk can be had");
    // SAFETY: the object is live and has this layout.
    unsafe { heap.free(object, layout) };
    tally
}

/// All shapes in a small region, with every invariant verified after every operation.
fn every_shape_keeps_every_invariant<I: Index>() {
    for shape in Shape::ALL {
        for (kib, largest) in [(16, 2000), (64, 300)] {
            let ops = script(shape, kib as u64, 500, largest);
            let tally = run::<I>(&mut JunkRegion::new(kib << 10, 64, 11), &ops, 1);
            assert!(tally.allocated > 50, "{shape:?}: {tally:?}");
        }
    }
}

fn long_scripts_end_without_a_fault<I: Index>() {
    for shape in Shape::ALL {
        let ops = script(shape, 99, 6000, 5000);
        run::<I>(&mut JunkRegion::new(1 << 18, 4096, 5), &ops, 997);
    }
}

fn regions_may_start_and_end_anywhere<I: Index>() {
    for (offset, bytes) in (0..16).zip(8000..) {
        let mut region = JunkRegion::misaligned(bytes, 64, offset, 3);
        let ops = script(Shape::Random, offset as u64, 150, 600);
        run::<I>(&mut region, &ops, 1);
    }
}

/// Generates the suite for one combination.
macro_rules! combinations {
    ($($module:ident $index:ty;)*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn every_shape_keeps_every_invariant() {
                super::every_shape_keeps_every_invariant::<$index>();
            }

            #[test]
            fn long_scripts_end_without_a_fault() {
                super::long_scripts_end_without_a_fault::<$index>();
            }

            #[test]
            fn regions_may_start_and_end_anywhere() {
                super::regions_may_start_and_end_anywhere::<$index>();
            }

            proptest! {
                #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

                #[test]
                fn arbitrary_scripts_keep_every_invariant(
                    bytes in prop::collection::vec(any::<u8>(), 0..1200),
                    kib in 8_usize..48,
                ) {
                    let ops = ops_from_bytes(&bytes, kib << 8);
                    run::<$index>(&mut JunkRegion::new(kib << 10, 16, 1), &ops, 1);
                }
            }
        }
    )*};
}

combinations! {
    scan_never_tree_16 Segregated<Scan, Never, Tree, 16>;
    scan_never_linear_64 Segregated<Scan, Never, Linear, 64>;
    scan_deferred_tree_64 Segregated<Scan, Deferred, Tree, 64>;
    scan_deferred_linear_16 Segregated<Scan, Deferred, Linear, 16>;
    scan_immediate_tree_16 Segregated<Scan, Immediate, Tree, 16>;
    scan_immediate_linear_64 Segregated<Scan, Immediate, Linear, 64>;
    table_never_tree_64 Segregated<NextHitTable, Never, Tree, 64>;
    table_never_linear_16 Segregated<NextHitTable, Never, Linear, 16>;
    table_deferred_tree_16 Segregated<NextHitTable, Deferred, Tree, 16>;
    table_deferred_linear_300 Segregated<NextHitTable, Deferred, Linear, 300>;
    table_immediate_tree_255 Segregated<NextHitTable, Immediate, Tree, 255>;
    table_immediate_linear_16 Segregated<NextHitTable, Immediate, Linear, 16>;
    bitmap_never_tree_100 Segregated<Bitmap, Never, Tree, 100>;
    bitmap_never_linear_16 Segregated<Bitmap, Never, Linear, 16>;
    bitmap_deferred_tree_16 Segregated<Bitmap, Deferred, Tree, 16>;
    bitmap_deferred_linear_64 Segregated<Bitmap, Deferred, Linear, 64>;
    bitmap_immediate_tree_256 Segregated<Bitmap, Immediate, Tree, 256>;
    bitmap_immediate_linear_16 Segregated<Bitmap, Immediate, Linear, 16>;
    units_of_16_never Segregated<Scan, Never, Linear, 16, 16>;
    units_of_16_deferred Segregated<NextHitTable, Deferred, Tree, 33, 16>;
    units_of_16_immediate Segregated<Bitmap, Immediate, Tree, 128, 16>;
}

/// The most lists that are possible: the table and the heads take 25 KiB.
fn most_lists<L: Lookup<4096>, C: Coalescing, T: LastList>() {
    for shape in Shape::ALL {
        let ops = script(shape, 4096, 1500, 40_000);
        run::<Segregated<L, C, T, 4096>>(&mut JunkRegion::new(1 << 18, 64, 5), &ops, 50);
    }
}

#[test]
fn there_may_be_4096_lists() {
    most_lists::<Scan, Never, Linear>();
    most_lists::<NextHitTable, Never, Tree>();
    most_lists::<NextHitTable, Deferred, Linear>();
    most_lists::<NextHitTable, Immediate, Tree>();
    most_lists::<Bitmap, Deferred, Tree>();
    most_lists::<Bitmap, Immediate, Linear>();
}

#[test]
fn regions_too_small_are_refused_with_the_size_that_would_do() {
    let needed = match SegregatedFit::<NextHitTable, Deferred, Tree, 100>::new(&mut []) {
        Err(Refused::Region { needed }) => needed,
        other => panic!("{other:?}"),
    };
    let mut region = JunkRegion::new(needed + 8, 8, 1);
    for start in 0..8 {
        let memory = &mut region.memory()[start..][..needed];
        let heap = SegregatedFit::<NextHitTable, Deferred, Tree, 100>::new(memory);
        assert_eq!(heap.expect("enough").check(), Ok(()));
    }
    for bytes in 0..needed - 14 {
        let memory = &mut region.memory()[..bytes];
        let refused = SegregatedFit::<NextHitTable, Deferred, Tree, 100>::new(memory).map(|_| ());
        assert!(matches!(refused, Err(Refused::Region { .. })), "{bytes}");
    }
}

/// Where a heap places the objects of a script, counted from the first chunk; `None` for a refusal
/// or a free.
///
/// Tables differ in size, so each region starts where the first chunk lies 4096 bytes after a
/// multiple of 4096.
fn places<I: Index>(ops: &[Op], kib: usize) -> Vec<Option<usize>> {
    let mut region = JunkRegion::new(kib << 10, 4096, 1);
    let origin = region.span().start + 4096;
    let table = Heap::<I>::new(region.memory())
        .expect("a large enough region")
        .table_bytes();
    let memory = &mut region.memory()[4096 - (table / 8 + 1) * 8..];
    let mut heap = Heap::<I>::new(memory).expect("a large enough region");
    let mut live: Vec<(NonNull<u8>, Layout)> = Vec::new();
    let mut places = Vec::new();
    let layout = |size, align| Layout::from_size_align(size, align).expect("a valid layout");
    for &op in ops {
        let object = match op {
            Op::Alloc { size, align } => {
                let object = heap.allocate(layout(size, align)).ok();
                live.extend(object.map(|object| (object, layout(size, align))));
                object
            }
            Op::Free(nth) if !live.is_empty() => {
                let (object, layout) = live.remove(nth % live.len());
                // SAFETY: the object is live and has this layout.
                unsafe { heap.free(object, layout) };
                None
            }
            Op::Resize(nth, size) if !live.is_empty() => {
                let nth = nth % live.len();
                let (object, old) = live[nth];
                // SAFETY: the object is live and has this layout.
                let resized = unsafe { heap.resize(object, old, size) }.ok();
                if let Some(resized) = resized {
                    live[nth] = (resized, layout(size, old.align()));
                }
                resized
            }
            Op::Free(_) | Op::Resize(..) => continue,
        };
        places.push(object.map(|object| object.addr().get() - origin));
    }
    places
}

fn lookups_agree<C: Coalescing, T: LastList>(ops: &[Op], kib: usize) {
    let scan = places::<Segregated<Scan, C, T, 64>>(ops, kib);
    assert_eq!(scan, places::<Segregated<NextHitTable, C, T, 64>>(ops, kib));
    assert_eq!(scan, places::<Segregated<Bitmap, C, T, 64>>(ops, kib));
}

/// The table and the bitmap find the same list as the scan: the same objects at the same places.
#[test]
fn scan_table_and_bitmap_put_every_object_at_the_same_place() {
    for shape in Shape::ALL {
        for largest in [200, 1500] {
            let ops = script(shape, 7, 1500, largest);
            lookups_agree::<Never, Tree>(&ops, 256);
            lookups_agree::<Never, Linear>(&ops, 256);
            lookups_agree::<Deferred, Tree>(&ops, 256);
            lookups_agree::<Deferred, Linear>(&ops, 256);
            lookups_agree::<Immediate, Tree>(&ops, 256);
            lookups_agree::<Immediate, Linear>(&ops, 256);
        }
    }
}
