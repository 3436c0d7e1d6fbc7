//! Arenas under a judge: a naive graph of numbered nodes beside the objects. After every
//! collection, the objects are exactly those that the judge reaches from its root, values are
//! dropped exactly once, and weak references to dead objects are cleared.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;

use surefit_freelist::{
    Bitmap, Deferred, First, Immediate, Index, Linear, Never, NextHitTable, PowersOfTwo, Scan,
    Segregated, SingleList, SizeTree, Tree, TwoLevel,
};
use surefit_gc::{Arena, Full, Gc, GcArray, Limits, Mutation, Rootable, Trace, Tracer, WeakGc};
use surefit_testkit::{JunkRegion, Random};

#[path = "arena/in_steps.rs"]
mod in_steps;

/// How often the value of each id was dropped.
type Drops = Rc<RefCell<Vec<u32>>>;

/// A value that records its end.
struct Mortal {
    id: usize,
    drops: Drops,
}

impl Drop for Mortal {
    fn drop(&mut self) {
        self.drops.borrow_mut()[self.id] += 1;
    }
}

/// A node with `Drop`, and with references of each kind.
struct Heavy<'gc> {
    mortal: Mortal,
    slots: GcArray<'gc, Slot<'gc>>,
    weak: Cell<Option<WeakGc<'gc, Heavy<'gc>>>>,
}

/// A node without `Drop`.
struct Light<'gc> {
    id: usize,
    slots: [Slot<'gc>; 2],
}

#[derive(Clone, Copy)]
enum Node<'gc> {
    Heavy(Gc<'gc, Heavy<'gc>>),
    Light(Gc<'gc, Light<'gc>>),
}

type Slot<'gc> = Cell<Option<Node<'gc>>>;

// SAFETY: T1: all that may hold references is traced. T2: `Mortal` holds none. T3: nothing is
// changed.
unsafe impl Trace for Heavy<'_> {
    const TRACED: bool = true;
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.slots.trace(tracer);
        self.weak.trace(tracer);
    }
}

// SAFETY: as above.
unsafe impl Trace for Light<'_> {
    const TRACED: bool = true;
    fn trace(&self, tracer: &mut Tracer<'_>) {
        match FORGETFUL.get() {
            true => self.slots[0].trace(tracer),
            false => self.slots.trace(tracer),
        }
    }
}

thread_local! {
    /// Whether light nodes break T1: for a test of the judge.
    static FORGETFUL: Cell<bool> = const { Cell::new(false) };
}

// SAFETY: as above.
unsafe impl Trace for Node<'_> {
    const TRACED: bool = true;
    fn trace(&self, tracer: &mut Tracer<'_>) {
        match self {
            Self::Heavy(node) => node.trace(tracer),
            Self::Light(node) => node.trace(tracer),
        }
    }
}

impl<'gc> Node<'gc> {
    fn id(self) -> usize {
        match self {
            Self::Heavy(node) => node.mortal.id,
            Self::Light(node) => node.id,
        }
    }

    fn slots(self) -> &'gc [Slot<'gc>] {
        match self {
            Self::Heavy(node) => node.slots.as_slice(),
            Self::Light(node) => &node.as_ref().slots,
        }
    }

    fn weak(self) -> Option<WeakGc<'gc, Heavy<'gc>>> {
        match self {
            Self::Heavy(node) => node.weak.get(),
            Self::Light(_) => None,
        }
    }
}

/// All nodes that slots lead to, by id; `None` for the others.
fn reach<'gc>(roots: &[Slot<'gc>], ids: usize) -> Vec<Option<Node<'gc>>> {
    let mut reached = vec![None; ids];
    let mut queue: Vec<Node<'gc>> = roots.iter().filter_map(Cell::get).collect();
    while let Some(node) = queue.pop() {
        if reached[node.id()].replace(node).is_none() {
            queue.extend(node.slots().iter().filter_map(Cell::get));
        }
    }
    reached
}

const ROOTS: usize = 16;
type Graph<'m, I> = Arena<'m, Rootable!['gc => GcArray<'gc, Slot<'gc>>], I>;

/// A node as the judge knows it.
struct Model {
    slots: Vec<Option<usize>>,
    weak: Option<usize>,
    is_heavy: bool,
}

struct World<'m, I: Index> {
    arena: Graph<'m, I>,
    roots: [Option<usize>; ROOTS],
    models: Vec<Model>,
    drops: Drops,
}

impl<'m, I: Index> World<'m, I> {
    fn new(region: &'m mut JunkRegion, mark_stack: usize) -> Self {
        let limits = Limits {
            mark_stack,
            kinds: 8,
            heap: usize::MAX,
        };
        let arena = Graph::<I>::with_limits(region.memory(), limits, |mc| {
            mc.alloc_array(ROOTS, |_| Cell::new(None))
        });
        Self {
            arena: arena.expect("large enough"),
            roots: [None; ROOTS],
            models: Vec::new(),
            drops: Drops::default(),
        }
    }

