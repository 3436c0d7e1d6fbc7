//! One collection, and what a space does before one.

use std::panic::{AssertUnwindSafe, catch_unwind};

use surefit::Refused;
use surefit::compact::{Bound, Config, Geometry};
use surefit::freelist::{Bitmap, Deferred, Immediate, Segregated, Tree};
use surefit::gc::{
    Cause, Client, Collector, CompactFit, Edges, FreeList, Living, Object, Scanned, Settings,
    Space, Sweep,
};

use surefit_testkit::JunkRegion;

use crate::steps::Walk;

type Lists<'m> = FreeList<'m, Segregated<Bitmap, Deferred, Tree, 256>>;
type Merging<'m> = FreeList<'m, Segregated<Bitmap, Immediate, Tree, 256>>;

/// What a collection asks a program, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Roots,
    Scan(Object, u32),
    Weak,
}

/// A program whose objects are references from the first word to the last.
#[derive(Default)]
struct Program {
    roots: Vec<Object>,
    weak: Vec<Object>,
    asked: Vec<Asked>,
}

impl<S: Space> Client<S> for Program {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.asked.push(Asked::Roots);
        self.roots.iter().for_each(|&root| edges.report(root));
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        self.asked.push(Asked::Scan(object.object(), from));
        let to = object.words().min(from + Edges::STRIDE);
        if to < object.words() {
            edges.again_from(to);
        }
        (from..to)
            .filter_map(|word| object.reference(word))
            .for_each(|object| edges.report(object));
    }

    fn weak(&mut self, living: &Living<'_>) {
        self.asked.push(Asked::Weak);
        self.weak.retain(|&object| living.contains(object));
    }
}

fn memory() -> JunkRegion {
    JunkRegion::new(1 << 16, 1 << 12, 7)
}

#[test]
fn one_collection() {
    let mut walk = Walk::of("One collection");
    let mut memory = memory();
    let settings = Settings {
        limit: 1 << 14,
        large_from: usize::MAX,
        ..Settings::default()
    };
    let mut gc = Collector::<Lists<'_>>::new(memory.memory(), settings).expect("large enough");
    let mut program = Program::default();
    // The heap is full of small objects, every other one is held by a root.
    let objects: Vec<_> = core::iter::from_fn(|| gc.alloc_as_is(12).ok()).collect();
    program.roots = objects.iter().copied().step_by(2).collect();
    before_the_marking(&mut walk, &mut gc, &mut program);

    walk.step("Mark what the roots report");
    assert_eq!(program.asked[0], Asked::Roots);
    marking_of_the_roots();
    walk.step("Drain the mark stack");
    draining();
    walk.step("Rescan what did not fit");
    rescanning();

    walk.step("Clear weak references");
    program.weak = vec![objects[2], objects[3]];
    let swept = gc.collect(&mut program).swept;
    assert_eq!(program.asked.last(), Some(&Asked::Weak), "after marking");
    assert_eq!(program.weak, [objects[2]]);

    walk.step("Sweep");
    let live = program.roots.len() as u64;
    assert_eq!(
        (swept.live_objects, swept.freed_objects),
        (live, 1),
        "what alloc returned"
    );
    assert!(swept.free_chunks >= live - 1, "dead chunks stay apart");
    sweeping();

    walk.step("Keep the live bits");
    assert_eq!(gc.objects().collect::<Vec<_>>(), program.roots);
    let stale = objects[3];
    assert!(!gc.contains(stale));
    assert!(catch_unwind(AssertUnwindSafe(|| gc.load(stale, 0))).is_err());

    after_the_sweep(&mut walk, &mut gc, &mut program);
    gc.check().expect("every invariant");
}

/// A request that only a collection serves.
fn before_the_marking(walk: &mut Walk, gc: &mut Collector<'_, Lists<'_>>, program: &mut Program) {
    walk.step("Ask for what is free");
    assert_eq!(gc.alloc_as_is(12), Err(Refused::NoChunk));
    assert_eq!(gc.totals().collections, 0);

    walk.step("Relieve the space");
    let limit = gc.space().heap().limit();
    gc.alloc(program, 12).expect("a collection helps");
    assert_eq!(gc.totals().collections, 1, "the space had nothing to do");
    assert_eq!(gc.space().heap().limit(), limit);
    assert_eq!(gc.last().map(|last| last.cause), Some(Cause::Request(12)));
}

