//! Pages that are released and reused, buffered and stolen back; threads that come and go; frees
//! from other threads.

use shuttle::sync::Mutex;
use shuttle::thread;
use surefit_compact::Bound;
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig};

use crate::world::{
    Expect, Heap, MANY, ONE, Object, Scenario, THREE, TWO, Worker, config, explore, read,
};

const NOTHING: Expect = Expect {
    moves: false,
    abandoned: false,
};

/// A heap of few pages, each thread buffering up to two.
fn small<G: Granularity>(act: fn(&Heap<'_, G>)) -> Scenario<G> {
    let config = SharedConfig::new(config(Bound::Pages(1)))
        .with_locals(3, 2)
        .unwrap()
        .with_handle_buffer(2)
        .unwrap();
    Scenario {
        config,
        region: 8 << 10,
        slack: None,
        act,
    }
}

/// Explores a scenario under every lock.
macro_rules! explore_all {
    ($count:expr, $act:ident) => {{
        let name = stringify!($act);
        explore(name, $count, NOTHING, || small::<PerClass>($act));
        explore(name, $count, NOTHING, || small::<PerHeap>($act));
        explore(name, $count, NOTHING, || small::<PerPage>($act));
    }};
}

/// As many objects of a whole page as fit.
fn fill<G: Granularity>(worker: &Worker<'_, '_, G>, tag: u8) -> Vec<Object> {
    (tag..)
        .map_while(|tag| worker.try_insert(ONE, tag))
        .collect()
}

fn a_page_is_released_and_reused_by_another_class<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let last = main.insert(THREE, 1);
    let kept = thread::scope(|threads| {
        threads.spawn(move || Worker::new(heap).free(last));
        let three = threads.spawn(move || Worker::new(heap).insert(THREE, 2));
        let two = main.insert(TWO, 3);
        let many = main.insert(MANY, 4);
        [three.join().unwrap(), two, many]
    });
    heap.check(false).unwrap();
    main.free_all(kept.into());
}

fn frees_in_one_page_meet<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let mut objects = main.insert_all(THREE, 3, 1);
    thread::scope(|threads| {
        let (first, second) = (objects.remove(0), objects.remove(0));
        threads.spawn(move || Worker::new(heap).free(first));
        threads.spawn(move || {
            let worker = Worker::new(heap);
            worker.free(second);
            let new = worker.insert(THREE, 9);
            worker.read(&new);
            worker.free(new);
        });
        main.free_all(objects);
    });
}

fn a_free_page_is_found_wherever_it_is<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let mut all = fill(&main, 1);
    let other = Worker::new(heap);
    // Free from here on: in the other's buffer, then in the pool, for nobody else opens a page.
    other.free(all.pop().unwrap());
    let found = thread::scope(|threads| {
        threads.spawn(move || drop(other));
        main.insert(ONE, 99)
    });
    main.free(found);
    main.free_all(all);
}

fn a_heap_that_was_full_can_be_filled_again<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let all = fill(&main, 1);
    let count = all.len();
    thread::scope(|threads| {
        threads.spawn(move || Worker::new(heap).free_all(all));
        threads.spawn(move || {
            let worker = Worker::new(heap);
            worker.free_all(fill(&worker, 100));
        });
    });
    heap.check(false).unwrap();
    let again = fill(&main, 1);
    assert_eq!(
        again.len(),
        count,
        "pages are lost, or buffered out of reach"
    );
    main.free_all(again);
}

fn buffered_pages_are_taken_back<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let (mut all, other) = (fill(&main, 1), Worker::new(heap));
    // Both pages lie in the other's buffer while the allocations run.
    for object in all.split_off(all.len() - 2) {
        other.free(object);
    }
    let taken = thread::scope(|threads| {
        let taken = threads.spawn(|| Worker::new(heap).insert(ONE, 98));
        let own = main.insert(TWO, 99);
        [taken.join().unwrap(), own]
    });
    assert!(main.try_insert(THREE, 1).is_none(), "the heap is full");
    main.free_all(taken.into());
    main.free_all(all);
}

