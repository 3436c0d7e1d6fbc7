//! The collector beside the judge of its own tests: after every collection, what lives is what the roots reach.

use surefit_core::Refused;
use surefit_freelist::{
    Best, Bitmap, Deferred, First, Immediate, Index, Linear, Never, Next, NextHitTable,
    PowersOfTwo, Scan, Segregated, SingleList, SizeTree, Tree, TwoLevel, Worst,
};
use surefit_gc::{Collector, FreeList, Settings, Sweep};

#[path = "../../crates/surefit-gc/tests/common/mod.rs"]
mod judge;
use judge::{Fault, World, step};

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
    let system = SYSTEMS[input.below(SYSTEMS.len())];
    system(&mut input);
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
    let mut world = World::over(gc, Fault::Nothing);
    for _ in 0..1500 {
        if input.is_empty() {
            break;
        }
        step(&mut world, &mut |bound| input.below(bound)).unwrap_or_else(|fault| panic!("{fault}"));
    }
    world.collect().unwrap_or_else(|fault| panic!("{fault}"));
}
