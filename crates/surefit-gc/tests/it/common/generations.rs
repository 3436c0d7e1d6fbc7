//! The judge of a collector with two generations: a naive graph beside it, with the exact sets of
//! old and remembered objects. After every step the heap must have exactly the objects that the
//! last collection had to keep and those born since; no old object that is not remembered may refer
//! to a young one (Y2).

pub mod program;

use std::collections::{BTreeMap, BTreeSet};

use surefit_core::Refused;
use surefit_gc::{Extent, Generational, Object, OneByOne, Round};

use super::{Fault, Graph, HEAD, Verdict};

/// An object as the judge knows it, alive or not freed yet.
#[derive(Clone, Debug)]
struct Node {
    object: Object,
    slots: Vec<Option<usize>>,
    /// What it refers to beside the heap.
    beside: Option<usize>,
    words: u32,
}

/// What a program does not tell the collector. Then Y2 is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgets {
    Nothing,
    /// Links are written as data.
    Links,
    /// No object is remembered for what it refers to beside the heap.
    Beside,
}

/// A program and its collector.
#[derive(Debug)]
pub struct Aged<'m, S> {
    pub gc: Generational<'m, S>,
    pub graph: Graph,
    pub forgets: Forgets,
    /// By id; the freed ones are missing.
    nodes: BTreeMap<usize, Node>,
    next_id: usize,
    pub roots: Vec<usize>,
    weak: Vec<usize>,
    old: BTreeSet<usize>,
    remembered: BTreeSet<usize>,
    pub reached: Vec<usize>,
    /// The sum over all minor collections of the objects that were kept though they were dead.
    pub floating: u64,
    calls: usize,
}

impl<'m, S: OneByOne> Aged<'m, S> {
    pub const fn over(gc: Generational<'m, S>, fault: Fault) -> Self {
        Self {
            gc,
            graph: Graph::new(fault),
            forgets: Forgets::Nothing,
            nodes: BTreeMap::new(),
            next_id: 0,
            roots: Vec::new(),
            weak: Vec::new(),
            old: BTreeSet::new(),
            remembered: BTreeSet::new(),
            reached: Vec::new(),
            floating: 0,
            calls: 0,
        }
    }

    pub fn object(&self, id: usize) -> Object {
        self.nodes[&id].object
    }

    pub fn slots(&self, id: usize) -> usize {
        self.nodes[&id].slots.len()
    }

    fn targets(&self, id: usize) -> impl Iterator<Item = usize> {
        let node = &self.nodes[&id];
        node.slots.iter().chain([&node.beside]).flatten().copied()
    }

    /// What some objects lead to, through all that `through` allows.
    fn closure(&self, mut queue: Vec<usize>, through: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        while let Some(id) = queue.pop() {
            if through(id) && seen.insert(id) {
                queue.extend(self.targets(id));
            }
        }
        seen
    }

    fn search(&mut self) {
        let reached = self.closure(self.roots.clone(), |_| true);
        self.reached = reached.into_iter().collect();
    }

    /// What a minor collection keeps: old objects, and young ones that roots or remembered ones
    /// lead to.
    fn kept_by_minor(&self) -> BTreeSet<usize> {
        let remembered = self.remembered.iter();
        let mut from = self.roots.clone();
        from.extend(remembered.flat_map(|&id| self.targets(id)));
        let promoted = self.closure(from, |id| !self.old.contains(&id));
        self.old.union(&promoted).copied().collect()
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
        self.gc.check().map_err(|told| told.to_string())?;
        for &id in &self.reached {
            if !self.gc.contains(self.object(id)) {
                return Err(format!("{:?} is reached but was freed", self.object(id)));
            }
        }
        if self.forgets == Forgets::Nothing {
            self.verify_generations()?;
        }
        self.calls += 1;
        match self.calls % 16 {
            0 => self.verify_words(),
            _ => Ok(()),
        }
    }

