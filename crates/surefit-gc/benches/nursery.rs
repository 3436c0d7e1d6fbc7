//! Instructions of a birth, of a death and of a promotion under two generations over a Compact-fit
//! heap: in its pages, and in a nursery in front of it. A tree that survives is in the heap
//! afterwards, either way.
//!
//! Every bench does its work once for each of as many objects as its budget says. Needs valgrind
//! and the runner of the gungraun crate: `cargo bench -p surefit-gc`.
//!
//! A promotion costs more than a birth in the pages and a stay there: it is one, an exchange of
//! entries, and a copy. What is saved is the births of all that die.
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
use surefit_gc::{Collector, CompactFit, Generational, Nursery, OneByOne, Space};

use budget::budget;
use scene::{OBJECTS, Scene, Trees};

#[path = "support/budget.rs"]
mod budget;
#[path = "support/scene.rs"]
mod scene;

static CONFIG: Config = CompactFit::CONFIG;

fn region() -> &'static mut [MaybeUninit<u8>] {
    vec![MaybeUninit::new(0xa5); 2 << 20].leak()
}

fn in_pages() -> Scene<CompactFit<'static>> {
    Scene::over(Collector::compact_fit(region(), &CONFIG, 1 << 10).expect("large enough"))
}

/// It holds more than all objects, with their headers.
fn in_nursery() -> Scene<Nursery<'static>> {
    let gc = Collector::nursery(region(), &CONFIG, 512 << 10, 1 << 10);
    Scene::over(gc.expect("large enough"))
}

struct Under<S> {
    gc: Generational<'static, S>,
    trees: Trees,
}

fn young<S: OneByOne>(scene: Scene<S>) -> Under<S> {
    Under {
        gc: Generational::over(scene.heap),
        trees: scene.trees,
    }
}

fn dying<S: OneByOne + Space>(mut scene: Scene<S>) -> Under<S> {
    scene.garbage();
    young(scene)
}

fn bear<S: OneByOne>(mut under: Under<S>) -> Under<S> {
    for _ in 0..OBJECTS {
        under.gc.alloc(&mut under.trees, 12).expect("room");
    }
    under
}

fn collect<S: OneByOne>(mut under: Under<S>, live: u64) -> Under<S> {
    let round = under.gc.collect_young(&mut under.trees);
    assert_eq!(round.live_objects, live);
    under
}

#[library_benchmark]
#[bench::in_pages(args = (young(in_pages())), config = budget(289, OBJECTS))]
fn birth_in_pages(under: Under<CompactFit<'static>>) -> Under<CompactFit<'static>> {
    bear(under)
}

#[library_benchmark]
#[bench::in_nursery(args = (young(in_nursery())), config = budget(216, OBJECTS))]
fn birth_in_nursery(under: Under<Nursery<'static>>) -> Under<Nursery<'static>> {
    bear(under)
}

#[library_benchmark]
#[bench::in_pages(args = (dying(in_pages())), config = budget(41, OBJECTS))]
fn death_in_pages(under: Under<CompactFit<'static>>) -> Under<CompactFit<'static>> {
    collect(under, 0)
}

#[library_benchmark]
#[bench::in_nursery(args = (dying(in_nursery())), config = budget(45, OBJECTS))]
fn death_in_nursery(under: Under<Nursery<'static>>) -> Under<Nursery<'static>> {
    collect(under, 0)
}

#[library_benchmark]
#[bench::in_pages(args = (young(in_pages().tree())), config = budget(155, OBJECTS))]
fn survival_in_pages(under: Under<CompactFit<'static>>) -> Under<CompactFit<'static>> {
    collect(under, OBJECTS)
}

#[library_benchmark]
#[bench::in_nursery(args = (young(in_nursery().tree())), config = budget(485, OBJECTS))]
fn survival_in_nursery(under: Under<Nursery<'static>>) -> Under<Nursery<'static>> {
    collect(under, OBJECTS)
}

library_benchmark_group!(
    name = nursery;
    benchmarks = birth_in_pages, birth_in_nursery, death_in_pages, death_in_nursery, survival_in_pages, survival_in_nursery
);
main!(library_benchmark_groups = nursery);