/// Requests that a collection does not serve.
fn after_the_sweep(walk: &mut Walk, gc: &mut Collector<'_, Lists<'_>>, program: &mut Program) {
    walk.step("Merge what was left apart");
    let limit = gc.space().heap().limit();
    program.roots.truncate(1);
    gc.collect(program);
    let collections = gc.totals().collections;
    assert!(gc.alloc_as_is(1000).is_err(), "free, but apart");
    let served = gc.alloc(program, 1000).expect("merging helps");
    program.roots.push(served);
    assert_eq!(
        gc.totals().collections,
        collections + 1,
        "after a collection"
    );
    assert_eq!(gc.space().heap().limit(), limit, "it did not grow");

    walk.step("Grow");
    let served = gc.alloc(program, 1 << 14).expect("growing helps");
    program.roots.push(served);
    assert_eq!(gc.totals().collections, collections + 2, "after merging");
    assert!(gc.space().heap().limit() > limit);
    assert!(
        gc.alloc(program, 3 << 14).is_err(),
        "the region is not endless"
    );
    assert_eq!(gc.totals().refusals, 1);
}

/// A program with objects whose roots are the first two, on a mark stack of so many entries.
fn two_roots(mark_stack: usize, check: impl FnOnce(&mut Collector<'_, Merging<'_>>, &mut Program)) {
    let mut memory = memory();
    let settings = Settings {
        mark_stack,
        ..Settings::default()
    };
    let mut gc = Collector::<Merging<'_>>::new(memory.memory(), settings).expect("large enough");
    let mut program = Program::default();
    for _ in 0..2 {
        program.roots.push(gc.alloc_as_is(12).expect("room"));
    }
    check(&mut gc, &mut program);
    gc.check().expect("every invariant");
}

fn marking_of_the_roots() {
    two_roots(2, |gc, program| {
        // Black at once: the second report of an object neither pushes nor counts it.
        program.roots.push(program.roots[0]);
        let done = gc.collect(program);
        assert_eq!((done.edges, done.swept.live_objects), (3, 2));
        assert_eq!((done.deepest, done.rescans), (2, 0));
    });
    two_roots(2, |gc, program| {
        let dead = program.roots.pop().expect("two");
        gc.collect(program);
        program.roots.push(dead);
        let collected = catch_unwind(AssertUnwindSafe(|| gc.collect(program)));
        assert!(
            collected.is_err(),
            "a reported reference that names no live object"
        );
        program.roots.pop();
    });
}

fn draining() {
    two_roots(2, |gc, program| {
        let [first, second] = program.roots[..] else {
            unreachable!()
        };
        let child = gc.alloc_as_is(12).expect("room");
        gc.store(second, 0, Some(child));
        gc.store(child, 0, Some(second));
        gc.collect(program);
        let scans = [second, child, first].map(|object| Asked::Scan(object, 0));
        assert_eq!(
            program.asked,
            [&[Asked::Roots][..], &scans, &[Asked::Weak]].concat()
        );
    });
    // A long array asks first.
    two_roots(2, |gc, program| {
        let stride = Edges::STRIDE;
        let array = gc.alloc_as_is(4 * 3 * stride as usize).expect("room");
        program.roots = vec![array];
        gc.collect(program);
        let scans = program.asked.iter().filter_map(|asked| match *asked {
            Asked::Scan(object, from) if object == array => Some(from),
            _ => None,
        });
        let all: Vec<_> = scans.collect();
        assert_eq!(all[..3], [0, stride, 2 * stride]);
        assert_eq!(gc.last().map(|last| last.deepest), Some(1), "one entry");
    });
}

fn rescanning() {
    two_roots(1, |gc, program| {
        let [first, second] = program.roots[..] else {
            unreachable!()
        };
        let done = gc.collect(program);
        assert_eq!(
            (done.deepest, done.rescans),
            (1, 1),
            "the second root did not fit"
        );
        let scans = [first, second].map(|object| Asked::Scan(object, 0));
        assert_eq!(
            program.asked,
            [&[Asked::Roots][..], &scans, &[Asked::Weak]].concat()
        );
        assert_eq!(done.swept.live_objects, 2);
        gc.check().expect("no object is grey");
    });
}

