//! The end of an instance's owner against frees of others, under a permutation tester.
//!
//! Runs with `RUSTFLAGS="--cfg surefit_shuttle"` only (ci/models.sh).
#![cfg(surefit_shuttle)]

#[allow(dead_code, reason = "the scenarios of handles use all of it")]
#[path = "shuttle/world.rs"]
mod world;

use std::mem::MaybeUninit;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config as Shuttle, Runner, thread};
use surefit_compact::shared::{PerClass, PerHeap, ShardedHeap, SharedConfig, Stepwise};
use surefit_compact::{Bound, Bytes};
use surefit_core::Refused;
use world::{MANY, SpinLock, config, layout};

/// An owner leaves while others free its objects and another adopts its instance.
fn leaves<G: Stepwise>(shared: &SharedConfig<G>) {
    let mut memory = vec![MaybeUninit::new(0xA5); 24 << 10];
    let heap: ShardedHeap<'_, SpinLock, G> = ShardedHeap::new(&mut memory, shared, 2).unwrap();
    let owner = heap.register_in(0).unwrap();
    let objects: Vec<Bytes<u8>> = (0..9)
        .map(|_| owner.alloc_zeroed(layout(MANY)).unwrap())
        .collect();
    thread::scope(|threads| {
        threads.spawn(|| {
            let local = heap.register_in(1).unwrap();
            for bytes in objects {
                local.free_bytes(bytes).unwrap();
            }
        });
        threads.spawn(move || drop(owner));
        // Adopts instance 0, or has a place in it or in the other.
        let next = loop {
            match heap.register() {
                Ok(next) => break next,
                Err(refused) => assert_eq!(refused, Refused::NoLocal),
            }
            thread::yield_now();
        };
        let own: Vec<Bytes<u8>> = (0..4)
            .map(|_| next.alloc_zeroed(layout(MANY)).unwrap())
            .collect();
        for bytes in own {
            assert!(
                heap.pin_bytes(&bytes)
                    .unwrap()
                    .iter()
                    .all(|&byte| byte == 0)
            );
            next.free_bytes(bytes).unwrap();
        }
    });
    heap.check(true).unwrap();
    heap.compact(u64::MAX);
    heap.check(false).unwrap();
    assert_eq!((heap.stats().live_blocks, heap.stats().pages), (0, 0));
}

fn explore<G: Stepwise>(bound: Bound, scenario: fn(&SharedConfig<G>)) {
    let shared = SharedConfig::<G>::new(config(bound))
        .with_handle_buffer(2)
        .unwrap();
    let shared: &'static SharedConfig<G> = Box::leak(Box::new(shared.with_increment(64).unwrap()));
    let schedulers: [Box<dyn Scheduler + Send>; 2] = [
        Box::new(RandomScheduler::new_from_seed(11, 2000)),
        Box::new(PctScheduler::new_from_seed(11, 3, 2000)),
    ];
    for scheduler in schedulers {
        Runner::new(scheduler, Shuttle::new()).run(move || scenario(shared));
    }
}

#[test]
fn the_end_of_an_owner_and_frees_of_others_meet() {
    for bound in [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded] {
        explore::<PerClass>(bound, leaves);
        explore::<PerHeap>(bound, leaves);
    }
}
