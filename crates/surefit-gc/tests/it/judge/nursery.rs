//! Random programs on a Compact-fit heap behind a nursery: of every size, from none to one that is
//! larger than the heap, under a collector with two generations and under one that has only full
//! collections.

use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Spacing};
use surefit_gc::{CompactFit, Generational, Nursery, Promotions};

use super::generations::{Seen, run as run_aged};
use super::*;
use crate::common::generations::Aged;
use crate::common::{Graph, HEAD};

const BOUNDS: [Bound; 3] = [Bound::DEFAULT, Bound::Unbounded, Bound::Pages(1)];

fn config(bound: Bound, pieces: Option<usize>) -> Config {
    let spec = GeometrySpec {
        page_bytes: 1024,
        ..CompactFit::GEOMETRY
    };
    let geometry = Geometry::new(&spec).expect("classes");
    let config = Config::new(geometry, bound).expect("valid");
    config.with_pieces(pieces).expect("valid")
}

/// What the nurseries of a test did.
#[derive(Clone, Copy, Debug, Default)]
struct Sum(Promotions);

impl Sum {
    fn add(&mut self, space: &Nursery<'_>) {
        let told = space.promotions();
        self.0.rounds += told.rounds;
        self.0.headers += told.headers;
        self.0.objects += told.objects;
        self.0.bytes += told.bytes;
        self.0.stayed += told.stayed;
        self.0.stayed_bytes += told.stayed_bytes;
    }
}

/// The heap has 12 to 16 KiB, so it is often full.
#[test]
fn under_generations() {
    let (mut seen, mut sum) = (Seen::default(), Sum::default());
    let nurseries = [512, 1 << 10, 2 << 10, 4 << 10, 24 << 10, 0, 40];
    for (seed, nursery) in (0..).zip(nurseries) {
        let bound = BOUNDS[seed as usize % 3];
        let config = config(bound, [Some(64), Some(256), None][seed as usize / 3]);
        let mark_stack = [1, 8, 256][seed as usize % 3];
        let bytes = (14 << 10) + nursery * 25 / 24 + mark_stack * 8;
        let mut region = JunkRegion::new(bytes, 1024, seed);
        let gc = Collector::nursery(region.memory(), &config, nursery, mark_stack);
        let gc = Generational::over(gc.expect("large enough"));
        let mut world = Aged::over(gc, Fault::Nothing);
        run_aged(&mut world, seed, 1000, None);
        seen.add(&world);
        sum.add(world.gc.space());
        let all = world.gc.generations();
        assert_eq!(
            world.gc.space().promotions().rounds,
            all.minor.rounds + all.full.rounds
        );
    }
    seen.judge();
    let told = sum.0;
    assert!(told.objects > 1000 && told.stayed > 100, "{told:?}");
    assert!(told.bytes >= 16 * told.objects, "{told:?}");
    assert!(told.headers >= told.objects + told.stayed, "{told:?}");
    assert!(told.stayed_bytes >= 16 * told.stayed, "{told:?}");
}

#[test]
fn under_full_collections() {
    let mut sum = Sum::default();
    for (seed, nursery) in (0..).zip([256, 1 << 10, 4 << 10, 32 << 10]) {
        let config = config(BOUNDS[seed as usize % 3], Some(256));
        let mut region = JunkRegion::new((18 << 10) + nursery * 25 / 24, 1024, seed);
        let gc = Collector::nursery(region.memory(), &config, nursery, 8).expect("large enough");
        let mut world = World::over(gc, Fault::Nothing);
        program(&mut world, seed, 2000).expect("nothing to object to");
        let totals = world.gc.totals();
        assert!(totals.collections > 10 && totals.refusals > 0, "{totals:?}");
        sum.add(world.gc.space());
    }
    let told = sum.0;
    assert!(told.objects > 300 && told.stayed > 30, "{told:?}");
}

