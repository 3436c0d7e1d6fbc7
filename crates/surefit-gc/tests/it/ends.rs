//! Large objects at the other end of the region, and heaps that grow: where objects lie, when the
//! heap grows, refusals.

use crate::common::{Fault, Graph};
use surefit_core::Refused;
use surefit_freelist::{
    Bitmap, Deferred, First, Immediate, Index, Linear, Never, NextHitTable, PowersOfTwo,
    Segregated, SingleList, Tree, TwoLevel,
};
use surefit_gc::{Collector, Displaced, FreeList, Object, Settings, Totals};
use surefit_testkit::JunkRegion;

type Lists = Segregated<Bitmap, Immediate, Tree, 256>;
type Heap<'m, I = Lists> = Collector<'m, FreeList<'m, I>>;

fn heap<I: Index>(
    region: &mut JunkRegion,
    limit: usize,
    large_from: usize,
) -> (Heap<'_, I>, Graph) {
    let settings = Settings {
        limit,
        large_from,
        ..Settings::default()
    };
    let heap = Heap::new(region.memory(), settings);
    (heap.expect("large enough"), Graph::new(Fault::Nothing))
}

/// Allocates an object without references and makes it a root.
fn rooted<I: Index>(gc: &mut Heap<'_, I>, graph: &mut Graph, bytes: usize) -> Object {
    let object = gc.alloc(graph, bytes).expect("room");
    gc.store_data(object, 1, 0);
    graph.roots.push(object);
    object
}

#[test]
fn large_objects_lie_behind_all_small_ones_and_next_to_each_other() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, Settings::LARGE);
    let (mut small, mut large) = (Vec::new(), Vec::new());
    for nth in 0..8 {
        large.push(rooted(&mut gc, &mut graph, Settings::LARGE + nth * 8));
        small.push(rooted(&mut gc, &mut graph, Settings::LARGE - 1 - nth * 500));
    }
    assert!(small.iter().max() < large.iter().min());
    assert!(
        large.is_sorted_by(|higher, lower| higher > lower),
        "downwards"
    );
    for pair in large.windows(2) {
        let granules = pair[0].number() - pair[1].number();
        assert_eq!(
            granules,
            gc.words(pair[1]).div_ceil(2),
            "a header between them"
        );
    }
    let mut all = [small, large].concat();
    all.sort_unstable();
    assert_eq!(gc.objects().collect::<Vec<_>>(), all);
    assert_eq!(gc.space().displaced(), Displaced::default());
    assert_eq!((gc.check(), gc.usage().total()), (Ok(()), 1 << 16));
}

#[test]
fn where_no_object_is_large_all_lie_in_lists() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, usize::MAX);
    let large = rooted(&mut gc, &mut graph, 20_000);
    let small = rooted(&mut gc, &mut graph, 20);
    assert!(large < small);
    let limit = gc.space().heap().largest_request();
    assert_eq!(gc.space().largest_request(), limit);
}

/// A dead large object is a gap for the next one. The highest gap with enough room is taken.
#[test]
fn large_objects_take_the_place_of_dead_ones() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, 1000);
    let large: Vec<Object> = (0..5).map(|_| rooted(&mut gc, &mut graph, 4000)).collect();
    graph.roots = vec![large[0], large[2], large[4]];
    let swept = gc.collect(&mut graph).swept;
    assert_eq!((swept.freed_objects, swept.free_chunks), (2, 3));
    assert_eq!(rooted(&mut gc, &mut graph, 4000), large[1], "the highest");
    let half = rooted(&mut gc, &mut graph, 2000);
    assert!(
        large[3] < half && half < large[2],
        "the upper end of the other"
    );
    let lowest = rooted(&mut gc, &mut graph, 4000);
    assert!(lowest < large[4], "no gap has room");
    assert_eq!(gc.check(), Ok(()));
    // Without large objects the lists have the whole region again.
    graph.roots.clear();
    let swept = gc.collect(&mut graph).swept;
    assert_eq!((swept.live_objects, swept.free_chunks), (0, 1));
    gc.alloc(&mut graph, 900).expect("room");
    gc.alloc(&mut graph, 55_000).expect("still whole");
}

