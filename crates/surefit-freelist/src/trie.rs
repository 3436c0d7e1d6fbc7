//! The last list as a tree: a bitwise trie of the sizes, inside the free chunks, so that a best fit
//! takes bounded time.
//!
//! ```text
//! node c   | header | next: more chunks of its size | back | - | branch 0 | - | branch 1 | ...
//! other    | header | next: more chunks of its size | back | ...
//!
//! bits:    a size has b bits, as many as the region's size; bit b - 1 selects the branch of the
//!          root, bit b - 2 that of its children, and so on; a node may have any size on its path
//! find(n): follow n's bits; the best node on the path that fits, or the least node in the last
//!          branch 1 that was passed
//! take:    the newest other chunk of the node's size, else the node
//! remove:  another chunk leaves its list; a node is replaced by the newest other of its size, or
//!          by any leaf below it
//! ```
//! Branches are odd words and `next` is an even one; `back` names either, as in all free chunks. So
//! a chunk whose `back` is the root or odd is a node. It can leave the tree without knowing the
//! path to it.
//!
//! # Invariants
//! - D1: the size of a node has the bits of the branches on the path to it, and is at least the
//!   least size of the last list.
//! - L1 holds for the root, the branches, and the lists of further chunks. All chunks in a node's
//!   list have the node's size.
//!
//! # Bounds
//! A search looks at no more than 2 b + 1 nodes, b <= 30; an insertion at no more than b + 1; a
//! removal at b.
//!
//! # Departures
//! The least size with room for the branches is four granules; the last list starts at 16.
//!
//! # Source
//! Doug Lea's malloc 2.8: digital trees of large chunks. Knuth, The Art of Computer Programming 3,
//! 6.3.
#![deny(unsafe_code)]

use surefit_core::{Corruption, ensure};

use crate::chunk::Chunk;
use crate::index::Need;
use crate::last_list::{LastList, Place, Tally, merge_after, merge_before};
use crate::list::{check_link, check_list};
use crate::memory::{Memory, Slot};

/// A trie of sizes with bounded time. Replays of programs showed the need for this search.
#[derive(Clone, Copy, Debug)]
pub struct Tree;

/// The number of the bit that selects between the branches of the root.
#[inline]
fn top_bit(memory: &Memory<'_>) -> u32 {
    // A region has granules, so the compiler need not test for zero.
    (memory.granules() | 1).ilog2()
}

/// The node with the least size that is at least `granules`.
fn find(memory: &Memory<'_>, place: Place, granules: u32, visits: &mut u64) -> Option<Chunk> {
    let (mut best, mut least) = (None, u32::MAX);
    let (mut larger, mut bit) = (None, top_bit(memory));
    let mut next = memory.linked(place.head);
    while let Some(node) = next {
        *visits += 1;
        let size = memory.header(node).granules();
        if size >= granules && size < least {
            (best, least) = (next, size);
            if size == granules {
                return best;
            }
        }
        let branch = granules >> bit & 1;
        if branch == 0 {
            larger = memory.linked(node.branch(1)).or(larger);
        }
        next = memory.linked(node.branch(branch));
        bit = bit.wrapping_sub(1);
    }
    // All sizes in `larger` are larger than `granules`, and smaller than those in the other
    // branches that were passed.
    while let Some(node) = larger {
        *visits += 1;
        let size = memory.header(node).granules();
        if size < least {
            (best, least) = (larger, size);
        }
        larger = memory
            .linked(node.branch(0))
            .or_else(|| memory.linked(node.branch(1)));
    }
    best
}

/// A leaf below a node; `None` if the node is itself a leaf.
fn leaf_below(memory: &Memory<'_>, node: Chunk) -> Option<Chunk> {
    let below = |node: Chunk| {
        memory
            .linked(node.branch(1))
            .or_else(|| memory.linked(node.branch(0)))
    };
    let mut leaf = below(node);
    while let Some(lower) = leaf.and_then(below) {
        leaf = Some(lower);
    }
    leaf
}

/// Gives a node's place and branches to its heir.
fn inherit(memory: &mut Memory<'_>, node: Chunk, heir: Chunk) {
    for bit in 0..2 {
        let below = memory.linked(node.branch(bit));
        memory.join(heir.branch(bit), below);
    }
    let back = memory.back(node);
    memory.join(back, Some(heir));
}

/// Removes a node whose size no other chunk has.
fn remove_node(memory: &mut Memory<'_>, node: Chunk) {
    if let Some(leaf) = leaf_below(memory, node) {
        let back = memory.back(leaf);
        memory.set(back, 0);
        inherit(memory, node, leaf);
    } else {
        let back = memory.back(node);
        memory.set(back, 0);
    }
}

/// Removes the newest chunk of a node's size.
fn remove_newest(memory: &mut Memory<'_>, node: Chunk) -> Chunk {
    if memory.get(node.next()) == 0 {
        remove_node(memory, node);
        return node;
    }
    memory.unlink_at(node.next()).0
}

