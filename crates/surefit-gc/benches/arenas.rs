//! Instructions of allocation, marking and sweeping of objects of Rust types, each over as many
//! objects as its name says.
//!
//! The heap is the default one. Nodes have two references: 24 bytes with header and type. The
//! objects form a tree; the figures include the recursion that builds it. Needs valgrind and the
//! runner of the gungraun crate: `cargo bench -p surefit-gc --bench arenas`.
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
use surefit_gc::{Arena, Full, Gc, Mutation, Rootable, Trace};

use budget::budget;

#[path = "support/budget.rs"]
mod budget;

const OBJECTS: u64 = (1 << 13) - 1;

type Link<'gc> = Option<Gc<'gc, Node<'gc>>>;
type Trees = Arena<'static, Rootable!['gc => Cell<Link<'gc>>]>;

#[derive(Trace)]
struct Node<'gc> {
    left: Link<'gc>,
    right: Link<'gc>,
}

fn build<'gc>(mc: &Mutation<'gc>, depth: u32) -> Result<Gc<'gc, Node<'gc>>, Full> {
    let (left, right) = match depth {
        0 => (None, None),
        _ => (Some(build(mc, depth - 1)?), Some(build(mc, depth - 1)?)),
    };
    mc.alloc(Node { left, right })
}

/// An arena whose pages were written and whose lists were used before.
fn arena() -> Trees {
    let region = vec![MaybeUninit::new(0xA5); 1 << 20].leak();
    let mut arena = Trees::new(region, |_| Ok(Cell::new(None))).expect("large enough");
    garbage(&mut arena);
    arena.collect();
    arena
}

fn garbage(arena: &mut Trees) {
    arena.mutate(|mc, _| assert!(build(mc, 12).is_ok()));
}

fn tree() -> Trees {
    let mut arena = arena();
    arena.mutate(|mc, root| root.set(build(mc, 12).ok()));
    arena
}

fn dead() -> Trees {
    let mut arena = arena();
    garbage(&mut arena);
    arena
}

#[library_benchmark]
#[bench::of_16_bytes(args = (arena()), config = budget(60, OBJECTS))]
fn allocate(mut arena: Trees) -> Trees {
    garbage(&mut arena);
    arena
}

#[library_benchmark]
#[bench::all_live(args = (tree()), config = budget(109, OBJECTS))]
#[bench::all_dead(args = (dead()), config = budget(5, OBJECTS))]
fn collect(mut arena: Trees) -> Trees {
    let swept = arena.collect();
    assert!(swept.live_objects == OBJECTS || swept.freed_objects == OBJECTS);
    arena
}

library_benchmark_group!(
    name = arenas;
    benchmarks = allocate, collect
);
main!(library_benchmark_groups = arenas);
