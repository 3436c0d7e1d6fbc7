//! What a heap says of itself while others work on it.

use shuttle::thread;
use surefit_compact::Bound;
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig};

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
        slack: None,
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
    let usage = heap.usage();
    let each = [
        usage.block_bytes,
        usage.size_class_bytes,
        usage.transient_bytes,
        usage.page_internal_bytes,
        usage.administrative_bytes,
        usage.free_page_bytes,
    ];
    assert!(each.iter().all(|&bytes| bytes <= 4 * REGION), "{usage:?}");
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
