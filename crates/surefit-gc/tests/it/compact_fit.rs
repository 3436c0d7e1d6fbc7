//! Random programs on the Compact-fit space under the judge, and the promises of this space alone.

#[path = "compact_fit/certified.rs"]
mod certified;
#[path = "compact_fit/schedules.rs"]
mod schedules;

use crate::common::{Fault, Random, World, program};
use surefit_compact::{Bound, Config, Fraction, Geometry, GeometrySpec, PageOrder};
use surefit_core::Refused;
use surefit_gc::{Client, Collector, CompactFit, Edges, Incremental, Object, Scanned, Space};
use surefit_testkit::JunkRegion;

const KIB: usize = 1 << 10;

/// The partitioning for the collector, in pages of this size.
fn geometry(page_bytes: usize) -> Geometry {
    let spec = GeometrySpec {
        page_bytes,
        ..CompactFit::GEOMETRY
    };
    Geometry::new(&spec).expect("valid")
}

fn config(page_bytes: usize, bound: Bound) -> Config {
    Config::new(geometry(page_bytes), bound).expect("valid")
}

/// Configurations that differ in bound, order, page size and pieces.
fn configs() -> Vec<Config> {
    let half = Fraction::new(1, 2).expect("at most one half");
    let holes = |base, fraction| Bound::Holes { base, fraction };
    let pieces = |config: Config, bytes| config.with_pieces(bytes).expect("valid");
    let original = config(KIB, Bound::Pages(2)).with_order(PageOrder::Original);
    vec![
        config(KIB, Bound::DEFAULT),
        config(KIB, holes(0, Fraction::ZERO)),
        config(KIB, holes(2, half)),
        config(KIB, Bound::Pages(1)),
        config(KIB, Bound::Pages(3)),
        config(KIB, Bound::Unbounded),
        original.expect("valid"),
        config(2 * KIB, Bound::Unbounded),
        pieces(config(KIB, Bound::Unbounded), Some(64)),
        pieces(config(KIB, Bound::DEFAULT), Some(KIB)),
        pieces(config(4 * KIB, Bound::DEFAULT), None),
    ]
}

fn world<'m>(
    region: &'m mut JunkRegion,
    config: &'m Config,
    stack: usize,
) -> World<'m, CompactFit<'m>> {
    let gc = Collector::compact_fit(region.memory(), config, stack);
    World::over(gc.expect("large enough"), Fault::Nothing)
}

/// The objects that a program got, and the counts of the collector.
type Outcome = (Vec<Option<u32>>, [u64; 5]);

/// Runs a program on a heap whose tables lie elsewhere, so that the mark stack takes no room from
/// it.
fn run(seed: u64, config: &Config, mark_stack: usize) -> Outcome {
    let bytes = (40 * KIB).max(18 * config.geometry().page_bytes());
    let mut region = JunkRegion::new(bytes, config.geometry().page_bytes(), seed);
    let (mut pieces, mut bits) = ([u64::MAX; 200], [u64::MAX; 900]);
    let mut stack = vec![u64::MAX; mark_stack];
    let space = CompactFit::new(region.memory(), config, &mut pieces).expect("large enough");
    let gc = Collector::over(space, &mut bits, &mut stack);
    let mut world = World::over(gc, Fault::Nothing);
    let places = program(&mut world, seed, 4000).expect("nothing to object to");
    let (totals, relief) = (*world.gc.totals(), world.gc.space().relief());
    assert!(totals.collections > 10 && totals.refusals > 0, "{totals:?}");
    assert_eq!(totals.rescans > 0, mark_stack < 4096, "{totals:?}");
    assert_eq!(relief.fragmented_collections, 0);
    let counts = [
        totals.collections,
        totals.marked,
        totals.edges,
        totals.freed_objects,
        world.gc.space().stats().moves_total,
    ];
    (places, counts)
}

#[test]
fn programs_are_judged_and_the_mark_stack_decides_nothing() {
    let mut relieved = 0;
    for config in configs() {
        for seed in 0..2 {
            let expected = run(seed, &config, 4096);
            for mark_stack in [1, 8] {
                assert!(run(seed, &config, mark_stack) == expected, "{config:?}");
            }
            relieved += expected.1[4];
        }
    }
    assert!(relieved > 1000, "{relieved} moves only");
}

/// Fills a world with objects, each in a slot of a root. The judge verifies the words of every
/// object.
fn fill(world: &mut World<'_, CompactFit<'_>>, further: usize) -> Vec<usize> {
    let allocate = || world.alloc(1, further).expect("nothing to object to");
    std::iter::from_fn(allocate).collect()
}

