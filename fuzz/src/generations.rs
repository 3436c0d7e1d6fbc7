//! Collectors with two generations beside the judge of their own tests: after every step exactly
//! the right objects live, are old and are remembered, and every collection says what it did.

use surefit_compact::{Bound, Config, Geometry, GeometrySpec};
use surefit_core::Refused;
use surefit_freelist::{
    Best, Bitmap, Deferred, First, Immediate, Index, Linear, Never, Next, NextHitTable,
    PowersOfTwo, Scan, Segregated, SingleList, SizeTree, Tree, TwoLevel,
};
use surefit_gc::{Collector, CompactFit, FreeList, Generational, OneByOne, Settings, Sweep};

use crate::gc::judge::Fault;
use crate::gc::judge::generations::Aged;
use crate::gc::judge::generations::program::step;
use crate::input::Input;
use crate::region::Region;

const SYSTEMS: &[fn(&mut Input<'_>)] = &[
    run_on_compact_fit,
    run_on::<TwoLevel>,
    run_on::<SingleList<First>>,
    run_on::<SingleList<Best>>,
    run_on::<SizeTree>,
    run_on::<SingleList<Next>>,
    run_on::<PowersOfTwo>,
    run_on::<Segregated<Scan, Never, Tree, 64>>,
    run_on::<Segregated<NextHitTable, Never, Linear, 16>>,
    run_on::<Segregated<Scan, Deferred, Linear, 16>>,
    run_on::<Segregated<NextHitTable, Deferred, Tree, 64>>,
    run_on::<Segregated<Bitmap, Deferred, Tree, 256>>,
    run_on::<Segregated<Bitmap, Immediate, Tree, 256>>,
];

/// Runs an input's program on a collected heap of its choice.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    SYSTEMS[input.below(SYSTEMS.len())](&mut input);
}

fn run_on_compact_fit(input: &mut Input<'_>) {
    let spec = GeometrySpec {
        page_bytes: [1024, 2048][input.below(2)],
        ..CompactFit::GEOMETRY
    };
    let geometry = Geometry::new(&spec).expect("valid");
    let bound = [Bound::DEFAULT, Bound::Unbounded, Bound::Pages(2)][input.below(3)];
    let config = Config::new(geometry, bound).expect("valid");
    let config = config.with_pieces([Some(64), Some(128), None][input.below(3)]);
    let config = config.expect("valid");
    let bytes = (1 + input.below(12)) << 10;
    let mut region = Region::new(bytes, 2048, 0);
    let mark_stack = input.below(20);
    let ran = if input.below(2) == 0 {
        let gc = Collector::compact_fit(region.memory(), &config, mark_stack);
        gc.map(|gc| run_beside(gc, input))
    } else {
        let nursery = [0, 8, 300, 1 << 10, 5 << 10][input.below(5)];
        let gc = Collector::nursery(region.memory(), &config, nursery, mark_stack);
        gc.map(|gc| run_beside(gc, input))
    };
    match ran {
        Ok(()) => {}
        Err(Refused::Region { needed }) => assert!(needed > bytes, "it is large enough"),
        Err(other) => panic!("{other}"),
    }
}

fn run_on<I: Index>(input: &mut Input<'_>) {
    let (bytes, offset) = (input.region_bytes().min(1 << 13), input.below(17));
    let settings = Settings {
        mark_stack: input.below(40),
        sweep: [Sweep::Walk, Sweep::Leap][input.below(2)],
        limit: [usize::MAX, 0, 1000, 5000][input.below(4)],
        large_from: [Settings::LARGE, 60, 200, usize::MAX][input.below(4)],
    };
    let mut region = Region::new(bytes, 16, offset);
    match Collector::<FreeList<'_, I>>::new(region.memory(), settings) {
        Ok(gc) => run_beside(gc, input),
        Err(Refused::Region { needed }) => assert!(needed > bytes, "it is large enough"),
        Err(other) => panic!("{other}"),
    }
}

/// Runs a program that is short of memory now and then.
fn run_beside<S: OneByOne>(gc: Collector<'_, S>, input: &mut Input<'_>) {
    let fault = [Fault::Nothing, Fault::AsksLate][input.below(2)];
    let mut world = Aged::over(Generational::over(gc), fault);
    for _ in 0..800 {
        if input.is_empty() {
            break;
        }
        let verdict = step(&mut world, &mut |bound| input.below(bound));
        verdict.unwrap_or_else(|fault| panic!("{fault}"));
    }
    world.collect().unwrap_or_else(|fault| panic!("{fault}"));
    let generations = world.gc.generations();
    let (minor, full) = (&generations.minor, &generations.full);
    assert_eq!(minor.rounds + full.rounds, world.gc.totals().collections);
    assert!(minor.promoted_bytes + minor.freed_bytes >= minor.young_bytes);
}
