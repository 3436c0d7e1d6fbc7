//! Random programs on every free-list space under the judge, and the judge under clients that lie.

#[path = "judge/generations.rs"]
mod generations;
#[path = "judge/in_steps.rs"]
mod in_steps;
#[path = "judge/nursery.rs"]
mod nursery;

use crate::common::{Fault, Random, World, program};
use surefit_freelist::{
    Best, Bins, Bitmap, Deferred, First, Immediate, Index, Linear, Never, Next, NextHitTable,
    PowersOfTwo, Scan, Segregated, SingleList, SizeTree, Tree, TwoLevel, Worst,
};
use surefit_gc::{Collector, Displaced, FreeList, Settings, Sweep};
use surefit_testkit::JunkRegion;

/// What a program got from the heap: the numbers of its objects, and the counts of the collector.
type Outcome = (Vec<Option<u32>>, [u64; 4], Displaced);

/// A heap without large objects; with some; one that grows; one with both.
const ENDS: [(usize, usize); 4] = [
    (usize::MAX, usize::MAX),
    (60, usize::MAX),
    (usize::MAX, 2 << 10),
    (100, 0),
];

/// Runs a program on a heap of 24 KiB whose tables lie elsewhere, so that the mark stack takes no
/// room from it.
fn run<I: Index>(seed: u64, mark_stack: usize, sweep: Sweep, ends: (usize, usize)) -> Outcome {
    let (large_from, limit) = ends;
    let mut region = JunkRegion::misaligned(24 << 10, 64, seed as usize % 13, seed);
    let (mut bits, mut stack) = ([u64::MAX; 98], vec![u64::MAX; mark_stack]);
    let space = FreeList::<I>::new(region.memory(), sweep).expect("large enough");
    let space = space.with_large_from(large_from).with_limit(limit);
    let mut world = World::over(
        Collector::over(space, &mut bits, &mut stack),
        Fault::Nothing,
    );
    let places = program(&mut world, seed, 2500).expect("nothing to object to");
    let totals = world.gc.totals();
    assert!(totals.collections > 10 && totals.refusals > 0, "{totals:?}");
    assert_eq!(totals.rescans > 0, mark_stack < 4096, "{totals:?}");
    let counts = [
        totals.collections,
        totals.marked,
        totals.edges,
        totals.freed_objects,
    ];
    (places, counts, world.gc.space().displaced())
}

/// The capacity of the mark stack and the kind of sweep change only how long a collection takes.
fn judged<I: Index>() {
    for (seed, ends) in (0..3).zip(ENDS).chain((3..6).zip(ENDS.into_iter().skip(1))) {
        let expected = run::<I>(seed, 4096, Sweep::Walk, ends);
        assert_eq!(run::<I>(seed, 4096, Sweep::Leap, ends), expected);
        for mark_stack in [1, 2, 8] {
            assert_eq!(run::<I>(seed, mark_stack, Sweep::Leap, ends), expected);
        }
    }
}

macro_rules! spaces {
    ($($name:ident $index:ty;)*) => {$(
        #[test]
        fn $name() {
            judged::<$index>();
        }
    )*};
}

spaces! {
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

type Lists = Segregated<Bitmap, Immediate, Tree, 64>;

/// What the judge reports about a client with a fault.
fn told(fault: Fault) -> String {
    let mut region = JunkRegion::new(1 << 14, 64, 1);
    let mut world = World::<FreeList<'_, Lists>>::new(&mut region, Settings::default(), fault);
    program(&mut world, 5, 2000).expect_err("the judge objects")
}

#[test]
fn the_judge_objects_to_a_client_that_forgets_a_reference() {
    assert!(told(Fault::ForgetsSlot(0)).ends_with("is reached but was freed"));
    assert!(told(Fault::ForgetsSlot(3)).ends_with("is reached but was freed"));
    assert!(told(Fault::ForgetsARoot).ends_with("is reached but was freed"));
}

#[test]
fn the_judge_objects_to_a_client_that_keeps_what_it_dropped() {
    assert!(told(Fault::KeepsTheFirst).ends_with("is not reached but was kept"));
}

#[test]
fn the_judge_objects_to_a_word_that_changed() {
    let mut region = JunkRegion::new(1 << 14, 64, 1);
    let mut world =
        World::<FreeList<'_, Lists>>::new(&mut region, Settings::default(), Fault::Nothing);
    let id = world.alloc(2, 5).expect("no fault").expect("room");
    assert_eq!(world.verify(), Ok(()));
    let (object, mut random) = (world.object(id), Random(1));
    for word in 0..9 {
        let sound = world.gc.load(object, word);
        world
            .gc
            .store_data(object, word, sound ^ 1 << random.below(32));
        assert!(world.verify().is_err(), "word {word}");
        world.gc.store_data(object, word, sound);
    }
    assert_eq!(world.verify(), Ok(()));
}

/// Refusals are correct: no free chunk at either end was large enough for the request, and the heap
/// had grown as far as it could.
fn refuses_only_what_no_free_chunk_holds<I: Index>() {
    for (large_from, limit) in ENDS {
        refuses_only_what_no_free_chunk_holds_at::<I>(&Settings {
            large_from,
            limit,
            ..Settings::default()
        });
    }
}

fn refuses_only_what_no_free_chunk_holds_at<I: Index>(settings: &Settings) {
    let mut region = JunkRegion::new(12 << 10, 64, 3);
    let mut world = World::<FreeList<'_, I>>::new(&mut region, *settings, Fault::Nothing);
    let (mut random, mut refusals) = (Random(3), 0);
    for _ in 0..3000 {
        let further = random.below(90);
        if world.alloc(1, further).expect("no fault").is_none() {
            let largest = world.gc.space().heap().free_sizes().max().unwrap_or(0);
            assert!(largest < (3 + further) * 4, "{largest} bytes are free");
            let usage = world.gc.usage();
            assert!(usage.free_page_bytes <= (3 + further) * 4, "{usage:?}");
            refusals += 1;
            (0..6).for_each(|_| world.drop_root(random.below(world.root_count() + 1)));
        }
    }
    assert!(refusals > 50, "{refusals}");
    let displaced = world.gc.space().displaced();
    let is_divided = settings.large_from != usize::MAX;
    let is_mixed = displaced != Displaced::default();
    assert_eq!(is_mixed, is_divided, "{displaced:?}");
}

#[test]
fn a_heap_refuses_only_what_no_free_chunk_holds() {
    refuses_only_what_no_free_chunk_holds::<Segregated<Scan, Never, Linear, 64>>();
    refuses_only_what_no_free_chunk_holds::<Segregated<NextHitTable, Deferred, Linear, 64>>();
    refuses_only_what_no_free_chunk_holds::<Segregated<NextHitTable, Deferred, Tree, 64>>();
    refuses_only_what_no_free_chunk_holds::<Segregated<Bitmap, Immediate, Tree, 64>>();
    refuses_only_what_no_free_chunk_holds::<SingleList<First>>();
    refuses_only_what_no_free_chunk_holds::<SingleList<Worst>>();
    refuses_only_what_no_free_chunk_holds::<SizeTree>();
}
