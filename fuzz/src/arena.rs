//! An arena beside a model of its nodes: what the root leads to lives and holds its number, what it
//! does not is dropped once.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use surefit_core::Refused;
use surefit_freelist::{
    Best, Bitmap, Deferred, First, Immediate, Index, Linear, NextHitTable, PowersOfTwo, Segregated,
    SingleList, SizeTree, Tree, TwoLevel,
};
use surefit_gc::{Arena, Gc, GcArray, GcStr, Limits, Mutation, Rootable, Trace, WeakGc};

use crate::input::Input;
use crate::region::Region;

const SYSTEMS: &[fn(&mut Input<'_>)] = &[
    run_on::<TwoLevel>,
    run_on::<PowersOfTwo>,
    run_on::<SizeTree>,
    run_on::<SingleList<First>>,
    run_on::<SingleList<Best>>,
    run_on::<Segregated<Bitmap, Immediate, Tree, 256>>,
    run_on::<Segregated<NextHitTable, Deferred, Linear, 16>>,
];

/// Tells when its node is dropped.
struct Mourned {
    number: usize,
    dead: Rc<RefCell<Vec<usize>>>,
}

impl Drop for Mourned {
    fn drop(&mut self) {
        self.dead.borrow_mut().push(self.number);
    }
}

/// A reference that can change.
type Edge<'gc> = Cell<Option<Gc<'gc, Node<'gc>>>>;

#[derive(Trace)]
struct Node<'gc> {
    edges: [Edge<'gc>; 2],
    weak: Cell<Option<WeakGc<'gc, Node<'gc>>>>,
    wide: Cell<Option<GcArray<'gc, Edge<'gc>>>>,
    text: Cell<Option<GcStr<'gc>>>,
    #[trace(skip)]
    mourned: Mourned,
}

/// Places that the program can reach by itself.
const PLACES: usize = 6;
type Places<'gc> = [Cell<Option<Gc<'gc, Node<'gc>>>>; PLACES];

/// What the model knows of a node.
#[derive(Default)]
struct Known {
    edges: [Option<usize>; 2],
    weak: Option<usize>,
    wide: Option<Vec<Option<usize>>>,
    text: Option<usize>,
}

/// The arena's nodes by number, and what the places name.
#[derive(Default)]
struct Model {
    nodes: Vec<Known>,
    places: [Option<usize>; PLACES],
}

impl Model {
    fn reached(&self) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<_> = self.places.iter().flatten().copied().collect();
        while let Some(number) = next.pop() {
            if reached.insert(number) {
                let node = &self.nodes[number];
                next.extend(node.edges.iter().flatten());
                next.extend(node.wide.iter().flatten().flatten());
            }
        }
        reached
    }

    fn forget_dead(&mut self, reached: &BTreeSet<usize>) {
        for node in &mut self.nodes {
            node.weak = node.weak.filter(|target| reached.contains(target));
        }
    }
}

/// Runs an input's program in an arena of its choice.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    SYSTEMS[input.below(SYSTEMS.len())](&mut input);
}

fn run_on<I: Index>(input: &mut Input<'_>) {
    let (bytes, offset) = (input.region_bytes().min(1 << 15), input.below(17));
    let limits = Limits {
        mark_stack: input.below(20),
        kinds: input.below(9),
        heap: [usize::MAX, 0, 1000, 5000][input.below(4)],
    };
    let mut region = Region::new(bytes, 16, offset);
    let made =
        Arena::<'_, Rootable!['gc => Places<'gc>], I>::with_limits(region.memory(), limits, |_| {
            Ok(Places::default())
        });
    let mut arena = match made {
        Ok(arena) => arena,
        Err(Refused::Region { needed }) => {
            assert!(needed > bytes, "refused, though it is large enough");
            return;
        }
        Err(other) => panic!("{other}"),
    };
    let (mut model, dead) = (Model::default(), Rc::new(RefCell::new(Vec::new())));
    let mut buried = BTreeSet::new();
    while !input.is_empty() {
        match input.below(8) {
            0 => {
                let reached = model.reached();
                arena.collect();
                model.forget_dead(&reached);
                for number in dead.take() {
                    assert!(
                        !reached.contains(&number) && buried.insert(number),
                        "dropped once"
                    );
                }
                assert_eq!(buried.len() + reached.len(), model.nodes.len());
            }
            1 => {
                let wanted = input.size();
                let ensured = arena.ensure(wanted).is_ok();
                assert_eq!(ensured, arena.free_bytes() >= wanted);
                // It may have collected.
                let reached = model.reached();
                let gone = dead.take();
                if !gone.is_empty() {
                    model.forget_dead(&reached);
                    let fresh = gone
                        .into_iter()
                        .all(|it| !reached.contains(&it) && buried.insert(it));
                    assert!(fresh, "dropped once");
                }
            }
            _ => arena.mutate(|mc, places| step(input, mc, places, &mut model, &dead)),
        }
        assert_eq!(arena.check(), Ok(()));
    }
    arena.mutate(|_, places| compare(places, &model));
    drop(arena);
    let gone = dead.take();
    assert!(
        gone.into_iter().all(|number| buried.insert(number)),
        "dropped once"
    );
    assert_eq!(buried.len(), model.nodes.len(), "all were dropped");
}

