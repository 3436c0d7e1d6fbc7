//! The collectors beside the judges of their own tests: after every collection, what lives is what
//! the roots reach; in steps, what the snapshot reached and what was born or upgraded since.

use surefit_compact::{Bound, Config, Geometry, GeometrySpec};
use surefit_core::Refused;
use surefit_freelist::{
    Best, Bitmap, Deferred, First, Immediate, Index, Linear, Never, Next, NextHitTable,
    PowersOfTwo, Scan, Segregated, SingleList, SizeTree, Tree, TwoLevel, Worst,
};
use surefit_gc::{Collector, CompactFit, FreeList, Incremental, Settings, Stepwise, Sweep};

#[path = "../../crates/surefit-gc/tests/it/common/mod.rs"]
pub mod judge;
use judge::steps::Steps;
use judge::{Fault, World, step, steps};

use crate::input::Input;
use crate::region::Region;

const SYSTEMS: &[fn(&mut Input<'_>)] = &[
    run_on::<TwoLevel>,
    run_on::<SingleList<First>>,
    run_on::<SingleList<Best>>,
    run_on::<SizeTree>,
    run_on::<SingleList<Next>>,
    run_on::<SingleList<Worst>>,
    run_on::<PowersOfTwo>,
    run_on::<Segregated<Scan, Never, Tree, 64>>,
    run_on::<Segregated<Scan, Deferred, Linear, 16>>,
    run_on::<Segregated<Scan, Immediate, Tree, 64>>,
    run_on::<Segregated<NextHitTable, Never, Linear, 16>>,
    run_on::<Segregated<NextHitTable, Deferred, Tree, 64>>,
    run_on::<Segregated<NextHitTable, Immediate, Linear, 255>>,
    run_on::<Segregated<Bitmap, Never, Tree, 64>>,
    run_on::<Segregated<Bitmap, Deferred, Linear, 16>>,
    run_on::<Segregated<Bitmap, Immediate, Tree, 256>>,
];

/// Runs an input's program on a collected heap of its choice.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    match SYSTEMS.get(input.below(SYSTEMS.len() + 1)) {
        Some(system) => system(&mut input),
        None => run_on_compact_fit(&mut input),
    }
}

/// Runs a program in steps on a heap whose objects move and are in small pieces.
fn run_on_compact_fit(input: &mut Input<'_>) {
    let spec = GeometrySpec {
        page_bytes: 1024,
        ..CompactFit::GEOMETRY
    };
    let geometry = Geometry::new(&spec).expect("valid");
    let bound = [Bound::DEFAULT, Bound::Unbounded, Bound::Pages(2)][input.below(3)];
    let config = Config::new(geometry, bound).expect("valid");
    let config = config.with_pieces([Some(64), Some(256), None][input.below(3)]);
    let config = config.expect("valid");
    let mut region = Region::new(24 << 10, 1024, 0);
    let gc = Collector::compact_fit(region.memory(), &config, input.below(20));
    run_in_steps(Incremental::over(gc.expect("large enough")), input);
}

/// Runs a program and the collector's steps, of any budget.
fn run_in_steps<S: Stepwise>(gc: Incremental<'_, S>, input: &mut Input<'_>) {
    let mut world = Steps::over(gc, Fault::Nothing);
    for _ in 0..1500 {
        if input.is_empty() {
            break;
        }
        let budget = [1, 2, 10, 100, 5000][input.below(5)];
        let verdict = steps::step(&mut world, budget, &mut |bound| input.below(bound));
        verdict.unwrap_or_else(|fault| panic!("{fault}"));
    }
    world.collect().unwrap_or_else(|fault| panic!("{fault}"));
    let done = world.gc.steps();
    assert!(done.largest_excess < world.gc.most_excess() && done.overruns == 0);
}

fn run_on<I: Index>(input: &mut Input<'_>) {
    let (bytes, offset) = (input.region_bytes().min(1 << 15), input.below(17));
    let settings = Settings {
        mark_stack: input.below(40),
        sweep: [Sweep::Walk, Sweep::Leap][input.below(2)],
        limit: [usize::MAX, 0, 1000, 5000][input.below(4)],
        large_from: [Settings::LARGE, 60, 200, usize::MAX][input.below(4)],
    };
    let mut region = Region::new(bytes, 16, offset);
    let gc = match Collector::<FreeList<'_, I>>::new(region.memory(), settings) {
        Ok(gc) => gc,
        Err(Refused::Region { needed }) => {
            assert!(needed > bytes, "refused, though it is large enough");
            return;
        }
        Err(other) => panic!("{other}"),
    };
    if input.below(2) == 0 {
        return run_in_steps(Incremental::over(gc), input);
    }
    let mut world = World::over(gc, Fault::Nothing);
    for _ in 0..1500 {
        if input.is_empty() {
            break;
        }
        step(&mut world, &mut |bound| input.below(bound)).unwrap_or_else(|fault| panic!("{fault}"));
    }
    world.collect().unwrap_or_else(|fault| panic!("{fault}"));
}