/// Every length around the limits of pieces, spines and spines of spines, up to a third of the
/// heap.
#[test]
fn long_objects_of_all_boundary_sizes_hold_their_words() {
    for config in configs() {
        let page = config.geometry().page_bytes();
        let bytes = 200 * KIB;
        let mut region = JunkRegion::new(bytes, page, 1);
        let mut world = world(&mut region, &config, 64);
        let piece = config.piece_bytes().unwrap_or(page);
        let boundaries = [
            page,
            piece,
            2 * piece,
            3 * piece,
            16 * piece,
            17 * piece,
            piece * piece / 4,
        ];
        for boundary in boundaries.into_iter().filter(|&b| b < bytes / 4) {
            for words in (boundary / 4 - 3)..(boundary / 4 + 5) {
                let id = world.alloc(2, words - 4).expect("nothing to object to");
                let too_long = config.piece_bytes().is_none() && words * 4 > page;
                assert_eq!(id.is_none(), too_long, "{words} words");
                world.verify().expect("all words");
                if world.root_count() > 4 {
                    world.drop_root(words % 4);
                    world.collect().expect("nothing to object to");
                }
            }
        }
        assert!(world.root_count() > 0);
    }
}

/// An array as long as the longest in the recordings, with pages of 16 KiB and the default
/// configuration.
#[test]
fn arrays_of_the_recordings_fit() {
    static CONFIG: Config = CompactFit::CONFIG;
    let mut region = JunkRegion::new(1 << 20, 16 * KIB, 1);
    let mut world = world(&mut region, &CONFIG, 64);
    for bytes in [324_640, 4096, 4100, 8192, 16_384, 16_388, 65_552] {
        let id = world
            .alloc(3, bytes / 4 - 5)
            .expect("nothing to object to")
            .expect("room");
        assert_eq!(world.gc.words(world.object(id)) as usize, bytes / 4);
    }
    world.collect().expect("nothing to object to");
    (0..7).for_each(|_| world.drop_root(0));
    world.collect().expect("nothing to object to");
    assert_eq!(world.gc.usage().block_bytes, 0);
}

/// A program that coalescing alone cannot help: a few objects stay everywhere, and then larger ones
/// are requested.
#[test]
fn scattered_objects_are_moved_together_instead_of_collected() {
    for (bound, moves_in_sweeps) in [(Bound::Unbounded, false), (Bound::DEFAULT, true)] {
        let config = config(KIB, bound);
        let mut region = JunkRegion::new(200 * KIB, KIB, 1);
        let mut world = world(&mut region, &config, 64);
        let small = fill(&mut world, 3);
        assert!(small.len() > 2000, "{}", small.len());
        let kept = small.len() / 8;
        // Seven of eight die, on every page.
        for nth in 0..kept {
            (0..7).for_each(|_| world.drop_root(nth));
        }
        world.collect().expect("nothing to object to");
        let moves = |world: &World<'_, CompactFit<'_>>| world.gc.space().stats().moves_total;
        assert_eq!(moves(&world) > 0, moves_in_sweeps);
        let (collections, before) = (world.gc.totals().collections, moves(&world));
        let mut large = 0;
        while world.gc.totals().collections == collections {
            world.alloc(1, 100).expect("nothing to object to");
            large += 1;
        }
        // About 200 objects of 412 bytes, two per page, although every page held some object.
        assert!(large > 200, "{large} only");
        assert!(moves(&world) > before || moves_in_sweeps);
        let relief = world.gc.space().relief();
        assert!(relief.requests > 0 || moves_in_sweeps, "{relief:?}");
        assert_eq!(relief.fragmented_collections, 0);
    }
}

/// Without the moves that the collector requests, the same program collects because of
/// fragmentation, and this is counted.
#[test]
fn collections_that_moves_would_have_spared_are_counted() {
    let config = config(KIB, Bound::Unbounded);
    let mut region = JunkRegion::new(60 * KIB, KIB, 1);
    let mut world = world(&mut region, &config, 64);
    let small = fill(&mut world, 3);
    for nth in 0..small.len() / 8 {
        (0..7).for_each(|_| world.drop_root(nth));
    }
    world.collect().expect("nothing to object to");
    assert_eq!(world.gc.space().relief().fragmented_collections, 0);
    while world.gc.alloc_as_is(400).is_ok() {}
    world.gc.collect(&mut world.graph);
    let relief = world.gc.space().relief();
    assert_eq!(relief.fragmented_collections, 1);
    assert!(relief.free_bytes_before > 10_000, "{relief:?}");
}

#[test]
fn what_an_empty_heap_cannot_hold_is_refused_without_a_collection() {
    for config in configs() {
        let mut region = JunkRegion::new(50 * KIB, config.geometry().page_bytes(), 1);
        let mut world = world(&mut region, &config, 64);
        let Err(Refused::TooLarge { limit }) = world.gc.alloc(&mut world.graph, 1 << 30) else {
            panic!("too large")
        };
        assert_eq!(
            world.gc.alloc(&mut world.graph, limit + 1),
            Err(Refused::TooLarge { limit })
        );
        assert_eq!(world.gc.totals().collections, 0);
        // The whole heap, and again after a collection.
        for collections in 0..3 {
            let object = world
                .gc
                .alloc(&mut world.graph, limit)
                .expect("the largest");
            assert!(world.gc.words(object) as usize >= limit / 4);
            if config.piece_bytes().is_some() {
                assert_eq!(world.gc.totals().collections, collections);
            }
        }
        assert_eq!(world.gc.check(), Ok(()));
    }
}

