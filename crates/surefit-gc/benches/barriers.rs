//! Instructions of a store, and of an allocation, under collectors that do not stop the program for
//! a whole collection. The first of each group is under the collector that does: what others take
//! beyond it is the barrier, and what they count.
//!
//! The heap is that of `collections`. Every bench does its work once for each of as many objects as
//! its budget says. Needs valgrind and the runner of the gungraun crate:
//! `cargo bench -p surefit-gc`.
//!
//! A budget is the measured value plus a tenth. Raise one only with a reason in the commit.
#![allow(
    missing_docs,
    unused_qualifications,
    clippy::must_use_candidate,
    reason = "the benchmark macros make items of their own"
)]

use core::mem::MaybeUninit;

use gungraun::{library_benchmark, library_benchmark_group, main};
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::{Collector, FreeList, Generational, Incremental, Object, Phase, Settings};

use budget::budget;
use scene::{OBJECTS, Scene, Trees};

#[path = "support/budget.rs"]
mod budget;
#[path = "support/scene.rs"]
mod scene;

type Lists = FreeList<'static, Segregated<Bitmap, Immediate, Tree, 256>>;

fn heap() -> Scene<Lists> {
    let region = vec![MaybeUninit::new(0xa5); 1 << 20].leak();
    Scene::over(Collector::new(region, Settings::default()).expect("large enough"))
}

/// A collector, its client, and the nodes of a tree.
struct Under<G> {
    gc: G,
    trees: Trees,
    nodes: Vec<Object>,
}

fn stopping() -> Under<Collector<'static, Lists>> {
    let Scene { heap, nodes, trees } = heap().tree();
    Under {
        gc: heap,
        trees,
        nodes,
    }
}

/// A tree, and no cycle.
fn idle() -> Under<Incremental<'static, Lists>> {
    let Under { gc, trees, nodes } = stopping();
    Under {
        gc: Incremental::over(gc),
        trees,
        nodes,
    }
}

/// A cycle has taken the root, and scanned nothing yet.
fn marking() -> Under<Incremental<'static, Lists>> {
    let mut under = idle();
    under.gc.start(&mut under.trees);
    assert_eq!(under.gc.phase(), Phase::Mark);
    under
}

/// All nodes are marked, and the leaves still to be scanned.
fn marked() -> Under<Incremental<'static, Lists>> {
    let mut under = marking();
    while under.gc.cycle().marked < OBJECTS {
        under.gc.step(&mut under.trees, 1);
    }
    assert_eq!(under.gc.phase(), Phase::Mark);
    under
}

fn young() -> Under<Generational<'static, Lists>> {
    let Under { gc, trees, nodes } = stopping();
    Under {
        gc: Generational::over(gc),
        trees,
        nodes,
    }
}

fn old() -> Under<Generational<'static, Lists>> {
    let mut under = young();
    under.gc.collect(&mut under.trees);
    under
}

/// An old tree, and a young node that is to be stored.
fn old_and_a_young_one() -> (Under<Generational<'static, Lists>>, Option<Object>) {
    let mut under = old();
    let object = under.gc.alloc_as_is(12).expect("room");
    (under, Some(object))
}

/// The same, and every node of the tree is remembered.
fn remembered() -> (Under<Generational<'static, Lists>>, Option<Object>) {
    let (mut under, object) = old_and_a_young_one();
    for &node in &under.nodes {
        under.gc.store(node, 1, object);
    }
    (under, object)
}

#[library_benchmark]
#[bench::stopping(args = (stopping()), config = budget(21, OBJECTS))]
fn store(mut under: Under<Collector<'static, Lists>>) -> Under<Collector<'static, Lists>> {
    let root = Some(under.nodes[0]);
    for &node in &under.nodes {
        under.gc.store(node, 0, root);
    }
    under
}

#[library_benchmark]
#[bench::idle(args = (idle()), config = budget(34, OBJECTS))]
#[bench::over_white(args = (marking()), config = budget(84, OBJECTS))]
#[bench::over_black(args = (marked()), config = budget(61, OBJECTS))]
fn store_in_steps(
    mut under: Under<Incremental<'static, Lists>>,
) -> Under<Incremental<'static, Lists>> {
    let root = Some(under.nodes[0]);
    for &node in &under.nodes {
        under.gc.store(node, 0, root);
    }
    under
}

#[library_benchmark]
#[bench::in_young(args = (young()), config = budget(32, OBJECTS))]
#[bench::old_in_old(args = (old()), config = budget(37, OBJECTS))]
fn store_of_old(
    mut under: Under<Generational<'static, Lists>>,
) -> Under<Generational<'static, Lists>> {
    let root = Some(under.nodes[0]);
    for &node in &under.nodes {
        under.gc.store(node, 0, root);
    }
    under
}

#[library_benchmark]
#[bench::in_old(args = (old_and_a_young_one()), config = budget(60, OBJECTS))]
#[bench::in_remembered(args = (remembered()), config = budget(46, OBJECTS))]
fn store_of_young(
    (mut under, object): (Under<Generational<'static, Lists>>, Option<Object>),
) -> Under<Generational<'static, Lists>> {
    for &node in &under.nodes {
        under.gc.store(node, 0, object);
    }
    under
}

#[library_benchmark]
#[bench::stopping(args = (stopping()), config = budget(162, OBJECTS))]
fn allocate(mut under: Under<Collector<'static, Lists>>) -> Under<Collector<'static, Lists>> {
    for _ in 0..OBJECTS {
        under.gc.alloc(&mut under.trees, 12).expect("room");
    }
    under
}

#[library_benchmark]
#[bench::idle(args = (idle()), config = budget(246, OBJECTS))]
#[bench::marking(args = (marking()), config = budget(266, OBJECTS))]
fn allocate_in_steps(
    mut under: Under<Incremental<'static, Lists>>,
) -> Under<Incremental<'static, Lists>> {
    for _ in 0..OBJECTS {
        under.gc.alloc(&mut under.trees, 12).expect("room");
    }
    under
}

#[library_benchmark]
#[bench::generations(args = (young()), config = budget(192, OBJECTS))]
fn allocate_young(
    mut under: Under<Generational<'static, Lists>>,
) -> Under<Generational<'static, Lists>> {
    for _ in 0..OBJECTS {
        under.gc.alloc(&mut under.trees, 12).expect("room");
    }
    under
}

library_benchmark_group!(
    name = barriers;
    benchmarks = store, store_in_steps, store_of_old, store_of_young, allocate, allocate_in_steps, allocate_young
);
main!(library_benchmark_groups = barriers);