    /// The nodes that the judge reaches.
    fn reached(&self) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut queue: Vec<usize> = self.roots.iter().flatten().copied().collect();
        while let Some(id) = queue.pop() {
            if reached.insert(id) {
                queue.extend(self.models[id].slots.iter().flatten());
            }
        }
        reached
    }

    /// Allocates a node with `slots` slots (a light one has two) and lets a root name it. Collects
    /// if there is no room.
    fn alloc(&mut self, is_heavy: bool, slots: usize, root: usize) {
        let (id, drops) = (self.models.len(), self.drops.clone());
        drops.borrow_mut().push(0);
        let refusals = self.arena.totals().refusals;
        let made = self.arena.retry(|mc, roots| {
            let node = match is_heavy {
                true => Node::Heavy(heavy(mc, id, &drops, slots)?),
                false => Node::Light(mc.alloc(Light {
                    id,
                    slots: Default::default(),
                })?),
            };
            roots[root].set(Some(node));
            Ok(())
        });
        self.models.push(Model {
            slots: vec![None; if is_heavy { slots } else { 2 }],
            weak: None,
            is_heavy,
        });
        let is_refused = made.is_err();
        if !is_refused {
            self.roots[root] = Some(id);
        }
        // A value for which there was no room is dropped with the refusal.
        drops.borrow_mut()[id] = 0;
        if is_refused {
            self.models[id].is_heavy = false;
        }
        if self.arena.totals().refusals > refusals {
            self.judge();
        }
    }

    /// Lets a slot of a reached node name another node, or none. A heavy node may also name one
    /// weakly.
    fn link(&mut self, from: usize, slot: usize, to: Option<usize>, weakly: bool) {
        let ids = self.models.len();
        let linked = self.arena.retry(|mc, roots| {
            let nodes = reach(roots, ids);
            let (source, target) = (nodes[from].expect("reached"), to.and_then(|to| nodes[to]));
            if let (true, Node::Heavy(source)) = (weakly, source) {
                if let Some(Node::Heavy(target)) = target {
                    source.weak.set(Some(mc.downgrade(target)?));
                    return Ok(true);
                }
            }
            source.slots()[slot].set(target);
            Ok(false)
        });
        match linked {
            Ok(true) => self.models[from].weak = to,
            Ok(false) => self.models[from].slots[slot] = to,
            Err(_) => {}
        }
        self.judge_reached();
    }

    fn drop_root(&mut self, root: usize) {
        self.arena.mutate(|_, roots| roots[root].set(None));
        self.roots[root] = None;
    }

    /// The arena reaches what the judge reaches, through the same slots, and dropped none of it.
    fn judge_reached(&mut self) {
        let (expected, ids, models) = (self.reached(), self.models.len(), &self.models);
        let drops = self.drops.borrow();
        self.arena.mutate(|_, roots| {
            let nodes = reach(roots, ids);
            let found: BTreeSet<usize> = nodes.iter().flatten().map(|node| node.id()).collect();
            assert_eq!(found, expected);
            for node in nodes.iter().flatten() {
                let (model, id) = (&models[node.id()], node.id());
                let slots: Vec<_> = node.slots().iter().map(|s| s.get().map(Node::id)).collect();
                assert_eq!(slots, model.slots, "the slots of {id}");
                assert_eq!(drops[id], 0, "{id} was dropped, but is reached");
                let target = node.weak().and_then(WeakGc::upgrade);
                if let Some(target) = target {
                    assert_eq!(Some(target.mortal.id), model.weak);
                    assert_eq!(drops[target.mortal.id], 0);
                }
            }
        });
    }

    /// Right after a collection, exactly the reached objects are left.
    fn judge(&mut self) {
        let live = self.arena.collect().live_objects;
        let (reached, models) = (self.reached(), &self.models);
        let count = |of: fn(&Model) -> bool| reached.iter().filter(|&&id| of(&models[id])).count();
        let arrays = 1 + count(|model| model.is_heavy);
        let weak_cells = count(|model| model.weak.is_some());
        let expected = reached.len() + arrays + weak_cells;
        assert_eq!(live, expected as u64, "nodes, arrays and weak cells");
        for (id, &dropped) in self.drops.borrow().iter().enumerate() {
            let is_dead = models[id].is_heavy && !reached.contains(&id);
            assert_eq!(dropped, u32::from(is_dead), "drops of {id}");
        }
        self.arena.check().expect("sound");
        let ids = models.len();
        self.arena.mutate(|_, roots| {
            for node in reach(roots, ids).iter().flatten() {
                let weak = models[node.id()].weak;
                let lives = weak.is_some_and(|to| reached.contains(&to));
                let upgraded = node.weak().and_then(WeakGc::upgrade).is_some();
                assert_eq!(upgraded, lives, "the weak reference of {}", node.id());
            }
        });
        self.judge_reached();
    }
}

