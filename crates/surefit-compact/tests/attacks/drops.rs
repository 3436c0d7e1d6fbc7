//! Values whose drop panics, or which are heaps.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use surefit_compact::{Config, Handle, Heap, Key, KeyHeap};

static CONFIG: Config = Config::DEFAULT;

/// Panics when it is dropped, without the message of a failed test.
#[derive(Debug)]
struct Bomb(u64);

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new(self.0));
    }
}

fn blows<T>(call: impl FnOnce() -> T) {
    let panic = catch_unwind(AssertUnwindSafe(|| drop(call()))).expect_err("it blows");
    assert!(panic.is::<u64>());
}

#[test]
fn a_drop_that_panics_frees_its_memory_all_the_same() {
    let mut memory = vec![MaybeUninit::new(9); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &CONFIG).expect("large enough");
    let bombs: Vec<Handle<Bomb>> = (0..400)
        .map(|n| heap.insert(Bomb(n)).expect("room"))
        .collect();
    let kept: Vec<Handle<u64>> = (0..400).map(|n| heap.insert(n).expect("room")).collect();
    for (number, bomb) in bombs.into_iter().enumerate() {
        if number % 2 == 0 {
            blows(|| heap.free(bomb));
        } else {
            blows(|| drop(heap.remove(bomb)));
        }
        heap.check().expect("sound");
    }
    assert_eq!(heap.stats().live_blocks, 400);
    assert!(
        (0..)
            .zip(&kept)
            .all(|(number, handle)| *heap.get(handle) == number)
    );

    let mut memory = vec![MaybeUninit::new(9); 1 << 20];
    let mut keys: KeyHeap = KeyHeap::new(&mut memory, &CONFIG).expect("large enough");
    let bombs: Vec<Key<Bomb>> = (0..200)
        .map(|n| keys.insert(Bomb(n)).expect("room"))
        .collect();
    for bomb in bombs {
        blows(|| drop(keys.remove(bomb)));
        assert!(!keys.contains(bomb));
    }
    keys.check().expect("sound");
    assert_eq!(keys.stats().live_blocks, 0);
}

/// A heap of values that are heaps, each over bytes of its own.
#[test]
fn heaps_may_live_in_heaps() {
    let mut memory = vec![MaybeUninit::new(9); 1 << 20];
    let mut outer: Heap = Heap::new(&mut memory, &CONFIG).expect("large enough");
    let mut regions = vec![[MaybeUninit::new(9); 1 << 16]; 4];
    let inner: Vec<_> = regions
        .iter_mut()
        .map(|region| {
            let heap: Heap<'_> = Heap::new(region, &CONFIG).expect("large enough");
            outer.insert(heap).unwrap_or_else(|full| panic!("{full}"))
        })
        .collect();
    for (number, heap) in inner.into_iter().enumerate() {
        let handle = outer.get(&heap).insert(number).expect("room");
        assert_eq!(*outer.get(&heap).get(&handle), number);
        let mut moved = outer.remove(heap);
        assert_eq!(moved.remove(handle), number);
        moved.check().expect("sound");
    }
    outer.check().expect("sound");
}