    /// Y2, and that exactly the right objects are old and remembered.
    fn verify_generations(&self) -> Verdict {
        for (id, node) in &self.nodes {
            let (is_old, is_remembered) = (self.old.contains(id), self.remembered.contains(id));
            let told = (
                self.gc.is_old(node.object),
                self.gc.is_remembered(node.object),
            );
            if told != (is_old, is_remembered) {
                return Err(format!("{:?} is not {told:?}", node.object));
            }
            if is_old && !told.1 && self.targets(*id).any(|to| !self.old.contains(&to)) {
                return Err(format!("{:?} refers to a young object (Y2)", node.object));
            }
        }
        Ok(())
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

    /// After a collection: exactly what is kept lives, and the newest.
    fn judge(&mut self, kept: BTreeSet<usize>, newest: Option<usize>) -> Verdict {
        let ids = kept.iter().copied().chain(newest);
        let expected: BTreeSet<Object> = ids.map(|id| self.object(id)).collect();
        let found: BTreeSet<Object> = self.gc.objects().collect();
        if let Some(object) = expected.difference(&found).next() {
            return Err(format!("{object:?} is kept but was freed"));
        }
        if let Some(object) = found.difference(&expected).next() {
            return Err(format!("{object:?} was dead but was kept"));
        }
        let lives = |id: &usize| kept.contains(id) || newest == Some(*id);
        self.nodes.retain(|id, _| lives(id));
        self.weak.retain(|id| lives(id));
        let told = self.graph.weak.iter().flatten().copied();
        if !told.eq(self.weak.iter().map(|&id| self.object(id))) {
            return Err("weak references are not those of what is kept".into());
        }
        self.graph.weak.retain(Option::is_some);
        self.search();
        self.floating += kept.len().saturating_sub(self.reached.len()) as u64;
        (self.old, self.remembered) = (kept, BTreeSet::new());
        self.verify_words()
    }

    /// What a collection told about itself, before the judge takes over what it did.
    fn judge_round(&self, round: &Round, kept: &BTreeSet<usize>) -> Verdict {
        let is_minor = round.extent == Extent::Minor;
        let promoted = kept.difference(&self.old).count();
        let marked = if is_minor { promoted } else { kept.len() } as u64;
        let scanned = marked + if is_minor { round.remembered } else { 0 };
        let is_right = round.marked == marked
            && round.remembered == self.remembered.len() as u64
            && round.live_objects == kept.len() as u64
            && round.scanned_objects >= scanned
            && (round.scanned_objects == scanned || round.passes > u64::from(is_minor));
        match is_right || self.forgets != Forgets::Nothing {
            true => Ok(()),
            false => Err(format!(
                "{round:?}, but {marked} were to be marked, {scanned} scanned"
            )),
        }
    }

    pub fn collect_young(&mut self) -> Verdict {
        let kept = self.kept_by_minor();
        let round = self.gc.collect_young(&mut self.graph);
        self.judge_round(&round, &kept)?;
        self.judge(kept, None)?;
        self.verify()
    }

    /// Everything that is dead is freed.
    pub fn collect(&mut self) -> Verdict {
        self.search();
        let kept = self.reached.iter().copied().collect();
        let round = self.gc.collect(&mut self.graph);
        self.judge_round(&round, &kept)?;
        self.judge(kept, None)?;
        self.verify()
    }

    /// Allocates a node with slots and further words, and makes it a root; `None` if the heap
    /// refuses.
    pub fn alloc(&mut self, slots: usize, further: usize) -> Result<Option<usize>, String> {
        let words = HEAD + (slots + further) as u32;
        let before = *self.gc.generations();
        let served = self.gc.alloc(&mut self.graph, words as usize * 4);
        let now = *self.gc.generations();
        let kept = match (
            now.full.rounds > before.full.rounds,
            now.minor.rounds > before.minor.rounds,
        ) {
            (true, _) => Some(self.closure(self.roots.clone(), |_| true)),
            (_, true) => Some(self.kept_by_minor()),
            _ => None,
        };
        let id = match served {
            Ok(object) => Some(self.learn(object, slots, words)?),
            Err(Refused::Region { .. }) => return Err("no refusal of a request".into()),
            Err(_) => None,
        };
        if let Some(kept) = kept {
            self.judge(kept, id)?;
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
        self.nodes.insert(
            id,
            Node {
                object,
                slots,
                beside: None,
                words,
            },
        );
        Ok(id)
    }

    /// Lets a slot name a node, or none.
    pub fn link(&mut self, from: usize, slot: usize, to: Option<usize>) -> Verdict {
        let (object, target) = (self.object(from), to.map(|to| self.object(to)));
        let (word, number) = (HEAD + slot as u32, target.map_or(0, Object::number));
        self.nodes.get_mut(&from).expect("not freed").slots[slot] = to;
        match self.forgets {
            Forgets::Links => self.gc.store_data(object, word, number),
            _ => self.gc.store(object, word, target),
        }
        let is_young = to.is_some_and(|to| !self.old.contains(&to));
        if is_young && self.old.contains(&from) {
            self.remembered.insert(from);
        }
        self.search();
        self.verify()
    }

    /// Lets a node refer to another beside the heap, or to none.
    pub fn link_beside(&mut self, from: usize, to: Option<usize>) -> Verdict {
        let (object, target) = (self.object(from), to.map(|to| self.object(to)));
        self.nodes.get_mut(&from).expect("not freed").beside = to;
        let Some(target) = target else {
            self.graph.beside.remove(&object);
            self.search();
            return self.verify();
        };
        self.graph.beside.insert(object, target);
        if self.forgets != Forgets::Beside {
            self.gc.remember(object);
        }
        if self.old.contains(&from) {
            self.remembered.insert(from);
        }
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

    /// The client unwound in a collection: all objects are young.
    pub fn all_are_young(&mut self) {
        (self.old, self.remembered) = (BTreeSet::new(), BTreeSet::new());
    }

    /// Drops all roots but the oldest few.
    pub fn keep_roots(&mut self, few: usize) {
        self.roots.truncate(few);
        self.graph.roots.truncate(few);
        self.search();
    }

    /// Makes a weak reference.
    pub fn weaken(&mut self, id: usize) {
        self.weak.push(id);
        self.graph.weak.push(Some(self.object(id)));
    }
}
