//! Large objects at the other end of the region, and heaps that grow: where objects lie, when the heap grows, refusals.

mod common;

use common::{Fault, Graph};
use surefit_core::Refused;
use surefit_freelist::{
    Bitmap, Deferred, Immediate, Index, Linear, NextHitTable, PowersOfTwo, Segregated, Tree,
    TwoLevel,
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
    gc.store(object, 1, 0);
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
    assert_eq!((gc.check(), gc.parts().total()), (Ok(()), 1 << 16));
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

/// A dead large object is a gap for the next; the highest that has room is taken.
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
    // Without large objects the lists have all again.
    graph.roots.clear();
    let swept = gc.collect(&mut graph).swept;
    assert_eq!((swept.live_objects, swept.free_chunks), (0, 1));
    gc.alloc(&mut graph, 900).expect("room");
    gc.alloc(&mut graph, 55_000).expect("still whole");
}

/// A small object at the end of the lists keeps large ones from it: the lists serve them, until a sweep makes room.
#[test]
fn a_large_object_goes_to_the_lists_rather_than_cause_a_collection() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, 4000);
    let garbage = gc.alloc(&mut graph, 3999).expect("room");
    while gc.parts().free_chunk_bytes > 2000 {
        rooted(&mut gc, &mut graph, 1000);
    }
    while gc.parts().free_chunk_bytes > 4 {
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

#[test]
fn displaced_objects_are_counted_and_found_by_the_next_sweep() {
    let mut region = JunkRegion::new(1 << 15, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, usize::MAX, 2000);
    let large: Vec<Object> = (0..4).map(|_| rooted(&mut gc, &mut graph, 4000)).collect();
    let hole = gc.alloc(&mut graph, 1900).expect("room");
    gc.alloc(&mut graph, 1900).expect("room");
    while gc.alloc_as_is(1000).is_ok_and(|object| {
        gc.store(object, 1, 0);
        graph.roots.push(object);
        true
    }) {}
    // The gap of a large object, and a hole of two small ones: each serves what belongs to the other.
    graph.roots.retain(|&root| root != large[1]);
    gc.collect(&mut graph);
    assert!(!gc.contains(hole) && !gc.contains(large[1]));
    let in_gap = rooted(&mut gc, &mut graph, 4000);
    assert_eq!(
        (in_gap, gc.space().displaced()),
        (large[1], Displaced::default())
    );
    let in_lists = rooted(&mut gc, &mut graph, 3000);
    assert_eq!((in_lists, gc.space().displaced().large_in_lists), (hole, 1));
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

/// Allocates so many live objects, with garbage between them; returns what was done, the limit at the end, and the most
/// bytes that the limit was more than twice what lived.
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
    assert_eq!((gc.check(), gc.parts().total()), (Ok(()), 1 << 20));
    let limit = gc.space().heap().limit();
    (*gc.totals(), limit, most_over_live)
}

/// Marking is in proportion to allocation, and the heap at most twice what lives.
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

/// A program with little live and much garbage never needs more than it began with.
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

/// What a program sees of a fixed heap does not depend on how its limit was told, and nothing but a collection makes room.
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
                    gc.store(object, 1, 0);
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

/// At the end of its region a growing heap refuses, is as it was but for dead objects, and serves again.
#[test]
fn exhaustion_is_a_value_at_every_point() {
    fn judged<I: Index>() {
        for (limit, large_from) in [(0, usize::MAX), (1000, 200), (usize::MAX, 200)] {
            let mut region = JunkRegion::new(1 << 13, 64, 1);
            let (mut gc, mut graph) = heap::<I>(&mut region, limit, large_from);
            let empty = gc.space().largest_request();
            for round in 0..60 {
                while let Ok(object) = gc.alloc(&mut graph, 20 + round * 8) {
                    gc.store(object, 1, 0);
                    gc.store(object, 2, round as u32);
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
                assert_eq!((gc.check(), gc.parts().total()), (Ok(()), 1 << 13));
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

/// A request for which the rest of the region is too small does not make the heap grow.
#[test]
fn a_heap_does_not_grow_in_vain() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let (mut gc, mut graph) = heap::<Lists>(&mut region, 20_000, usize::MAX);
    rooted(&mut gc, &mut graph, 15_000);
    let limit = gc.space().heap().limit();
    assert_eq!(gc.alloc(&mut graph, 50_000), Err(Refused::NoChunk));
    assert_eq!(gc.space().heap().limit(), limit);
    let unused = gc.parts().free_page_bytes;
    gc.alloc(&mut graph, unused)
        .expect("with what was free before");
    assert_eq!(gc.check(), Ok(()));
}
