//! Random programs beside a collector with two generations, on every space, with the smallest mark
//! stack and large ones.

use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit_compact::{Bound, Config, Geometry, GeometrySpec};
use surefit_gc::{CompactFit, Extent, Generational, OneByOne, Round};

use super::*;
use crate::common::Verdict;
use crate::common::generations::program::step;
use crate::common::generations::{Aged, Forgets};
use surefit_freelist::When;

/// What a run must have seen.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    minors: u64,
    fulls: u64,
    insufficient: u64,
    remembered: u64,
    one_by_one: u64,
    refusals: u64,
    floating: u64,
}

impl Seen {
    pub(crate) fn add<S: OneByOne>(&mut self, world: &Aged<'_, S>) {
        let generations = world.gc.generations();
        let (minor, full) = (&generations.minor, &generations.full);
        assert_eq!(
            minor.rounds + full.rounds,
            world.gc.totals().collections,
            "{generations:?}"
        );
        assert!(minor.promoted_bytes + minor.freed_bytes >= minor.young_bytes);
        self.minors += minor.rounds;
        self.fulls += full.rounds;
        self.insufficient += generations.insufficient;
        self.remembered += minor.remembered;
        self.one_by_one += minor.one_by_one;
        self.refusals += world.gc.totals().refusals;
        self.floating += world.floating;
    }

    /// Everything was seen.
    pub(crate) fn judge(&self) {
        assert!(self.minors > 30 && self.fulls > 6, "{self:?}");
        assert!(self.remembered > 30 && self.floating > 30, "{self:?}");
        let swept = self.minors - self.one_by_one;
        assert!(self.one_by_one > 10 && swept > 0, "{self:?}");
        assert!(self.insufficient > 0 && self.refusals > 0, "{self:?}");
    }
}

pub(crate) fn run<S: OneByOne>(
    world: &mut Aged<'_, S>,
    seed: u64,
    steps: usize,
    merges: Option<When>,
) {
    let mut random = Random(seed);
    for nth in 0..steps {
        let verdict = step(world, &mut |bound| random.below(bound));
        assert_eq!(verdict, Ok(()), "step {nth} of seed {seed}");
        if let Some(round) = world.gc.last() {
            judge_work(round, merges);
        }
        if nth % 64 == 63 {
            let verdict = collect_and_unwind(world, random.below(20), nth % 128 == 127);
            assert_eq!(verdict, Ok(()), "after step {nth} of seed {seed}");
        }
        if merges.is_some() {
            assert_eq!(world.gc.live().1, bytes(&world.gc), "step {nth} of {seed}");
        }
    }
    assert_eq!(world.collect(), Ok(()), "seed {seed}");
}

/// The bytes of all live objects. A free list counts no others.
fn bytes<S: OneByOne>(gc: &Generational<'_, S>) -> usize {
    gc.objects()
        .map(|object| gc.words(object) as usize * 4)
        .sum()
}

/// A collection in which the client unwinds after so many scans, if there are more.
fn collect_and_unwind<S: OneByOne>(
    world: &mut Aged<'_, S>,
    scans: usize,
    is_full: bool,
) -> Verdict {
    world.graph.scans_left = scans;
    let collected = catch_unwind(AssertUnwindSafe(|| match is_full {
        true => world.collect(),
        false => world.collect_young(),
    }));
    world.graph.scans_left = usize::MAX;
    collected.unwrap_or_else(|_| {
        world.all_are_young();
        world.verify()
    })
}

/// What a minor collection does in proportion to the young objects: docs/bounds.md, 5.2.
fn judge_work(round: &Round, merges: Option<When>) {
    if round.extent == Extent::Full {
        return;
    }
    let young = round.young_objects;
    assert!(round.marked <= young, "{round:?}");
    if round.passes <= 1 {
        let scanned = round.remembered + round.marked;
        assert!(round.scanned_objects <= scanned, "{round:?}");
    }
    match (round.one_by_one, merges) {
        (true, _) => assert!(round.freed_objects <= young, "{round:?}"),
        (false, Some(When::Immediate)) => assert!(round.visited <= 4 * young + 2, "{round:?}"),
        (false, _) => {}
    }
}

fn aged<I: Index>() {
    let mut seen = Seen::default();
    for (seed, mark_stack) in (0..).zip([1, 8, 256]) {
        let (large_from, limit) = ENDS[seed as usize % ENDS.len()];
        let fault = if seed == 0 {
            Fault::AsksLate
        } else {
            Fault::Nothing
        };
        let mut region = JunkRegion::misaligned(8 << 10, 64, seed as usize % 13, seed);
        let settings = Settings {
            mark_stack,
            sweep: Sweep::default(),
            large_from,
            limit,
        };
        let gc =
            Collector::<FreeList<'_, I>>::new(region.memory(), settings).expect("large enough");
        let mut world = Aged::over(Generational::over(gc), fault);
        run(&mut world, seed, 900, Some(I::COALESCING));
        seen.add(&world);
    }
    seen.judge();
}

macro_rules! aged {
    ($($name:ident $index:ty;)*) => {$(
        #[test]
        fn $name() {
            aged::<$index>();
        }
    )*};
}

