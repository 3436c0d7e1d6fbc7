//! Instructions of allocation, marking and sweeping, each over as many objects as its name says.
//!
//! The heap is the default one: segregated lists, a bitmap, immediate coalescing. Trees have nodes
//! of two references; the figures include a client that only reports these. A sweep merges all free
//! memory into one chunk of the last list. For every object, this chunk leaves the tree and its
//! rest returns to it. Needs valgrind and the runner of the gungraun crate:
//! `cargo bench -p surefit-gc`.
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
use surefit_freelist::{Bitmap, Immediate, Segregated, Tree};
use surefit_gc::{Collector, FreeList, Settings, Sweep};

use budget::budget;
use scene::{OBJECTS, Scene};

#[path = "support/budget.rs"]
mod budget;
#[path = "support/scene.rs"]
mod scene;

type Lists = FreeList<'static, Segregated<Bitmap, Immediate, Tree, 256>>;

fn heap(sweep: Sweep) -> Scene<Lists> {
    let settings = Settings {
        sweep,
        ..Settings::default()
    };
    let region = vec![MaybeUninit::new(0xa5); 1 << 20].leak();
    Scene::over(Collector::new(region, settings).expect("large enough"))
}

#[library_benchmark]
#[bench::of_12_bytes(args = (heap(Sweep::Leap)), config = budget(132, OBJECTS))]
fn allocate(mut scene: Scene<Lists>) -> Scene<Lists> {
    scene.garbage();
    scene
}

#[library_benchmark]
#[bench::all_live_leap(args = (heap(Sweep::Leap).tree()), config = budget(111, OBJECTS))]
#[bench::all_live_walk(args = (heap(Sweep::Walk).tree()), config = budget(114, OBJECTS))]
#[bench::all_dead_leap(args = (heap(Sweep::Leap).dead()), config = budget(6, OBJECTS))]
#[bench::all_dead_walk(args = (heap(Sweep::Walk).dead()), config = budget(27, OBJECTS))]
fn collect(mut scene: Scene<Lists>) -> Scene<Lists> {
    scene.collect();
    scene
}

library_benchmark_group!(
    name = collections;
    benchmarks = allocate, collect
);
main!(library_benchmark_groups = collections);
