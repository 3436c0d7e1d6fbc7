//! Every program of a few steps on a Compact-fit heap of a few pages, under the judge after every
//! step.

use crate::common::{Fault, STEPS, World, run_every_step};
use surefit_compact::{Bound, Config, Fraction, Geometry, GeometrySpec, PageOrder, Spacing};
use surefit_gc::{Collector, CompactFit};
use surefit_testkit::JunkRegion;

/// Pages of 1 KiB for 3, 2 or 1 objects, or for stubs; longer objects are in pieces of 512 bytes.
fn config(bound: Bound) -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        spacing: Spacing::Explicit(&[8, 336, 512]),
        ..CompactFit::GEOMETRY
    };
    let geometry = Geometry::new(&spec).expect("valid");
    let config = Config::new(geometry, bound).expect("valid");
    config.with_pieces(Some(512)).expect("valid")
}

/// One step. A refused allocation is a step that does nothing.
fn step(world: &mut World<'_, CompactFit<'_>>, number: usize) -> Result<(), String> {
    let ends = world
        .reached
        .first()
        .copied()
        .zip(world.reached.last().copied());
    match (number, ends) {
        // A third of a page, half of one, and three pieces with a spine and a stub.
        (0, _) => return world.alloc(1, 2).map(|_| ()),
        (1, _) => return world.alloc(1, 90).map(|_| ()),
        (2, _) => return world.alloc(2, 290).map(|_| ()),
        (3, Some((oldest, newest))) => world.link(oldest, 0, Some(newest)),
        (4, Some((oldest, newest))) => world.link(newest, 0, Some(oldest)),
        (5, _) => world.drop_root(0),
        (6, _) => world.drop_root(world.root_count().saturating_sub(1)),
        (7, _) => return world.collect(),
        _ => {}
    }
    Ok(())
}

/// Runs all programs of a length after two pages were filled. Returns how many collections a
/// request caused, and how many moves there were.
fn every_program(steps: u32, config: &Config, mark_stack: usize) -> (u64, u64) {
    let mut region = JunkRegion::new(6 << 10, 1024, 1);
    let (mut collections, mut moves) = (0, 0);
    for program in 0..STEPS.pow(steps) {
        let gc = Collector::compact_fit(region.memory(), config, mark_stack);
        let mut world = World::over(gc.expect("large enough"), Fault::Nothing);
        (0..6)
            .try_for_each(|_| step(&mut world, 0))
            .expect("two full pages");
        let asked = run_every_step(&mut world, program, steps, step);
        collections += world.gc.totals().collections - asked;
        let space = world.gc.space();
        moves += space.stats().moves_total;
        assert_eq!(space.relief().fragmented_collections, 0);
    }
    (collections, moves)
}

#[test]
fn with_every_bound() {
    let none = Bound::Holes {
        base: 0,
        fraction: Fraction::ZERO,
    };
    let original = config(Bound::Pages(1)).with_order(PageOrder::Original);
    let configs = [
        config(none),
        config(Bound::Pages(1)),
        config(Bound::Unbounded),
        original.expect("valid"),
    ];
    for config in &configs {
        let (collections, moves) = every_program(4, config, 1);
        assert!(collections > 300 && moves > 0, "{collections}, {moves}");
    }
}

#[test]
fn longer_programs() {
    let (collections, moves) = every_program(5, &config(Bound::Unbounded), 1);
    assert!(collections > 3000 && moves > 100, "{collections}, {moves}");
}