/// A small object at the end of the lists blocks that end for large ones: the lists serve them
/// until a sweep makes room.
#[test]
fn a_large_object_goes_to_the_lists_rather_than_cause_a_collection() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, 4000);
    let garbage = gc.alloc(&mut graph, 3999).expect("room");
    while gc.usage().free_chunk_bytes > 2000 {
        rooted(&mut gc, &mut graph, 1000);
    }
    while gc.usage().free_chunk_bytes > 4 {
        rooted(&mut gc, &mut graph, 8);
    }
    gc.collect(&mut graph);
    let collections = gc.totals().collections;
    let large = gc.alloc(&mut graph, 4000).or_else(|_| gc.alloc_as_is(3999));
    assert_eq!(
        large,
        Ok(garbage),
        "its place is a byte too short for a large object"
    );
    graph.roots.clear();
    let large = gc.alloc(&mut graph, 4000).expect("room");
    assert!(large > garbage);
    assert!(gc.totals().collections > collections);
}

/// Allocates large objects until the lists serve one, and returns it.
fn first_in_lists(gc: &mut Heap<'_>, graph: &mut Graph, bytes: usize) -> Object {
    loop {
        let object = rooted(gc, graph, bytes);
        if gc.space().displaced().large_in_lists > 0 {
            return object;
        }
    }
}

#[test]
fn displaced_objects_are_counted_and_found_by_the_next_sweep() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, 2000);
    let large: Vec<Object> = (0..4).map(|_| rooted(&mut gc, &mut graph, 4000)).collect();
    let hole = gc.alloc(&mut graph, 1900).expect("room");
    gc.alloc(&mut graph, 1900).expect("room");
    while gc.alloc_as_is(1000).is_ok_and(|object| {
        gc.store_data(object, 1, 0);
        graph.roots.push(object);
        true
    }) {}
    // The gap of a large object and a hole of two small ones: each serves objects of the other
    // kind.
    graph.roots.retain(|&root| root != large[1]);
    gc.collect(&mut graph);
    assert!(!gc.contains(hole) && !gc.contains(large[1]));
    let in_gap = rooted(&mut gc, &mut graph, 4000);
    assert_eq!(
        (in_gap, gc.space().displaced()),
        (large[1], Displaced::default())
    );
    // The reserve of the large objects comes before the hole.
    let in_reserve = rooted(&mut gc, &mut graph, 3000);
    assert!((hole..large[3]).contains(&in_reserve));
    let in_lists = first_in_lists(&mut gc, &mut graph, 3000);
    assert_eq!((in_lists, gc.totals().collections), (hole, 1));
    graph.roots.retain(|&root| root != in_gap);
    let collections = gc.totals().collections;
    while gc.space().displaced().small_in_gaps == 0 {
        rooted(&mut gc, &mut graph, 100);
    }
    assert_eq!(gc.totals().collections, collections + 1, "only after one");
    assert_eq!(gc.check(), Ok(()));
    let live = gc.objects().collect::<Vec<_>>();
    assert_eq!(gc.collect(&mut graph).swept.live_objects, live.len() as u64);
    assert_eq!(gc.objects().collect::<Vec<_>>(), live);
    // From here on gaps are for large objects again.
    graph.roots.retain(|&root| root != large[2]);
    gc.collect(&mut graph);
    let displaced = gc.space().displaced();
    while gc.alloc_as_is(100).is_ok() {}
    assert_eq!(gc.space().displaced(), displaced);
    let in_gap = rooted(&mut gc, &mut graph, 4000);
    assert!((large[2]..large[0]).contains(&in_gap));
    assert_eq!(gc.space().displaced(), displaced);
}

/// Fills the lists again and again with garbage of 40 bytes. Every twentieth object stays, so no
/// free chunk of 1000 bytes is left between them. Returns the objects that stay.
fn scatter<I: Index>(gc: &mut Heap<'_, I>, graph: &mut Graph) -> usize {
    let collections = gc.totals().collections;
    let roots = graph.roots.len();
    while gc.totals().collections < collections + 3 {
        rooted(gc, graph, 40);
        for _ in 0..19 {
            gc.alloc(graph, 40).expect("room");
        }
    }
    graph.roots.len() - roots
}

/// The bytes of the longest free chunk.
fn longest_free<I: Index>(gc: &Heap<'_, I>) -> usize {
    gc.space().heap().free_sizes().max().unwrap_or(0)
}

