//! The judge: a naive graph of numbered nodes beside a collected heap. After every collection the
//! heap must have exactly the objects that the judge reaches from its roots, and they must hold
//! what the judge says.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its own part"
)]

pub mod generations;
pub mod steps;

use std::collections::{BTreeMap, BTreeSet};

use surefit_core::Refused;
use surefit_freelist::Index;
use surefit_gc::{Client, Collector, Edges, FreeList, Living, Object, Scanned, Settings, Space};
use surefit_testkit::JunkRegion;
pub use surefit_testkit::Random;

/// Words of an object before its slots: its id, and the number of its slots. A pattern follows the
/// slots.
pub const HEAD: u32 = 2;

/// A fault of a client, for tests of the judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    Nothing,
    ForgetsSlot(u32),
    ForgetsARoot,
    /// Reports a root that the program has dropped: the first object ever allocated.
    KeepsTheFirst,
    /// No fault, but slow: asks to be scanned again only after it has reported a stride, when the
    /// stack may be full.
    AsksLate,
}

/// The language of the tests: objects with slots.
#[derive(Debug)]
pub struct Graph {
    pub roots: Vec<Object>,
    pub fault: Fault,
    pub first: Option<Object>,
    /// Weak references.
    pub weak: Vec<Option<Object>>,
    /// What objects refer to beside the heap, as if they had a slot more.
    pub beside: BTreeMap<Object, Object>,
    /// Calls of `scan` until it panics.
    pub scans_left: usize,
}

impl Graph {
    pub const fn new(fault: Fault) -> Self {
        Self {
            roots: Vec::new(),
            fault,
            first: None,
            weak: Vec::new(),
            beside: BTreeMap::new(),
            scans_left: usize::MAX,
        }
    }
}

impl<S: Space> Client<S> for Graph {
    fn roots(&mut self, edges: &mut Edges<'_>) {
        let forgotten = usize::from(self.fault == Fault::ForgetsARoot);
        self.roots
            .iter()
            .skip(forgotten)
            .for_each(|&root| edges.report(root));
        if self.fault == Fault::KeepsTheFirst {
            self.first.into_iter().for_each(|first| edges.report(first));
        }
    }

    fn scan(&mut self, object: &Scanned<'_, S>, from: u32, edges: &mut Edges<'_>) {
        self.scans_left = self.scans_left.checked_sub(1).expect("no more scans");
        let beside = self.beside.get(&object.object());
        let slots = object.load(1);
        let all = slots + u32::from(beside.is_some());
        let to = all.min(from + Edges::STRIDE);
        let asks_late = self.fault == Fault::AsksLate;
        if to < all && !asks_late {
            edges.again_from(to);
        }
        for slot in from..to.min(slots) {
            if self.fault != Fault::ForgetsSlot(slot) {
                let reference = object.reference(HEAD + slot);
                reference
                    .into_iter()
                    .for_each(|object| edges.report(object));
            }
        }
        if to > slots {
            beside.into_iter().for_each(|&object| edges.report(object));
        }
        if to < all && asks_late {
            edges.again_from(to);
        }
    }

    fn weak(&mut self, living: &Living<'_>) {
        self.beside.retain(|&object, _| living.contains(object));
        for reference in &mut self.weak {
            *reference = reference.filter(|&object| living.contains(object));
        }
    }

    /// Three at a time.
    fn weak_from(&mut self, from: u32, living: &Living<'_>) -> Option<u32> {
        let (from, to) = (from as usize, from as usize + 3);
        for reference in self.weak.iter_mut().take(to).skip(from) {
            *reference = reference.filter(|&object| living.contains(object));
        }
        (to < self.weak.len()).then_some(to as u32)
    }
}

/// A node as the judge knows it.
#[derive(Clone, Debug)]
struct Node {
    object: Object,
    slots: Vec<Option<usize>>,
    words: u32,
}

/// A program. It makes every change to the heap and to the judge's graph.
#[derive(Debug)]
pub struct World<'m, S> {
    pub gc: Collector<'m, S>,
    pub graph: Graph,
    /// By id; `None` for the dead.
    nodes: Vec<Option<Node>>,
    roots: Vec<usize>,
    /// Ids that the roots reach.
    pub reached: Vec<usize>,
}

