//! The collector as a program sees it: stale references, weak references, clients that unwind,
//! refusals, counts.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{Fault, Graph, HEAD};
use surefit_core::Refused;
use surefit_freelist::{
    Bitmap, Deferred, Immediate, Index, Linear, Never, NextHitTable, Segregated, Tree,
};
use surefit_gc::{
    Cause, Client, Clock, Collector, Edges, FreeList, Living, Object, Scanned, Settings, Space,
    Sweep,
};
use surefit_testkit::JunkRegion;

type Lists = Segregated<Bitmap, Immediate, Tree, 256>;
type Heap<'m, I = Lists> = Collector<'m, FreeList<'m, I>>;

fn heap<I: Index>(region: &mut JunkRegion) -> (Heap<'_, I>, Graph) {
    let heap = Heap::new(region.memory(), Settings::default());
    (heap.expect("large enough"), Graph::new(Fault::Nothing))
}

fn node<S: Space>(gc: &mut Collector<'_, S>, graph: &mut Graph, slots: u32) -> Object {
    let object = gc.alloc(graph, (HEAD + slots) as usize * 4).expect("room");
    gc.store_data(object, 1, slots);
    object
}

/// The message with which a call panics.
fn panic_of<R>(call: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).err().expect("a panic");
    payload
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| {
            let text = payload.downcast_ref::<&str>();
            (*text.expect("a text")).to_owned()
        })
}

#[test]
fn a_reference_to_a_freed_object_is_told() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region);
    let (dead, live) = (node(&mut gc, &mut graph, 1), node(&mut gc, &mut graph, 1));
    graph.roots.push(live);
    gc.collect(&mut graph);
    assert!(gc.contains(live) && !gc.contains(dead));
    let expected = format!("{dead:?} is no live object");
    assert_eq!(panic_of(|| gc.load(dead, 0)), expected);
    assert_eq!(panic_of(|| gc.words(dead)), expected);
    assert_eq!(panic_of(|| gc.store_data(dead, 0, 1)), expected);
    let words = gc.words(live);
    assert_eq!(
        panic_of(|| gc.load(live, words)),
        format!("word {words} of an object that has {words} words")
    );
    assert_eq!(gc.check(), Ok(()));
}

/// Of all numbers, only those of live objects are accepted as references.
#[test]
fn forged_references_are_told() {
    let mut region = JunkRegion::new(1 << 13, 8, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region);
    let mut live = Vec::new();
    for slots in 0..40 {
        live.push(node(&mut gc, &mut graph, slots % 5));
    }
    let numbers = (1..2000).chain([1 << 20, u32::MAX - 1, u32::MAX]);
    for number in numbers {
        let forged = Object::of(number).expect("not 0");
        assert_eq!(gc.contains(forged), live.contains(&forged));
        assert_eq!(
            catch_unwind(AssertUnwindSafe(|| gc.load(forged, 0))).is_ok(),
            live.contains(&forged)
        );
    }
    assert_eq!(Object::of(0), None);
}

#[test]
fn a_new_object_is_clear_whatever_lay_there() {
    let mut region = JunkRegion::new(1 << 12, 8, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region);
    for _ in 0..500 {
        let object = gc.alloc(&mut graph, 50).expect("room after a collection");
        for word in 0..gc.words(object) {
            assert_eq!(gc.load(object, word), 0);
            gc.store_data(object, word, u32::MAX);
        }
    }
    assert!(gc.totals().collections > 0);
}

#[test]
fn weak_references_are_cleared_with_their_objects_and_not_before() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region);
    let (root, child, dead) = (
        node(&mut gc, &mut graph, 1),
        node(&mut gc, &mut graph, 0),
        node(&mut gc, &mut graph, 0),
    );
    gc.store(root, HEAD, Some(child));
    graph.roots.push(root);
    graph.weak = vec![Some(root), Some(child), Some(dead)];
    gc.collect(&mut graph);
    assert_eq!(graph.weak, [Some(root), Some(child), None]);
    gc.store(root, HEAD, None);
    assert_eq!(
        graph.weak[1],
        Some(child),
        "it lives until the next collection"
    );
    gc.collect(&mut graph);
    assert_eq!(graph.weak, [Some(root), None, None]);
}

