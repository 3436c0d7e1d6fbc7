//! Size-classes that borrow holes from one count of spare bytes, and from each other.

use shuttle::thread;
use surefit_compact::Bound;
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig};

use crate::world::{Expect, Heap, PAGE, Scenario, THREE, TWO, Worker, config, explore};

const MOVES: Expect = Expect {
    moves: true,
    abandoned: false,
};

/// A heap that lends so many bytes.
fn lending<G: Granularity>(slack: usize, act: fn(&Heap<'_, G>)) -> Scenario<G> {
    let config = SharedConfig::<G>::new(config(Bound::DEFAULT))
        .with_locals(2, 0)
        .unwrap()
        .with_handle_buffer(1)
        .unwrap();
    Scenario {
        config,
        region: 16 << 10,
        slack: Some(slack),
        act,
    }
}

/// Fills pages of one size-class, thins them out, and goes on in the other one.
fn a_half<G: Granularity>(heap: &Heap<'_, G>, lens: [usize; 2]) {
    let worker = Worker::new(heap);
    let mut objects = worker.insert_all(lens[0], 4, 1);
    worker.free(objects.remove(0));
    worker.free(objects.remove(1));
    objects.extend(worker.insert_all(lens[1], 2, 5));
    worker.free(objects.remove(0));
    objects.push(worker.insert(lens[1], 7));
    worker.free_all(objects);
}

fn groups_borrow_what_others_give_back<G: Granularity>(heap: &Heap<'_, G>) {
    thread::scope(|threads| {
        threads.spawn(move || a_half(heap, [THREE, TWO]));
        a_half(heap, [TWO, THREE]);
    });
    heap.check(true).unwrap();
    heap.compact(u64::MAX);
}

#[test]
fn slack_is_lent_to_groups_that_meet() {
    fn explore_lock<G: Granularity>() {
        let name = "groups_borrow_what_others_give_back";
        explore(name, 300, MOVES, || {
            lending::<G>(0, groups_borrow_what_others_give_back)
        });
        explore(name, 300, MOVES, || {
            lending::<G>(PAGE, groups_borrow_what_others_give_back)
        });
    }
    explore_lock::<PerClass>();
    explore_lock::<PerHeap>();
    explore_lock::<PerPage>();
}
