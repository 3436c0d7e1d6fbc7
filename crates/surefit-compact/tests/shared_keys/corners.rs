//! Single cases: foreign and exhausted keys, panics, full pin counts, and that everything is free
//! at the end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use surefit_compact::shared::PerClass;
use surefit_compact::{Bound, Key};
use surefit_core::Refused;

use crate::objects::{
    Bomb, KeyHeap, Object, Plain, Tracked, checksummed, config, region, seed_of, steps,
};

#[test]
fn a_foreign_key_is_refused_by_every_method() {
    let config = config::<PerClass>(Bound::Pages(1), None);
    let (mut memory, mut other_memory) = (region(), region());
    let heap: KeyHeap<'_> = KeyHeap::new(&mut memory, &config).expect("large enough");
    let other: KeyHeap<'_> = KeyHeap::new(&mut other_memory, &config).expect("large enough");
    let (local, other_local) = (heap.register().unwrap(), other.register().unwrap());
    let key = local.insert(checksummed::<7>(1)).unwrap();
    let foreign = other_local.insert(checksummed::<7>(2)).unwrap();
    assert_eq!(heap.pin(foreign).err(), Some(Refused::ForeignHandle));
    assert_eq!(
        heap.pin_settled(foreign).err(),
        Some(Refused::ForeignHandle)
    );
    assert_eq!(heap.pin_mut(foreign).err(), Some(Refused::ForeignHandle));
    assert_eq!(local.free(foreign), Err(Refused::ForeignHandle));
    assert_eq!(local.remove(foreign).err(), Some(Refused::ForeignHandle));
    assert!(!heap.contains(foreign) && other.contains(foreign) && heap.contains(key));
    heap.check(false).unwrap();
    assert_eq!(seed_of(&*heap.pin(key).unwrap()), 1);
    assert_eq!(seed_of(&*other.pin(foreign).unwrap()), 2);
}

#[test]
fn an_entry_retires_before_its_generations_repeat() {
    /// Odd generations below 255.
    const OBJECTS: usize = 127;
    let config = config::<PerClass>(Bound::Pages(1), None);
    let mut memory = region();
    let heap: KeyHeap<'_, PerClass, u8> = KeyHeap::new(&mut memory, &config).expect("large enough");
    let local = heap.register().unwrap();
    let dropped = Arc::default();
    let (mut plain, mut tracked) = (Vec::new(), Vec::new());
    for round in 1..=6 {
        for object in 0..OBJECTS {
            // Every other object of an entry must be dropped.
            if object % 2 == 0 {
                plain.push(local.insert(checksummed::<7>(5)).unwrap());
                local.free(plain[plain.len() - 1]).unwrap();
            } else {
                let Ok(key) = local.insert(Tracked::new(6, &dropped)) else {
                    panic!("no room");
                };
                tracked.push(key);
                local.free(key).unwrap();
            }
        }
        assert_eq!(heap.stats().retired_keys, round);
        heap.check(false).unwrap();
    }
    assert_eq!(dropped.load(Relaxed), tracked.len() as u64);
    let last = local.insert(checksummed::<7>(7)).unwrap();
    for (at, &key) in plain.iter().enumerate() {
        assert!(!plain[..at].contains(&key), "a key came back");
        assert_eq!(heap.pin(key).err(), Some(Refused::StaleHandle));
        assert_eq!(heap.pin_mut(key).err(), Some(Refused::StaleHandle));
        assert_eq!(local.free(key), Err(Refused::StaleHandle));
    }
    for &key in &tracked {
        assert_eq!(heap.pin_settled(key).err(), Some(Refused::StaleHandle));
        assert_eq!(local.free(key), Err(Refused::StaleHandle));
    }
    assert_eq!(seed_of(&*heap.pin(last).unwrap()), 7);
}