/// A client unwinds at any scan: nothing is freed, all objects can be used, and the next collection
/// is a normal one.
#[test]
fn a_client_may_unwind() {
    for scans in 0..20 {
        let mut region = JunkRegion::new(1 << 14, 8, 1);
        let (mut gc, mut graph) = heap::<Lists>(&mut region);
        let nodes: Vec<_> = (0..20).map(|_| node(&mut gc, &mut graph, 2)).collect();
        let garbage = node(&mut gc, &mut graph, 2);
        for (nth, &from) in nodes.iter().enumerate() {
            gc.store(from, HEAD, Some(nodes[(nth * 7 + 3) % 20]));
            gc.store(from, HEAD + 1, Some(nodes[(nth + 1) % 20]));
        }
        graph.roots.push(nodes[0]);
        graph.scans_left = scans;
        assert_eq!(panic_of(|| gc.collect(&mut graph)), "no more scans");
        assert_eq!(gc.objects().count(), 21);
        assert!(gc.contains(garbage));
        assert_eq!(gc.reference(nodes[4], HEAD + 1), Some(nodes[5]));
        assert_eq!(gc.check(), Ok(()));
        graph.scans_left = usize::MAX;
        gc.collect(&mut graph);
        assert_eq!(gc.check(), Ok(()));
        assert_eq!(gc.objects().collect::<Vec<_>>(), nodes);
        assert!(!gc.contains(garbage));
        assert_eq!(gc.reference(nodes[4], HEAD + 1), Some(nodes[5]));
    }
}

/// What a client does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Misdeed {
    Nothing,
    UnwindsInRoots,
    UnwindsInWeak,
    ReportsFreed,
    ReportsForged,
    AsksInRoots,
    AsksTwice,
}

/// A client with one root, which has no references, and a freed object.
struct Naughty(Object, Misdeed, Object);

impl<S: Space> Client<S> for Naughty {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        edges.report(self.0);
        assert_ne!(self.1, Misdeed::UnwindsInRoots);
        if self.1 == Misdeed::ReportsForged {
            edges.report(Object::of(self.0.number() + 1).expect("not 0"));
        }
        if self.1 == Misdeed::ReportsFreed {
            edges.report(self.2);
        }
        if self.1 == Misdeed::AsksInRoots {
            edges.again_from(0);
        }
    }

    fn scan(&mut self, _object: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
        if self.1 == Misdeed::AsksTwice {
            edges.again_from(1);
            edges.again_from(2);
        }
    }

    fn weak(&mut self, _living: &Living<'_>) {
        assert_ne!(self.1, Misdeed::UnwindsInWeak);
    }
}

#[test]
fn a_client_that_unwinds_elsewhere_frees_nothing_either() {
    for (misdeed, told) in [
        (Misdeed::UnwindsInRoots, "assertion"),
        (Misdeed::UnwindsInWeak, "assertion"),
        (Misdeed::ReportsFreed, "Object("),
        (Misdeed::ReportsForged, "Object("),
        (Misdeed::AsksInRoots, "`again_from` is for `scan`"),
        (
            Misdeed::AsksTwice,
            "an object asks once a scan to be scanned again",
        ),
    ] {
        let mut region = JunkRegion::new(1 << 14, 8, 1);
        let (mut gc, mut graph) = heap::<Lists>(&mut region);
        let freed = node(&mut gc, &mut graph, 9);
        gc.collect(&mut Graph::new(Fault::Nothing));
        let (live, garbage) = (node(&mut gc, &mut graph, 1), node(&mut gc, &mut graph, 1));
        let freed = Object::of(freed.number().max(garbage.number() + 4)).expect("not 0");
        let mut naughty = Naughty(live, misdeed, freed);
        let panic = panic_of(|| gc.collect(&mut naughty));
        assert!(panic.starts_with(told), "{misdeed:?}: {panic}");
        assert_eq!(gc.objects().collect::<Vec<_>>(), [live, garbage]);
        assert!(gc.contains(live) && gc.contains(garbage) && !gc.contains(freed));
        assert_eq!((gc.check(), gc.totals().collections), (Ok(()), 1));
        let newest = gc.alloc_as_is(40).expect("room");
        assert!(gc.contains(newest) && newest != live && newest != garbage);
        naughty.1 = Misdeed::Nothing;
        assert_eq!(gc.collect(&mut naughty).swept.freed_objects, 2);
        assert_eq!(gc.check(), Ok(()));
        assert_eq!(gc.objects().collect::<Vec<_>>(), [live]);
    }
}

