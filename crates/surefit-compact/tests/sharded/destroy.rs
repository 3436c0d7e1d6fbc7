//! `destroy`: all objects at once, stale handles, pins, and races with threads that still have
//! handles.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use surefit_compact::shared::{Local, PerClass, PerHeap, SharedConfig, Stepwise};
use surefit_compact::{Bound, Bytes, Handle};
use surefit_core::Refused;
use surefit_testkit::layout;

use super::{Heap, Lock, bounds, config, is_empty, region};

type Locals<'h, 'm, G> = Local<'h, 'm, Lock, G>;

/// What survives the destruction of its instance: names of nothing.
struct Stale {
    handles: Vec<Handle<u64>>,
    bytes: Bytes<u8>,
    pieces: Bytes<u8>,
}

/// Fills instance 1 and destroys it; others hold a foreign object, and free some of these before.
fn destroyed<G: Stepwise>(heap: &Heap<'_, G>, other: &Locals<'_, '_, G>) -> Stale {
    let doomed = heap.register_in(1).unwrap();
    let mut handles: Vec<Handle<u64>> = (0..500).map(|n| doomed.insert(n).unwrap()).collect();
    let stale = (
        doomed.alloc_zeroed(layout(100)).unwrap(),
        doomed.alloc_zeroed(layout(20_000)).unwrap(),
    );
    let boxed = doomed.insert(vec![1_u8]).unwrap();
    assert_eq!(heap.destroy(1), Err(Refused::Busy));
    drop(doomed);
    let pin = heap.pin(&handles[17]).unwrap();
    assert_eq!(heap.destroy(1), Err(Refused::Busy));
    assert_eq!(*pin, 17);
    drop(pin);
    heap.check(false).unwrap();
    assert_eq!(*heap.pin(&handles[499]).unwrap(), 499);
    // Freed by others before, perhaps without the lock.
    other.free(handles.pop().unwrap()).unwrap();
    other.remove(boxed).unwrap();
    // 499 numbers, a byte object, and a large and a small piece with their spine.
    assert_eq!(heap.destroy(1), Ok(499 + 1 + 3));
    heap.check(false).unwrap();
    assert_eq!(heap.instance_stats(1).bytes, 0);
    assert_eq!(heap.instance_stats(1).counters.live_blocks, 0);
    Stale {
        handles,
        bytes: stale.0,
        pieces: stale.1,
    }
}

/// Every use of a stale name is refused.
fn refused<G: Stepwise>(heap: &Heap<'_, G>, stale: Stale, by: &[&Locals<'_, '_, G>; 2]) {
    let foreign = Some(Refused::ForeignHandle);
    let (mut bytes, mut pieces) = (stale.bytes, stale.pieces);
    assert_eq!(heap.pin_bytes(&bytes).err(), foreign);
    assert_eq!(heap.pin_bytes_mut(&mut bytes).err(), foreign);
    assert_eq!(heap.chunk(&pieces, 5000).err(), foreign);
    assert_eq!(heap.write_at(&mut pieces, 5000, &[1; 5000]).err(), foreign);
    assert_eq!(by[0].resize(&mut bytes, layout(9)).err(), foreign);
    assert_eq!(by[0].free_bytes(pieces).err(), foreign);
    assert_eq!(by[1].free_bytes(bytes).err(), foreign);
    for (at, mut handle) in stale.handles.into_iter().enumerate() {
        assert_eq!(heap.pin(&handle).err(), foreign);
        assert_eq!(heap.pin_mut(&mut handle).err(), foreign);
        let local = by[at % 2];
        let refused = if at % 4 < 2 {
            local.free(handle).err()
        } else {
            local.remove(handle).err()
        };
        assert_eq!(refused, foreign);
    }
}

