//! Three threads that do whatever the explorer says, on several classes at once, beside a thread
//! that watches the bounds.

use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use surefit_compact::shared::{Granularity, PerClass, PerHeap, PerPage, SharedConfig, Stepwise};
use surefit_compact::{Bound, Config, Fraction};

use crate::world::{
    Expect, Heap, MANY, Object, Scenario, THREE, TWO, Worker, config, explore, read, within_bounds,
};

const MOVES: Expect = Expect {
    moves: true,
    abandoned: false,
};

const NOTHING: Expect = Expect {
    moves: false,
    abandoned: false,
};

/// Pins that are held at once: each of the three threads holds one, or inserts.
const PINS: u32 = 3;

const KAPPA: Bound = Bound::Pages(1);
const TWO_PAGES: Bound = Bound::Pages(2);
const HOLES: Bound = Bound::Holes {
    base: 1,
    fraction: Fraction::ZERO,
};

fn bound(which: usize) -> Bound {
    [KAPPA, TWO_PAGES, HOLES, Bound::Unbounded][which]
}

fn whole<G: Granularity, const BOUND: usize>() -> Scenario<G> {
    Scenario {
        config: SharedConfig::new(config(bound(BOUND))).with_pins(PINS),
        region: 24 << 10,
        slack: None,
        act: script::<G, BOUND>,
    }
}

fn stepwise<G: Stepwise, const BOUND: usize>(increment: u32) -> Scenario<G> {
    let scenario = whole::<G, BOUND>();
    Scenario {
        config: scenario.config.with_increment(increment).unwrap(),
        ..scenario
    }
}

fn script<G: Granularity, const BOUND: usize>(heap: &Heap<'_, G>) {
    let config = config(bound(BOUND));
    let main = Worker::new(heap);
    let common = main.insert_all(THREE, 4, 1);
    let mut shares: Vec<Vec<Object>> = (0..3)
        .map(|who| main.insert_all(THREE, 3, 10 * who))
        .collect();
    for share in &mut shares {
        share.extend(main.insert_all(TWO, 2, 60));
        share.extend(main.insert_all(MANY, 6, 80));
    }
    thread::scope(|threads| {
        for share in shares.drain(..) {
            let (common, config) = (&common, &config);
            threads.spawn(move || act(heap, config, common, share));
        }
    });
    heap.check(true).unwrap();
    heap.compact(u64::MAX);
    heap.check(false).unwrap();
    common.iter().for_each(|object| read(heap, object));
    main.free_all(common);
}

/// One thread: some operations on its own objects, pins of the common ones; then it frees what it
/// has.
fn act<G: Granularity>(
    heap: &Heap<'_, G>,
    config: &Config,
    common: &[Object],
    mut own: Vec<Object>,
) {
    let worker = Worker::new(heap);
    for _ in 0..7 {
        let (choice, which) = (
            thread_rng().gen_range(0..10),
            thread_rng().gen_range(0..100),
        );
        match choice {
            0..5 if !own.is_empty() => worker.free(own.swap_remove(which % own.len())),
            5 if !own.is_empty() => {
                let which = which % own.len();
                worker.write(&mut own[which], 200);
            }
            6 | 7 => worker.read(&common[which % common.len()]),
            8 => own.extend(worker.try_insert([MANY, THREE, TWO][which % 3], 201)),
            _ => within_bounds(heap, config, 3, PINS),
        }
    }
    for object in own {
        worker.read(&object);
        worker.free(object);
    }
}

#[test]
fn scripts_in_steps() {
    let run = "script, steps";
    explore(run, 60, MOVES, || stepwise::<PerClass, 0>(112));
    explore(run, 60, MOVES, || stepwise::<PerClass, 1>(64));
    explore(run, 60, MOVES, || stepwise::<PerClass, 2>(112));
    explore(run, 30, MOVES, || stepwise::<PerHeap, 2>(48));
    explore(run, 20, MOVES, || stepwise::<PerHeap, 0>(16));
}

#[test]
fn scripts_of_whole_moves() {
    let run = "script, whole moves";
    explore(run, 60, MOVES, whole::<PerPage, 0>);
    explore(run, 60, MOVES, whole::<PerPage, 2>);
    explore(run, 30, MOVES, whole::<PerPage, 1>);
    // Nothing but the compactions of the end may move anything.
    explore(run, 30, NOTHING, whole::<PerPage, 3>);
    explore(run, 30, NOTHING, whole::<PerClass, 3>);
}
