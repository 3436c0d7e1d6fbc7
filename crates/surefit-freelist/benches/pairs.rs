//! Instructions per allocation and free in a steady mix, for every system: so that no system looks
//! good beside a slow baseline.
//!
//! A heap of 8 MiB holds ten thousand objects, most of 24 to 88 bytes. Each pair frees a random
//! object and allocates another of a random size. The benchmark counts a thousand pairs after two
//! hundred thousand others, including the loop. In this mix nearly every list is filled, so that a
//! walk is short: the table and the bitmap have nothing to gain. A tree as the last list takes 9 to
//! 15 more instructions per pair than a linear list, although it is hardly used: a free that calls
//! nothing saves no registers. Needs valgrind and the runner of the gungraun crate:
//! `cargo bench -p surefit-freelist`.
//!
//! A budget is the measured value plus a tenth: raise one only with a reason in the commit.
#![allow(
    missing_docs,
    unused_qualifications,
    clippy::must_use_candidate,
    reason = "the benchmark macros make items of their own"
)]

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use surefit_core::RawHeap;
use surefit_freelist::{
    Bitmap, Buddy, Deferred, HalfFit, Immediate, Linear, Never, NextHitTable, Scan, SegregatedFit,
    Tlsf, TreeFit,
};

const REGION: usize = 8 << 20;
const LIVE: usize = 10_000;
const WARM_UP: usize = 200_000;
const COUNTED: usize = 1_000;

/// Sizes in bytes, all equally frequent: two thirds are 24 to 40, as for Java objects.
const SIZES: [usize; 16] = [
    16, 24, 24, 24, 24, 24, 32, 32, 32, 40, 40, 48, 56, 72, 88, 272,
];

/// A future free and allocation.
#[derive(Clone, Copy)]
struct Pair {
    victim: usize,
    layout: Layout,
}

struct Scene<H> {
    heap: H,
    live: Vec<(NonNull<u8>, Layout)>,
    to_come: Vec<Pair>,
}

/// The same numbers for every system (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 32) as usize % bound
    }

    fn layout(&mut self) -> Layout {
        let size = SIZES[self.below(SIZES.len())];
        Layout::from_size_align(size, 8).expect("small")
    }

    fn pairs(&mut self, count: usize) -> Vec<Pair> {
        let pair = |_| Pair {
            victim: self.below(LIVE),
            layout: self.layout(),
        };
        (0..count).map(pair).collect()
    }
}

fn region() -> &'static mut [MaybeUninit<u8>] {
    vec![MaybeUninit::new(0xa5); REGION].leak()
}

impl<H: RawHeap> Scene<H> {
    fn new(mut heap: H) -> Self {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let live = (0..LIVE).map(|_| {
            let layout = random.layout();
            (heap.allocate(layout).expect("room"), layout)
        });
        let live = live.collect();
        let to_come = random.pairs(WARM_UP);
        let mut scene = Self {
            heap,
            live,
            to_come,
        };
        scene.run();
        scene.to_come = random.pairs(COUNTED);
        scene
    }

    fn run(&mut self) {
        for pair in &self.to_come {
            let place = &mut self.live[pair.victim];
            free(&mut self.heap, *place);
            *place = (allocate(&mut self.heap, pair.layout), pair.layout);
        }
    }
}

/// One allocation, as a separate function: inlining does not affect the comparison.
#[inline(never)]
fn allocate<H: RawHeap>(heap: &mut H, layout: Layout) -> NonNull<u8> {
    heap.allocate(layout).expect("room")
}

/// One free, as a separate function.
#[inline(never)]
fn free<H: RawHeap>(heap: &mut H, (object, layout): (NonNull<u8>, Layout)) {
    // SAFETY: the object is live and has this layout.
    unsafe { heap.free(object, layout) };
}

/// The limit for the instructions of all pairs, computed from that of one.
fn budget(of_a_pair: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, of_a_pair * COUNTED as u64)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

macro_rules! systems {
    ($($name:ident $heap:ty, $budget:literal;)*) => {
        mod steady {
            use super::*;
            $(pub(crate) fn $name() -> Scene<$heap> {
                Scene::new(<$heap>::new(region()).expect("large enough"))
            })*
        }

        $(#[library_benchmark(setup = steady::$name, config = budget($budget))]
        #[bench::steady()]
        fn $name(mut scene: Scene<$heap>) -> Scene<$heap> {
            scene.run();
            scene
        })*

        library_benchmark_group!(name = pairs, benchmarks = [$($name),*]);
    };
}

systems! {
    scan_never SegregatedFit<'static, Scan, Never>, 150;
    scan_deferred SegregatedFit<'static, Scan, Deferred>, 150;
    scan_immediate SegregatedFit<'static, Scan, Immediate>, 180;
    table_never SegregatedFit<'static, NextHitTable, Never>, 150;
    table_deferred SegregatedFit<'static, NextHitTable, Deferred>, 150;
    table_immediate SegregatedFit<'static, NextHitTable, Immediate>, 195;
    bitmap_never SegregatedFit<'static, Bitmap, Never>, 165;
    bitmap_deferred SegregatedFit<'static, Bitmap, Deferred>, 165;
    bitmap_immediate SegregatedFit<'static, Bitmap, Immediate>, 195;
    scan_immediate_linear SegregatedFit<'static, Scan, Immediate, Linear>, 160;
    table_immediate_linear SegregatedFit<'static, NextHitTable, Immediate, Linear>, 185;
    bitmap_immediate_linear SegregatedFit<'static, Bitmap, Immediate, Linear>, 180;
    tlsf Tlsf<'static>, 165;
    half_fit HalfFit<'static>, 170;
    tree_fit TreeFit<'static>, 1335;
    buddy Buddy<'static>, 270;
}

main!(library_benchmark_groups = pairs);
