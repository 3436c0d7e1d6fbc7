//! Pins against moves, frees against moves, allocations against moves: three page-blocks to a page.

use shuttle::thread;
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig, Stepwise};
use surefit_compact::{Bound, Fraction};

use crate::world::{Expect, Heap, Object, Scenario, THREE, TWO, Worker, config, explore, read};

const KAPPA: Bound = Bound::Pages(1);
const HOLES: Bound = Bound::Holes {
    base: 0,
    fraction: Fraction::ZERO,
};
const REGION: usize = 16 << 10;

const NOTHING: Expect = Expect {
    moves: false,
    abandoned: false,
};
const MOVES: Expect = Expect {
    moves: true,
    abandoned: false,
};
const BOTH: Expect = Expect {
    moves: true,
    abandoned: true,
};

fn whole<G: Granularity>(bound: Bound) -> SharedConfig<G> {
    SharedConfig::new(config(bound)).with_pins(4)
}

/// Three steps for an object of three to a page.
fn stepwise<G: Stepwise>(bound: Bound) -> SharedConfig<G> {
    whole(bound).with_increment(112).unwrap()
}

fn scenario<G: Granularity>(config: SharedConfig<G>, act: fn(&Heap<'_, G>)) -> Scenario<G> {
    Scenario {
        config,
        region: REGION,
        slack: None,
        act,
    }
}

/// Explores a scenario under every lock, whole and in steps, under both bounds.
macro_rules! explore_all {
    ($count:expr, $expect:expr, $act:ident) => {{
        let name = stringify!($act);
        let (few, many) = ($count / 2, $count);
        let moves = Expect {
            abandoned: false,
            ..$expect
        };
        explore(name, many, $expect, || {
            scenario(stepwise::<PerClass>(KAPPA), $act)
        });
        explore(name, many, moves, || {
            scenario(stepwise::<PerClass>(HOLES), $act)
        });
        explore(name, few, $expect, || {
            scenario(stepwise::<PerHeap>(KAPPA), $act)
        });
        explore(name, few, moves, || {
            scenario(whole::<PerClass>(KAPPA), $act)
        });
        explore(name, few, moves, || scenario(whole::<PerPage>(KAPPA), $act));
        explore(name, few, moves, || scenario(whole::<PerPage>(HOLES), $act));
    }};
}

/// Two full pages and one of one object: freeing one of the former moves the latter.
fn seven<G: Granularity>(worker: &Worker<'_, '_, G>) -> (Vec<Object>, Object) {
    let mut objects = worker.insert_all(THREE, 7, 1);
    let last = objects.pop().unwrap();
    (objects, last)
}

fn a_pin_against_a_commit<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let (mut objects, last) = seven(&main);
    let (first, second) = (objects.remove(3), objects.remove(0));
    thread::scope(|threads| {
        threads.spawn(move || {
            let worker = Worker::new(heap);
            worker.free(first);
            worker.free(second);
        });
        threads.spawn(|| {
            read(heap, &last);
            read(heap, &last);
        });
    });
    heap.check(true).unwrap();
    read(heap, &last);
    main.free(last);
    main.free_all(objects);
}

fn a_write_against_a_step<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let (mut objects, mut last) = seven(&main);
    let (first, second) = (objects.remove(3), objects.remove(0));
    thread::scope(|threads| {
        threads.spawn(move || {
            let worker = Worker::new(heap);
            worker.free(first);
            worker.free(second);
        });
        threads.spawn(|| {
            let worker = Worker::new(heap);
            worker.write(&mut last, 100);
            worker.write(&mut last, 101);
            worker.read(&last);
        });
    });
    heap.check(true).unwrap();
    read(heap, &last);
    main.free(last);
    main.free_all(objects);
}

fn a_free_against_the_move_of_its_object<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let (mut objects, last) = seven(&main);
    let first = objects.remove(0);
    thread::scope(|threads| {
        threads.spawn(move || Worker::new(heap).free(first));
        threads.spawn(move || Worker::new(heap).free(last));
    });
    heap.check(false).unwrap();
    main.free_all(objects);
}

fn frees_that_help_each_other<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let mut objects = main.insert_all(THREE, 11, 1);
    let freed = [objects.remove(7), objects.remove(4), objects.remove(1)];
    thread::scope(|threads| {
        for object in freed {
            threads.spawn(move || Worker::new(heap).free(object));
        }
    });
    // Without pins nothing is owed.
    heap.check(false).unwrap();
    main.free_all(objects);
}

