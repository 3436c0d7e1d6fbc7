//! Random programs beside a collector in steps, on every space, with the smallest and large
//! settings.

use surefit_compact::{Bound, Config, Geometry, GeometrySpec};
use surefit_gc::{CompactFit, Incremental};

use super::*;
use crate::common::steps::{Steps, step};

/// What a run must have seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    cycles: u64,
    forced: u64,
    shaded: u64,
    rescans: u64,
    floating: u64,
}

impl Seen {
    fn add<S: surefit_gc::Stepwise>(&mut self, world: &Steps<'_, S>) {
        let steps = world.gc.steps();
        assert!(steps.largest_excess < world.gc.most_excess(), "{steps:?}");
        assert_eq!(steps.overruns, 0);
        self.cycles += steps.cycles;
        self.forced += steps.forced;
        self.shaded += steps.shaded;
        self.rescans += world.gc.totals().rescans;
        self.floating += world.floating;
    }
}

fn run<S: surefit_gc::Stepwise>(world: &mut Steps<'_, S>, seed: u64, steps: usize, budget: u64) {
    let mut random = Random(seed);
    for nth in 0..steps {
        let verdict = step(world, budget, &mut |bound| random.below(bound));
        assert_eq!(
            verdict,
            Ok(()),
            "step {nth} of seed {seed}, budget {budget}"
        );
    }
    assert_eq!(world.collect(), Ok(()), "seed {seed}");
}

/// A stack of one entry with steps of one unit; one of eight; a large one with steps that end the
/// cycle.
const PACES: [(usize, u64); 3] = [(1, 1), (8, 30), (4096, 1000)];

fn in_steps<I: Index>() {
    let mut seen = Seen::default();
    for (seed, (mark_stack, budget)) in (0..).zip(PACES) {
        let (large_from, limit) = ENDS[seed as usize % ENDS.len()];
        let fault = if seed == 0 {
            Fault::AsksLate
        } else {
            Fault::Nothing
        };
        let mut region = JunkRegion::misaligned(10 << 10, 64, seed as usize % 13, seed);
        let settings = Settings {
            mark_stack: mark_stack.min(256),
            sweep: Sweep::default(),
            large_from,
            limit,
        };
        let gc =
            Collector::<FreeList<'_, I>>::new(region.memory(), settings).expect("large enough");
        let mut world = Steps::over(Incremental::over(gc), fault);
        run(&mut world, seed, 900, budget);
        seen.add(&world);
    }
    assert!(seen.cycles > 20 && seen.forced > 0, "{seen:?}");
    assert!(
        seen.shaded > 0 && seen.rescans > 0 && seen.floating > 0,
        "{seen:?}"
    );
}

macro_rules! in_steps {
    ($($name:ident $index:ty;)*) => {$(
        #[test]
        fn $name() {
            in_steps::<$index>();
        }
    )*};
}

in_steps! {
    scan_never Segregated<Scan, Never, Linear, 64>;
    scan_deferred Segregated<Scan, Deferred, Linear, 64>;
    scan_immediate Segregated<Scan, Immediate, Linear, 64>;
    table_never Segregated<NextHitTable, Never, Tree, 64>;
    table_deferred Segregated<NextHitTable, Deferred, Tree, 64>;
    table_immediate Segregated<NextHitTable, Immediate, Tree, 64>;
    bitmap_never Segregated<Bitmap, Never, Linear, 64>;
    bitmap_deferred Segregated<Bitmap, Deferred, Tree, 64>;
    bitmap_immediate Segregated<Bitmap, Immediate, Tree, 64>;
    first_fit SingleList<First>;
    next_fit SingleList<Next>;
    best_fit SingleList<Best>;
    worst_fit SingleList<Worst>;
    half_fit PowersOfTwo;
    tree_fit SizeTree;
    bins Bins;
    tlsf TwoLevel;
}

/// Compact-fit with pieces of 64 bytes, so that many objects are in pieces, under each kind of
/// bound.
#[test]
fn compact_fit() {
    let mut seen = Seen::default();
    let bounds = [Bound::DEFAULT, Bound::Unbounded, Bound::Pages(1)];
    for (seed, ((mark_stack, budget), bound)) in (0..).zip(PACES.into_iter().zip(bounds)) {
        let spec = GeometrySpec {
            page_bytes: 1024,
            ..CompactFit::GEOMETRY
        };
        let geometry = Geometry::new(&spec).expect("classes");
        let config = Config::new(geometry, bound).expect("valid");
        let config = config.with_pieces(Some(64)).expect("valid");
        let mut region = JunkRegion::new(24 << 10, 1024, seed);
        let gc = Collector::compact_fit(region.memory(), &config, mark_stack.min(256));
        let gc = Incremental::over(gc.expect("large enough"));
        let mut world = Steps::over(gc, Fault::Nothing);
        run(&mut world, seed, 1200, budget);
        seen.add(&world);
    }
    assert!(seen.cycles > 10 && seen.shaded > 0, "{seen:?}");
}