/// A heap of one instance has an instance to destroy, too.
fn stale_handles_of_the_only_instance<G: Stepwise>(config: &SharedConfig<G>) {
    let mut memory = region(1 << 20);
    let heap: Heap<'_, G> = Heap::new(&mut memory, config, 1).unwrap();
    let local = heap.register().unwrap();
    let stale: Vec<_> = (0..300_u64).map(|n| local.insert(n).unwrap()).collect();
    let bytes: Bytes<u8> = local.alloc_zeroed(layout(100)).unwrap();
    drop(local);
    assert_eq!(heap.destroy(0), Ok(301));
    heap.check(false).unwrap();

    let local = heap.register().unwrap();
    let foreign = Some(Refused::ForeignHandle);
    assert_eq!(heap.pin_bytes(&bytes).err(), foreign);
    assert_eq!(heap.pin(&stale[0]).err(), foreign, "its entry is free");
    let fresh: Vec<_> = (0..150_u64)
        .map(|n| local.insert(1000 + n).unwrap())
        .collect();
    assert_eq!(local.free_bytes(bytes).err(), foreign);
    for (at, mut handle) in stale.into_iter().enumerate() {
        assert_eq!(heap.pin(&handle).err(), foreign);
        assert_eq!(heap.pin_mut(&mut handle).err(), foreign);
        let refused = match at % 2 {
            0 => local.free(handle).err(),
            _ => local.remove(handle).err(),
        };
        assert_eq!(refused, foreign);
    }
    heap.check(false).unwrap();
    for (n, handle) in (1000..).zip(&fresh) {
        assert_eq!(*heap.pin(handle).unwrap(), n);
    }
    fresh
        .into_iter()
        .for_each(|handle| local.free(handle).unwrap());
    drop(local);
    is_empty(&heap, 1 << 20);
}

fn stale_handles<G: Stepwise>(config: &SharedConfig<G>) {
    let mut memory = region(1 << 20);
    let heap: Heap<'_, G> = Heap::new(&mut memory, config, 3).unwrap();
    let other = heap.register_in(2).unwrap();
    let foreign = other.insert([3_u64; 4]).unwrap();
    let stale = destroyed(&heap, &other);

    // The entries have other objects now, of this instance and of another one.
    let doomed = heap.register_in(1).unwrap();
    let fresh: Vec<_> = (0..300)
        .map(|n| doomed.insert(1000_u64 + n).unwrap())
        .collect();
    let others: Vec<_> = (0..300)
        .map(|n| other.insert(5000_u64 + n).unwrap())
        .collect();
    let live = heap.stats().live_blocks;
    refused(&heap, stale, &[&other, &doomed]);
    heap.check(false).unwrap();
    assert_eq!(heap.stats().live_blocks, live);
    for (handles, first) in [(&fresh, 1000), (&others, 5000)] {
        for (n, handle) in (first..).zip(handles) {
            assert_eq!(*heap.pin(handle).unwrap(), n);
        }
    }
    assert_eq!(*heap.pin(&foreign).unwrap(), [3; 4]);
    for handle in fresh.into_iter().chain(others) {
        doomed.free(handle).unwrap();
    }
    doomed.free(foreign).unwrap();
    drop((doomed, other));
    is_empty(&heap, 1 << 20);
}

#[test]
fn handles_of_a_destroyed_instance_touch_nothing() {
    for bound in bounds() {
        stale_handles(&config::<PerClass>(bound));
        stale_handles(&config::<PerHeap>(bound));
        stale_handles_of_the_only_instance(&config::<PerClass>(bound));
    }
}

#[test]
fn an_instance_is_destroyed_again_and_again() {
    let config = config::<PerClass>(Bound::DEFAULT);
    let mut memory = region(1 << 18);
    let heap: Heap<'_> = Heap::new(&mut memory, &config, 2).unwrap();
    let mut most = None;
    for _ in 0..20 {
        let local = heap.register_in(0).unwrap();
        let count = (0..)
            .map_while(|_| local.insert([0_u8; 500]).ok().map(drop))
            .count();
        drop(local);
        assert_eq!(*most.get_or_insert(count), count);
        assert_eq!(heap.destroy(0), Ok(count as u64));
        heap.check(false).unwrap();
    }
    is_empty(&heap, 1 << 18);
}