pub type Verdict = Result<(), String>;

impl<'m, I: Index> World<'m, FreeList<'m, I>> {
    pub fn new(region: &'m mut JunkRegion, settings: Settings, fault: Fault) -> Self {
        Self::over(
            Collector::new(region.memory(), settings).expect("large enough"),
            fault,
        )
    }
}

impl<'m, S: Space> World<'m, S> {
    pub const fn over(gc: Collector<'m, S>, fault: Fault) -> Self {
        Self {
            gc,
            graph: Graph::new(fault),
            nodes: Vec::new(),
            roots: Vec::new(),
            reached: Vec::new(),
        }
    }

    fn node(&self, id: usize) -> &Node {
        self.nodes[id].as_ref().expect("reached, so not dead")
    }

    pub fn object(&self, id: usize) -> Object {
        self.node(id).object
    }

    pub fn slots(&self, id: usize) -> usize {
        self.node(id).slots.len()
    }

    /// Searches the graph from its roots, breadth first.
    fn search(&mut self) {
        let mut seen = vec![false; self.nodes.len()];
        let mut queue: Vec<usize> = Vec::new();
        let mut at = 0;
        for &root in &self.roots {
            if !std::mem::replace(&mut seen[root], true) {
                queue.push(root);
            }
        }
        while let Some(&id) = queue.get(at) {
            at += 1;
            for &target in self.node(id).slots.iter().flatten() {
                if !std::mem::replace(&mut seen[target], true) {
                    queue.push(target);
                }
            }
        }
        self.reached = queue;
    }

    /// What a word of an object must hold.
    fn expected(&self, id: usize, word: u32) -> u32 {
        let node = self.node(id);
        let slots = node.slots.len() as u32;
        match word {
            0 => id as u32,
            1 => slots,
            _ if word < HEAD + slots => {
                let target = node.slots[(word - HEAD) as usize];
                target.map_or(0, |target| self.object(target).number())
            }
            _ => (id as u32).wrapping_mul(0x9E37_79B9) ^ word,
        }
    }

    /// Compares the heap, just collected, with the graph: the same objects and the same words.
    fn judge(&mut self, newest: Option<Object>) -> Verdict {
        self.search();
        let mut objects: BTreeSet<Object> =
            self.reached.iter().map(|&id| self.object(id)).collect();
        objects.extend(newest);
        let found: BTreeSet<Object> = self.gc.objects().collect();
        if let Some(object) = objects.difference(&found).next() {
            return Err(format!("{object:?} is reached but was freed"));
        }
        if let Some(object) = found.difference(&objects).next() {
            return Err(format!("{object:?} is not reached but was kept"));
        }
        let mut dead = vec![true; self.nodes.len()];
        self.reached.iter().for_each(|&id| dead[id] = false);
        for (id, _) in dead.iter().enumerate().filter(|&(_, &dead)| dead) {
            self.nodes[id] = None;
        }
        self.gc
            .check()
            .map_err(|corruption| corruption.to_string())?;
        self.verify()
    }

