//! The heap of several instances under a permutation tester: an instance is destroyed while others
//! read its objects, in pieces too, free them, and take their memory for other objects.
//!
//! Runs with `RUSTFLAGS="--cfg surefit_shuttle"` only (ci/models.sh).
#![cfg(surefit_shuttle)]

#[allow(dead_code, reason = "the scenarios of one instance use all of it")]
#[path = "shuttle/world.rs"]
mod world;

use std::mem::MaybeUninit;

use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config as Shuttle, Runner, thread};
use surefit_compact::shared::{PerClass, PerHeap, ShardedHeap, SharedConfig, Stepwise};
use surefit_compact::{Bound, Bytes};
use surefit_core::Refused;
use world::{MANY, SpinLock, config, layout};

type Heap<'m, G> = ShardedHeap<'m, SpinLock, G>;

/// Bytes of an object in four pieces.
const PIECES: usize = 4 * MANY;
const DOOMED: u8 = 1;
const OTHER: u8 = 2;

/// What is read by a name is the object, or nothing.
fn read<G: Stepwise>(heap: &Heap<'_, G>, pieces: &Bytes<u8>, whole: &Bytes<u8>) {
    let mut seen = [0; PIECES];
    match heap.read_at(pieces, 0, &mut seen) {
        Ok(()) => assert_eq!(seen, [DOOMED; PIECES]),
        Err(refused) => assert_eq!(refused, Refused::ForeignHandle),
    }
    if let Ok(pin) = heap.pin_bytes(whole) {
        assert_eq!(*pin, [DOOMED; MANY]);
        thread::yield_now();
        assert_eq!(*pin, [DOOMED; MANY]);
    }
}

/// Frees an object of the instance by its name, and takes its memory.
fn free<G: Stepwise>(heap: &Heap<'_, G>, freed: Vec<Bytes<u8>>) {
    let local = heap.register_in(1).unwrap();
    let mut own = Vec::new();
    for bytes in freed {
        let ended = local.free_bytes(bytes);
        assert!(ended.is_ok() || ended == Err(Refused::ForeignHandle));
        let mut bytes = local.alloc_zeroed(layout(MANY)).unwrap();
        heap.pin_bytes_mut(&mut bytes).unwrap().fill(OTHER);
        own.push(bytes);
    }
    for bytes in own {
        assert_eq!(*heap.pin_bytes(&bytes).unwrap(), [OTHER; MANY]);
        local.free_bytes(bytes).unwrap();
    }
}

fn scenario<G: Stepwise>(shared: &SharedConfig<G>) {
    let mut memory = vec![MaybeUninit::new(0xA5); 16 << 10];
    let heap: Heap<'_, G> = Heap::new(&mut memory, shared, 2).unwrap();
    let owner = heap.register_in(0).unwrap();
    let insert = |len: usize| {
        let mut bytes = owner.alloc_zeroed(layout(len)).unwrap();
        heap.write_at(&mut bytes, 0, &vec![DOOMED; len]).unwrap();
        bytes
    };
    let (pieces, whole) = (insert(PIECES), insert(MANY));
    let freed = vec![insert(MANY), insert(PIECES)];
    drop(owner);
    thread::scope(|threads| {
        threads.spawn(|| read(&heap, &pieces, &whole));
        threads.spawn(|| free(&heap, freed));
        while heap.destroy(0) == Err(Refused::Busy) {
            thread::yield_now();
        }
        // Entries and page-blocks that came back serve others at once.
        let next = heap.register_in(0).unwrap();
        let own: Vec<Bytes<u8>> = (0..6)
            .map(|_| next.alloc_zeroed(layout(MANY)).unwrap())
            .collect();
        assert!(
            own.iter()
                .all(|bytes| *heap.pin_bytes(bytes).unwrap() == [0; MANY])
        );
        own.into_iter()
            .for_each(|bytes| next.free_bytes(bytes).unwrap());
    });
    assert!(heap.pin_bytes(&whole).is_err());
    heap.check(true).unwrap();
    heap.compact(u64::MAX);
    heap.check(false).unwrap();
    assert_eq!((heap.stats().live_blocks, heap.stats().pages), (0, 0));
}

fn explore<G: Stepwise>(bound: Bound) {
    let config = config(bound).with_pieces(Some(MANY)).unwrap();
    let shared = SharedConfig::<G>::new(config)
        .with_handle_buffer(2)
        .unwrap();
    let shared: &'static SharedConfig<G> = Box::leak(Box::new(shared));
    let schedulers: [Box<dyn Scheduler + Send>; 2] = [
        Box::new(RandomScheduler::new_from_seed(7, 300)),
        Box::new(PctScheduler::new_from_seed(7, 3, 300)),
    ];
    for scheduler in schedulers {
        Runner::new(scheduler, Shuttle::new()).run(move || scenario(shared));
    }
}

#[test]
fn destruction_meets_reads_and_frees() {
    for bound in [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded] {
        explore::<PerClass>(bound);
        explore::<PerHeap>(bound);
    }
}
