//! Graphs that break collectors: deep, wide, dense. They run on a thread that has no stack for
//! recursion.

use std::mem::MaybeUninit;

use crate::common::{Fault, Graph, HEAD};
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::{Collection, Collector, Edges, FreeList, Object, Settings, Sweep};

type Lists = Segregated<Bitmap, Immediate, Tree, 256>;
type Heap<'m> = Collector<'m, FreeList<'m, Lists>>;

fn node(gc: &mut Heap<'_>, graph: &mut Graph, slots: u32) -> Object {
    let object = gc
        .alloc(graph, (HEAD + slots) as usize * 4)
        .expect("large enough");
    gc.store_data(object, 1, slots);
    object
}

fn link(gc: &mut Heap<'_>, from: Object, slot: u32, to: Object) {
    gc.store(from, HEAD + slot, Some(to));
}

/// Builds a graph with a root, and verifies that all of it stays, and that all of it is freed
/// without the root.
fn survives(
    bytes: usize,
    mark_stack: usize,
    build: impl FnOnce(&mut Heap<'_>, &mut Graph) -> (Object, u64) + Send,
) -> Collection {
    let on_a_small_stack = move || {
        let mut region = vec![MaybeUninit::uninit(); bytes];
        let settings = Settings {
            mark_stack,
            sweep: Sweep::Walk,
            ..Settings::default()
        };
        let (mut gc, mut graph) = (
            Heap::new(&mut region, settings).expect("large"),
            Graph::new(Fault::Nothing),
        );
        let (root, nodes) = build(&mut gc, &mut graph);
        graph.roots.push(root);
        let told = gc.collect(&mut graph);
        assert_eq!((told.swept.live_objects, gc.check()), (nodes, Ok(())));
        assert!(told.deepest <= mark_stack);
        graph.roots.clear();
        let after = gc.collect(&mut graph).swept;
        assert_eq!(
            (after.live_objects, after.freed_objects, after.free_chunks),
            (0, nodes, 1)
        );
        told
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        let handle = thread
            .spawn_scoped(scope, on_a_small_stack)
            .expect("a thread");
        handle.join().expect("no fault")
    })
}

#[test]
fn a_list_of_a_million_nodes_takes_one_entry() {
    let told = survives(40 << 20, 256, |gc, graph| {
        let mut list = node(gc, graph, 1);
        for _ in 1..1_000_000 {
            let longer = node(gc, graph, 1);
            link(gc, longer, 0, list);
            list = longer;
        }
        (list, 1_000_000)
    });
    assert_eq!((told.deepest, told.rescans, told.edges), (1, 0, 1_000_000));
}

#[test]
fn an_array_of_a_million_slots_takes_a_stride() {
    let told = survives(48 << 20, 256, |gc, graph| {
        let array = node(gc, graph, 1_000_000);
        for slot in 0..1_000_000 {
            let element = node(gc, graph, 0);
            link(gc, array, slot, element);
        }
        (array, 1_000_001)
    });
    assert_eq!(told.deepest, Edges::STRIDE as usize + 1);
    assert_eq!(told.rescans, 0);
}

#[test]
fn an_array_is_marked_with_a_stack_of_one_entry() {
    for fault in [Fault::Nothing, Fault::AsksLate] {
        let told = survives(1 << 20, 1, |gc, graph| {
            graph.fault = fault;
            let array = node(gc, graph, 10_000);
            for slot in 0..10_000 {
                let element = node(gc, graph, 0);
                link(gc, array, slot, element);
            }
            (array, 10_001)
        });
        assert!(told.rescans > 0);
    }
}

/// The elements of a list pile up on the mark stack while its spine is walked: the usual overflow.
#[test]
fn a_list_of_boxes_overflows_the_stack_and_is_marked_all_the_same() {
    let build = |ascending: bool| {
        move |gc: &mut Heap<'_>, graph: &mut Graph| {
            let mut pairs: Vec<Object> = (0..100_000).map(|_| node(gc, graph, 2)).collect();
            if !ascending {
                pairs.reverse();
            }
            for (nth, &pair) in pairs.iter().enumerate() {
                let element = node(gc, graph, 0);
                link(gc, pair, 0, element);
                if let Some(&next) = pairs.get(nth + 1) {
                    link(gc, pair, 1, next);
                }
            }
            (pairs[0], 200_000)
        }
    };
    for ascending in [true, false] {
        let told = survives(8 << 20, 256, build(ascending));
        assert_eq!(told.deepest, 256);
        assert!((1..1000).contains(&told.rescans), "{} passes", told.rescans);
        let roomy = survives(16 << 20, 200_000, build(ascending));
        assert_eq!((roomy.rescans, roomy.edges), (0, told.edges));
    }
}

#[test]
fn a_complete_graph_is_looked_at_edge_by_edge() {
    for mark_stack in [1, 16, 1024] {
        let told = survives(4 << 20, mark_stack, |gc, graph| {
            let nodes: Vec<_> = (0..300).map(|_| node(gc, graph, 300)).collect();
            for &from in &nodes {
                for (slot, &to) in nodes.iter().enumerate() {
                    link(gc, from, slot as u32, to);
                }
            }
            (nodes[0], 300)
        });
        assert!(told.edges > 300 * 300);
        match mark_stack {
            1024 => assert_eq!((told.rescans, told.edges), (0, 300 * 300 + 1)),
            _ => assert!(told.rescans > 0),
        }
    }
}

#[test]
fn a_ring_without_a_root_is_freed() {
    survives(1 << 16, 1, |gc, graph| {
        let (one, other) = (node(gc, graph, 1), node(gc, graph, 1));
        link(gc, one, 0, other);
        link(gc, other, 0, one);
        (one, 2)
    });
}
