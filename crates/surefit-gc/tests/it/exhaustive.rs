//! Every program of a few steps on a heap of a few granules, under the judge after every step.

#[path = "exhaustive/generations.rs"]
mod generations;

use crate::common::{Fault, STEPS, World, run_every_step};
use surefit_freelist::{
    Bitmap, Deferred, First, Immediate, Index, Linear, Never, Next, NextHitTable, PowersOfTwo,
    Scan, Segregated, SingleList, Tree, TwoLevel, Worst,
};
use surefit_gc::{FreeList, Settings, Sweep};
use surefit_testkit::JunkRegion;

/// One step. A refused allocation is a step that does nothing.
fn step(world: &mut World<'_, FreeList<'_, impl Index>>, number: usize) -> Result<(), String> {
    let (oldest, newest) = (
        world.reached.first().copied(),
        world.reached.last().copied(),
    );
    match (number, oldest.zip(newest)) {
        // Chunks of two, three and four granules, with one, two and three slots.
        (0..3, _) => return world.alloc(number + 1, number).map(|_| ()),
        (3, Some((oldest, newest))) => world.link(oldest, 0, Some(newest)),
        (4, Some((oldest, newest))) => world.link(newest, 0, Some(oldest)),
        (5, Some((oldest, _))) => world.link(oldest, 0, None),
        (6, _) => world.drop_root(0),
        (7, _) => return world.collect(),
        _ => {}
    }
    Ok(())
}

/// The smallest region whose heap has this many granules of chunks when it is fully grown.
fn bytes_for<I: Index>(granules: usize, settings: Settings) -> usize {
    let limit = usize::MAX;
    let settings = Settings { limit, ..settings };
    let enough = |bytes: &usize| {
        let mut region = JunkRegion::new(*bytes, 8, 1);
        let heap = surefit_gc::Collector::<FreeList<'_, I>>::new(region.memory(), settings);
        heap.is_ok_and(|gc| gc.usage().free_chunk_bytes + 4 >= granules * 8)
    };
    (0..)
        .step_by(8)
        .find(enough)
        .expect("some region is large enough")
}

/// Runs all programs of a length. Returns how many collections a request caused.
fn every_program<I: Index>(steps: u32, granules: usize, settings: Settings) -> u64 {
    let mut region = JunkRegion::new(bytes_for::<I>(granules, settings), 8, 1);
    let mut collections = 0;
    for program in 0..STEPS.pow(steps) {
        let mut world = World::<FreeList<'_, I>>::new(&mut region, settings, Fault::Nothing);
        let asked = run_every_step(&mut world, program, steps, step);
        collections += world.gc.totals().collections - asked;
    }
    collections
}

fn with_every_stack<I: Index>() {
    for (mark_stack, sweep) in [(1, Sweep::Walk), (2, Sweep::Leap), (8, Sweep::Leap)] {
        let settings = Settings {
            mark_stack,
            sweep,
            large_from: usize::MAX,
            ..Settings::default()
        };
        let collections = every_program::<I>(5, 9, settings);
        assert!(collections > 300, "{collections} only");
    }
}

/// Chunks of three and four granules are large; the heap begins with all of its region, a part, or
/// nothing.
fn with_two_ends<I: Index>() {
    for (limit, large_from, sweep) in [
        (usize::MAX, 20, Sweep::Walk),
        (40, 20, Sweep::Leap),
        (0, 28, Sweep::Walk),
        (24, usize::MAX, Sweep::Leap),
    ] {
        let settings = Settings {
            mark_stack: 1,
            sweep,
            limit,
            large_from,
        };
        let collections = every_program::<I>(5, 9, settings);
        assert!(collections > 300, "{collections} only");
    }
}

macro_rules! spaces {
    ($($name:ident $index:ty;)*) => {$(
        #[test]
        fn $name() {
            with_every_stack::<$index>();
            with_two_ends::<$index>();
        }
    )*};
}

spaces! {
    scan_never Segregated<Scan, Never, Linear, 16>;
    scan_deferred Segregated<Scan, Deferred, Linear, 16>;
    scan_immediate Segregated<Scan, Immediate, Linear, 16>;
    table_never Segregated<NextHitTable, Never, Tree, 16>;
    table_deferred Segregated<NextHitTable, Deferred, Tree, 16>;
    table_immediate Segregated<NextHitTable, Immediate, Tree, 16>;
    bitmap_never Segregated<Bitmap, Never, Linear, 16>;
    bitmap_deferred Segregated<Bitmap, Deferred, Linear, 16>;
    bitmap_immediate Segregated<Bitmap, Immediate, Tree, 16>;
    first_fit SingleList<First>;
    next_fit SingleList<Next>;
    worst_fit SingleList<Worst>;
    half_fit PowersOfTwo;
    tlsf TwoLevel;
}

#[test]
fn longer_programs() {
    let settings = Settings {
        mark_stack: 1,
        large_from: 28,
        ..Settings::default()
    };
    every_program::<SingleList<First>>(6, 9, settings);
    every_program::<Segregated<NextHitTable, Deferred, Tree, 16>>(6, 11, settings);
}