#[test]
fn everything_freed_gives_pages_and_entries_back() {
    let config = config::<PerClass>(Bound::Pages(1), Some(64));
    let mut memory = region();
    let heap: KeyHeap<'_> = KeyHeap::new(&mut memory, &config).expect("large enough");
    let local = heap.register().unwrap();
    let fresh = heap.parts();
    let mut first = None;
    for _ in 0..steps(60).max(2) {
        let keys: Vec<_> = (0..200)
            .map(|n| local.insert(checksummed::<7>(n)).unwrap())
            .collect();
        let guards: Vec<_> = keys
            .iter()
            .step_by(3)
            .map(|&key| heap.pin(key).unwrap())
            .collect();
        for &key in &keys {
            local.free(key).unwrap();
        }
        assert_eq!(heap.stats().live_blocks, guards.len() as u64);
        for (n, guard) in guards.iter().enumerate() {
            assert_eq!(seed_of(&**guard), 3 * n as u64);
        }
        drop(guards);
        assert_eq!(
            heap.stats().live_blocks,
            67,
            "unpins free nothing themselves"
        );
        heap.compact(0);
        assert_eq!((heap.stats().live_blocks, heap.stats().pages), (0, 0));
        heap.check(false).unwrap();
        // 60 rounds of 200 objects would fill eleven more pages with entries.
        assert_eq!(heap.parts(), *first.get_or_insert(heap.parts()));
    }
    assert!(fresh.free_page_bytes - heap.parts().free_page_bytes <= 16384);
}

#[test]
fn later_frees_drain_what_unpins_left() {
    let config = config::<PerClass>(Bound::Pages(1), None);
    let mut memory = region();
    let heap: KeyHeap<'_> = KeyHeap::new(&mut memory, &config).expect("large enough");
    let local = heap.register().unwrap();
    let keys: Vec<_> = (0..40)
        .map(|n| local.insert(checksummed::<7>(n)).unwrap())
        .collect();
    let guards: Vec<_> = keys[..20]
        .iter()
        .map(|&key| heap.pin(key).unwrap())
        .collect();
    for &key in &keys[..20] {
        local.free(key).unwrap();
    }
    drop(guards);
    for (freed, &key) in (1..).zip(&keys[20..30]) {
        local.free(key).unwrap();
        assert_eq!(
            heap.stats().live_blocks,
            40 - 3 * freed,
            "its own object and two others"
        );
        heap.check(true).unwrap();
    }
    // Calls that leave their own object to a guard drain as well.
    let held = heap.pin(keys[30]).unwrap();
    local.free(keys[30]).unwrap();
    drop(held);
    let held = heap.pin(keys[31]).unwrap();
    local.free(keys[31]).unwrap();
    assert_eq!(
        heap.stats().live_blocks,
        9,
        "of ten objects that were left the first is gone"
    );
    drop(held);
}

#[test]
fn panics_leave_the_heap_usable() {
    let config = config::<PerClass>(Bound::Pages(1), Some(64));
    let mut memory = region();
    let heap: KeyHeap<'_> = KeyHeap::new(&mut memory, &config).expect("large enough");
    let local = heap.register().unwrap();
    let panics = |work: &dyn Fn()| catch_unwind(AssertUnwindSafe(work)).unwrap_err();
    let plain = local.insert(checksummed::<7>(1)).unwrap();
    panics(&|| {
        let _guard = heap.pin_mut(plain);
        panic!("under an exclusive pin");
    });
    panics(&|| {
        let _guard = heap.pin(plain);
        local.free(plain).unwrap();
        panic!("under the last pin");
    });
    assert!(!heap.contains(plain));
    let insert = || local.insert(Bomb).unwrap_or_else(|_| panic!("no room"));
    let freed = insert();
    panics(&|| local.free(freed).unwrap());
    let pinned = insert();
    panics(&|| {
        let guard = heap.pin_settled(pinned).unwrap();
        local.free(pinned).unwrap();
        drop(guard);
    });
    let removed = insert();
    panics(&|| drop(local.remove(removed)));
    assert!(
        ![freed, pinned, removed]
            .iter()
            .any(|&key| heap.contains(key))
    );
    heap.compact(0);
    heap.check(false).unwrap();
    assert_eq!((heap.stats().live_blocks, heap.stats().pages), (0, 0));
}

