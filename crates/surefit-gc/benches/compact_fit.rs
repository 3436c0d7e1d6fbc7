//! Instructions of allocation, access, marking and sweeping over Compact-fit, each over as many
//! objects as its name says. `collections` has the same over lists.
//!
//! Trees have nodes of two references, in page-blocks of 16 bytes. Needs valgrind and the runner of
//! the gungraun crate: `cargo bench -p surefit-gc`.
//!
//! A budget is the measured value plus a tenth. Raise one only with a reason in the commit.
#![allow(
    missing_docs,
    unused_qualifications,
    clippy::must_use_candidate,
    reason = "the benchmark macros make items of their own"
)]

use core::mem::MaybeUninit;

use gungraun::{library_benchmark, library_benchmark_group, main};
use surefit_compact::Config;
use surefit_gc::{Collector, CompactFit};

use budget::budget;
use scene::{OBJECTS, Scene};

#[path = "support/budget.rs"]
mod budget;
#[path = "support/scene.rs"]
mod scene;

type Blocks = CompactFit<'static>;

static CONFIG: Config = CompactFit::CONFIG;

fn heap() -> Scene<Blocks> {
    let region = vec![MaybeUninit::new(0xa5); 1 << 20].leak();
    Scene::over(Collector::compact_fit(region, &CONFIG, 256).expect("large enough"))
}

#[library_benchmark]
#[bench::of_12_bytes(args = (heap()), config = budget(211, OBJECTS))]
fn allocate(mut scene: Scene<Blocks>) -> Scene<Blocks> {
    scene.garbage();
    scene
}

#[library_benchmark]
#[bench::of_12_bytes(args = (heap().tree()), config = budget(48, OBJECTS))]
fn load(scene: Scene<Blocks>) -> (u32, Scene<Blocks>) {
    let words = scene.nodes.iter().map(|&node| scene.heap.load(node, 1));
    (words.fold(0, u32::wrapping_add), scene)
}

#[library_benchmark]
#[bench::all_live(args = (heap().tree()), config = budget(145, OBJECTS))]
#[bench::all_dead(args = (heap().dead()), config = budget(60, OBJECTS))]
fn collect(mut scene: Scene<Blocks>) -> Scene<Blocks> {
    scene.collect();
    scene
}

library_benchmark_group!(
    name = compact_fit;
    benchmarks = allocate, load, collect
);
main!(library_benchmark_groups = compact_fit);
