//! Methods that only read a heap are safe beside threads that change it. `check`, `stats` and
//! `usage` are called over and over while four threads insert, write and free. Their results may be
//! out of date, but they must not panic, and a sanitizer must see no race (ci/sanitizers.sh). When
//! the threads are done, the results are exact.
//!
//! Seeds and amounts of work are fixed; the machine chooses the schedules.
#![cfg(not(surefit_shuttle))]

use std::mem::MaybeUninit;
use std::thread;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::shared::{
    Granularity, PerClass, PerHeap, PerPage, ShardedHeap, SharedConfig, SharedHeap, Stepwise,
};
use surefit_compact::{Bound, Config, Geometry};
use surefit_core::Usage;
use surefit_testkit::layout;

type Lock = parking_lot::RawMutex;

const WORKERS: u16 = 4;
const INSTANCES: u16 = 2;
/// Small enough that pages change hands all the time.
const REGION: usize = 512 << 10;
const LENGTHS: [usize; 6] = [16, 40, 200, 1000, 3000, 9000];

/// The least number of calls of `look`; there are more as long as a worker works.
const LOOKS: u32 = 40;

fn config<G: Granularity>(bound: Bound) -> SharedConfig<G> {
    let config = Config::new(Geometry::DEFAULT, bound).unwrap();
    let config = config.with_pieces(None).unwrap();
    SharedConfig::new(config)
        .with_pins(2 * u32::from(WORKERS))
        .with_locals(WORKERS + 1, 2)
        .unwrap()
}

fn region() -> Vec<MaybeUninit<u8>> {
    vec![MaybeUninit::uninit(); REGION]
}

/// One worker's script: `insert` and `free` in random turns, with at most 60 objects at once. Their
/// length changes now and then, so that pages go from size-class to size-class. At the end all
/// objects are freed.
fn work<T>(seed: u64, mut insert: impl FnMut(usize, u8) -> Option<T>, mut free: impl FnMut(T)) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut own, mut inserted): (Vec<T>, u32) = (Vec::new(), 0);
    for round in 0..20_000 {
        if own.len() < 60 && random.random_bool(0.55) {
            let len = LENGTHS[(round / 64 + seed as usize) % LENGTHS.len()];
            let object = insert(len, random.random());
            inserted += u32::from(object.is_some());
            own.extend(object);
        } else if !own.is_empty() {
            free(own.swap_remove(random.random_range(0..own.len())));
        }
    }
    own.into_iter().for_each(free);
    assert!(
        inserted > 1000,
        "a heap that refuses is not worked on: {inserted}"
    );
}

/// Runs every worker in its own thread, and `look` beside them until all have ended.
fn beside(worker: impl Fn(u64) + Sync, mut look: impl FnMut()) {
    let worker = &worker;
    thread::scope(|scope| {
        let seeds = 0..u64::from(WORKERS);
        let workers = seeds.map(|seed| scope.spawn(move || worker(seed)));
        let workers: Vec<_> = workers.collect();
        let mut looks = 0;
        // A worker that panics has ended too: the scope reports it.
        while looks < LOOKS || workers.iter().any(|worker| !worker.is_finished()) {
            look();
            looks += 1;
            thread::yield_now();
        }
    });
}

/// Plausible results for a heap of `REGION` bytes while others work on it. They belong to no single
/// moment: each size-class is counted under its own lock, and a page that goes from class to class
/// meanwhile counts in each. So a part is at most the region for every class, and nothing has
/// become negative.
fn plausible(usage: &Usage) {
    let most = usize::from(INSTANCES) * Geometry::DEFAULT.class_count() * REGION;
    let bytes = [
        usage.block_bytes,
        usage.page_internal_bytes,
        usage.size_class_bytes,
        usage.transient_bytes,
        usage.administrative_bytes,
        usage.free_page_bytes,
    ];
    assert!(bytes.iter().all(|&bytes| bytes <= most), "{usage:?}");
}

/// A heap of handles: bytes are inserted, filled and freed.
fn handles<G: Granularity + Sync>(bound: Bound) {
    let config = config(bound);
    let mut memory = region();
    let heap: SharedHeap<Lock, G> = SharedHeap::new(&mut memory, &config).unwrap();
    let worker = |seed| {
        let local = heap.register().unwrap();
        let insert = |len, fill| {
            let mut bytes = local.alloc_zeroed(layout(len)).ok()?;
            heap.pin_bytes_mut(&mut bytes).unwrap().fill(fill);
            Some(bytes)
        };
        work(seed, insert, |bytes| local.free_bytes(bytes).unwrap());
    };
    beside(worker, || {
        // An object that is freed or inserted meanwhile may be reported.
        let _ = heap.check(true);
        // Size-class by size-class: a page that changes hands meanwhile is counted twice, or not at
        // all.
        let _ = heap.stats();
        plausible(&heap.usage());
    });
    heap.check(false).unwrap();
    assert_eq!((heap.stats().live_blocks, heap.stats().pages), (0, 0));
    assert_eq!(heap.usage().total(), REGION);
}

/// A heap of `INSTANCES` instances.
fn instances<G: Stepwise + Sync>(bound: Bound) {
    let config = config(bound);
    let mut memory = region();
    let heap: ShardedHeap<Lock, G> = ShardedHeap::new(&mut memory, &config, INSTANCES).unwrap();
    let worker = |seed| {
        let local = heap.register().unwrap();
        let insert = |len, fill| {
            let mut bytes = local.alloc_zeroed(layout(len)).ok()?;
            heap.pin_bytes_mut(&mut bytes).unwrap().fill(fill);
            Some(bytes)
        };
        work(seed, insert, |bytes| local.free_bytes(bytes).unwrap());
    };
    beside(worker, || {
        let _ = heap.check(true);
        // Size-class by size-class: a page that changes hands meanwhile is counted twice, or not at
        // all.
        let _ = heap.stats();
        plausible(&heap.usage());
        for instance in 0..heap.instances() {
            assert!(heap.instance_stats(instance).bytes <= REGION);
        }
    });
    heap.check(false).unwrap();
    assert_eq!((heap.stats().live_blocks, heap.stats().pages), (0, 0));
    assert_eq!(heap.usage().total(), REGION);
}

const BOUNDS: [Bound; 3] = [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded];

#[test]
fn handles_under_one_lock() {
    BOUNDS.into_iter().for_each(handles::<PerHeap>);
}

#[test]
fn handles_under_class_locks() {
    BOUNDS.into_iter().for_each(handles::<PerClass>);
}

#[test]
fn handles_under_page_locks() {
    BOUNDS.into_iter().for_each(handles::<PerPage>);
}

#[test]
fn instances_under_class_locks() {
    BOUNDS.into_iter().for_each(instances::<PerClass>);
}