fn heavy<'gc>(
    mc: &Mutation<'gc>,
    id: usize,
    drops: &Drops,
    slots: usize,
) -> Result<Gc<'gc, Heavy<'gc>>, Full> {
    let slots = mc.alloc_array(slots, |_| Cell::new(None))?;
    let drops = drops.clone();
    mc.alloc(Heavy {
        mortal: Mortal { id, drops },
        slots,
        weak: Cell::new(None),
    })
}

/// Allocates, links, or drops a root.
fn step<I: Index>(world: &mut World<'_, I>, random: &mut Random) {
    let reached: Vec<usize> = world.reached().into_iter().collect();
    match random.below(10) {
        0..5 => {
            let most = if random.below(20) == 0 { 200 } else { 5 };
            let slots = random.below(most);
            world.alloc(random.below(2) == 0, slots, random.below(ROOTS));
            // A new node is often made a child of an old one.
            if let Some(&from) = reached.get(random.below(2 * reached.len() + 1)) {
                let (id, slots) = (world.models.len() - 1, world.models[from].slots.len());
                let reached = world.reached();
                if slots > 0 && reached.contains(&id) && reached.contains(&from) {
                    world.link(from, random.below(slots), Some(id), false);
                }
            }
        }
        5..9 if !reached.is_empty() => {
            let from = reached[random.below(reached.len())];
            let to = reached[random.below(reached.len())];
            let slots = world.models[from].slots.len();
            if slots > 0 {
                let to = (random.below(5) > 0).then_some(to);
                world.link(from, random.below(slots), to, random.below(3) == 0);
            }
        }
        _ => world.drop_root(random.below(ROOTS)),
    }
}

/// A random program; `every`: the number of steps between two requested collections.
fn run<I: Index>(seed: u64, mark_stack: usize, every: usize) {
    let mut region = JunkRegion::misaligned(6 << 10, 64, seed as usize % 13, seed);
    let mut world = World::<I>::new(&mut region, mark_stack);
    let (mut random, steps) = (Random(seed), if cfg!(miri) { 20 } else { 700 });
    for at in 0..steps {
        step(&mut world, &mut random);
        if at % every == 0 {
            world.judge();
        }
    }
    world.judge();
    let totals = world.arena.totals();
    if !cfg!(miri) {
        assert!(totals.collections > 5, "{totals:?}");
        assert!(every <= steps || totals.refusals > 2, "{totals:?}");
        assert!(mark_stack > 2 || totals.rescans > 0, "{totals:?}");
    }
    let (drops, models) = (world.drops.clone(), std::mem::take(&mut world.models));
    drop(world);
    for (id, (&dropped, model)) in drops.borrow().iter().zip(&models).enumerate() {
        assert_eq!(
            dropped,
            u32::from(model.is_heavy),
            "all are dropped once, {id} too"
        );
    }
    assert_eq!(Rc::strong_count(&drops), 1, "no value is left");
}

/// With mark stacks of one entry and of many, collected after every step and when there is no room.
fn judged<I: Index>() {
    for seed in 0..if cfg!(miri) { 1 } else { 4 } {
        run::<I>(seed, 1, 1);
        run::<I>(seed, 2, 7);
        run::<I>(seed, 64, usize::MAX);
    }
}

macro_rules! heaps {
    ($($name:ident $index:ty;)*) => {$(
        #[test]
        fn $name() {
            judged::<$index>();
        }
    )*};
}

heaps! {
    bitmap_immediate Segregated<Bitmap, Immediate, Tree, 64>;
    table_deferred Segregated<NextHitTable, Deferred, Tree, 64>;
    scan_never Segregated<Scan, Never, Linear, 64>;
    units_of_16 Segregated<Bitmap, Immediate, Tree, 64, 16>;
    first_fit SingleList<First>;
    tree_fit SizeTree;
    half_fit PowersOfTwo;
    tlsf TwoLevel;
}

#[test]
#[should_panic(expected = "nodes, arrays and weak cells")]
fn the_judge_objects_to_a_trace_that_forgets_a_reference() {
    let mut region = JunkRegion::new(1 << 16, 64, 1);
    let mut world = World::<TwoLevel>::new(&mut region, 64);
    for root in 0..2 {
        world.alloc(false, 2, root);
    }
    world.link(0, 1, Some(1), false);
    world.drop_root(1);
    world.judge();
    FORGETFUL.set(true);
    world.judge();
}