/// Calls a function for an index of every kind.
macro_rules! on_every_kind_of_index {
    ($judged:ident) => {
        $judged::<Lists>();
        $judged::<Segregated<NextHitTable, Deferred, Linear, 64>>();
        $judged::<Segregated<Bitmap, Never, Tree, 64>>();
        $judged::<SingleList<First>>();
        $judged::<TwoLevel>();
    };
}

/// A growing array is copied to twice its size, although live small objects are everywhere in the
/// lists.
#[test]
fn a_large_object_finds_the_reserve_of_a_smaller_one() {
    fn judged<I: Index>() {
        let mut region = JunkRegion::new(1 << 17, 64, 1);
        let (mut gc, mut graph) = heap::<I>(&mut region, usize::MAX, Settings::LARGE);
        let array = rooted(&mut gc, &mut graph, 6000);
        graph.roots.clear();
        let live = scatter(&mut gc, &mut graph);
        assert!(!gc.contains(array) && live < 400, "{live} live");
        assert!(longest_free(&gc) < 6000, "in the lists");
        let twice = rooted(&mut gc, &mut graph, 12_000);
        assert!(graph.roots.iter().all(|&object| object <= twice), "behind");
        assert_eq!((gc.check(), gc.usage().total()), (Ok(()), 1 << 17));
    }
    on_every_kind_of_index!(judged);
}

/// A small object that is longer than all free chunks uses the reserve. Shorter ones collect first.
#[test]
fn the_reserve_serves_what_a_collection_did_not_help_and_nothing_shorter() {
    fn judged<I: Index>() {
        let mut region = JunkRegion::new(1 << 17, 64, 1);
        let (mut gc, mut graph) = heap::<I>(&mut region, usize::MAX, Settings::LARGE);
        rooted(&mut gc, &mut graph, 6000);
        scatter(&mut gc, &mut graph);
        assert!(longest_free(&gc) < 1376);
        assert_eq!(gc.space().displaced(), Displaced::default());
        let medium = rooted(&mut gc, &mut graph, 1376);
        assert_eq!(gc.space().displaced().small_in_gaps, 1);
        assert!(medium > *graph.roots[1..].iter().min().expect("scattered"));
        let collections = gc.totals().collections;
        rooted(&mut gc, &mut graph, 1400);
        assert_eq!(gc.space().displaced().small_in_gaps, 2);
        assert_eq!(gc.totals().collections, collections, "known to be in vain");
        scatter(&mut gc, &mut graph);
        assert_eq!(gc.space().displaced().small_in_gaps, 2);
        assert_eq!(gc.check(), Ok(()));
    }
    on_every_kind_of_index!(judged);
}

/// When nothing else is free, small objects get the whole reserve.
#[test]
fn a_full_heap_has_no_reserve() {
    let mut region = JunkRegion::new(1 << 18, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, Settings::LARGE);
    rooted(&mut gc, &mut graph, 8000);
    assert!((16_000..16_016).contains(&gc.usage().free_page_bytes));
    while let Ok(object) = gc.alloc(&mut graph, 20) {
        gc.store_data(object, 1, 0);
        graph.roots.push(object);
    }
    assert!(gc.usage().free_page_bytes < 32);
    assert!(gc.totals().collections < 10, "{:?}", gc.totals());
    // Everything dead is given back, except a new reserve.
    graph.roots.truncate(1);
    gc.collect(&mut graph);
    assert!((16_000..16_016).contains(&gc.usage().free_page_bytes));
    assert_eq!(gc.check(), Ok(()));
}

#[test]
fn a_reserve_is_an_eighth_of_the_limit_at_most() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, Settings::LARGE);
    rooted(&mut gc, &mut graph, 20_000);
    let most = gc.space().heap().limit() / 8;
    assert!((most - 7..=most + 8).contains(&gc.usage().free_page_bytes));
}