/// Configurations in which the smallest object is longer than a piece: the nursery serves nothing,
/// or not all.
#[test]
fn classes_longer_than_a_piece() {
    let sizes = [
        &[64, 128, 336][..],
        &[8, 96, 336],
        &[96, 336],
        &[8, 16, 32, 72, 336],
    ];
    let served = sizes.map(|sizes| {
        let spec = GeometrySpec {
            page_bytes: 1024,
            spacing: Spacing::Explicit(sizes),
            ..CompactFit::GEOMETRY
        };
        let geometry = Geometry::new(&spec).expect("valid");
        let config = Config::new(geometry, Bound::DEFAULT).expect("valid");
        let config = config.with_pieces(Some(64)).ok()?;
        let mut region = JunkRegion::new(20 << 10, 1024, 1);
        let (gc, _) = small(&mut region, &config, 2 << 10);
        let mut world = Aged::over(gc, Fault::Nothing);
        run_aged(&mut world, 3, 300, None);
        Some(world.gc.space().promotions().headers > 0)
    });
    let [first, second, _, last] = served;
    assert_eq!(
        (first, second, last),
        (Some(false), Some(false), Some(true))
    );
}

/// A request that fits while its page-block does not: the heap serves it, and nothing is collected
/// for it.
#[test]
fn few_classes_and_a_small_nursery() {
    let spec = GeometrySpec {
        page_bytes: 1024,
        spacing: Spacing::Explicit(&[8, 336]),
        ..CompactFit::GEOMETRY
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::DEFAULT);
    let config = config.and_then(|config| config.with_pieces(None));
    let config = config.expect("valid");
    for nursery in [16, 200, 400, 5400, 6000] {
        let mut region = JunkRegion::new((20 << 10) + nursery, 1024, 1);
        let (mut gc, mut graph) = small(&mut region, &config, nursery);
        for bytes in 0..336 {
            assert!(gc.alloc(&mut graph, bytes).is_ok(), "{bytes} of {nursery}");
        }
        let serves = gc.space().promotions().headers > 0;
        assert_eq!(serves, nursery > 16 * 336, "{nursery}");
    }
}

/// Where only entries are missing, moves make room for more of them before anything is collected.
#[test]
fn a_missing_entry_is_no_reason_to_collect() {
    let config = config(Bound::Unbounded, Some(256));
    let mut region = JunkRegion::new(40 << 10, 1024, 1);
    let (mut gc, mut graph) = small(&mut region, &config, 16 << 10);
    let mut random = Random(1);
    while gc.live().0 < 600 {
        let object = gc.alloc(&mut graph, 8 + 8 * random.below(8)).expect("room");
        graph.roots.push(object);
    }
    gc.collect(&mut graph);
    let mut nth = 0;
    graph.roots.retain(|_| {
        nth += 1;
        nth % 5 == 0
    });
    gc.collect(&mut graph);
    let mut births = 0;
    let before = gc.totals().collections;
    while gc.totals().collections == before {
        gc.alloc(&mut graph, 16).expect("room");
        births += 1;
    }
    assert!(
        gc.space().heap().relief().requests > 0,
        "an entry was missing"
    );
    // 16 KiB hold 682 of them with their headers.
    assert_eq!(births, 683);
    assert_eq!(gc.check(), Ok(()));
}

type Small<'m> = Generational<'m, Nursery<'m>>;

fn small<'m>(region: &'m mut JunkRegion, config: &'m Config, nursery: usize) -> (Small<'m>, Graph) {
    let gc = Collector::nursery(region.memory(), config, nursery, 64).expect("large enough");
    (Generational::over(gc), Graph::new(Fault::Nothing))
}