/// Refusals are correct: objects packed as tightly as the classes allow would leave no room either.
#[test]
fn a_heap_refuses_only_what_no_moves_would_serve() {
    for config in configs() {
        let page = config.geometry().page_bytes();
        let mut region = JunkRegion::new(20 * page, page, 3);
        let mut world = world(&mut region, &config, 64);
        let (mut random, mut refusals) = (Random(3), 0);
        for _ in 0..1500 {
            let further = random.below(150);
            if world
                .alloc(1, further)
                .expect("nothing to object to")
                .is_none()
            {
                assert!(!world.gc.space().would_fit((3 + further) * 4));
                refusals += 1;
                (0..6).for_each(|_| world.drop_root(random.below(world.root_count() + 1)));
            }
        }
        assert!(refusals > 20, "{refusals}");
        assert_eq!(world.gc.space().relief().fragmented_collections, 0);
    }
}

#[test]
fn every_byte_of_the_region_is_accounted_for() {
    for config in configs() {
        for offset in [0, 1, 8, 1000] {
            let bytes = 100 * KIB + offset;
            let mut region = JunkRegion::misaligned(bytes, KIB, offset, 1);
            let mut world = world(&mut region, &config, 7);
            world.alloc(2, 2000).expect("nothing to object to");
            world.alloc(2, 2).expect("nothing to object to");
            assert_eq!(world.gc.usage().total(), bytes);
        }
    }
}

#[test]
fn a_region_too_small_is_refused_with_the_size_that_would_do() {
    for config in configs() {
        for mark_stack in [0, 1, 5000] {
            let refused = Collector::compact_fit(&mut [], &config, mark_stack).map(|_| ());
            let Err(Refused::Region { needed }) = refused else {
                panic!("{refused:?}")
            };
            let page = config.geometry().page_bytes();
            let mut region = JunkRegion::new(needed + page, page, 1);
            for start in [0, 1, 7, page / 2, page - 1] {
                let memory = &mut region.memory()[start..][..needed];
                let gc = Collector::compact_fit(memory, &config, mark_stack).expect("enough");
                assert_eq!(gc.check(), Ok(()));
            }
            for length in (0..needed - 2 * page).step_by(97) {
                let memory = &mut region.memory()[1..][..length];
                let refused = Collector::compact_fit(memory, &config, mark_stack).map(|_| ());
                assert_eq!(refused, Err(Refused::Region { needed }), "{length}");
            }
        }
    }
    let boundless = Collector::compact_fit(&mut [], &configs()[0], usize::MAX).map(|_| ());
    assert_eq!(boundless, Err(Refused::Region { needed: usize::MAX }));
}

#[test]
fn a_request_that_no_space_can_number_is_refused() {
    let config = config(KIB, Bound::DEFAULT);
    let mut region = JunkRegion::new(20 * KIB, KIB, 1);
    let mut world = world(&mut region, &config, 8);
    let beyond = usize::try_from(1_u64 << 34).unwrap_or(1 << 31);
    for bytes in [usize::MAX, usize::MAX - 3, beyond] {
        let refused = world.gc.alloc(&mut world.graph, bytes);
        assert!(matches!(refused, Err(Refused::TooLarge { .. })), "{bytes}");
    }
    assert_eq!(world.gc.totals().collections, 0);
    assert_eq!(world.gc.check(), Ok(()));
}

/// The second class begins at 65 bytes, a piece ends at 64: every object is one in pieces.
#[test]
fn objects_shorter_than_the_second_class_may_be_longer_than_a_piece() {
    let spec = GeometrySpec {
        page_bytes: 4 * KIB,
        smallest: 64,
        ..CompactFit::GEOMETRY
    };
    let config = Config::new(Geometry::new(&spec).expect("valid"), Bound::DEFAULT);
    let config = config.expect("valid").with_pieces(Some(64)).expect("valid");
    let mut region = JunkRegion::new(64 * KIB, 4 * KIB, 1);
    let mut world = world(&mut region, &config, 8);
    program(&mut world, 1, 2000).expect("nothing to object to");
}

/// Roots alone.
struct Held(Vec<Object>);

impl<S: Space> Client<S> for Held {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.0.iter().for_each(|&object| edges.report(object));
    }

    fn scan(&mut self, _object: &Scanned<'_, S>, _from: u32, _edges: &mut Edges<'_>) {}
}

#[test]
fn moves_serve_a_request_after_the_cycle_that_ran_is_finished() {
    let config = config(KIB, Bound::Unbounded);
    let mut region = JunkRegion::new(48 * KIB, KIB, 1);
    let gc = Collector::compact_fit(region.memory(), &config, 64).expect("room");
    let mut gc = Incremental::over(gc);
    let all: Vec<_> = core::iter::from_fn(|| gc.alloc_as_is(32).ok()).collect();
    let mut held = Held(all.into_iter().step_by(20).collect());
    gc.start(&mut held);
    gc.alloc(&mut held, 600).expect("moves make room");
    assert_eq!((gc.steps().forced, gc.steps().whole), (1, 0));
    assert_eq!(gc.space().relief().fragmented_collections, 0);
}