/// If large objects left more room than the lists have, small ones fill it before the next
/// collection.
#[test]
fn wide_gaps_are_open_to_all() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, Settings::LARGE);
    let wide = rooted(&mut gc, &mut graph, 30_000);
    rooted(&mut gc, &mut graph, 4096);
    while gc.alloc_as_is(400).is_ok_and(|object| {
        gc.store_data(object, 1, 0);
        graph.roots.push(object);
        true
    }) {}
    graph.roots.retain(|&root| root != wide);
    for _ in 0..70 {
        rooted(&mut gc, &mut graph, 400);
        rooted(&mut gc, &mut graph, 16);
    }
    assert_eq!(gc.totals().collections, 1);
    assert!(gc.space().displaced().small_in_gaps > 100);
    assert_eq!(gc.check(), Ok(()));
}

/// Objects lie at the same places, and collections come at the same times, as if no object counted
/// as large.
#[test]
fn a_program_without_large_objects_has_no_reserve() {
    fn run<I: Index>(large_from: usize) -> Vec<Option<(Object, u64)>> {
        let mut region = JunkRegion::new(1 << 16, 64, 1);
        let (mut gc, mut graph) = heap::<I>(&mut region, usize::MAX, large_from);
        let mut served = Vec::new();
        for nth in 0..6000 {
            let object = gc.alloc(&mut graph, nth * 7919 % 4000 + 8).ok();
            served.push(object.map(|object| (object, gc.totals().collections)));
            if let Some(object) = object.filter(|_| nth % 3 == 0) {
                gc.store_data(object, 1, 0);
                graph.roots.push(object);
            }
            if object.is_none() {
                graph.roots.truncate(graph.roots.len() / 2);
            }
        }
        assert!(gc.totals().collections > 100 && gc.totals().refusals > 10);
        served
    }
    fn judged<I: Index>() {
        assert_eq!(run::<I>(Settings::LARGE), run::<I>(usize::MAX));
    }
    judged::<Lists>();
    judged::<Segregated<NextHitTable, Deferred, Linear, 64>>();
    judged::<Segregated<Bitmap, Never, Tree, 64>>();
    judged::<TwoLevel>();
    judged::<PowersOfTwo>();
}

/// Allocates live objects with garbage between them. Returns the totals, the limit at the end, and
/// by how many bytes the limit exceeded twice the live bytes at most.
fn growing<I: Index>(limit: usize, live: usize, garbage: usize) -> (Totals, usize, usize) {
    let mut region = JunkRegion::new(1 << 20, 64, 1);
    let (mut gc, mut graph) = heap::<I>(&mut region, limit, Settings::LARGE);
    let mut most_over_live = 0;
    for _ in 0..live {
        rooted(&mut gc, &mut graph, 60);
        for _ in 0..garbage {
            gc.alloc(&mut graph, 60).expect("room");
        }
        let used = graph.roots.len() * 64;
        most_over_live = most_over_live.max(gc.space().heap().limit().saturating_sub(2 * used));
    }
    assert_eq!((gc.check(), gc.usage().total()), (Ok(()), 1 << 20));
    let limit = gc.space().heap().limit();
    (*gc.totals(), limit, most_over_live)
}

/// The work of marking is proportional to allocation, and the heap is at most twice what lives.
#[test]
fn a_growing_heap_collects_seldom_and_stays_small() {
    fn judged<I: Index>() {
        for (live, garbage) in [(8000, 0), (2000, 1), (2000, 3), (500, 20)] {
            let (totals, limit, over) = growing::<I>(4096, live, garbage);
            assert!(totals.collections >= 5, "{totals:?}");
            assert!(totals.marked <= 2 * totals.allocations, "{totals:?}");
            assert!(limit < 2 * live * 64 + 4096, "{limit} bytes");
            assert!(over <= 4096, "{over} bytes more than twice what lived");
        }
        assert!(growing::<I>(4096, 8000, 0).0.collections <= 14);
    }
    judged::<Lists>();
    judged::<Segregated<NextHitTable, Deferred, Linear, 64>>();
    judged::<TwoLevel>();
    judged::<PowersOfTwo>();
}

#[test]
fn a_heap_grows_from_nothing() {
    for limit in [0, 1, 8, 16, 100] {
        let (totals, grown, _) = growing::<Lists>(limit, 1000, 0);
        assert!(totals.collections < 40, "{totals:?}");
        assert!((64_000..130_000).contains(&grown), "{grown} bytes");
    }
}

