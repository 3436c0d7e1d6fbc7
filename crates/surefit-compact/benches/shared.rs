//! Instructions of the shared heap's events on one thread, beside those of an uncontended lock.
//!
//! Needs valgrind and the runner of the gungraun crate:
//! `cargo bench -p surefit-compact --bench shared`. A budget is the measured number, rounded up by
//! a tenth.
#![allow(
    missing_docs,
    unused_qualifications,
    clippy::must_use_candidate,
    reason = "the benchmark macros make items of their own"
)]

use core::hint::black_box;
use core::mem::MaybeUninit;

use gungraun::{
    Callgrind, EventKind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main,
};
use parking_lot::{Mutex, RawMutex};
use surefit_compact::shared::{Local, PerClass, SharedConfig, SharedHeap};
use surefit_compact::{Bound, Config, Geometry, Handle};

/// An object of 40 bytes.
type Object = [u64; 5];
type Shared = SharedHeap<'static, RawMutex>;
/// What is left when the event freed its object.
type Rest = (
    Vec<Handle<Object>>,
    Local<'static, 'static, RawMutex, PerClass>,
);

/// The number of an object in the first full page.
const NEAR_THE_END: usize = 300;

struct Scene {
    heap: &'static Shared,
    local: Local<'static, 'static, RawMutex, PerClass>,
    object: Handle<Object>,
    /// The others; freeing none of them is part of an event.
    others: Vec<Handle<Object>>,
}

/// Full pages, less the page-blocks of `freed` objects and one object more that the event is about.
fn scene(bound: Bound, freed: &[usize]) -> Scene {
    let config = Config::new(Geometry::DEFAULT, bound).expect("valid");
    let config = Box::leak(Box::new(SharedConfig::new(config)));
    let memory = vec![MaybeUninit::new(0xa5_u8); 2 << 20];
    let heap = Shared::new(memory.leak(), config).expect("large enough");
    let heap: &'static Shared = Box::leak(Box::new(heap));
    let local = heap.register().expect("registered");
    let blocks = Geometry::DEFAULT
        .class_for(size_of::<Object>(), 8)
        .expect("fits");
    let blocks = usize::from(Geometry::DEFAULT.layout(blocks).blocks);
    let mut others: Vec<_> = (0..4 * blocks)
        .map(|i| local.insert([i as u64; 5]).expect("fits"))
        .collect();
    for &index in freed {
        local.free(others.swap_remove(index)).expect("ours");
    }
    let object = others.swap_remove(blocks);
    Scene {
        heap,
        local,
        object,
        others,
    }
}

fn budget(instructions: u64) -> LibraryBenchmarkConfig {
    let mut callgrind = Callgrind::default();
    callgrind.hard_limits([(EventKind::Ir, instructions)]);
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(callgrind);
    config
}

/// A scene for an insertion into a not-full page: nothing is parked.
fn inserts() -> Scene {
    let scene = scene(Bound::DEFAULT, &[NEAR_THE_END, 7]);
    scene.heap.compact(0);
    scene
}

/// A scene for an insertion that takes a parked pair, and for a free that parks one.
fn parked() -> Scene {
    scene(Bound::DEFAULT, &[NEAR_THE_END, 7])
}

/// A scene for the first free of an object of a full page: it checks the bound, and does not park.
fn frees() -> Scene {
    scene(Bound::DEFAULT, &[])
}

/// A scene for a free that moves a block at once (F2).
fn frees_and_moves() -> Scene {
    scene(Bound::Pages(1), &[7])
}

fn mutex() -> Mutex<u64> {
    Mutex::new(7)
}

#[library_benchmark(setup = mutex, config = budget(30))]
#[bench::uncontended()]
fn lock_read_unlock(mutex: Mutex<u64>) -> (u64, Mutex<u64>) {
    let value = *black_box(&mutex).lock();
    (value, mutex)
}

#[library_benchmark(setup = frees, config = budget(57))]
#[bench::uncontended()]
fn pin_read_unpin(scene: Scene) -> (u64, Scene) {
    let pinned = black_box(scene.heap).pin(black_box(&scene.object));
    let value = pinned.expect("ours")[2];
    (value, scene)
}

#[library_benchmark(setup = frees, config = budget(71))]
#[bench::uncontended()]
fn pin_write_unpin(mut scene: Scene) -> Scene {
    let pinned = black_box(scene.heap).pin_mut(black_box(&mut scene.object));
    pinned.expect("ours")[2] = black_box(1);
    scene
}

#[library_benchmark(setup = inserts, config = budget(280))]
#[bench::not_full_page()]
fn insert(scene: Scene) -> (Handle<Object>, Scene) {
    let handle = scene.local.insert(black_box([1; 5])).expect("fits");
    (handle, scene)
}

#[library_benchmark(setup = parked, config = budget(245))]
#[bench::taken()]
fn insert_parked(scene: Scene) -> (Handle<Object>, Scene) {
    let handle = scene.local.insert(black_box([1; 5])).expect("fits");
    (handle, scene)
}

fn free(scene: Scene) -> Rest {
    scene.local.free(scene.object).expect("ours");
    (scene.others, scene.local)
}

#[library_benchmark(setup = frees, config = budget(390))]
#[bench::uncontended()]
fn free_in_full_page(scene: Scene) -> Rest {
    free(scene)
}

#[library_benchmark(setup = parked, config = budget(205))]
#[bench::uncontended()]
fn free_parks(scene: Scene) -> Rest {
    free(scene)
}

#[library_benchmark(setup = frees_and_moves, config = budget(890))]
#[bench::uncontended()]
fn free_with_a_move(scene: Scene) -> Rest {
    free(scene)
}

library_benchmark_group!(
    name = shared,
    benchmarks = [
        lock_read_unlock,
        pin_read_unpin,
        pin_write_unpin,
        insert,
        insert_parked,
        free_in_full_page,
        free_parks,
        free_with_a_move,
    ]
);

main!(library_benchmark_groups = shared);
