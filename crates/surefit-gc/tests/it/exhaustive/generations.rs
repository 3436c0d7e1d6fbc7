//! Every program of a few steps beside a collector with two generations, after an object has grown
//! old.

use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Spacing};
use surefit_gc::{Collector, CompactFit, Generational, OneByOne};

use super::*;
use crate::common::generations::{Aged, Forgets};
use crate::common::{Fault, STEPS, Verdict};

/// Further words of the objects of one slot, and of those with two.
type Sizes = [usize; 2];

/// One step. A refused allocation is a step that does nothing.
fn step<S: OneByOne>(world: &mut Aged<'_, S>, number: usize, sizes: Sizes) -> Verdict {
    let (oldest, newest) = (
        world.reached.first().copied(),
        world.reached.last().copied(),
    );
    match (number, oldest.zip(newest)) {
        (0, _) => return world.alloc(1, sizes[0]).map(|_| ()),
        (1, _) => return world.alloc(2, sizes[1]).map(|_| ()),
        (2, Some((oldest, newest))) => return world.link(oldest, 0, Some(newest)),
        (3, Some((oldest, newest))) => return world.link(newest, 0, Some(oldest)),
        (4, Some((oldest, _))) => return world.link(oldest, 0, None),
        (5, _) => return world.drop_root(0),
        (6, _) => return world.drop_root(world.roots.len().saturating_sub(1)),
        (7, _) => return world.collect_young(),
        _ => {}
    }
    Ok(())
}

/// Runs a program whose steps are the octal digits of a number, last digit first.
fn run<S: OneByOne>(world: &mut Aged<'_, S>, program: usize, steps: u32, sizes: Sizes) -> Verdict {
    world.alloc(1, sizes[0])?;
    world.collect_young()?;
    let mut rest = program;
    for _ in 0..steps {
        step(world, rest % STEPS, sizes)?;
        rest /= STEPS;
    }
    world.collect_young()?;
    world.verify_words()?;
    world.collect()
}

/// What all programs did.
#[derive(Debug, Default)]
struct Seen {
    minors: u64,
    fulls: u64,
    remembered: u64,
}

impl Seen {
    /// Runs a program to its end; returns its heap.
    fn run<'m, S: OneByOne>(
        &mut self,
        gc: Collector<'m, S>,
        program: usize,
        steps: u32,
        sizes: Sizes,
    ) -> Generational<'m, S> {
        let mut world = Aged::over(Generational::over(gc), Fault::Nothing);
        let verdict = run(&mut world, program, steps, sizes);
        assert_eq!(verdict, Ok(()), "program {program:o} (octal, last first)");
        let generations = world.gc.generations();
        self.minors += generations.minor.rounds;
        self.fulls += generations.full.rounds;
        self.remembered += generations.minor.remembered;
        world.gc
    }
}

fn over_lists<I: Index>(steps: u32, granules: usize, mark_stack: usize) -> Seen {
    let settings = Settings {
        mark_stack,
        ..Settings::default()
    };
    let mut region = JunkRegion::new(bytes_for::<I>(granules, settings), 8, 1);
    let mut seen = Seen::default();
    for program in 0..STEPS.pow(steps) {
        let gc = Collector::<FreeList<'_, I>>::new(region.memory(), settings);
        seen.run(gc.expect("large enough"), program, steps, [0, 1]);
    }
    seen
}

#[test]
fn over_free_lists() {
    for seen in [
        over_lists::<Segregated<Bitmap, Immediate, Tree, 16>>(5, 9, 1),
        over_lists::<Segregated<NextHitTable, Deferred, Tree, 16>>(5, 11, 1),
        over_lists::<SingleList<First>>(5, 9, 2),
        over_lists::<TwoLevel>(5, 12, 8),
    ] {
        assert!(seen.fulls > 32_768 && seen.minors > 70_000, "{seen:?}");
        assert!(seen.remembered > 3000, "{seen:?}");
    }
}

/// Pages of 1 KiB for 3, 2 or 1 objects; some objects are in pieces.
#[test]
fn over_compact_fit() {
    let spec = GeometrySpec {
        page_bytes: 1024,
        spacing: Spacing::Explicit(&[8, 336, 512]),
        ..CompactFit::GEOMETRY
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::Pages(1));
    let config = config.and_then(|config| config.with_pieces(Some(512)));
    let config = config.expect("valid");
    let mut region = JunkRegion::new(6 << 10, 1024, 1);
    let mut seen = Seen::default();
    for program in 0..STEPS.pow(4) {
        let gc = Collector::compact_fit(region.memory(), &config, 1);
        seen.run(gc.expect("large enough"), program, 4, [80, 290]);
    }
    assert!(seen.minors > 8000 && seen.remembered > 300, "{seen:?}");
}

/// A nursery that holds one to three objects, and a heap of five pages: some objects stay in the
/// nursery.
#[test]
fn over_a_nursery() {
    let spec = GeometrySpec {
        page_bytes: 1024,
        spacing: Spacing::Explicit(&[8, 96, 336]),
        ..CompactFit::GEOMETRY
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::Pages(1));
    let config = config.and_then(|config| config.with_pieces(None));
    let config = config.expect("valid");
    let (mut seen, mut stayed, mut promoted) = (Seen::default(), 0, 0);
    for (kib, nursery) in [(3, 5400), (2, 6000)] {
        let mut region = JunkRegion::new((kib << 10) + nursery, 1024, 1);
        for program in 0..STEPS.pow(4) {
            let gc = Collector::nursery(region.memory(), &config, nursery, 1);
            let told = seen.run(gc.expect("large enough"), program, 4, [80, 20]);
            let told = told.space().promotions();
            stayed += told.stayed;
            promoted += told.objects;
        }
    }
    assert!(seen.minors > 8000 && seen.remembered > 300, "{seen:?}");
    assert!(promoted > 8000 && stayed > 100, "{promoted} {stayed}");
}

/// Programs whose links are written as data, so that nothing is remembered: some lose an object.
#[test]
fn without_a_barrier_objects_are_lost() {
    type Lists = Segregated<Bitmap, Immediate, Tree, 16>;
    let settings = Settings::default();
    let mut region = JunkRegion::new(bytes_for::<Lists>(9, settings), 8, 1);
    let mut lost = 0;
    for program in 0..STEPS.pow(4) {
        let gc = Collector::<FreeList<'_, Lists>>::new(region.memory(), settings);
        let gc = Generational::over(gc.expect("large enough"));
        let mut world = Aged::over(gc, Fault::Nothing);
        world.forgets = Forgets::Links;
        if let Err(told) = run(&mut world, program, 4, [0, 1]) {
            assert!(told.ends_with("is kept but was freed"), "{told}");
            lost += 1;
        }
    }
    assert!(lost > 5, "{lost}");
}