const OBJECTS: usize = 200;
const LENGTH: usize = 9000;

/// Reads until told to stop: what is there is right.
fn read<G: Stepwise>(
    heap: &Heap<'_, G>,
    kept: &[Handle<[u64; 6]>],
    spines: &[Bytes<u8>],
    done: &AtomicBool,
) {
    let mut seen = [0; LENGTH];
    for at in (0..).take_while(|_| !done.load(SeqCst)) {
        let n = at * 7 % kept.len();
        match heap.pin(&kept[n]) {
            Ok(pin) => assert_eq!(*pin, [n as u64; 6]),
            Err(refused) => assert_eq!(refused, Refused::ForeignHandle),
        }
        let which = at % spines.len();
        if heap.read_at(&spines[which], 0, &mut seen).is_ok() {
            assert_eq!(seen, [which as u8; LENGTH]);
        }
    }
}

/// Frees objects of the instance, and takes their memory for others, which nobody else may touch.
fn free<G: Stepwise>(heap: &Heap<'_, G>, handles: Vec<Handle<[u64; 6]>>, spines: Vec<Bytes<u8>>) {
    let local = heap.register_in(1).unwrap();
    let mut mine = Vec::new();
    for (n, handle) in handles.into_iter().enumerate() {
        let ended = if n % 2 == 0 {
            local.free(handle).map(|()| [n as u64; 6])
        } else {
            local.remove(handle)
        };
        assert!(ended == Ok([n as u64; 6]) || ended == Err(Refused::ForeignHandle));
        mine.push(local.insert([9_u64; 6]).unwrap());
    }
    for bytes in spines {
        let ended = local.free_bytes(bytes);
        assert!(ended.is_ok() || ended == Err(Refused::ForeignHandle));
    }
    for handle in mine {
        assert_eq!(*heap.pin(&handle).unwrap(), [9; 6]);
        local.free(handle).unwrap();
    }
}

/// Others read and free objects of an instance while it is destroyed; every object ends once, and
/// what is read is right.
fn race<G: Stepwise>(config: &SharedConfig<G>) {
    let mut memory = region(1 << 20);
    let heap: Heap<'_, G> = Heap::new(&mut memory, config, 3).unwrap();
    for round in 0..8 {
        let owner = heap.register_in(0).unwrap();
        let objects = || {
            let insert = |n: usize| owner.insert([n as u64; 6]).unwrap();
            (0..OBJECTS).map(insert).collect::<Vec<_>>()
        };
        let spines = || {
            let insert = |n| {
                let mut bytes = owner.alloc_zeroed(layout(LENGTH)).unwrap();
                heap.write_at(&mut bytes, 0, &[n; LENGTH]).unwrap();
                bytes
            };
            (0..2).map(insert).collect::<Vec<_>>()
        };
        let (kept, freed) = (objects(), objects());
        let (read_spines, freed_spines) = (spines(), spines());
        drop(owner);
        let (started, done) = (Barrier::new(3), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                started.wait();
                read(&heap, &kept, &read_spines, &done);
            });
            scope.spawn(|| {
                started.wait();
                free(&heap, freed, freed_spines);
            });
            started.wait();
            for _ in 0..round * 1000 {
                std::hint::spin_loop();
            }
            // A pin at the wrong moment is `Busy`: nothing has changed, so it is tried again.
            while heap.destroy(0) == Err(Refused::Busy) {
                std::thread::yield_now();
            }
            done.store(true, SeqCst);
        });
        assert!(kept.iter().all(|handle| heap.pin(handle).is_err()));
        is_empty(&heap, 1 << 20);
    }
}

#[test]
fn destruction_races_with_pins_and_frees() {
    for bound in [Bound::Pages(1), Bound::DEFAULT, Bound::Unbounded] {
        race(&config::<PerClass>(bound));
        race(&config::<PerHeap>(bound));
        let stepwise = config::<PerClass>(bound).with_increment(16).unwrap();
        race(&stepwise);
    }
}