aged! {
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
    for (seed, (mark_stack, bound)) in (0..).zip([1, 8, 256].into_iter().zip(bounds)) {
        let spec = GeometrySpec {
            page_bytes: 1024,
            ..CompactFit::GEOMETRY
        };
        let geometry = Geometry::new(&spec).expect("classes");
        let config = Config::new(geometry, bound).expect("valid");
        let config = config.with_pieces(Some(64)).expect("valid");
        let mut region = JunkRegion::new(16 << 10, 1024, seed);
        let gc = Collector::compact_fit(region.memory(), &config, mark_stack);
        let gc = Generational::over(gc.expect("large enough"));
        let mut world = Aged::over(gc, Fault::Nothing);
        run(&mut world, seed, 1200, None);
        seen.add(&world);
    }
    seen.judge();
}

/// A program whose links are written as data, or that calls `remember` for no reference beside the
/// heap, loses what it reaches.
#[test]
fn the_judge_objects_if_nothing_is_remembered() {
    for forgets in [Forgets::Links, Forgets::Beside] {
        let mut region = JunkRegion::new(1 << 14, 64, 1);
        let gc = Collector::<FreeList<'_, Lists>>::new(region.memory(), Settings::default());
        let mut world = Aged::over(
            Generational::over(gc.expect("large enough")),
            Fault::Nothing,
        );
        world.forgets = forgets;
        let mut random = Random(5);
        let told = (0..2000).find_map(|_| step(&mut world, &mut |bound| random.below(bound)).err());
        let told = told.expect("the judge objects");
        assert!(told.ends_with("is kept but was freed"), "{told}");
    }
}

/// A client whose only root is a list of objects that are old.
fn old_list<'m>(
    region: &'m mut JunkRegion,
    objects: u64,
) -> (Generational<'m, FreeList<'m, Lists>>, crate::common::Graph) {
    let gc = Collector::<FreeList<'_, Lists>>::new(region.memory(), Settings::default());
    let mut gc = Generational::over(gc.expect("large enough"));
    let mut graph = crate::common::Graph::new(Fault::Nothing);
    for _ in 0..objects {
        let object = gc.alloc(&mut graph, 12).expect("room");
        gc.store_data(object, 1, 1);
        gc.store(object, 2, graph.roots.pop());
        graph.roots.push(object);
    }
    let full = gc.collect(&mut graph);
    let told = (full.marked, full.scanned_objects, full.edges);
    assert_eq!(told, (objects, objects, objects));
    (gc, graph)
}

/// A list that lives, and garbage: minor collections do not look at the list again. Their work is
/// that of the young objects and the bits.
#[test]
fn minor_collections_do_not_look_at_old_objects() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = old_list(&mut region, 500);
    for _ in 0..300 {
        assert!(gc.alloc_as_is(12).is_ok());
    }
    let minor = gc.collect_young(&mut graph);
    let told = (minor.marked, minor.scanned_objects, minor.edges);
    assert_eq!(told, (0, 0, 1));
    assert_eq!((minor.freed_objects, minor.live_objects), (300, 500));
    assert_eq!((minor.young_objects, minor.promoted_bytes()), (300, 0));
    assert!(minor.one_by_one && minor.visited == 0);
    assert_eq!(minor.work(), 1 + minor.bit_words + 300);
    assert!(minor.bit_words <= (1 << 16) / 512 + 1);
    // More dead than kept: the space sweeps.
    while gc.alloc_as_is(12).is_ok() {}
    let minor = gc.collect_young(&mut graph);
    assert!(!minor.one_by_one && minor.freed_objects > 500, "{minor:?}");
    let told = (minor.live_objects, gc.live().0, gc.young());
    assert_eq!(told, (500, 500, (0, 0)));
}

/// A minor collection scans an old object that was written, and keeps old ones that are dead.
#[test]
fn minor_collections_look_at_what_was_written() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = old_list(&mut region, 500);
    let (young, root) = (gc.alloc_as_is(12).expect("room"), graph.roots[0]);
    gc.store(root, 2, Some(young));
    assert!(gc.is_remembered(root) && !gc.is_old(young));
    let minor = gc.collect_young(&mut graph);
    let told = (minor.remembered, minor.marked, minor.scanned_objects);
    assert_eq!(told, (1, 1, 2));
    assert!(!gc.is_remembered(root) && gc.is_old(young));
    // The rest of the list is dead, and old.
    assert_eq!(gc.collect_young(&mut graph).freed_objects, 0);
    assert_eq!(gc.collect(&mut graph).freed_objects, 499);
    assert_eq!(gc.check(), Ok(()));
}

/// A program that keeps a part of what it allocates: most collections are minor, and full ones
/// follow when the old bytes have grown.
#[test]
fn a_full_collection_follows_when_old_objects_pile_up() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let gc = Collector::<FreeList<'_, Lists>>::new(region.memory(), Settings::default());
    let mut gc = Generational::over(gc.expect("large enough"));
    let mut graph = crate::common::Graph::new(Fault::Nothing);
    for nth in 0..40_000 {
        let object = gc.alloc(&mut graph, 12).expect("room");
        if nth % 8 == 0 {
            graph.roots.push(object);
        }
        if graph.roots.len() > 1000 {
            graph.roots.drain(..10);
        }
    }
    let generations = gc.generations();
    let (minor, full) = (generations.minor, generations.full);
    assert!(
        full.rounds > 2 && minor.rounds > 2 * full.rounds,
        "{generations:?}"
    );
    assert_eq!((generations.insufficient, gc.totals().refusals), (0, 0));
    assert!(minor.promoted_bytes < minor.young_bytes / 3, "{minor:?}");
    assert_eq!(minor.largest_work.max(full.largest_work), full.largest_work);
}