#[test]
fn a_collector_begins_with_an_empty_space_and_some_stack() {
    let over = |objects: usize, entries: usize| {
        let mut region = JunkRegion::new(1 << 12, 8, 1);
        let (mut bits, mut stack) = ([0; 18], vec![0; entries]);
        let mut space = FreeList::<Lists>::new(region.memory(), Sweep::Walk).expect("large enough");
        for _ in 0..objects {
            space.allocate(8).expect("room");
        }
        Collector::over(space, &mut bits, &mut stack).check()
    };
    assert_eq!(over(0, 1), Ok(()));
    assert_eq!(panic_of(|| over(1, 1)), "the space is not empty");
    assert_eq!(
        panic_of(|| over(0, 0)),
        "a mark stack has at least one entry"
    );
}

#[test]
fn a_request_that_no_collection_can_help_causes_none() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region);
    let limit = gc.space().heap().largest_request();
    let refused = gc.alloc(&mut graph, limit + 1);
    assert_eq!(refused, Err(Refused::TooLarge { limit }));
    assert_eq!((gc.totals().collections, gc.totals().refusals), (0, 1));
    gc.alloc(&mut graph, limit).expect("the whole heap");
    gc.alloc(&mut graph, limit)
        .expect("again, after a collection");
    assert_eq!(gc.last().expect("one").cause, Cause::Request(limit));
}

/// Collections that a program causes with garbage of one size and then a large request.
fn after_small_garbage<I: Index>() -> (Result<Object, Refused>, u64) {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let (mut gc, mut graph) = heap::<I>(&mut region);
    while gc.totals().collections == 0 {
        gc.alloc(&mut graph, 60).expect("room after a collection");
    }
    (gc.alloc(&mut graph, 4000), gc.totals().collections)
}

/// The three kinds of coalescing of the thesis: by the sweep, when a collection did not help,
/// never.
#[test]
fn free_neighbours_are_merged_when_their_policy_says() {
    type Lists<C> = Segregated<NextHitTable, C, Linear, 64>;
    let (immediate, collections) = after_small_garbage::<Lists<Immediate>>();
    assert_eq!((immediate.is_ok(), collections), (true, 1));
    let (deferred, collections) = after_small_garbage::<Lists<Deferred>>();
    assert_eq!(
        (deferred.is_ok(), collections),
        (true, 2),
        "a collection first, then merging"
    );
    let (never, collections) = after_small_garbage::<Lists<Never>>();
    assert_eq!((never, collections), (Err(Refused::NoChunk), 2));
}

#[test]
fn a_leaping_sweep_reads_no_dead_object_and_a_walking_one_reads_all() {
    let visited = |sweep| {
        let mut region = JunkRegion::new(1 << 16, 8, 1);
        let settings = Settings {
            sweep,
            ..Settings::default()
        };
        let mut gc = Heap::<Lists>::new(region.memory(), settings).expect("large enough");
        let mut graph = Graph::new(Fault::Nothing);
        for nth in 0..500 {
            let object = node(&mut gc, &mut graph, 3);
            graph.roots.extend((nth % 10 == 0).then_some(object));
        }
        let swept = gc.collect(&mut graph).swept;
        assert_eq!((swept.live_objects, swept.freed_objects), (50, 450));
        swept.visited
    };
    assert_eq!(visited(Sweep::Walk), 501, "all objects and one free chunk");
    assert_eq!(visited(Sweep::Leap), 50);
}

