//! The judge of a collector in steps: a naive graph beside it, and at every moment the exact set of
//! objects that the cycle keeps. After every step of the program or of the collector, the judge
//! verifies G7, that nothing reached was freed and, when a cycle has ended, that all that was dead
//! when it started was.

use std::collections::{BTreeMap, BTreeSet};

use surefit_core::Refused;
use surefit_gc::{Incremental, Object, Phase, Stepwise};

use super::{Fault, Graph, HEAD, Verdict};

/// An object as the judge knows it, alive or not freed yet.
#[derive(Clone, Debug)]
struct Node {
    object: Object,
    slots: Vec<Option<usize>>,
    words: u32,
}

/// A program and its collector.
#[derive(Debug)]
pub struct Steps<'m, S> {
    pub gc: Incremental<'m, S>,
    pub graph: Graph,
    /// By id; the freed ones are missing.
    nodes: BTreeMap<usize, Node>,
    next_id: usize,
    pub roots: Vec<usize>,
    /// The objects that weak references lead to, as long as they are not freed.
    weak: Vec<usize>,
    /// What the cycle that runs keeps: the snapshot, what was born, what was upgraded.
    kept: BTreeSet<usize>,
    /// What the roots lead to.
    pub reached: Vec<usize>,
    /// The sum over all cycles of the objects that were kept though they were dead.
    pub floating: u64,
    calls: usize,
}

impl<'m, S: Stepwise> Steps<'m, S> {
    pub const fn over(gc: Incremental<'m, S>, fault: Fault) -> Self {
        Self {
            gc,
            graph: Graph::new(fault),
            nodes: BTreeMap::new(),
            next_id: 0,
            roots: Vec::new(),
            weak: Vec::new(),
            kept: BTreeSet::new(),
            reached: Vec::new(),
            floating: 0,
            calls: 0,
        }
    }

    pub fn object(&self, id: usize) -> Object {
        self.nodes[&id].object
    }

