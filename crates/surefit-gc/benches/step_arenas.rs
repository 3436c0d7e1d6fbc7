//! Instructions of a change of a reference, and of an allocation, in an arena that collects in
//! steps, beside one that stops the program.
//!
//! The heap is the default one. Nodes have two references in cells: 24 bytes with header and type.
//! The figures of allocation include the recursion that builds a tree. Needs valgrind and the
//! runner of the gungraun crate: `cargo bench -p surefit-gc --bench step_arenas`.
//!
//! A budget is the measured value plus a tenth. Raise one only with a reason in the commit.
#![allow(
    missing_docs,
    unused_qualifications,
    clippy::must_use_candidate,
    reason = "the benchmark macros make items of their own"
)]

use core::cell::Cell;
use core::mem::MaybeUninit;

use gungraun::{library_benchmark, library_benchmark_group, main};
use surefit_gc::{
    Arena, ArenaPhase, Full, Gc, GcCell, Mutation, Rootable, StepArena, StepMutation, Trace,
};

use budget::budget;

#[path = "support/budget.rs"]
mod budget;

const OBJECTS: u64 = (1 << 13) - 1;

type Link<'gc> = Option<Gc<'gc, Node<'gc>>>;
type StepLink<'gc> = Option<Gc<'gc, StepNode<'gc>>>;
type Trees = Arena<'static, Rootable!['gc => Cell<Link<'gc>>]>;
type StepTrees = StepArena<'static, Rootable!['gc => Cell<StepLink<'gc>>]>;

#[derive(Trace)]
struct Node<'gc> {
    left: Cell<Link<'gc>>,
    right: Cell<Link<'gc>>,
}

#[derive(Trace)]
struct StepNode<'gc> {
    left: GcCell<'gc, StepLink<'gc>>,
    right: GcCell<'gc, StepLink<'gc>>,
}

fn build<'gc>(mc: &Mutation<'gc>, depth: u32) -> Result<Gc<'gc, Node<'gc>>, Full> {
    let (left, right) = match depth {
        0 => (None, None),
        _ => (Some(build(mc, depth - 1)?), Some(build(mc, depth - 1)?)),
    };
    mc.alloc(Node {
        left: Cell::new(left),
        right: Cell::new(right),
    })
}

fn step_build<'gc>(mc: &StepMutation<'gc>, depth: u32) -> Result<Gc<'gc, StepNode<'gc>>, Full> {
    let (left, right) = match depth {
        0 => (None, None),
        _ => (
            Some(step_build(mc, depth - 1)?),
            Some(step_build(mc, depth - 1)?),
        ),
    };
    mc.alloc(StepNode {
        left: GcCell::new(left),
        right: GcCell::new(right),
    })
}

/// An arena with a tree, whose lists were used before.
fn stopping() -> Trees {
    let region = vec![MaybeUninit::new(0xA5); 1 << 20].leak();
    let mut arena = Trees::new(region, |_| Ok(Cell::new(None))).expect("large enough");
    arena.mutate(|mc, _| assert!(build(mc, 12).is_ok()));
    arena.collect();
    arena.mutate(|mc, root| root.set(build(mc, 12).ok()));
    arena
}

/// As `stopping`; no cycle runs.
fn idle() -> StepTrees {
    let region = vec![MaybeUninit::new(0xA5); 1 << 20].leak();
    let mut arena = StepTrees::new(region, |_| Ok(Cell::new(None))).expect("large enough");
    arena.mutate(|mc, _| assert!(step_build(mc, 12).is_ok()));
    arena.collect();
    arena.mutate(|mc, root| root.set(step_build(mc, 12).ok()));
    arena
}

/// A cycle has traced the root, and nothing else.
fn marking() -> StepTrees {
    let mut arena = idle();
    arena.start();
    assert_eq!(arena.phase(), ArenaPhase::Mark);
    arena
}

#[library_benchmark]
#[bench::stopping(args = (stopping()), config = budget(60, OBJECTS))]
fn allocate(mut arena: Trees) -> Trees {
    arena.mutate(|mc, _| assert!(build(mc, 12).is_ok()));
    arena
}

#[library_benchmark]
#[bench::idle(args = (idle()), config = budget(93, OBJECTS))]
#[bench::marking(args = (marking()), config = budget(98, OBJECTS))]
fn allocate_in_steps(mut arena: StepTrees) -> StepTrees {
    arena.mutate(|mc, _| assert!(step_build(mc, 12).is_ok()));
    arena
}

fn cut<'gc>(node: Gc<'gc, Node<'gc>>) {
    for cell in [&node.left, &node.right] {
        if let Some(child) = cell.get() {
            cut(child);
            cell.set(None);
        }
    }
}

fn step_cut<'gc>(mc: &StepMutation<'gc>, node: Gc<'gc, StepNode<'gc>>) {
    for cell in [&node.left, &node.right] {
        if let Some(child) = cell.get() {
            step_cut(mc, child);
            cell.set(mc, None);
        }
    }
}

#[library_benchmark]
#[bench::stopping(args = (stopping()), config = budget(14, OBJECTS))]
fn set(mut arena: Trees) -> Trees {
    arena.mutate(|_, root| root.get().into_iter().for_each(cut));
    arena
}

#[library_benchmark]
#[bench::idle(args = (idle()), config = budget(32, OBJECTS))]
#[bench::over_white(args = (marking()), config = budget(176, OBJECTS))]
fn set_in_steps(mut arena: StepTrees) -> StepTrees {
    arena.mutate(|mc, root| root.get().into_iter().for_each(|node| step_cut(mc, node)));
    arena
}

library_benchmark_group!(
    name = step_arenas;
    benchmarks = allocate, allocate_in_steps, set, set_in_steps
);
main!(library_benchmark_groups = step_arenas);
