//! Forgotten guards: their objects stay where they are, or leak. Nothing else changes.

use std::mem::{MaybeUninit, forget};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::shared::{
    Granularity, Local, PerClass, PerHeap, PerPage, ShardedHeap, SharedConfig, SharedHeap, Stepwise,
};
use surefit_compact::{Bound, Bytes, Config, Geometry, Handle};
use surefit_core::Refused;
use surefit_testkit::layout;

type Lock = parking_lot::RawMutex;

const BOUNDS: [Bound; 3] = [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded];
const REGION: usize = 1 << 19;
/// As many pins as an entry counts.
const MOST_PINS: usize = 0x7FFF;

fn config<G: Granularity + Sync>(bound: Bound) -> SharedConfig<G> {
    let config = Config::new(Geometry::DEFAULT, bound).expect("valid");
    SharedConfig::new(config.with_pieces(Some(256)).expect("valid"))
}

/// Objects of some size-classes that come and go beside what was forgotten, with their contents.
fn churn<G: Granularity>(local: &Local<'_, '_, Lock, G>, read: impl Fn(&Handle<[u64; 6]>) -> u64) {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut live: Vec<(Handle<[u64; 6]>, u64)> = Vec::new();
    for number in 0..3000 {
        if random.random_bool(0.55) {
            live.push((local.insert([number; 6]).expect("room"), number));
        } else if !live.is_empty() {
            let (handle, number) = live.swap_remove(random.random_range(0..live.len()));
            assert_eq!(read(&handle), number);
            assert_eq!(local.remove(handle), Ok([number; 6]));
        }
    }
    for (handle, number) in live {
        assert_eq!(read(&handle), number);
        local.free(handle).expect("live");
    }
}

fn forgotten_by_owners<G: Granularity + Sync>() {
    for bound in BOUNDS {
        let config = config::<G>(bound);
        let mut memory = vec![MaybeUninit::new(9); REGION];
        let heap: SharedHeap<Lock, G> = SharedHeap::new(&mut memory, &config).expect("room");
        let local = heap.register().expect("a place");
        let read = |handle: &Handle<[u64; 6]>| heap.pin(handle).expect("live")[5];
        churn(&local, read);
        let mut values: Vec<_> = (0..40_u64)
            .map(|n| local.insert([n; 6]).expect("room"))
            .collect();
        let mut bytes: Vec<Bytes<u8>> = [0, 1, 255, 256, 257, 3000]
            .map(|len| local.alloc_zeroed(layout(len)).expect("room"))
            .into();
        for handle in values.iter_mut().step_by(2) {
            forget(heap.pin(handle));
            forget(heap.pin_settled(handle));
            forget(heap.pin_mut(handle));
        }
        for bytes in &mut bytes {
            forget(heap.pin_bytes(bytes));
            forget(heap.pin_bytes_mut(bytes));
            forget(heap.chunk(bytes, 0));
            forget(heap.chunk_mut(bytes, bytes.len()));
        }
        churn(&local, read);
        for (number, handle) in (0..).zip(values) {
            assert_eq!(local.remove(handle), Ok([number; 6]));
        }
        for mut bytes in bytes {
            local.resize(&mut bytes, layout(700)).expect("room");
            local.free_bytes(bytes).expect("live");
        }
        churn(&local, read);
        heap.compact(u64::MAX);
        heap.check(true).expect("sound");
        assert_eq!(heap.stats().live_blocks, 0, "an owner frees all the same");
        assert_eq!(heap.usage().total(), REGION);
    }
}

#[test]
fn guards_that_owners_forget_keep_nothing_from_being_freed() {
    forgotten_by_owners::<PerHeap>();
    forgotten_by_owners::<PerClass>();
    forgotten_by_owners::<PerPage>();
}

fn forgotten_in_instances<G: Stepwise + Sync>() {
    for bound in BOUNDS {
        let config = config::<G>(bound);
        let mut memory = vec![MaybeUninit::new(9); REGION];
        let heap: ShardedHeap<Lock, G> = ShardedHeap::new(&mut memory, &config, 2).expect("room");
        let locals = [0, 1].map(|instance| heap.register_in(instance).expect("a place"));
        let read = |handle: &Handle<[u64; 6]>| heap.pin(handle).expect("live")[5];
        let insert = |n: u64| locals[n as usize % 2].insert([n; 6]).expect("room");
        let mut values: Vec<_> = (0..40).map(insert).collect();
        for handle in values.iter_mut().step_by(3) {
            forget(heap.pin(handle));
            forget(heap.pin_mut(handle));
        }
        churn(&locals[0], read);
        let mut leaked = 0;
        for (number, handle) in (0..).zip(values) {
            // Freed by the other thread.
            assert_eq!(
                locals[(number + 1) as usize % 2].remove(handle),
                Ok([number; 6])
            );
            leaked += u64::from(number % 3 == 0);
        }
        churn(&locals[1], read);
        heap.compact(u64::MAX);
        heap.check(true).expect("sound");
        assert!(heap.stats().live_blocks <= leaked);
        assert_eq!(heap.usage().total(), REGION);
    }
}

#[test]
fn guards_that_are_forgotten_in_instances_leak_their_objects_at_most() {
    forgotten_in_instances::<PerHeap>();
    forgotten_in_instances::<PerClass>();
}

#[test]
fn the_most_pins_are_counted_and_one_more_is_refused() {
    let config = config::<PerClass>(Bound::Pages(1));
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let heap: SharedHeap<Lock> = SharedHeap::new(&mut memory, &config).expect("room");
    let local = heap.register().expect("a place");
    let value = local.insert([1_u64; 6]).expect("room");
    let bytes: Bytes<u8> = local.alloc_zeroed(layout(100)).expect("room");
    let mut guards: Vec<_> = (0..MOST_PINS)
        .map(|_| heap.pin(&value).expect("few"))
        .collect();
    assert_eq!(heap.pin(&value).err(), Some(Refused::TooManyPins));
    assert_eq!(heap.pin_settled(&value).err(), Some(Refused::TooManyPins));
    guards.pop();
    guards.push(heap.pin(&value).expect("one fewer"));
    assert_eq!(guards.last().map(|guard| guard[5]), Some(1));
    let of_bytes: Vec<_> = (0..MOST_PINS)
        .map(|_| heap.pin_bytes(&bytes).expect("few"))
        .collect();
    assert_eq!(heap.pin_bytes(&bytes).err(), Some(Refused::TooManyPins));
    drop((guards, of_bytes));
    assert_eq!(local.remove(value), Ok([1; 6]));
    assert_eq!(local.free_bytes(bytes), Ok(()));
    assert_eq!(heap.stats().live_blocks, 0);
    assert_eq!(heap.check(false), Ok(()));
}

#[test]
fn an_object_with_the_most_pins_of_an_instance_is_refused_one_more_and_freed() {
    let config = config::<PerClass>(Bound::Pages(1));
    let mut memory = vec![MaybeUninit::new(9); REGION];
    let heap: ShardedHeap<Lock> = ShardedHeap::new(&mut memory, &config, 2).expect("room");
    let local = heap.register().expect("a place");
    let value = local.insert([2_u64; 6]).expect("room");
    let guards: Vec<_> = (0..MOST_PINS)
        .map(|_| heap.pin(&value).expect("few"))
        .collect();
    assert_eq!(heap.pin(&value).err(), Some(Refused::TooManyPins));
    drop(guards);
    assert_eq!(local.free(value), Ok(()));
    assert_eq!(heap.stats().live_blocks, 0);
    assert_eq!(heap.check(false), Ok(()));
}