    /// What some objects lead to, through objects that `through` allows.
    fn closure(
        &self,
        from: impl IntoIterator<Item = usize>,
        through: impl Fn(usize) -> bool,
    ) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut queue: Vec<usize> = from.into_iter().collect();
        while let Some(id) = queue.pop() {
            if seen.insert(id) {
                let targets = self.nodes[&id].slots.iter().flatten();
                queue.extend(targets.filter(|&&target| through(target)));
            }
        }
        seen
    }

    fn search(&mut self) {
        let reached = self.closure(self.roots.iter().copied(), |_| true);
        self.reached = reached.into_iter().collect();
    }

    /// What a word of an object must hold.
    fn expected(&self, id: usize, word: u32) -> u32 {
        let node = &self.nodes[&id];
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

    /// Verifies everything that can be seen between two calls.
    pub fn verify(&mut self) -> Verdict {
        self.gc
            .check()
            .map_err(|corruption| corruption.to_string())?;
        if let Some(lost) = self
            .reached
            .iter()
            .find(|&&id| !self.gc.contains(self.object(id)))
        {
            return Err(format!("{:?} is reached but was freed", self.object(*lost)));
        }
        self.verify_snapshot()?;
        self.calls += 1;
        match self.calls % 16 {
            0 => self.verify_words(),
            _ => Ok(()),
        }
    }

    /// Compares every word of every reached object.
    pub fn verify_words(&self) -> Verdict {
        for &id in &self.reached {
            let node = &self.nodes[&id];
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

    /// G7: all that is kept is marked, or will be.
    fn verify_snapshot(&self) -> Verdict {
        let is_reached = |id: usize| self.gc.is_reached(self.object(id));
        let promised = match self.gc.phase() {
            Phase::Mark => {
                let pending: BTreeSet<Object> = self.gc.pending().collect();
                let ids = self.nodes.iter();
                let ids = ids.filter(|(_, node)| pending.contains(&node.object));
                self.closure(ids.map(|(&id, _)| id), |id| !is_reached(id))
            }
            Phase::Weak => BTreeSet::new(),
            _ => return Ok(()),
        };
        let lost = self
            .kept
            .iter()
            .find(|&&id| !is_reached(id) && !promised.contains(&id));
        match lost {
            Some(&id) => Err(format!("{:?} is forgotten (G7)", self.object(id))),
            None => Ok(()),
        }
    }

    /// After a cycle has ended: exactly these objects live.
    fn judge(&mut self, kept: &BTreeSet<usize>) -> Verdict {
        let expected: BTreeSet<Object> = kept.iter().map(|&id| self.object(id)).collect();
        let found: BTreeSet<Object> = self.gc.objects().collect();
        if let Some(object) = expected.difference(&found).next() {
            return Err(format!("{object:?} is kept but was freed"));
        }
        if let Some(object) = found.difference(&expected).next() {
            return Err(format!("{object:?} was dead but was kept"));
        }
        self.nodes.retain(|id, _| kept.contains(id));
        self.weak.retain(|id| kept.contains(id));
        let told = self.graph.weak.iter().flatten().copied();
        if !told.eq(self.weak.iter().map(|&id| self.object(id))) {
            return Err("weak references are not those of what is kept".into());
        }
        self.graph.weak.retain(Option::is_some);
        self.search();
        self.floating += (kept.len() - self.reached.len()) as u64;
        self.verify_words()
    }

    /// Judges the cycle if it has ended.
    fn after(&mut self, cycles: u64) -> Verdict {
        if self.gc.steps().cycles > cycles {
            let kept = std::mem::take(&mut self.kept);
            self.judge(&kept)?;
        }
        self.verify()
    }

    pub fn start(&mut self) -> Verdict {
        if self.gc.phase() == Phase::Idle {
            self.search();
            self.kept = self.reached.iter().copied().collect();
        }
        self.gc.start(&mut self.graph);
        self.verify()
    }

    pub fn step(&mut self, budget: u64) -> Verdict {
        let cycles = self.gc.steps().cycles;
        let step = self.gc.step(&mut self.graph, budget);
        if step.done != (self.gc.phase() == Phase::Idle) {
            return Err(format!("{step:?} in {:?}", self.gc.phase()));
        }
        self.after(cycles)
    }

    pub fn finish(&mut self) -> Verdict {
        let cycles = self.gc.steps().cycles;
        self.gc.finish(&mut self.graph);
        self.after(cycles)
    }

    /// Everything that is dead now is freed.
    pub fn collect(&mut self) -> Verdict {
        self.gc.collect(&mut self.graph);
        self.judge_all(None)?;
        self.verify()
    }

    fn judge_all(&mut self, newest: Option<usize>) -> Verdict {
        self.search();
        let mut kept: BTreeSet<usize> = self.reached.iter().copied().collect();
        kept.extend(newest);
        self.kept.clear();
        self.judge(&kept)
    }

    /// Allocates a node with slots and further words, and makes it a root; `None` if the heap
    /// refuses.
    pub fn alloc(&mut self, slots: usize, further: usize) -> Result<Option<usize>, String> {
        let words = HEAD + (slots + further) as u32;
        let before = *self.gc.steps();
        let served = self.gc.alloc(&mut self.graph, words as usize * 4);
        let id = match served {
            Ok(object) => Some(self.learn(object, slots, words)?),
            Err(Refused::Region { .. }) => return Err("no refusal of a request".into()),
            Err(_) => None,
        };
        let now = *self.gc.steps();
        if now.whole > before.whole {
            self.judge_all(id)?;
        } else if now.cycles > before.cycles {
            let mut kept = std::mem::take(&mut self.kept);
            kept.extend(id);
            self.judge(&kept)?;
        } else if self.gc.phase() >= Phase::Mark {
            self.kept.extend(id);
        }
        if let Some(id) = id {
            self.roots.push(id);
            self.graph.roots.push(self.object(id));
            for word in 0..words {
                let value = self.expected(id, word);
                self.gc.store_data(self.object(id), word, value);
            }
            self.search();
        }
        self.verify()?;
        Ok(id)
    }

    fn learn(&mut self, object: Object, slots: usize, words: u32) -> Result<usize, String> {
        let told = self.gc.words(object);
        if told < words || (0..told).any(|word| self.gc.load(object, word) != 0) {
            return Err(format!(
                "a new object of {words} words is too small or not clear"
            ));
        }
        let id = self.next_id;
        self.next_id += 1;
        let slots = vec![None; slots];
        let node = Node {
            object,
            slots,
            words,
        };
        self.nodes.insert(id, node);
        // It is filled after the judge has spoken; until then it must not be compared.
        Ok(id)
    }

    /// Lets a slot name a node, or none.
    pub fn link(&mut self, from: usize, slot: usize, to: Option<usize>) -> Verdict {
        let (object, target) = (self.object(from), to.map(|to| self.object(to)));
        let word = HEAD + slot as u32;
        self.nodes.get_mut(&from).expect("not freed").slots[slot] = to;
        self.gc.store(object, word, target);
        self.search();
        self.verify()
    }

    /// Makes a root of what is reached: as if the program had loaded a reference.
    pub fn hold(&mut self, id: usize) -> Verdict {
        self.roots.push(id);
        self.graph.roots.push(self.object(id));
        self.verify()
    }

    pub fn drop_root(&mut self, nth: usize) -> Verdict {
        if nth < self.roots.len() {
            self.roots.remove(nth);
            self.graph.roots.remove(nth);
            self.search();
        }
        self.verify()
    }

    pub fn slots(&self, id: usize) -> usize {
        self.nodes[&id].slots.len()
    }

    /// Makes a weak reference. Not while the client is clearing them: it numbers them.
    pub fn weaken(&mut self, id: usize) {
        if self.gc.phase() < Phase::Weak {
            self.weak.push(id);
            self.graph.weak.push(Some(self.object(id)));
        }
    }

    /// Upgrades a weak reference, and makes it a root.
    pub fn upgrade(&mut self, nth: usize) -> Verdict {
        let Some(object) = self.graph.weak.get(nth).copied().flatten() else {
            return Ok(());
        };
        let node = self.nodes.iter().find(|(_, node)| node.object == object);
        let id = *node.ok_or("a weak reference leads to nothing")?.0;
        let phase = self.gc.phase();
        let expected = phase < Phase::Weak || phase == Phase::Merge || self.kept.contains(&id);
        if self.gc.upgrade(object).is_some() != expected {
            return Err(format!(
                "{object:?} was upgraded in {phase:?}: not {expected}"
            ));
        }
        if expected {
            if phase == Phase::Mark {
                let found = self.closure([id], |_| true);
                self.kept.extend(found);
            }
            self.hold(id)?;
            self.search();
        }
        self.verify()
    }
}

/// One step of a program, chosen by `below`.
pub fn step<S: Stepwise>(
    world: &mut Steps<'_, S>,
    budget: u64,
    below: &mut impl FnMut(usize) -> usize,
) -> Verdict {
    let nodes = world.reached.len();
    match below(100) {
        0..26 => {
            let wide = below(40) == 0;
            let slots = below(if wide { 300 } else { 5 });
            if world.alloc(slots, below(12))?.is_none() {
                for _ in 0..8 {
                    world.drop_root(below(world.roots.len() + 1))?;
                }
            }
        }
        26..44 if nodes > 0 => {
            let (from, to) = (world.reached[below(nodes)], world.reached[below(nodes)]);
            if world.slots(from) > 0 {
                let slot = below(world.slots(from));
                world.link(from, slot, Some(to))?;
            }
        }
        44..50 if nodes > 0 => {
            let from = world.reached[below(nodes)];
            if world.slots(from) > 0 {
                let slot = below(world.slots(from));
                world.link(from, slot, None)?;
            }
        }
        50..54 if nodes > 0 => world.hold(world.reached[below(nodes)])?,
        54..66 => world.drop_root(below(world.roots.len() + 1))?,
        66..69 if nodes > 0 => world.weaken(world.reached[below(nodes)]),
        69..72 => world.upgrade(below(12))?,
        72..75 => world.start()?,
        75..99 => world.step(budget)?,
        99 => match below(8) {
            0 => world.collect()?,
            1 => world.finish()?,
            _ => {}
        },
        _ => {}
    }
    Ok(())
}
