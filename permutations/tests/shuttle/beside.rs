//! What a heap says of itself while others work on it, and the last handles of an object, given up
//! at once.

use shuttle::thread;
use surefit_compact::Bound;
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig, Stepwise};

use crate::world::{Expect, Heap, MANY, ONE, Scenario, THREE, TWO, Worker, config, explore};

const NOTHING: Expect = Expect {
    moves: false,
    abandoned: false,
};

const REGION: usize = 8 << 10;

fn small<G: Granularity>(bound: Bound, act: fn(&Heap<'_, G>)) -> Scenario<G> {
    let config = SharedConfig::new(config(bound))
        .with_locals(3, 2)
        .unwrap()
        .with_handle_buffer(2)
        .unwrap();
    Scenario {
        config,
        region: REGION,
        act,
    }
}

/// Explores a scenario under every lock and kind of bound.
macro_rules! explore_all {
    ($count:expr, $act:ident) => {{
        let name = stringify!($act);
        explore(name, $count, NOTHING, || {
            small::<PerClass>(Bound::Pages(1), $act)
        });
        explore(name, $count, NOTHING, || {
            small::<PerClass>(Bound::DEFAULT, $act)
        });
        explore(name, $count, NOTHING, || {
            small::<PerHeap>(Bound::DEFAULT, $act)
        });
        explore(name, $count, NOTHING, || {
            small::<PerPage>(Bound::Pages(1), $act)
        });
        explore(name, $count, NOTHING, || {
            small::<PerPage>(Bound::DEFAULT, $act)
        });
        explore(name, $count, NOTHING, || {
            small::<PerPage>(Bound::Unbounded, $act)
        });
    }};
}

/// Everything that a heap says. A page that changes hands meanwhile may be counted once for each
/// size-class, no more.
fn listen<G: Granularity>(heap: &Heap<'_, G>) {
    let stats = heap.stats();
    assert!(stats.live_blocks <= 3 * 16 * 8 && stats.not_full_pages <= stats.pages);
    assert!(stats.pages <= 4 * 8 && stats.holes < 3 * 16 * 8);
    let parts = heap.parts();
    let each = [
        parts.block_bytes,
        parts.size_class_bytes,
        parts.transient_bytes,
        parts.page_internal_bytes,
        parts.administrative_bytes,
        parts.free_page_bytes,
    ];
    assert!(each.iter().all(|&bytes| bytes <= 4 * REGION), "{parts:?}");
    // What is freed or inserted meanwhile may be reported.
    let _ = heap.check(true);
}

/// The heap is full but for one page at most, which goes from size-class to size-class.
fn a_heap_speaks_while_objects_come_and_go<G: Granularity>(heap: &Heap<'_, G>) {
    let main = Worker::new(heap);
    let mut kept = main.insert_all(THREE, 3, 1);
    let (first, second) = (kept.remove(0), main.insert(TWO, 9));
    kept.extend((10..).map_while(|tag| main.try_insert(ONE, tag)));
    thread::scope(|threads| {
        threads.spawn(move || {
            let worker = Worker::new(heap);
            worker.free(second);
            worker.free_all(worker.try_insert(MANY, 4).into_iter().collect());
            worker.free_all(worker.try_insert(ONE, 5).into_iter().collect());
        });
        threads.spawn(move || {
            let worker = Worker::new(heap);
            worker.free(first);
            worker.free_all(worker.try_insert(THREE, 6).into_iter().collect());
            worker.free_all(worker.try_insert(TWO, 7).into_iter().collect());
        });
        listen(heap);
        listen(heap);
    });
    heap.check(true).unwrap();
    main.free_all(kept);
}

#[test]
fn heaps_speak() {
    explore_all!(1000, a_heap_speaks_while_objects_come_and_go);
}

/// The object is the one that the free of another moves.
fn the_last_handles_are_given_up_at_once<G: Granularity>(heap: &Heap<'_, G>) {
    let local = heap.register().unwrap();
    let insert = |word: u64| heap.insert_counted(&local, [word; 39]).unwrap();
    let (first, hole, third) = (insert(1), insert(2), insert(3));
    let (fourth, handle) = (insert(4), insert(5));
    let others = [handle.clone(), handle.clone()];
    let got = thread::scope(|threads| {
        let hole = threads.spawn(move || hole.into_inner());
        let others = others.map(|other| threads.spawn(move || other.into_inner()));
        let own = handle.into_inner();
        assert_eq!(hole.join().unwrap(), Some([2; 39]));
        let [second, third] = others.map(|other| other.join().unwrap());
        [own, second, third]
    });
    assert_eq!(got.iter().flatten().collect::<Vec<_>>(), [&[5; 39]]);
    for (word, kept) in [(1, first), (3, third), (4, fourth)] {
        assert_eq!(kept.into_inner(), Some([word; 39]));
    }
}

fn in_steps<G: Stepwise>() -> Scenario<G> {
    let scenario = small::<G>(Bound::Pages(1), the_last_handles_are_given_up_at_once);
    Scenario {
        config: scenario.config.with_increment(64).unwrap(),
        ..scenario
    }
}

#[test]
fn one_of_the_last_handles_gets_the_value() {
    let moves = Expect {
        moves: true,
        abandoned: true,
    };
    explore("last handles", 1500, moves, in_steps::<PerClass>);
    explore("last handles", 1500, moves, in_steps::<PerHeap>);
    explore("last handles", 1500, NOTHING, || {
        small::<PerPage>(Bound::Pages(1), the_last_handles_are_given_up_at_once)
    });
}