/// A program with few live objects and much garbage never needs more than it began with.
#[test]
fn a_heap_does_not_grow_for_garbage() {
    let mut region = JunkRegion::new(1 << 20, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, 8192, Settings::LARGE);
    rooted(&mut gc, &mut graph, 2000);
    for _ in 0..10_000 {
        gc.alloc(&mut graph, 100).expect("room");
    }
    assert_eq!(gc.space().heap().limit(), 8192);
    assert!(gc.totals().collections > 100);
}

/// The behaviour of a fixed heap does not depend on how its limit was given, and only a collection
/// makes room.
#[test]
fn a_fixed_heap_never_grows() {
    let run = |limit| {
        let mut region = JunkRegion::new(1 << 15, 64, 1);
        let (mut gc, mut graph) = heap::<Lists>(&mut region, limit, usize::MAX);
        let whole = gc.space().heap().limit();
        let mut numbers = Vec::new();
        for nth in 0..2000 {
            let served = gc.alloc(&mut graph, nth % 300);
            numbers.push(served.ok().map(|object| (object, gc.totals().collections)));
            graph.roots.extend(served.ok().filter(|_| nth % 300 > 250));
            served.iter().for_each(|&object| {
                if nth % 300 > 250 {
                    gc.store_data(object, 1, 0);
                }
            });
            if served.is_err() {
                graph.roots.truncate(graph.roots.len() / 2);
            }
        }
        assert!(gc.totals().refusals > 0);
        assert_eq!(gc.space().heap().limit(), whole);
        (numbers, whole)
    };
    let (expected, whole) = run(usize::MAX);
    assert_eq!(run(whole).0, expected);
    assert_eq!(run(whole + 8).0, expected);
}

/// At the end of its region a growing heap refuses. It is unchanged except for dead objects, and
/// serves again.
#[test]
fn exhaustion_is_a_value_at_every_point() {
    fn judged<I: Index>() {
        for (limit, large_from) in [(0, usize::MAX), (1000, 200), (usize::MAX, 200)] {
            let mut region = JunkRegion::new(1 << 13, 64, 1);
            let (mut gc, mut graph) = heap::<I>(&mut region, limit, large_from);
            let empty = gc.space().largest_request();
            for round in 0..60 {
                while let Ok(object) = gc.alloc(&mut graph, 20 + round * 8) {
                    gc.store_data(object, 1, 0);
                    gc.store_data(object, 2, round as u32);
                    graph.roots.push(object);
                }
                let objects = gc.objects().collect::<Vec<_>>();
                let refusals = gc.totals().refusals;
                assert_eq!(gc.alloc(&mut graph, 20 + round * 8), Err(Refused::NoChunk));
                assert_eq!(gc.totals().refusals, refusals + 1);
                assert_eq!(gc.objects().collect::<Vec<_>>(), objects, "all were roots");
                assert!(
                    objects
                        .iter()
                        .all(|&object| gc.load(object, 2) == round as u32)
                );
                let too_large = gc.alloc(&mut graph, empty + 1);
                assert_eq!(too_large, Err(Refused::TooLarge { limit: empty }));
                assert_eq!((gc.check(), gc.usage().total()), (Ok(()), 1 << 13));
                graph.roots.clear();
            }
            gc.alloc(&mut graph, empty)
                .expect("the whole region, in the end");
        }
    }
    judged::<Lists>();
    judged::<Segregated<NextHitTable, Deferred, Linear, 64>>();
    judged::<TwoLevel>();
}

/// An index that rounds sizes may need more than the request.
#[test]
fn a_heap_grows_until_the_request_is_served() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<PowersOfTwo>(&mut region, 0, usize::MAX);
    gc.alloc(&mut graph, 2100)
        .expect("a chunk of 4096 bytes serves it");
    let limit = gc.space().heap().limit();
    assert!((4096..5000).contains(&limit), "{limit}");
}

/// A request that does not fit into the rest of the region does not make the heap grow.
#[test]
fn a_heap_does_not_grow_in_vain() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, 20_000, usize::MAX);
    rooted(&mut gc, &mut graph, 15_000);
    let limit = gc.space().heap().limit();
    assert_eq!(gc.alloc(&mut graph, 50_000), Err(Refused::NoChunk));
    assert_eq!(gc.space().heap().limit(), limit);
    let unused = gc.usage().free_page_bytes;
    gc.alloc(&mut graph, unused)
        .expect("with what was free before");
    assert_eq!(gc.check(), Ok(()));
}
