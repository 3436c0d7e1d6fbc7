//! Arenas in steps under a judge: a naive graph beside the objects, and a few steps after every
//! change. When a cycle ends, exactly those objects are left that were reachable when it started,
//! that were upgraded while it marked, or that were born since. From the end of marking on, every
//! weak reference to a dead object leads to none, whether the collector has come to clear it or
//! not.

mod nodes;

use std::collections::BTreeSet;

use surefit_freelist::{
    Bitmap, Deferred, Immediate, Index, Linear, Never, NextHitTable, Scan, Segregated, Tree,
    TwoLevel,
};
use surefit_gc::{ArenaPhase, Full, Limits, Rootable, StepArena};
use surefit_testkit::{JunkRegion, Random};

use super::Drops;
use nodes::{Light, Node, heavy, reach};

const ROOTS: usize = 8;
/// The root changes without a barrier, as it may.
type Graph<'m, I> = StepArena<'m, Rootable!['gc => [Option<Node<'gc>>; ROOTS]], I>;

/// A node as the judge knows it.
struct Model {
    slots: Vec<Option<usize>>,
    /// The weak cell, by its number, and the node that it names.
    weak: Option<(usize, usize)>,
    is_heavy: bool,
}

/// What the judge counts as objects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Thing {
    Node(usize),
    Slots(usize),
    Weak(usize),
}

/// A cycle as the judge knows it.
#[derive(Default)]
struct Snapshot {
    kept: BTreeSet<Thing>,
    /// Nodes and weak cells with these numbers or higher ones were born since.
    nodes: usize,
    weak_cells: usize,
}

impl Snapshot {
    fn is_kept(&self, thing: Thing) -> bool {
        let is_born = match thing {
            Thing::Node(id) | Thing::Slots(id) => id >= self.nodes,
            Thing::Weak(nth) => nth >= self.weak_cells,
        };
        is_born || self.kept.contains(&thing)
    }
}

struct World<'m, I: Index> {
    arena: Graph<'m, I>,
    roots: [Option<usize>; ROOTS],
    models: Vec<Model>,
    weak_cells: usize,
    drops: Drops,
    snapshot: Option<Snapshot>,
    /// Nodes that a cycle has found dead.
    dead: BTreeSet<usize>,
    /// Upgrades that brought dead nodes back.
    revived: u64,
    /// Weak references that named dead nodes while the collector cleared such.
    condemned: u64,
}

impl<'m, I: Index> World<'m, I> {
    fn new(region: &'m mut JunkRegion, mark_stack: usize) -> Self {
        let limits = Limits {
            mark_stack,
            kinds: 8,
            heap: usize::MAX,
        };
        let arena = Graph::<I>::with_limits(region.memory(), limits, |_| Ok([None; ROOTS]));
        Self {
            arena: arena.expect("large enough"),
            roots: [None; ROOTS],
            models: Vec::new(),
            weak_cells: 0,
            drops: Drops::default(),
            snapshot: None,
            dead: BTreeSet::new(),
            revived: 0,
            condemned: 0,
        }
    }