fn entries_are_found_wherever_they_are<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let all: Vec<Object> = (0..200)
        .map_while(|tag| main.try_insert(MANY, tag))
        .collect();
    let count = all.len();
    assert!(count < 200);
    thread::scope(|threads| {
        threads.spawn(move || Worker::new(heap).free_all(all));
        threads.spawn(move || {
            let worker = Worker::new(heap);
            let some = (0..4)
                .map_while(|tag| worker.try_insert(THREE, tag))
                .collect();
            worker.free_all(some);
        });
    });
    let again: Vec<Object> = (0..200)
        .map_while(|tag| main.try_insert(MANY, tag))
        .collect();
    assert!(again.len() >= count, "handles are lost, or out of reach");
    main.free_all(again);
}

fn others_free_what_a_thread_allocates<G: Granularity>(heap: &Heap<'_, G>) {
    let queue: Mutex<Vec<Object>> = Mutex::new(Vec::new());
    thread::scope(|threads| {
        threads.spawn(|| {
            let worker = Worker::new(heap);
            for tag in 0..5 {
                let object = worker.insert(THREE, tag);
                queue.lock().unwrap().push(object);
            }
        });
        for _ in 0..2 {
            threads.spawn(|| {
                let worker = Worker::new(heap);
                for _ in 0..3 {
                    let object = queue.lock().unwrap().pop();
                    let Some(object) = object else {
                        continue;
                    };
                    worker.read(&object);
                    worker.free(object);
                }
            });
        }
    });
    let rest = core::mem::take(&mut *queue.lock().unwrap());
    rest.iter().for_each(|object| read(heap, object));
    Worker::new(heap).free_all(rest);
}

fn threads_come_and_go<G: Granularity>(heap: &Heap<'_, G>) {
    thread::scope(|threads| {
        for tag in [10, 20, 30] {
            threads.spawn(move || {
                for round in 0..2 {
                    let worker = Worker::new(heap);
                    let objects = worker.insert_all(TWO, 2, tag + 3 * round);
                    worker.free_all(objects);
                }
            });
        }
    });
}

/// Frees park pairs and allocations take them, while another thread fills the heap with objects of
/// another class: before each refusal it gives back what is parked.
fn parked_pairs_meet_a_full_heap<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let mut objects = main.insert_all(MANY, 8, 1);
    let (some, others) = (objects.split_off(4), objects);
    let left = thread::scope(|threads| {
        let worker = threads.spawn(move || {
            let worker = Worker::new(heap);
            let mut some = some;
            for tag in 20..24 {
                worker.free(some.remove(0));
                some.extend(worker.try_insert(MANY, tag));
                some.iter().for_each(|object| read(heap, object));
            }
            some
        });
        threads.spawn(move || {
            let worker = Worker::new(heap);
            worker.free_all(fill(&worker, 100));
        });
        others.iter().for_each(|object| read(heap, object));
        main.free_all(others);
        worker.join().unwrap()
    });
    heap.check(false).unwrap();
    main.free_all(left);
}

/// As `small`, under a bound with which frees park.
fn parking<G: Granularity>(act: fn(&Heap<'_, G>)) -> Scenario<G> {
    let config = SharedConfig::new(config(Bound::DEFAULT))
        .with_locals(3, 2)
        .unwrap()
        .with_handle_buffer(4)
        .unwrap();
    Scenario {
        config,
        region: 8 << 10,
        slack: None,
        act,
    }
}

#[test]
fn parked_pairs_are_taken_and_given_back() {
    let (name, count) = ("parked_pairs_meet_a_full_heap", 400);
    explore(name, count, NOTHING, || {
        parking::<PerClass>(parked_pairs_meet_a_full_heap)
    });
    explore(name, count, NOTHING, || {
        parking::<PerHeap>(parked_pairs_meet_a_full_heap)
    });
}

#[test]
fn pages_are_released_and_reused() {
    explore_all!(400, a_page_is_released_and_reused_by_another_class);
    explore_all!(400, frees_in_one_page_meet);
}

#[test]
fn free_pages_are_found() {
    explore_all!(400, a_free_page_is_found_wherever_it_is);
    explore_all!(300, buffered_pages_are_taken_back);
    explore_all!(100, a_heap_that_was_full_can_be_filled_again);
}

#[test]
fn entries_are_found() {
    explore_all!(30, entries_are_found_wherever_they_are);
}

#[test]
fn threads_meet() {
    explore_all!(200, others_free_what_a_thread_allocates);
    explore_all!(150, threads_come_and_go);
}
