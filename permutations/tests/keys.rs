//! The heap of keys under a permutation tester: a key's free against its pins and against another
//! free of it, the last unpin against the drain, and the reuse of the entry; and frees of others
//! against the end of an owner.
//!
//! Runs with `RUSTFLAGS="--cfg surefit_shuttle"` only (ci/models.sh).
#![cfg(surefit_shuttle)]

#[allow(dead_code, reason = "the scenarios of handles use all of it")]
#[path = "shuttle/world.rs"]
mod world;

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config as Shuttle, Runner, thread};
use surefit_compact::shared::{
    PerClass, PerHeap, ShardedHeap, SharedConfig, SharedKeyHeap, Stepwise,
};
use surefit_compact::{Bound, Bytes, Key};
use surefit_core::Refused;
use world::{MANY, SpinLock, config};

type Keys<'m, G> = SharedKeyHeap<'m, SpinLock, G>;

/// Three to a page, moved in several steps.
#[derive(Debug)]
struct Object {
    words: [u64; 38],
}

/// Objects dropped in one execution; scenarios run one at a time.
static DROPPED: AtomicU64 = AtomicU64::new(0);

impl Object {
    fn new(tag: u64) -> Self {
        Self { words: [tag; 38] }
    }

    fn is(&self, tag: u64) -> bool {
        self.words.iter().all(|&word| word == tag)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        assert!(self.words.iter().all(|&word| word == self.words[0]));
        DROPPED.fetch_add(1, Relaxed);
    }
}

/// Reads by a key that may be stale: the object, or nothing.
fn read<G: Stepwise>(heap: &Keys<'_, G>, key: Key<Object>, tag: u64) {
    match heap.pin_settled(key) {
        Ok(pinned) => {
            assert!(pinned.is(tag));
            thread::yield_now();
            assert!(pinned.is(tag), "its memory was reused under a pin");
        }
        Err(refused) => assert!(matches!(refused, Refused::StaleHandle | Refused::Busy)),
    }
}

/// Frees by a key that another thread frees too; then takes the memory for objects of its own.
/// Whether it won.
fn free_and_reuse<G: Stepwise>(heap: &Keys<'_, G>, key: Key<Object>, tag: u64) -> bool {
    let local = heap.register().unwrap();
    let won = local.free(key);
    assert!(matches!(won, Ok(()) | Err(Refused::StaleHandle)));
    let own: Vec<_> = (0..2)
        .map(|_| local.insert(Object::new(tag)).unwrap())
        .collect();
    for key in own {
        assert!(heap.pin_settled(key).unwrap().is(tag));
        heap.pin_mut(key).unwrap().words = [tag + 1; 38];
        assert!(local.remove(key).unwrap().is(tag + 1));
    }
    won.is_ok()
}

fn keys<G: Stepwise>(shared: &SharedConfig<G>) {
    DROPPED.store(0, Relaxed);
    let mut memory = vec![MaybeUninit::new(0xA5); 24 << 10];
    let heap: Keys<'_, G> = Keys::new(&mut memory, shared).unwrap();
    let local = heap.register().unwrap();
    let live: Vec<_> = (0..7)
        .map(|tag| local.insert(Object::new(tag)).unwrap())
        .collect();
    let wins = thread::scope(|threads| {
        threads.spawn(|| {
            // The first key again and again: it is freed, and its entry reused, between a look and
            // a pin.
            for tag in [0, 0, 0, 0, 1, 2] {
                read(&heap, live[tag], tag as u64);
            }
        });
        let other = threads.spawn(|| free_and_reuse(&heap, live[0], 100));
        let own = free_and_reuse(&heap, live[0], 200);
        // Held across the free of another key: the last unpin leaves it to the drain.
        let held = heap.pin_settled(live[1]).unwrap();
        local.free(live[1]).unwrap();
        local.free(live[2]).unwrap();
        assert!(held.is(1));
        drop(held);
        u8::from(own) + u8::from(other.join().unwrap())
    });
    assert_eq!(wins, 1, "a key ends once");
    heap.check(true).unwrap();
    for (tag, &key) in live.iter().enumerate() {
        let freed = local.free(key);
        assert_eq!(freed.is_ok(), tag > 2, "{freed:?}");
    }
    heap.compact(u64::MAX);
    drop(local);
    heap.check(false).unwrap();
    assert_eq!((heap.stats().live_blocks, heap.stats().pages), (0, 0));
    assert_eq!(DROPPED.load(Relaxed), 7 + 4, "every value once");
}

/// An owner leaves while others free its objects and another adopts its instance.
fn leaves<G: Stepwise>(shared: &SharedConfig<G>) {
    let mut memory = vec![MaybeUninit::new(0xA5); 24 << 10];
    let heap: ShardedHeap<'_, SpinLock, G> = ShardedHeap::new(&mut memory, shared, 2).unwrap();
    let owner = heap.register_in(0).unwrap();
    let objects: Vec<Bytes<u8>> = (0..9).map(|_| owner.insert_bytes(MANY).unwrap()).collect();
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
        let own: Vec<Bytes<u8>> = (0..4).map(|_| next.insert_bytes(MANY).unwrap()).collect();
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
fn frees_and_pins_of_one_key_meet_and_so_do_an_owner_s_end_and_frees() {
    for bound in [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded] {
        explore::<PerClass>(bound, keys);
        explore::<PerHeap>(bound, keys);
        explore::<PerClass>(bound, leaves);
        explore::<PerHeap>(bound, leaves);
    }
}