    /// The things that some nodes lead to.
    fn closure(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<Thing> {
        let mut reached = BTreeSet::new();
        let mut queue: Vec<usize> = from.into_iter().collect();
        while let Some(id) = queue.pop() {
            let model = &self.models[id];
            if reached.insert(Thing::Node(id)) {
                queue.extend(model.slots.iter().flatten());
                reached.extend(model.is_heavy.then_some(Thing::Slots(id)));
                reached.extend(model.weak.map(|(cell, _)| Thing::Weak(cell)));
            }
        }
        reached
    }

    /// The nodes that the judge reaches.
    fn reached(&self) -> BTreeSet<usize> {
        let things = self.closure(self.roots.iter().flatten().copied());
        let nodes = things.into_iter().filter_map(|thing| match thing {
            Thing::Node(id) => Some(id),
            _ => None,
        });
        nodes.collect()
    }

    fn start(&mut self) {
        if self.arena.is_idle() {
            self.arena.start();
            self.snapshot = Some(Snapshot {
                kept: self.closure(self.roots.iter().flatten().copied()),
                nodes: self.models.len(),
                weak_cells: self.weak_cells,
            });
        }
    }

    fn step(&mut self, budget: u64) {
        let step = self.arena.step(budget);
        assert!(step.done || step.work >= budget, "{step:?} of {budget}");
        assert!(step.work < budget.max(1) + self.arena.most_excess());
        self.stepped();
    }

    fn finish(&mut self) {
        self.arena.finish();
        self.stepped();
    }

    /// Once marking has ended, what is not kept is dead; once the cycle has ended, it is freed.
    fn stepped(&mut self) {
        let Some(snapshot) = &self.snapshot else {
            return;
        };
        let phase = self.arena.phase();
        if matches!(phase, ArenaPhase::Roots | ArenaPhase::Mark) {
            return;
        }
        let nodes = 0..snapshot.nodes;
        self.dead
            .extend(nodes.filter(|&id| !snapshot.is_kept(Thing::Node(id))));
        if phase == ArenaPhase::Idle {
            let cycle = *self.arena.cycle();
            let expected = snapshot.kept.len() as u64 + cycle.born;
            assert_eq!(cycle.live_objects, expected, "nodes, slots and weak cells");
            for (id, &drops) in self.drops.borrow().iter().enumerate() {
                let is_dropped = self.models[id].is_heavy && self.dead.contains(&id);
                assert_eq!(drops, u32::from(is_dropped), "drops of {id}");
            }
            self.snapshot = None;
        }
    }

    /// Allocates a node and lets a root name it. Collects if there is no room.
    fn alloc(&mut self, is_heavy: bool, slots: usize, root: usize) {
        let slots = if is_heavy { slots } else { 2 };
        let mut made = Err(());
        for attempt in 0..3 {
            let (id, drops) = (self.models.len(), self.drops.clone());
            drops.borrow_mut().push(0);
            let alloc = self.arena.mutate_root(|mc, roots| {
                let node = match is_heavy {
                    true => Node::Heavy(heavy(mc, id, &drops, slots)?),
                    false => Node::Light(mc.alloc(Light {
                        id,
                        slots: Default::default(),
                    })?),
                };
                roots[root] = Some(node);
                Ok::<_, Full>(())
            });
            if alloc.is_ok() {
                made = Ok(());
                break;
            }
            // A value for which there was no room is dropped with the refusal.
            drops.borrow_mut().pop();
            if attempt == 1 {
                self.start();
            }
            self.finish();
            self.judge();
        }
        if made.is_ok() {
            self.roots[root] = Some(self.models.len());
            self.models.push(Model {
                slots: vec![None; slots],
                weak: None,
                is_heavy,
            });
        }
    }

    /// Lets a slot of a reached node name another node, or none. A heavy node may also name one
    /// weakly.
    fn link(&mut self, from: usize, slot: usize, to: Option<usize>, weakly: bool) {
        let (ids, is_late) = (self.models.len(), slot % 2 == 0);
        let linked = self.arena.mutate(|mc, roots| {
            let nodes = reach(roots, ids);
            let (source, target) = (nodes[from].expect("reached"), to.and_then(|to| nodes[to]));
            if let (true, Node::Heavy(source)) = (weakly, source) {
                if let Some(Node::Heavy(target)) = target {
                    let weak = mc.downgrade(target)?;
                    source.weak.set(mc, Some(weak));
                    return Ok(true);
                }
            }
            let slot = &source.slots()[slot];
            match is_late {
                true => slot.set(mc, target),
                false => _ = (slot.take(mc), slot.replace(mc, target)),
            }
            Ok::<_, Full>(false)
        });
        match linked {
            Ok(true) => {
                let target = to.expect("named");
                self.models[from].weak = Some((self.weak_cells, target));
                self.weak_cells += 1;
            }
            Ok(false) => self.models[from].slots[slot] = to,
            Err(_) => {}
        }
    }

    /// Follows a weak reference, and lets a root name what it leads to. A dead object comes back
    /// so, unless a cycle has found it dead.
    fn upgrade(&mut self, from: usize, root: usize) {
        let Some((_, target)) = self.models[from].weak else {
            return;
        };
        let ids = self.models.len();
        let upgraded = self.arena.mutate_root(|mc, roots| {
            let weak = reach(roots, ids)[from].and_then(Node::weak);
            let target = weak.expect("it has one").upgrade(mc)?;
            roots[root] = Some(Node::Heavy(target));
            Some(target.mortal.id)
        });
        let expected = Some(target).filter(|target| !self.dead.contains(target));
        assert_eq!(upgraded, expected, "the weak reference of {from}");
        let phase = self.arena.phase();
        if let Some(target) = upgraded {
            let things = self.closure([target]);
            if let (ArenaPhase::Mark, Some(snapshot)) = (phase, &mut self.snapshot) {
                let new = things.into_iter().filter(|&it| !snapshot.is_kept(it));
                let new: Vec<_> = new.collect();
                self.revived += u64::from(!new.is_empty());
                snapshot.kept.extend(new);
            }
            self.roots[root] = Some(target);
        }
    }

    fn drop_root(&mut self, root: usize) {
        self.arena.mutate_root(|_, roots| roots[root] = None);
        self.roots[root] = None;
    }

    /// The arena reaches what the judge reaches, through the same slots, and dropped none of it. No
    /// weak reference leads to what a cycle has found dead.
    fn judge(&mut self) {
        self.arena.check().expect("every invariant");
        let (expected, ids, models) = (self.reached(), self.models.len(), &self.models);
        let (drops, dead) = (self.drops.borrow(), &self.dead);
        let mut condemned = 0;
        self.arena.mutate(|mc, roots| {
            let nodes = reach(roots, ids);
            let found: BTreeSet<usize> = nodes.iter().flatten().map(|node| node.id()).collect();
            assert_eq!(found, expected);
            for node in nodes.iter().flatten() {
                let (model, id) = (&models[node.id()], node.id());
                let slots: Vec<_> = node.slots().iter().map(|s| s.get().map(Node::id)).collect();
                assert_eq!(slots, model.slots, "the slots of {id}");
                assert_eq!(drops[id], 0, "{id} was dropped, but is reached");
                let target = model.weak.map(|(_, target)| target);
                if target.is_some_and(|target| dead.contains(&target)) {
                    let weak = node.weak().expect("it has one");
                    assert!(weak.upgrade(mc).is_none(), "{id} names a dead node weakly");
                    condemned += u64::from(mc.phase() == ArenaPhase::Weak);
                }
            }
        });
        self.condemned += condemned;
    }
}

/// Lets a reached node name a new one weakly, to which nothing else leads.
fn abandon<I: Index>(world: &mut World<'_, I>, reached: &[usize], random: &mut Random) {
    let (root, new) = (random.below(ROOTS), world.models.len());
    world.alloc(true, 0, root);
    if world.models.len() == new {
        return;
    }
    let heavy = |id: &&usize| world.models[**id].is_heavy;
    let heavy: Vec<usize> = reached.iter().filter(heavy).copied().collect();
    let from = heavy.get(random.below(heavy.len() + 1));
    // The root named another node before.
    if let Some(&from) = from.filter(|from| world.reached().contains(from)) {
        world.link(from, 0, Some(new), true);
    }
    world.drop_root(root);
}

/// Allocates, links, upgrades, abandons, or drops a root.
fn change<I: Index>(world: &mut World<'_, I>, random: &mut Random) {
    let reached: Vec<usize> = world.reached().into_iter().collect();
    match random.below(20) {
        0..7 => {
            let most = if random.below(20) == 0 { 200 } else { 5 };
            let slots = random.below(most);
            let root = random.below(ROOTS);
            let before = world.roots[root];
            world.alloc(random.below(2) == 0, slots, root);
            // The node that the root named before becomes a child of the new one.
            let new = world.roots[root].filter(|&new| Some(new) != before);
            if let (Some(before), Some(new)) = (before, new) {
                let reached = world.reached();
                if !world.models[new].slots.is_empty() && reached.contains(&before) {
                    world.link(new, 0, Some(before), false);
                }
            }
        }
        7..14 if !reached.is_empty() => {
            let from = reached[random.below(reached.len())];
            let to = reached[random.below(reached.len())];
            let slots = world.models[from].slots.len();
            if slots > 0 {
                let to = (random.below(9) > 0).then_some(to);
                world.link(from, random.below(slots), to, random.below(3) == 0);
            }
        }
        14..17 if !reached.is_empty() => {
            let from = reached[random.below(reached.len())];
            world.upgrade(from, random.below(ROOTS));
        }
        17..19 => abandon(world, &reached, random),
        _ => world.drop_root(random.below(ROOTS)),
    }
}

/// A random program with steps of 1 to `most` units after every change. Returns how many objects
/// the barriers marked, how often a dead one came back, and how often one did not.
fn run<I: Index>(seed: u64, mark_stack: usize, most: usize) -> [u64; 3] {
    let mut region = JunkRegion::misaligned(7 << 10, 64, seed as usize % 13, seed);
    let mut world = World::<I>::new(&mut region, mark_stack);
    let (mut random, changes) = (Random(seed), if cfg!(miri) { 30 } else { 800 });
    for _ in 0..changes {
        change(&mut world, &mut random);
        world.judge();
        for _ in 0..random.below(3) {
            if world.arena.is_idle() && random.below(4) == 0 {
                world.start();
            }
            // Marking goes on slowly: it is short otherwise.
            let is_marking = world.arena.phase() == ArenaPhase::Mark;
            if !is_marking || random.below(4) == 0 {
                world.step(1 + random.below(most) as u64);
                world.judge();
            }
        }
    }
    let steps = *world.arena.steps();
    if !cfg!(miri) {
        assert!(steps.cycles > 5 && steps.overruns == 0, "{steps:?}");
        assert!(mark_stack > 2 || world.arena.totals().rescans > 0);
    }
    let found = [steps.shaded, world.revived, world.condemned];
    let (drops, models) = (world.drops.clone(), std::mem::take(&mut world.models));
    // It may end in any phase.
    drop(world);
    for (id, (&dropped, model)) in drops.borrow().iter().zip(&models).enumerate() {
        assert_eq!(dropped, u32::from(model.is_heavy), "{id} is dropped once");
    }
    found
}

fn judged<I: Index>() {
    let mut found = [0; 3];
    for seed in 0..if cfg!(miri) { 1 } else { 2 } {
        for (mark_stack, most) in [(1, 3), (2, 40), (64, 8)] {
            let more = run::<I>(seed, mark_stack, most);
            (0..3).for_each(|nth| found[nth] += more[nth]);
        }
    }
    let [shaded, revived, condemned] = found;
    let all = shaded > 30 && revived > 0 && condemned > 8;
    assert!(cfg!(miri) || all, "{found:?}");
}

#[test]
fn steps_over_immediate_lists() {
    judged::<Segregated<Bitmap, Immediate, Tree, 64>>();
}

#[test]
fn steps_over_deferred_lists() {
    judged::<Segregated<NextHitTable, Deferred, Tree, 64>>();
}

#[test]
fn steps_over_lists_that_never_merge() {
    judged::<Segregated<Scan, Never, Linear, 64>>();
}

#[test]
fn steps_over_two_levels() {
    judged::<TwoLevel>();
}
