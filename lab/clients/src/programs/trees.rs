//! Binary trees: many short-lived ones of growing depth beside a long-lived one. The size is the
//! greatest depth.
//!
//! A tree is built from its leaves, with a stack in the root: two trees of the same depth become
//! one whose depth is greater by one. So a step allocates a leaf and the trees that it completes,
//! and a collection may follow every leaf.
//!
//! # Source
//! Hans Boehm's GCBench, in the form of the Computer Language Benchmarks Game.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;

use surefit_freelist::Index;
use surefit_gc::{Arena, Full, Gc, Mutation, Rootable, Trace};

use super::between::{Between, Stopped};
use super::numbers::Checksum;

/// A node has two children or none.
#[derive(Trace)]
struct Node<'gc> {
    left: Option<Gc<'gc, Node<'gc>>>,
    right: Option<Gc<'gc, Node<'gc>>>,
}

/// The long-lived tree, and the parts of the tree that is being built, each with its depth, deepest
/// first.
#[derive(Default, Trace)]
struct Forest<'gc> {
    long: Cell<Option<Gc<'gc, Node<'gc>>>>,
    parts: RefCell<Vec<(u32, Gc<'gc, Node<'gc>>)>>,
}

type Forests<'m, I> = Arena<'m, Rootable!['gc => Forest<'gc>], I>;

/// The depth of the smallest trees.
const SHALLOWEST: u32 = 4;

/// All trees of one depth have together at most 2^`MOST` leaves, or there is only one tree.
const MOST: u32 = 16;

/// Builds, counts and drops trees.
pub(super) fn run<I: Index>(
    region: &mut [MaybeUninit<u8>],
    size: u32,
    between: &mut impl Between,
) -> Result<u64, Stopped> {
    let mut checksum = Checksum::default();
    let mut forest = Forests::<I>::new(region, |_| Ok(Forest::default()))?;
    let stretch = build(&mut forest, size.saturating_add(1), between)?;
    checksum.add(stretch);
    build(&mut forest, size, between)?;
    forest.mutate(|_, trees| {
        trees
            .long
            .set(trees.parts.take().pop().map(|(_, tree)| tree))
    });
    for depth in (SHALLOWEST..=size).step_by(2) {
        let trees = 1_u32
            << size
                .saturating_add(SHALLOWEST)
                .min(MOST)
                .saturating_sub(depth);
        for _ in 0..trees {
            checksum.add(build(&mut forest, depth, between)?);
        }
    }
    checksum.add(forest.mutate(|_, trees| trees.long.get().map_or(0, |tree| count(&tree))));
    Ok(checksum.0)
}

/// Builds a tree, which replaces the last one, and counts its nodes.
fn build<I: Index>(
    forest: &mut Forests<'_, I>,
    depth: u32,
    between: &mut impl Between,
) -> Result<u64, Stopped> {
    forest.mutate(|_, trees| trees.parts.borrow_mut().clear());
    // A tree with more leaves than can be counted cannot be completed either.
    for _ in 0..1_u64.checked_shl(depth).unwrap_or(u64::MAX) {
        let nodes = (depth as usize).saturating_add(1);
        between.step(forest, nodes.saturating_mul(Gc::<Node<'_>>::BYTES))?;
        forest.mutate(add_leaf)?;
    }
    Ok(forest.mutate(|_, trees| {
        trees
            .parts
            .borrow()
            .last()
            .map_or(0, |(_, tree)| count(tree))
    }))
}

fn add_leaf<'gc>(mc: &Mutation<'gc>, trees: &Forest<'gc>) -> Result<(), Full> {
    let (left, right) = (None, None);
    let (mut depth, mut tree) = (0, mc.alloc(Node { left, right })?);
    let mut parts = trees.parts.borrow_mut();
    while parts.last().is_some_and(|&(other, _)| other == depth) {
        let left = parts.pop().map(|(_, left)| left);
        let right = Some(tree);
        (depth, tree) = (depth + 1, mc.alloc(Node { left, right })?);
    }
    parts.push((depth, tree));
    Ok(())
}

fn count(node: &Node<'_>) -> u64 {
    let children = [node.left, node.right].into_iter().flatten();
    1 + children.map(|child| count(&child)).sum::<u64>()
}