/// A value whose drop frees another of its size-class, and puts new ones where there is room.
struct Clearing {
    words: [u64; 5],
    heap: &'static KeyHeap<'static>,
    other: Mutex<Option<Key<Filler>>>,
}

/// Of the same size-class as a [`Clearing`] with its glue: the classes are multiples of eight
/// bytes.
type Filler = [u64; if cfg!(target_pointer_width = "64") {
    10
} else {
    9
}];

const _: () =
    assert!(size_of::<Filler>() == (size_of::<Clearing>() + size_of::<fn()>()).next_multiple_of(8));

impl Drop for Clearing {
    fn drop(&mut self) {
        let local = self.heap.register().unwrap();
        // Its page stays full if another object of the size-class can be moved; this one must not
        // be taken for dead.
        local
            .free(self.other.lock().unwrap().take().unwrap())
            .unwrap();
        for _ in 0..3 {
            local.insert::<Filler>(checksummed(8)).unwrap();
            assert_eq!(
                seed_of(&self.words),
                7,
                "its memory was reused while it is dropped"
            );
        }
    }
}

#[test]
fn a_value_stays_while_it_is_being_dropped() {
    let config = Box::leak(Box::new(config::<PerClass>(Bound::Pages(1), None)));
    let heap: KeyHeap<'static> = KeyHeap::new(region().leak(), config).expect("large enough");
    let heap: &'static KeyHeap<'static> = Box::leak(Box::new(heap));
    let local = heap.register().unwrap();
    let filler = || local.insert::<Filler>(checksummed(6)).unwrap();
    // One full page, and the value in another one.
    let first = filler();
    while heap.stats().not_full_pages > 0 {
        filler();
    }
    let fillers = heap.stats().live_blocks;
    let other = Mutex::new(Some(first));
    let words = checksummed(7);
    let key = local
        .insert(Clearing { words, heap, other })
        .unwrap_or_else(|_| panic!("no room"));
    assert_eq!((heap.stats().pages, heap.stats().not_full_pages), (2, 1));
    let guard = heap.pin_settled(key).unwrap();
    local.free(key).unwrap();
    drop(guard);
    heap.compact(u64::MAX);
    heap.check(false).unwrap();
    assert_eq!(heap.stats().live_blocks, fillers + 2);
}

#[test]
fn a_full_pin_count_is_an_error_and_a_free_works_all_the_same() {
    let config = config::<PerClass>(Bound::Pages(1), None);
    let mut memory = region();
    let heap: KeyHeap<'_> = KeyHeap::new(&mut memory, &config).expect("large enough");
    let local = heap.register().unwrap();
    let key = local.insert(checksummed::<7>(1)).unwrap();
    let guards: Vec<_> = (0..0x7FFF).map(|_| heap.pin(key).unwrap()).collect();
    assert_eq!(heap.pin(key).err(), Some(Refused::TooManyPins));
    assert_eq!(local.free(key), Ok(()));
    assert_eq!(seed_of(&*guards[0x7FFE]), 1);
    drop(guards);
    heap.compact(0);
    assert_eq!(heap.stats().live_blocks, 0);
}

#[test]
fn a_forgotten_guard_leaks_its_object_and_nothing_else() {
    let config = config::<PerClass>(Bound::Pages(1), None);
    let mut memory = region();
    let heap: KeyHeap<'_> = KeyHeap::new(&mut memory, &config).expect("large enough");
    let local = heap.register().unwrap();
    let (shared, alone) = (
        local.insert(checksummed::<7>(1)),
        local.insert(checksummed::<7>(2)),
    );
    let (shared, alone) = (shared.unwrap(), alone.unwrap());
    std::mem::forget(heap.pin(shared).unwrap());
    std::mem::forget(heap.pin_mut(alone).unwrap());
    local.free(shared).unwrap();
    local.free(alone).unwrap();
    heap.compact(u64::MAX);
    heap.check(true).unwrap();
    assert_eq!(heap.stats().live_blocks, 2);
    let _: Plain = Plain::new(1, &Arc::default());
}
