//! Instructions of allocation, marking and sweeping, each a whole over as many objects as its name says.
//!
//! The heap is the default one: segregated lists, a bitmap, merged at once. Trees have nodes of two references; a client that
//! only reports them is in the figures. An allocation here is dear: what a sweep merged is one chunk of the last list,
//! which leaves the tree and returns to it, less the object, every time. Needs valgrind and the runner of the gungraun
//! crate: `cargo bench -p surefit-gc`.
//!
//! A budget is what was seen, rounded up by a tenth: raise one only with a reason in the commit.
#![allow(
    missing_docs,
    unused_qualifications,
    clippy::must_use_candidate,
    reason = "the benchmark macros make items of their own"
)]

use core::mem::MaybeUninit;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::{Client, Collector, Edges, FreeList, Object, Scanned, Settings, Space, Sweep};

type Heap = Collector<'static, FreeList<'static, Segregated<Bitmap, Immediate, Tree, 256>>>;

const OBJECTS: u64 = 10_000;

/// Nodes of two references, and one root.
struct Trees(Option<Object>);

impl<S: Space> Client<S> for Trees {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        self.0.into_iter().for_each(|root| edges.report(root));
    }

    #[inline]
    fn scan(&mut self, node: &Scanned<'_, S>, _from: u32, edges: &mut Edges<'_>) {
        for word in 0..2 {
            if let Some(child) = node.reference(word) {
                edges.report(child);
            }
        }
    }
}

struct Scene {
    heap: Heap,
    trees: Trees,
}

impl Scene {
    fn new(sweep: Sweep) -> Self {
        let settings = Settings {
            sweep,
            ..Settings::default()
        };
        let region = vec![MaybeUninit::new(0xa5); 1 << 20].leak();
        let heap = Heap::new(region, settings).expect("large enough");
        let mut scene = Self {
            heap,
            trees: Trees(None),
        };
        // Every page was written and every list used before anything is counted.
        scene.garbage();
        scene.heap.collect(&mut scene.trees);
        scene
    }

    fn node(&mut self) -> Object {
        self.heap.alloc(&mut self.trees, 12).expect("room")
    }

    fn garbage(&mut self) {
        for _ in 0..OBJECTS {
            self.node();
        }
    }

    /// A heap-shaped tree: node n has the nodes 2n + 1 and 2n + 2.
    fn tree(mut self) -> Self {
        let nodes: Vec<Object> = (0..OBJECTS).map(|_| self.node()).collect();
        for (nth, &child) in nodes.iter().enumerate().skip(1) {
            let slot = (nth - 1) % 2;
            self.heap
                .store(nodes[(nth - 1) / 2], slot as u32, child.number());
        }
        self.trees.0 = Some(nodes[0]);
        self
    }

    /// Ten thousand dead objects, and a live one behind them.
    fn dead(mut self) -> Self {
        self.garbage();
        let last = self.node();
        self.trees.0 = Some(last);
        self
    }
}

/// A limit on the instructions of all objects, from those of one.
fn budget(of_an_object: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, of_an_object * OBJECTS)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

#[library_benchmark]
#[bench::of_12_bytes(args = (Scene::new(Sweep::Leap)), config = budget(286))]
fn allocate(mut scene: Scene) -> Scene {
    scene.garbage();
    scene
}

#[library_benchmark]
#[bench::all_live_leap(args = (Scene::new(Sweep::Leap).tree()), config = budget(174))]
#[bench::all_live_walk(args = (Scene::new(Sweep::Walk).tree()), config = budget(174))]
#[bench::all_dead_leap(args = (Scene::new(Sweep::Leap).dead()), config = budget(6))]
#[bench::all_dead_walk(args = (Scene::new(Sweep::Walk).dead()), config = budget(27))]
fn collect(mut scene: Scene) -> Scene {
    let swept = scene.heap.collect(&mut scene.trees).swept;
    assert!(swept.live_objects == OBJECTS || swept.freed_objects == OBJECTS);
    scene
}

library_benchmark_group!(
    name = collections;
    benchmarks = allocate, collect
);
main!(library_benchmark_groups = collections);