fn an_allocation_against_the_move_from_its_page<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let mut objects = main.insert_all(THREE, 8, 1);
    let freed = [objects.remove(4), objects.remove(1)];
    let new = thread::scope(|threads| {
        threads.spawn(move || {
            let worker = Worker::new(heap);
            freed.into_iter().for_each(|object| worker.free(object));
        });
        let new = threads.spawn(move || {
            let worker = Worker::new(heap);
            worker.insert_all(THREE, 2, 50)
        });
        new.join().unwrap()
    });
    // An insertion pins its object, so a move may be owed.
    heap.check(true).unwrap();
    heap.compact(u64::MAX);
    heap.check(false).unwrap();
    main.free_all(new);
    main.free_all(objects);
}

fn a_victim_search_against_an_insertion<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let mut objects = main.insert_all(THREE, 6, 1);
    let freed = [objects.remove(4), objects.remove(1)];
    let new = thread::scope(|threads| {
        threads.spawn(move || {
            let worker = Worker::new(heap);
            freed.into_iter().for_each(|object| worker.free(object));
        });
        let new = threads.spawn(move || Worker::new(heap).insert(THREE, 50));
        new.join().unwrap()
    });
    heap.check(true).unwrap();
    read(heap, &new);
    main.free(new);
    main.free_all(objects);
}

fn a_compaction_against_everything<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let mut objects = main.insert_all(THREE, 9, 1);
    let mut others = main.insert_all(TWO, 3, 20);
    // Two not-full pages of two objects each, unless the bound asks for less: the compaction drains
    // that of the first.
    main.free(objects.remove(1));
    main.free(objects.remove(3));
    let (first, mut written, other) = (objects.remove(0), objects.remove(0), others.remove(0));
    thread::scope(|threads| {
        threads.spawn(|| heap.compact(u64::MAX));
        threads.spawn(move || {
            let worker = Worker::new(heap);
            worker.free(first);
            worker.free(other);
            let new = worker.insert(THREE, 60);
            worker.free(new);
        });
        threads.spawn(|| {
            read(heap, &objects[0]);
            let worker = Worker::new(heap);
            worker.write(&mut written, 61);
            worker.read(&written);
        });
    });
    heap.check(true).unwrap();
    heap.compact(u64::MAX);
    heap.check(false).unwrap();
    main.free(written);
    main.free_all(objects);
    main.free_all(others);
}

fn a_pin_that_outlives_frees<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let mut objects = main.insert_all(THREE, 10, 1);
    let last = objects.pop().unwrap();
    let freed: Vec<Object> = [7, 4, 1].map(|at| objects.remove(at)).into();
    thread::scope(|threads| {
        threads.spawn(move || {
            let worker = Worker::new(heap);
            freed.into_iter().for_each(|object| worker.free(object));
        });
        threads.spawn(|| {
            read(heap, &last);
            read(heap, &objects[0]);
        });
        threads.spawn(|| read(heap, &objects[3]));
    });
    heap.check(true).unwrap();
    heap.compact(u64::MAX);
    heap.check(false).unwrap();
    main.free(last);
    main.free_all(objects);
}

#[test]
fn pins_meet_commits() {
    explore_all!(300, BOTH, a_pin_against_a_commit);
}

#[test]
fn writes_meet_steps() {
    explore_all!(300, BOTH, a_write_against_a_step);
}

#[test]
fn frees_meet_the_move_of_their_object() {
    explore_all!(300, BOTH, a_free_against_the_move_of_its_object);
}

#[test]
fn frees_help_each_other() {
    explore_all!(200, MOVES, frees_that_help_each_other);
}

#[test]
fn allocations_meet_moves() {
    explore_all!(300, BOTH, an_allocation_against_the_move_from_its_page);
}

#[test]
fn victim_searches_meet_insertions() {
    explore_all!(300, MOVES, a_victim_search_against_an_insertion);
}

#[test]
fn compactions_meet_everything() {
    let (name, count) = ("a compaction without a bound", 300);
    explore(name, count, BOTH, || {
        scenario(
            stepwise::<PerClass>(Bound::Unbounded),
            a_compaction_against_everything,
        )
    });
    explore(name, count, BOTH, || {
        scenario(
            stepwise::<PerHeap>(Bound::Unbounded),
            a_compaction_against_everything,
        )
    });
    explore(name, count, MOVES, || {
        scenario(
            whole::<PerPage>(Bound::Unbounded),
            a_compaction_against_everything,
        )
    });
    explore_all!(100, NOTHING, a_compaction_against_everything);
}

#[test]
fn pins_outlive_frees() {
    explore_all!(150, MOVES, a_pin_that_outlives_frees);
}
