//! Instructions of allocation, access, marking and sweeping over Compact-fit, each a whole over as many objects as its name
//! says: beside those of `collections`, over lists.
//!
//! Trees have nodes of two references, in page-blocks of 16 bytes. Needs valgrind and the runner of the gungraun crate:
//! `cargo bench -p surefit-gc`.
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
use surefit_compact::Config;
use surefit_gc::{Client, Collector, CompactFit, Edges, Object, Scanned, Space};

type Heap = Collector<'static, CompactFit<'static>>;

const OBJECTS: u64 = 10_000;

static CONFIG: Config = CompactFit::CONFIG;

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
    nodes: Vec<Object>,
}

impl Scene {
    fn new() -> Self {
        let region = vec![MaybeUninit::new(0xa5); 1 << 20].leak();
        let mut scene = Self {
            heap: Heap::compact_fit(region, &CONFIG, 256).expect("large enough"),
            trees: Trees(None),
            nodes: Vec::new(),
        };
        // Every page was written before anything is counted.
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
        self.nodes = nodes;
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
#[bench::of_12_bytes(args = (Scene::new()), config = budget(229))]
fn allocate(mut scene: Scene) -> Scene {
    scene.garbage();
    scene
}

#[library_benchmark]
#[bench::of_12_bytes(args = (Scene::new().tree()), config = budget(48))]
fn load(scene: Scene) -> (u32, Scene) {
    let words = scene.nodes.iter().map(|&node| scene.heap.load(node, 1));
    (words.fold(0, u32::wrapping_add), scene)
}

#[library_benchmark]
#[bench::all_live(args = (Scene::new().tree()), config = budget(230))]
#[bench::all_dead(args = (Scene::new().dead()), config = budget(63))]
fn collect(mut scene: Scene) -> Scene {
    let swept = scene.heap.collect(&mut scene.trees).swept;
    assert!(swept.live_objects == OBJECTS || swept.freed_objects == OBJECTS);
    scene
}

library_benchmark_group!(
    name = compact_fit;
    benchmarks = allocate, load, collect
);
main!(library_benchmark_groups = compact_fit);