/// Finds and removes the best fit of an aligned need.
///
/// It may miss a chunk that fits by chance: it tries only the best of the size itself and the best
/// of the size that fits anywhere.
fn take_aligned(
    memory: &mut Memory<'_>,
    place: Place,
    need: &Need,
    visits: &mut u64,
) -> Option<Chunk> {
    let largest = memory.granules();
    let mut found = None;
    for granules in [need.granules, need.anywhere()] {
        if found.is_none() && granules <= largest {
            let node = find(memory, place, granules, visits)?;
            let newest = memory.linked(node.next()).unwrap_or(node);
            found = Some(node).filter(|_| memory.fits(need, newest));
        }
    }
    found.map(|node| remove_newest(memory, node))
}

/// Whether no other chunk is in the tree. This is so before the first collection, and after one
/// that found little alive.
#[inline]
fn is_alone(memory: &Memory<'_>, root: Chunk) -> bool {
    let links = [root.next(), root.branch(0), root.branch(1)];
    links.iter().fold(0, |any, &link| any | memory.get(link)) == 0
}

/// Finds and removes the best fit of `granules` granules.
#[inline]
fn take_best(
    memory: &mut Memory<'_>,
    place: Place,
    granules: u32,
    visits: &mut u64,
) -> Option<Chunk> {
    let root = memory.linked(place.head)?;
    if is_alone(memory, root) {
        *visits += 1;
        let fits = memory.header(root).granules() >= granules;
        if fits {
            memory.set(place.head, 0);
        }
        return fits.then_some(root);
    }
    if granules > memory.granules() {
        return None;
    }
    find(memory, place, granules, visits).map(|node| remove_newest(memory, node))
}

impl LastList for Tree {
    #[inline]
    fn insert(memory: &mut Memory<'_>, place: Place, chunk: Chunk, granules: u32) {
        let (mut link, mut bit) = (place.head, top_bit(memory));
        while let Some(node) = memory.linked(link) {
            if memory.header(node).granules() == granules {
                memory.link(node.next(), chunk);
                return;
            }
            link = node.branch(granules >> bit & 1);
            bit = bit.wrapping_sub(1);
        }
        memory.join(link, Some(chunk));
        for end in [chunk.next(), chunk.branch(0), chunk.branch(1)] {
            memory.set(end, 0);
        }
    }

    fn remove(memory: &mut Memory<'_>, place: Place, chunk: Chunk) {
        let back = memory.back(chunk);
        if back != place.head && back.number() % 2 == 0 {
            memory.unlink(chunk);
            return;
        }
        match memory.linked(chunk.next()) {
            Some(other) => inherit(memory, chunk, other),
            None => remove_node(memory, chunk),
        }
    }

    #[inline]
    fn take(
        memory: &mut Memory<'_>,
        place: Place,
        need: &Need,
        tally: &mut Tally,
    ) -> Option<Chunk> {
        let taken = match need.align {
            1 => take_best(memory, place, need.granules, &mut tally.visits),
            _ => take_aligned(memory, place, need, &mut tally.visits),
        };
        let chunk = taken?;
        if !place.merges || memory.header(chunk).granules() == need.granules {
            return taken;
        }
        merge_after::<Self>(memory, place, chunk, tally);
        if need.align > 1 {
            return taken;
        }
        merge_before::<Self>(memory, place, chunk, tally).or(taken)
    }

    fn check(memory: &Memory<'_>, place: Place, most: usize) -> Result<usize, Corruption> {
        let bits = top_bit(memory) + 1;
        let mut listed = 0;
        // Every node is replaced by its two branches, one of which waits. So at most one node per
        // level waits.
        let mut waiting = [(place.head, 0, 0); u32::BITS as usize + 2];
        let mut waits = 1;
        while waits > 0 {
            waits -= 1;
            let (link, depth, path) = waiting[waits];
            if memory.get(link) == 0 {
                continue;
            }
            let (node, granules) = checked_node(memory, place, link)?;
            let at = link.number() as usize;
            ensure(
                depth <= bits && u64::from(granules) >> (bits - depth) == path,
                "D1",
                "the size of the node is not that of its path",
                at,
            )?;
            ensure(
                listed != most,
                "D1",
                "the tree holds more chunks than are free",
                at,
            )?;
            let left = most - listed - 1;
            listed += 1 + check_list(memory, node.next(), left, |size| size == granules)?.0;
            if depth < bits {
                for bit in 0..2 {
                    waiting[waits] = (node.branch(bit), depth + 1, path << 1 | u64::from(bit));
                    waits += 1;
                }
            } else if [0, 1].map(|bit| memory.get(node.branch(bit))) != [0; 2] {
                let what = "a node has branches below the last bit";
                return Err(Corruption::new("D1", what, at));
            }
        }
        Ok(listed)
    }

    #[cfg(test)]
    fn own_words(memory: &Memory<'_>, place: Place, chunk: Chunk) -> impl Iterator<Item = Slot> {
        let back = memory.back(chunk);
        let is_node = back == place.head || back.number() % 2 == 1;
        [0, 1]
            .into_iter()
            .filter(move |_| is_node)
            .map(move |bit| chunk.branch(bit))
    }
}

/// The node that a link names, and its size; both are verified here.
fn checked_node(memory: &Memory<'_>, place: Place, link: Slot) -> Result<(Chunk, u32), Corruption> {
    let node = check_link(memory, link)?;
    let granules = memory.header(node).granules();
    let belongs = granules >= place.least && granules <= memory.granules() - node.granule();
    let what = "the tree cannot hold a node of this size";
    ensure(belongs, "D1", what, link.number() as usize).map(|()| (node, granules))
}
