//! The balanced tree: search, insertion, removal, and the check of its invariants.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::chunk::{Chunk, NOBODYS_WORDS};
use crate::memory::{Memory, Slot};

/// The word that names the root.
pub(super) const ROOT: Slot = Slot::new(NOBODYS_WORDS);
/// No tree of a region has more levels: 42 is the bound for 2^29 chunks.
pub(super) const MOST_LEVELS: usize = 42;
/// The bits of a link that name a chunk. The bits above, in a node's left link, are its lean.
const CHILD_BITS: u32 = 30;
const CHILD: u32 = (1 << CHILD_BITS) - 1;

/// A size in granules, then the granule of the chunk: the order of the tree.
pub(super) type Key = (u32, u32);

/// A side of a node. As a number, it is the lean towards that side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left = 1,
    Right = 2,
}

impl Side {
    const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// The link of a node to its child on a side.
const fn link(node: Chunk, side: Side) -> Slot {
    match side {
        Side::Left => node.next(),
        Side::Right => Slot::new(node.next().number() as usize + 1),
    }
}

fn key(memory: &Memory<'_>, node: Chunk) -> Key {
    (memory.header(node).granules(), node.granule())
}

fn child(memory: &Memory<'_>, link: Slot) -> Option<Chunk> {
    match memory.get(link) & CHILD {
        0 => None,
        granule => Some(Chunk::at(granule)),
    }
}

/// The child that a link names. The link must name one.
fn named(memory: &Memory<'_>, link: Slot) -> Chunk {
    let child = child(memory, link);
    debug_assert!(child.is_some(), "A3: the higher side is not empty");
    child.unwrap_or(Chunk::at(0))
}

/// Makes a link name a child, or none; keeps the lean in the link.
fn set_child(memory: &mut Memory<'_>, link: Slot, child: Option<Chunk>) {
    let lean = memory.get(link) & !CHILD;
    memory.set(link, lean | child.map_or(0, Chunk::granule));
}

/// The higher side of a node, if one is higher.
fn lean(memory: &Memory<'_>, node: Chunk) -> Option<Side> {
    match memory.get(link(node, Side::Left)) >> CHILD_BITS {
        1 => Some(Side::Left),
        2 => Some(Side::Right),
        _ => None,
    }
}

fn set_lean(memory: &mut Memory<'_>, node: Chunk, lean: Option<Side>) {
    let left = link(node, Side::Left);
    let bits = lean.map_or(0, |side| side as u32) << CHILD_BITS;
    memory.set(left, memory.get(left) & CHILD | bits);
}

/// The path from the root to a place in the tree: links to nodes, and the side taken at each.
struct Path {
    steps: [(Slot, Side); MOST_LEVELS],
    levels: usize,
}

impl Path {
    const fn new() -> Self {
        Self {
            steps: [(ROOT, Side::Left); MOST_LEVELS],
            levels: 0,
        }
    }

    fn push(&mut self, link: Slot, side: Side) {
        self.steps[self.levels] = (link, side);
        self.levels += 1;
    }

    /// Descends from the root towards a key, to a node that has it or to an empty link; returns the
    /// last link.
    fn descend(&mut self, memory: &Memory<'_>, target: Key, visits: &mut u64) -> Slot {
        let mut at = ROOT;
        while let Some(node) = child(memory, at) {
            *visits += 1;
            let side = match target.cmp(&key(memory, node)) {
                core::cmp::Ordering::Less => Side::Left,
                core::cmp::Ordering::Equal => break,
                core::cmp::Ordering::Greater => Side::Right,
            };
            self.push(at, side);
            at = link(node, side);
        }
        at
    }

    /// Descends the left side of the subtree that `at` names; returns the link to its least node.
    fn descend_left(&mut self, memory: &Memory<'_>, mut at: Slot, visits: &mut u64) -> Slot {
        loop {
            *visits += 1;
            let left = link(named(memory, at), Side::Left);
            if child(memory, left).is_none() {
                return at;
            }
            self.push(at, Side::Left);
            at = left;
        }
    }