#[test]
fn the_next_hit_table_is_made_once_a_sweep() {
    let mut region = JunkRegion::new(1 << 16, 8, 1);
    let (mut gc, mut graph) = heap::<Segregated<NextHitTable, Never, Linear, 64>>(&mut region);
    for nth in 0..1000 {
        let object = node(&mut gc, &mut graph, nth % 9);
        graph.roots.extend((nth % 2 == 0).then_some(object));
    }
    let before = gc.space().heap().counters();
    let freed = gc.collect(&mut graph).swept.freed_objects;
    let after = gc.space().heap().counters();
    assert_eq!(freed, 500);
    assert_eq!(after.table_rebuilds - before.table_rebuilds, 1);
    assert_eq!(after.table_updates, before.table_updates);
}

/// A clock that advances at every reading.
struct Readings(Cell<u64>);

impl Clock for &Readings {
    fn now(&self) -> u64 {
        self.0.replace(self.0.get() + 1)
    }
}

#[test]
fn the_clock_is_read_three_times_a_collection_and_never_else() {
    let mut region = JunkRegion::new(1 << 14, 8, 1);
    let (gc, mut graph) = heap::<Lists>(&mut region);
    let readings = Readings(Cell::new(0));
    let mut gc = gc.with_clock(&readings);
    for _ in 0..20 {
        gc.alloc(&mut graph, 40).expect("room");
    }
    assert_eq!(readings.0.get(), 0);
    for collections in 1..5 {
        let told = gc.collect(&mut graph);
        assert_eq!((told.mark_ticks, told.sweep_ticks), (1, 1));
        assert_eq!(readings.0.get(), 3 * collections);
        assert_eq!(gc.totals().mark_ticks, collections);
    }
}

#[test]
fn totals_are_the_sums_of_collections() {
    let mut region = JunkRegion::new(1 << 13, 8, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region);
    let (mut marked, mut freed, mut requested) = (0, 0, 0);
    for nth in 0..2000 {
        let collections = gc.totals().collections;
        let bytes = nth % 70;
        let object = gc.alloc(&mut graph, bytes).expect("room");
        requested += bytes as u64;
        if gc.totals().collections != collections {
            let last = gc.last().expect("there was one");
            assert_eq!(last.cause, Cause::Request(bytes));
            marked += last.swept.live_objects;
            freed += last.swept.freed_objects;
        }
        if bytes == 69 {
            gc.store_data(object, 1, 0);
            graph.roots = vec![object];
        }
    }
    let totals = *gc.totals();
    assert!(totals.collections > 5);
    assert_eq!((totals.marked, totals.freed_objects), (marked, freed));
    assert_eq!(
        (totals.allocations, totals.requested_bytes, totals.refusals),
        (2000, requested, 0)
    );
    let live = gc.objects().count() as u64;
    assert_eq!(totals.allocations - totals.freed_objects, live);
}

#[test]
fn every_byte_of_the_region_is_accounted_for() {
    for offset in 0..8 {
        let mut region = JunkRegion::misaligned(10_000 + offset, 8, offset, 1);
        let (mut gc, mut graph) = heap::<Lists>(&mut region);
        gc.alloc(&mut graph, 100).expect("room");
        assert_eq!(gc.usage().total(), 10_000 + offset);
    }
}

#[test]
fn a_region_too_small_is_refused_with_the_size_that_would_do() {
    let boundless = Settings {
        mark_stack: usize::MAX,
        ..Settings::default()
    };
    let refused = Heap::<Lists>::new(&mut [], boundless).map(|_| ());
    assert_eq!(refused, Err(Refused::Region { needed: usize::MAX }));
    for mark_stack in [0, 1, 100, 5000] {
        let settings = Settings {
            mark_stack,
            ..Settings::default()
        };
        let refused = Heap::<Lists>::new(&mut [], settings).map(|_| ());
        let Err(Refused::Region { needed }) = refused else {
            panic!("{refused:?}")
        };
        let mut bytes = vec![MaybeUninit::uninit(); needed + 8];
        for start in 0..8 {
            let region = &mut bytes[start..][..needed];
            let gc = Heap::<Lists>::new(region, settings).expect("enough");
            assert_eq!(gc.check(), Ok(()));
        }
        for length in (0..needed - 64).step_by(7) {
            let refused = Heap::<Lists>::new(&mut bytes[..length], settings).map(|_| ());
            assert!(
                matches!(refused, Err(Refused::Region { .. })),
                "{length} of {needed}"
            );
        }
    }
}
