//! The direct heap for threads under a permutation tester: frees by others arrive once, also while
//! their instance is left, taken by another thread, or served by who sends them.
//!
//! Runs with `RUSTFLAGS="--cfg surefit_shuttle"` only (ci/models.sh).
#![cfg(surefit_shuttle)]

#[allow(dead_code, reason = "the scenarios of other heaps use all of it")]
#[path = "shuttle/world.rs"]
mod world;

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config as Shuttle, Runner, thread};
use surefit_direct::shared::{BATCH, Settings, SharedDirect};
use world::SpinLock;

type Heap<'m> = SharedDirect<'m, SpinLock>;

/// Bytes of an object: seven of its size fill a page.
const BYTES: usize = 1100;
/// More than a batch.
const MANY: usize = BATCH as usize + 5;

struct Objects(Vec<NonNull<u8>>);
// SAFETY: objects are freed by whoever has their addresses.
unsafe impl Send for Objects {}

fn with_heap(scenario: fn(&Heap<'_>)) {
    let mut memory = vec![MaybeUninit::new(0xA5); 1 << 20];
    let settings = Settings {
        threads: 3,
        checks: false,
        delay: u32::MAX,
    };
    let mut heap = Heap::new(&mut memory, settings).unwrap();
    scenario(&heap);
    heap.check().unwrap();
    let stats = heap.stats();
    assert_eq!(
        (stats.allocated, stats.active),
        (0, 0),
        "something was lost"
    );
    assert_eq!(stats.instances, 0);
}

fn allocate(
    local: &surefit_direct::shared::Local<'_, SpinLock>,
    count: usize,
    mark: u8,
) -> Objects {
    Objects(
        (0..count)
            .map(|_| {
                let object = local.allocate(BYTES, 16).unwrap();
                // SAFETY: it has so many bytes.
                unsafe { object.write_bytes(mark, BYTES) };
                object
            })
            .collect(),
    )
}

fn free(local: &surefit_direct::shared::Local<'_, SpinLock>, objects: Objects, mark: u8) {
    for object in objects.0 {
        // SAFETY: it is live.
        let bytes = unsafe { std::slice::from_raw_parts(object.as_ptr(), BYTES) };
        assert!(bytes.iter().all(|byte| *byte == mark));
        // SAFETY: as above.
        unsafe { local.try_free(object) }.unwrap();
    }
}

/// Two threads free what a third one allocated, which leaves meanwhile.
fn left_while_frees_arrive(heap: &Heap<'_>) {
    let owner = heap.join().unwrap();
    let (first, second) = (allocate(&owner, MANY, 1), allocate(&owner, 3, 2));
    thread::scope(|threads| {
        threads.spawn(move || drop(owner));
        threads.spawn(move || free(&heap.join().unwrap(), first, 1));
        free(&heap.join().unwrap(), second, 2);
    });
}

/// The owner allocates and frees while another thread frees of it.
fn used_while_frees_arrive(heap: &Heap<'_>) {
    let owner = heap.join().unwrap();
    let theirs = allocate(&owner, MANY, 1);
    thread::scope(|threads| {
        threads.spawn(move || free(&heap.join().unwrap(), theirs, 1));
        let own = allocate(&owner, MANY, 2);
        free(&owner, own, 2);
        let own = allocate(&owner, 8, 3);
        free(&owner, own, 3);
    });
    owner.trim();
}

/// An idle instance is taken by a new thread while its objects are freed.
fn taken_while_frees_arrive(heap: &Heap<'_>) {
    let owner = heap.join().unwrap();
    let theirs = allocate(&owner, MANY, 1);
    drop(owner);
    thread::scope(|threads| {
        threads.spawn(move || free(&heap.join().unwrap(), theirs, 1));
        threads.spawn(|| {
            let local = heap.join().unwrap();
            let own = allocate(&local, 10, 2);
            free(&local, own, 2);
        });
        heap.purge();
    });
}

/// As many threads as there are instances join while what they left is freed by others.
fn joined_while_frees_are_served(heap: &Heap<'_>) {
    let owner = heap.join().unwrap();
    let theirs = [allocate(&owner, 3, 1), allocate(&owner, 3, 2)];
    drop(owner);
    thread::scope(|threads| {
        for (objects, mark) in theirs.into_iter().zip([1, 2]) {
            threads.spawn(move || {
                free(&heap.join().unwrap(), objects, mark);
                let again = heap.join().unwrap();
                let own = allocate(&again, 3, mark);
                free(&again, own, mark);
            });
        }
        drop(heap.join().unwrap());
        heap.purge();
        drop(heap.join().unwrap());
    });
}

/// Threads that share a group, and one with an instance, free each other's objects.
fn grouped_beside_an_owner(heap: &Heap<'_>) {
    let owner = heap.join().unwrap();
    let theirs = allocate(&owner, 9, 1);
    let shared = heap.grouped(0, |local| allocate(local, MANY, 2));
    thread::scope(|threads| {
        threads.spawn(move || heap.grouped(0, |local| free(local, theirs, 1)));
        threads.spawn(|| {
            let own = heap.grouped(0, |local| allocate(local, 3, 3));
            heap.grouped(0, |local| free(local, own, 3));
        });
        free(&owner, shared, 2);
        owner.trim();
    });
    drop(owner);
    heap.grouped(0, |local| local.trim());
}

fn explore<S: Scheduler + 'static>(scheduler: S, scenario: fn(&Heap<'_>)) {
    let mut config = Shuttle::new();
    config.stack_size = 1 << 20;
    Runner::new(scheduler, config).run(move || with_heap(scenario));
}

fn schedules(scenario: fn(&Heap<'_>)) {
    let factor: f64 = std::env::var("SUREFIT_SHUTTLE")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few hundred"
    )]
    let iterations = (100.0 * factor) as usize;
    explore(RandomScheduler::new_from_seed(1, iterations), scenario);
    explore(PctScheduler::new_from_seed(2, 3, iterations), scenario);
}

#[test]
fn frees_arrive_while_the_instance_is_left() {
    schedules(left_while_frees_arrive);
}

#[test]
fn frees_arrive_while_the_owner_allocates() {
    schedules(used_while_frees_arrive);
}

#[test]
fn frees_arrive_while_the_instance_is_taken() {
    schedules(taken_while_frees_arrive);
}

#[test]
fn groups_and_owners_free_of_each_other() {
    schedules(grouped_beside_an_owner);
}

#[test]
fn threads_join_while_frees_are_served() {
    schedules(joined_while_frees_are_served);
}