/// Garbage is never copied; what lives is copied once, and keeps its number and its words.
#[test]
fn an_object_is_copied_once() {
    let config = config(Bound::DEFAULT, Some(256));
    let mut region = JunkRegion::new(1 << 16, 1024, 1);
    let (mut gc, mut graph) = small(&mut region, &config, 8 << 10);
    for nth in 0..20_000_u32 {
        let object = gc.alloc(&mut graph, 24).expect("room");
        if nth % 100 == 0 {
            gc.store_data(object, HEAD, nth);
            graph.roots.push(object);
        }
    }
    gc.collect_young(&mut graph);
    let told = gc.space().promotions();
    assert_eq!((told.objects, told.bytes, told.stayed), (200, 200 * 24, 0));
    assert_eq!(gc.space().in_nursery(), (0, 0));
    let words = graph.roots.iter().map(|&object| gc.load(object, HEAD));
    assert!(words.eq((0..20_000).step_by(100)));
    // A nursery of 8 KiB holds 256 such objects with their headers.
    assert_eq!(
        gc.generations().minor.rounds + gc.generations().full.rounds,
        79
    );
}

/// A heap that is full: what lives stays in the nursery and slides down; the program goes on in
/// what is left of both, and gets an error at the end. When it lets go, all of it is promoted.
#[test]
fn what_finds_no_room_stays() {
    let config = config(Bound::Pages(1), None);
    let mut region = JunkRegion::new(12 << 10, 1024, 1);
    let (mut gc, mut graph) = small(&mut region, &config, 4 << 10);
    while let Ok(object) = gc.alloc(&mut graph, 40) {
        graph.roots.push(object);
    }
    assert_eq!(gc.check(), Ok(()));
    let (objects, bytes) = gc.space().in_nursery();
    assert!(objects > 60 && bytes > (4 << 10) - 64, "{objects} {bytes}");
    assert_eq!(graph.roots.len() as u64, gc.live().0);
    let kept = graph.roots.split_off(graph.roots.len() / 2);
    gc.collect(&mut graph);
    assert_eq!((gc.check(), gc.space().in_nursery()), (Ok(()), (0, 0)));
    assert!(kept.iter().all(|&object| !gc.contains(object)));
    assert!(graph.roots.iter().all(|&object| gc.words(object) >= 10));
    // Now there is room for all that a nursery can hold.
    for _ in 0..10_000 {
        gc.alloc(&mut graph, 40).expect("room");
    }
    assert_eq!(gc.check(), Ok(()));
}

/// When objects of one size fill the heap and the nursery, one of another size still finds the
/// page-block that is free.
#[test]
fn a_crowded_nursery_leaves_requests_to_the_heap() {
    let config = config(Bound::Pages(1), None);
    let mut region = JunkRegion::new(12 << 10, 1024, 1);
    let (mut gc, mut graph) = small(&mut region, &config, 4 << 10);
    let first = gc.alloc(&mut graph, 16).expect("room");
    graph.roots.push(first);
    gc.collect(&mut graph);
    while let Ok(object) = gc.alloc(&mut graph, 40) {
        graph.roots.push(object);
    }
    let stayed = gc.space().in_nursery();
    assert!(stayed.0 > 60, "{stayed:?}");
    let other = gc.alloc(&mut graph, 16).expect("beside the first one");
    assert_eq!((gc.words(other), gc.space().in_nursery()), (4, stayed));
    assert_eq!(gc.check(), Ok(()));
}

/// The bytes of the region are those of the parts; the nursery's are among them.
#[test]
fn parts_add_up() {
    let config = config(Bound::DEFAULT, Some(256));
    for nursery in [0, 8, 4 << 10] {
        let mut region = JunkRegion::new(1 << 15, 1024, 1);
        let (mut gc, mut graph) = small(&mut region, &config, nursery);
        for size in [0, 8, 64, 300, 2000, 40] {
            let object = gc.alloc(&mut graph, size).expect("room");
            graph.roots.push(object);
            assert_eq!(gc.usage().total(), 1 << 15, "{nursery}");
        }
        assert_eq!(gc.space().nursery_bytes(), nursery);
        gc.collect_young(&mut graph);
        assert_eq!((gc.usage().total(), gc.check()), (1 << 15, Ok(())));
    }
}