/// From header to header, every chunk is read; from mark to mark, only what lives and what is free
/// then.
fn sweeping() {
    let visited = |sweep| {
        let mut memory = memory();
        let settings = Settings {
            sweep,
            ..Settings::default()
        };
        let mut gc =
            Collector::<Merging<'_>>::new(memory.memory(), settings).expect("large enough");
        let mut program = Program::default();
        for _ in 0..100 {
            let object = gc.alloc_as_is(12).expect("room");
            program.roots.push(object);
        }
        program.roots = vec![program.roots[50]];
        let swept = gc.collect(&mut program).swept;
        assert_eq!((swept.live_objects, swept.freed_objects), (1, 99));
        assert_eq!(swept.free_chunks, 2, "one on each side");
        swept.visited
    };
    let (walked, leapt) = (visited(Sweep::Walk), visited(Sweep::Leap));
    assert!(walked > 100 && leapt < 5, "{walked} and {leapt} headers");
}

#[test]
fn moving_and_growing_before_a_collection() {
    let mut walk = Walk::of("Moving and growing before a collection");
    walk.step("Move page-blocks together");
    moves_serve_a_request();
    moves_cannot_help();

    walk.step("Grow a crowded heap");
    let (served, collections, has_grown) = crowded(1 << 14);
    assert!(served && has_grown);
    assert_eq!(collections, 1, "it grows before it collects");
    let (served, collections, has_grown) = crowded(usize::MAX);
    assert!(
        !served && !has_grown,
        "it has all of its region from the beginning"
    );
    assert_eq!(collections, 2);
}

/// Page-blocks move only when a page is missing.
fn unbounded() -> Config {
    let geometry = Geometry::new(&CompactFit::GEOMETRY).expect("valid");
    Config::new(geometry, Bound::Unbounded).expect("valid")
}

/// Every page has small objects, a few; a larger one needs a page.
fn moves_serve_a_request() {
    // What fits must not depend on where the region lies.
    let (config, mut region) = (unbounded(), JunkRegion::new(1 << 18, 1 << 16, 7));
    let mut gc = Collector::compact_fit(region.memory(), &config, 64).expect("large enough");
    let mut program = Program::default();
    let objects: Vec<_> = core::iter::from_fn(|| gc.alloc_as_is(16).ok()).collect();
    program.roots = objects.into_iter().step_by(16).collect();
    gc.collect(&mut program);
    assert!(gc.alloc_as_is(1000).is_err() && gc.space().would_fit(1000));
    let moves = gc.space().stats().moves_total;
    gc.alloc(&mut program, 1000).expect("moves help");
    assert_eq!(gc.totals().collections, 1, "no collection more");
    assert!(gc.space().stats().moves_total > moves);
    assert_eq!(gc.space().relief().requests, 1);
    assert_eq!(gc.space().relief().fragmented_collections, 0);
    assert!(
        program.roots.iter().all(|&object| gc.contains(object)),
        "references stay"
    );
    gc.check().expect("every invariant");
}

/// Everything lives.
fn moves_cannot_help() {
    // What fits must not depend on where the region lies.
    let (config, mut region) = (unbounded(), JunkRegion::new(1 << 18, 1 << 16, 7));
    let mut gc = Collector::compact_fit(region.memory(), &config, 64).expect("large enough");
    let roots = core::iter::from_fn(|| gc.alloc_as_is(16).ok()).collect();
    let mut program = Program {
        roots,
        ..Program::default()
    };
    gc.alloc(&mut program, 16).expect_err("full");
    assert_eq!(
        (gc.space().stats().moves_total, gc.totals().collections),
        (0, 1)
    );
}

/// A request of a heap in which all lives, after a collection: whether it was served, all
/// collections, whether it has grown.
fn crowded(limit: usize) -> (bool, u64, bool) {
    let mut memory = memory();
    let settings = Settings {
        limit,
        ..Settings::default()
    };
    let mut gc = Collector::<Merging<'_>>::new(memory.memory(), settings).expect("large enough");
    let mut program = Program::default();
    let limit = gc.space().heap().limit();
    program.roots = core::iter::from_fn(|| gc.alloc_as_is(12).ok()).collect();
    gc.collect(&mut program);
    let is_served = gc.alloc(&mut program, 12).is_ok();
    (
        is_served,
        gc.totals().collections,
        gc.space().heap().limit() > limit,
    )
}