    /// Restores A3 after the subtree at the end of the path became one level higher.
    fn grown(&self, memory: &mut Memory<'_>) {
        for &(at, side) in self.steps[..self.levels].iter().rev() {
            let node = named(memory, at);
            match lean(memory, node) {
                None => set_lean(memory, node, Some(side)),
                Some(higher) if higher == side => {
                    rotate(memory, at, side);
                    return;
                }
                Some(_) => return set_lean(memory, node, None),
            }
        }
    }

    /// Restores A3 after the subtree at the end of the path became one level lower.
    fn shrunk(&self, memory: &mut Memory<'_>) {
        for &(at, side) in self.steps[..self.levels].iter().rev() {
            let node = named(memory, at);
            match lean(memory, node) {
                None => return set_lean(memory, node, Some(side.other())),
                Some(higher) if higher == side => set_lean(memory, node, None),
                Some(higher) if rotate(memory, at, higher) => {}
                Some(_) => return,
            }
        }
    }
}

/// Makes the child of a node on a side the root of the subtree that `at` names.
fn lift(memory: &mut Memory<'_>, at: Slot, side: Side) {
    let node = named(memory, at);
    let risen = named(memory, link(node, side));
    let between = child(memory, link(risen, side.other()));
    set_child(memory, link(node, side), between);
    set_child(memory, link(risen, side.other()), Some(node));
    set_child(memory, at, Some(risen));
}

/// Repairs a subtree that is higher by two on one side; returns whether it became one level lower.
fn rotate(memory: &mut Memory<'_>, at: Slot, heavy: Side) -> bool {
    let light = heavy.other();
    let node = named(memory, at);
    let risen = named(memory, link(node, heavy));
    let risen_lean = lean(memory, risen);
    if risen_lean != Some(light) {
        lift(memory, at, heavy);
        let becomes_lower = risen_lean.is_some();
        set_lean(memory, node, (!becomes_lower).then_some(heavy));
        set_lean(memory, risen, (!becomes_lower).then_some(light));
        return becomes_lower;
    }
    let top = named(memory, link(risen, light));
    let top_lean = lean(memory, top);
    lift(memory, link(node, heavy), light);
    lift(memory, at, heavy);
    set_lean(memory, node, (top_lean == Some(heavy)).then_some(light));
    set_lean(memory, risen, (top_lean == Some(light)).then_some(heavy));
    set_lean(memory, top, None);
    true
}

/// Inserts a chunk that is tagged as free.
pub(super) fn insert(memory: &mut Memory<'_>, chunk: Chunk, visits: &mut u64) {
    memory.set(link(chunk, Side::Left), 0);
    memory.set(link(chunk, Side::Right), 0);
    let mut path = Path::new();
    let at = path.descend(memory, key(memory, chunk), visits);
    debug_assert!(
        child(memory, at).is_none(),
        "A4: the chunk is not there yet"
    );
    set_child(memory, at, Some(chunk));
    path.grown(memory);
}

/// Removes a chunk. Its header must be the one with which it was inserted.
pub(super) fn remove(memory: &mut Memory<'_>, chunk: Chunk, visits: &mut u64) {
    let mut path = Path::new();
    let at = path.descend(memory, key(memory, chunk), visits);
    debug_assert!(child(memory, at) == Some(chunk), "A4: the chunk is there");
    let left = child(memory, link(chunk, Side::Left));
    let right = child(memory, link(chunk, Side::Right));
    if left.is_some() && right.is_some() {
        replace_by_next(memory, &mut path, at, visits);
    } else {
        set_child(memory, at, left.or(right));
    }
    path.shrunk(memory);
}

/// Replaces a node with two children by the next larger node, and extends the path to the old place
/// of that node.
fn replace_by_next(memory: &mut Memory<'_>, path: &mut Path, at: Slot, visits: &mut u64) {
    let chunk = named(memory, at);
    let level = path.levels;
    path.push(at, Side::Right);
    let from = path.descend_left(memory, link(chunk, Side::Right), visits);
    let next = named(memory, from);
    let after = child(memory, link(next, Side::Right));
    set_child(memory, from, after);
    for side in [Side::Left, Side::Right] {
        memory.set(link(next, side), memory.get(link(chunk, side)));
    }
    set_child(memory, at, Some(next));
    if level + 1 < path.levels {
        path.steps[level + 1].0 = link(next, Side::Right);
    }
}

/// The chunk with the least key that is not below `least`.
pub(super) fn ceiling(memory: &Memory<'_>, least: Key, visits: &mut u64) -> Option<Chunk> {
    let (mut at, mut best) = (ROOT, None);
    while let Some(node) = child(memory, at) {
        *visits += 1;
        if key(memory, node) >= least {
            best = Some(node);
            at = link(node, Side::Left);
        } else {
            at = link(node, Side::Right);
        }
    }
    best
}

/// Verifies A1 to A4. The checker compares each value before it relies on it.
pub(super) fn check_tree(memory: &Memory<'_>, free_chunks: usize) -> Result<(), Corruption> {
    let mut walk = Walk {
        memory,
        last: (0, 0),
        nodes: 0,
    };
    ensure(
        memory.get(ROOT) & !CHILD == 0,
        "A1",
        "the root has a lean; word",
        ROOT.number() as usize,
    )?;
    walk.check_subtree(ROOT, 0)?;
    ensure(
        walk.nodes == free_chunks,
        "A4",
        "the tree has too few or too many free chunks; chunks in it",
        walk.nodes,
    )
}

/// A walk over the tree from the least key to the greatest.
struct Walk<'c, 'm> {
    memory: &'c Memory<'m>,
    last: Key,
    nodes: usize,
}

impl Walk<'_, '_> {
    /// Verifies the subtree that a link names; returns its height. The allowed depth bounds the
    /// recursion.
    fn check_subtree(&mut self, at: Slot, depth: usize) -> Result<usize, Corruption> {
        let word = self.memory.get(at) & CHILD;
        if word == 0 {
            return Ok(0);
        }
        ensure(
            depth != MOST_LEVELS,
            "A3",
            "the tree is too high; word",
            at.number() as usize,
        )?;
        let node = self.memory.free_chunk(word);
        let what = "the word names no free chunk";
        let node = node.ok_or(Corruption::new("A1", what, at.number() as usize))?;
        let left = self.check_subtree(link(node, Side::Left), depth + 1)?;
        self.check_order(node, at)?;
        let right = self.check_subtree(link(node, Side::Right), depth + 1)?;
        self.check_lean(node, left, right)?;
        Ok(1 + left.max(right))
    }

    fn check_order(&mut self, node: Chunk, at: Slot) -> Result<(), Corruption> {
        let key = key(self.memory, node);
        ensure(
            key > self.last,
            "A2",
            "the key of the node is not greater than the one before; word",
            at.number() as usize,
        )?;
        self.last = key;
        self.nodes += 1;
        Ok(())
    }

    fn check_lean(&self, node: Chunk, left: usize, right: usize) -> Result<(), Corruption> {
        let expected = match left.abs_diff(right) {
            0 => 0,
            1 if left > right => Side::Left as u32,
            1 => Side::Right as u32,
            _ => u32::MAX,
        };
        let (own, unused) = (link(node, Side::Left), link(node, Side::Right));
        ensure(
            self.memory.get(own) >> CHILD_BITS == expected,
            "A3",
            "the lean does not match the heights; word",
            own.number() as usize,
        )?;
        ensure(
            self.memory.get(unused) & !CHILD == 0,
            "A1",
            "the right link has a lean; word",
            unused.number() as usize,
        )
    }
}