    /// Compares every word of every reached object.
    pub fn verify(&self) -> Verdict {
        for &id in &self.reached {
            let node = self.node(id);
            for word in 0..node.words {
                let (found, expected) = (self.gc.load(node.object, word), self.expected(id, word));
                if found != expected {
                    return Err(format!(
                        "word {word} of node {id}: {found:#x}, not {expected:#x}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Allocates a node with slots and further words, and makes it a root; `None` if the heap
    /// refuses.
    pub fn alloc(&mut self, slots: usize, further: usize) -> Result<Option<usize>, String> {
        let words = HEAD + (slots + further) as u32;
        let collections = self.gc.totals().collections;
        let served = self.gc.alloc(&mut self.graph, words as usize * 4);
        if self.gc.totals().collections != collections {
            self.judge(served.ok())?;
        }
        let object = match served {
            Ok(object) => object,
            Err(Refused::Region { .. }) => return Err("no refusal of a request".into()),
            Err(_) => return Ok(None),
        };
        let told = self.gc.words(object);
        if told < words || (0..told).any(|word| self.gc.load(object, word) != 0) {
            return Err(format!(
                "a new object of {words} words is too small or not clear"
            ));
        }
        let id = self.nodes.len();
        let slots = vec![None; slots];
        self.nodes.push(Some(Node {
            object,
            slots,
            words,
        }));
        for word in 0..words {
            self.gc.store_data(object, word, self.expected(id, word));
        }
        self.graph.first.get_or_insert(object);
        self.roots.push(id);
        self.graph.roots.push(object);
        self.reached.push(id);
        Ok(Some(id))
    }

    /// Lets a slot name a node, or none.
    pub fn link(&mut self, from: usize, slot: usize, to: Option<usize>) {
        let (object, target) = (self.object(from), to.map(|to| self.object(to)));
        self.nodes[from].as_mut().expect("alive").slots[slot] = to;
        self.gc.store(object, HEAD + slot as u32, target);
        if to.is_none() {
            self.search();
        }
    }

    /// Clears a root.
    pub fn drop_root(&mut self, nth: usize) {
        if nth < self.roots.len() {
            self.roots.remove(nth);
            self.graph.roots.remove(nth);
            self.search();
        }
    }

    pub fn root_count(&self) -> usize {
        self.roots.len()
    }

    pub fn collect(&mut self) -> Verdict {
        let told = self.gc.collect(&mut self.graph);
        self.judge(None)?;
        match told.swept.live_objects == self.reached.len() as u64 {
            true => Ok(()),
            false => Err(format!("{told:?}, but {} are reached", self.reached.len())),
        }
    }
}

/// The steps that a program of an exhaustive test can be made of; the last one collects.
pub const STEPS: usize = 8;

/// Runs a program whose steps are the octal digits of a number, last digit first. The judge checks
/// after every step. Returns how many collections the program requested.
pub fn run_every_step<S: Space>(
    world: &mut World<'_, S>,
    program: usize,
    steps: u32,
    step: impl Fn(&mut World<'_, S>, usize) -> Result<(), String>,
) -> u64 {
    let (mut rest, mut asked) = (program, 0);
    for nth in 0..steps {
        let number = rest % STEPS;
        rest /= STEPS;
        asked += u64::from(number == STEPS - 1);
        let verdict = step(world, number).and_then(|()| world.verify());
        let verdict = verdict.and_then(|()| world.gc.check().map_err(|c| c.to_string()));
        assert_eq!(
            verdict,
            Ok(()),
            "step {nth} of program {program:o} (octal, last first)"
        );
    }
    asked
}

/// Runs a random program of `steps` steps. Returns the numbers of the objects that it got.
pub fn program<S: Space>(
    world: &mut World<'_, S>,
    seed: u64,
    steps: usize,
) -> Result<Vec<Option<u32>>, String> {
    let mut random = Random(seed);
    let mut places = Vec::new();
    for _ in 0..steps {
        places.extend(step(world, &mut |bound| random.below(bound))?);
    }
    world.collect()?;
    Ok(places)
}

/// One step of a program, chosen by `below`. Returns the number of the object that it allocated, if
/// it did.
pub fn step<S: Space>(
    world: &mut World<'_, S>,
    below: &mut impl FnMut(usize) -> usize,
) -> Result<Option<Option<u32>>, String> {
    let nodes = world.reached.len();
    match below(100) {
        0..45 => {
            let wide = below(40) == 0;
            let slots = below(if wide { 300 } else { 5 });
            let id = world.alloc(slots, below(12))?;
            if id.is_none() {
                (0..8).for_each(|_| world.drop_root(below(world.root_count() + 1)));
            }
            return Ok(Some(id.map(|id| world.object(id).number())));
        }
        45..75 if nodes > 0 => {
            let (from, to) = (world.reached[below(nodes)], world.reached[below(nodes)]);
            if world.slots(from) > 0 {
                world.link(from, below(world.slots(from)), Some(to));
            }
        }
        75..80 if nodes > 0 => {
            let from = world.reached[below(nodes)];
            if world.slots(from) > 0 {
                world.link(from, below(world.slots(from)), None);
            }
        }
        80..99 => world.drop_root(below(world.root_count() + 1)),
        99 if below(4) == 0 => world.collect()?,
        _ => {}
    }
    Ok(None)
}