/// One change of the graph, on both sides.
fn step<'gc>(
    input: &mut Input<'_>,
    mc: &Mutation<'gc>,
    places: &Places<'gc>,
    model: &mut Model,
    dead: &Rc<RefCell<Vec<usize>>>,
) {
    let (from, to) = (input.below(PLACES), input.below(PLACES));
    let (node, target) = (places[from].get(), places[to].get());
    let (known, target_known) = (model.places[from], model.places[to]);
    match input.below(8) {
        0 | 1 => {
            let number = model.nodes.len();
            let mourned = Mourned {
                number,
                dead: dead.clone(),
            };
            let made = mc.alloc(Node {
                edges: [Cell::new(node), Cell::new(target)],
                weak: Cell::new(None),
                wide: Cell::new(None),
                text: Cell::new(None),
                mourned,
            });
            match made {
                Ok(made) => {
                    model.nodes.push(Known {
                        edges: [known, target_known],
                        ..Known::default()
                    });
                    places[to].set(Some(made));
                    model.places[to] = Some(number);
                }
                Err(_) => assert_eq!(
                    dead.borrow_mut().pop(),
                    Some(number),
                    "refused, and dropped"
                ),
            }
        }
        2 => {
            places[from].set(None);
            model.places[from] = None;
        }
        3 => {
            let edge = input.below(2);
            if let Some((node, known)) = node.zip(known) {
                node.edges[edge].set(target);
                model.nodes[known].edges[edge] = target_known;
            }
        }
        4 => {
            if let Some(((node, known), target)) = node.zip(known).zip(target) {
                if let Ok(weak) = mc.downgrade(target) {
                    node.weak.set(Some(weak));
                    model.nodes[known].weak = target_known;
                }
            }
        }
        5 => {
            let length = input.below(200);
            if let Some((node, known)) = node.zip(known) {
                let element = |nth| Cell::new(if nth % 3 == 0 { target } else { None });
                if let Ok(wide) = mc.alloc_array(length, element) {
                    node.wide.set(Some(wide));
                    let elements = (0..length).map(|nth| target_known.filter(|_| nth % 3 == 0));
                    model.nodes[known].wide = Some(elements.collect());
                }
            }
        }
        6 => {
            let length = input.below(300);
            if let Some((node, known)) = node.zip(known) {
                if let Ok(text) = mc.alloc_str(&"é".repeat(length)) {
                    node.text.set(Some(text));
                    model.nodes[known].text = Some(length);
                }
            }
        }
        _ => {
            let edge = input.below(2);
            let next = node.and_then(|node| node.edges[edge].get());
            places[to].set(next);
            model.places[to] = known.and_then(|known| model.nodes[known].edges[edge]);
        }
    }
    compare(places, model);
}

/// What the places lead to is what the model says.
fn compare(places: &Places<'_>, model: &Model) {
    let number = |node: Option<Gc<'_, Node<'_>>>| node.map(|node| node.mourned.number);
    let mut next: Vec<_> = places.iter().filter_map(Cell::get).collect();
    assert!(
        places
            .iter()
            .map(|place| number(place.get()))
            .eq(model.places)
    );
    let mut seen = BTreeSet::new();
    while let Some(node) = next.pop() {
        if !seen.insert(node.mourned.number) {
            continue;
        }
        let known = &model.nodes[node.mourned.number];
        assert_eq!(
            node.edges.each_ref().map(|edge| number(edge.get())),
            known.edges
        );
        assert_eq!(
            number(node.weak.get().and_then(WeakGc::upgrade)),
            known.weak
        );
        let wide = node.wide.get();
        let elements = wide.map(|wide| wide.iter().map(|it| number(it.get())).collect::<Vec<_>>());
        assert_eq!(elements, known.wide);
        assert_eq!(node.text.get().map(|text| text.chars().count()), known.text);
        next.extend(node.edges.iter().filter_map(Cell::get));
        next.extend(
            wide.iter()
                .flat_map(|wide| wide.iter())
                .filter_map(Cell::get),
        );
    }
}
