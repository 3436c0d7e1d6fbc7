//! Several threads on one heap; each does a fixed amount of work.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::Key;
use surefit_compact::shared::{PerClass, PerHeap, SharedConfig, Stepwise};
use surefit_core::Refused;

use crate::objects::{
    Guard, KeyHeap, MEMORY, Object, Plain, Thread, Tracked, bounds, config, region, seed_of, steps,
};

const THREADS: u64 = 4;

/// Keys that all threads see; most of them are live.
struct Board<T> {
    keys: Mutex<Vec<Key<T>>>,
    dropped: Arc<AtomicU64>,
    made: AtomicU64,
}

impl<T: Object> Board<T> {
    fn new() -> Self {
        Self {
            keys: Mutex::default(),
            dropped: Arc::default(),
            made: AtomicU64::new(0),
        }
    }

    fn pick(&self, random: &mut ChaCha8Rng) -> Option<Key<T>> {
        let keys = self.keys.lock().expect("nobody panics");
        (!keys.is_empty()).then(|| keys[random.random_range(0..keys.len())])
    }

    fn insert<G: Stepwise>(&self, local: &Thread<'_, '_, G>, seed: u64) {
        let Ok(key) = local.insert(T::new(seed, &self.dropped)) else {
            panic!("no room");
        };
        self.made.fetch_add(1, Relaxed);
        self.keys.lock().expect("nobody panics").push(key);
    }

    /// Frees or removes an object; others may have done so before, or pinned it. Some keys stay on
    /// the board as stale ones.
    fn end<G: Stepwise>(&self, local: &Thread<'_, '_, G>, key: Key<T>, removes: bool, stays: bool) {
        let ended = if removes {
            local.remove(key).map(|value| {
                seed_of(value.words());
            })
        } else {
            local.free(key)
        };
        match ended {
            Ok(()) if stays => {}
            Ok(()) => self
                .keys
                .lock()
                .expect("nobody panics")
                .retain(|&other| other != key),
            Err(refused) => assert!(
                refused == Refused::StaleHandle || removes && refused == Refused::Busy,
                "{refused:?}"
            ),
        }
    }

    fn step<'h, 'm, G: Stepwise>(
        &self,
        heap: &'h KeyHeap<'m, G>,
        local: &Thread<'h, 'm, G>,
        random: &mut ChaCha8Rng,
        held: &mut Vec<Guard<'h, 'm, T, G>>,
    ) {
        let act = random.random_range(0..10);
        let Some(key) = self.pick(random).filter(|_| act > 2) else {
            return self.insert(local, random.random());
        };
        match act {
            3 | 4 => {
                if let Some(guard) = checked(T::pin(heap, key)) {
                    seed_of(guard.words());
                    held.push(guard);
                }
                if held.len() > 2 {
                    seed_of(held.remove(0).words());
                }
            }
            5 | 6 => {
                if let Some(mut guard) = checked(heap.pin_mut(key)) {
                    seed_of(guard.words());
                    guard.set(random.random());
                }
            }
            _ => self.end(local, key, act == 7, random.random_ratio(1, 8)),
        }
    }
}

/// A pin, unless the object has ended or is pinned in a way that excludes this one.
fn checked<P>(pinned: Result<P, Refused>) -> Option<P> {
    match pinned {
        Ok(pinned) => Some(pinned),
        Err(Refused::StaleHandle | Refused::Busy) => None,
        Err(refused) => panic!("{refused:?}"),
    }
}

fn work<G: Stepwise>(
    heap: &KeyHeap<'_, G>,
    plain: &Board<Plain>,
    tracked: &Board<Tracked>,
    seed: u64,
) {
    let local = heap.register().expect("few threads");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut some, mut others) = (Vec::new(), Vec::new());
    for _ in 0..steps(2000) {
        if random.random() {
            plain.step(heap, &local, &mut random, &mut some);
        } else {
            tracked.step(heap, &local, &mut random, &mut others);
        }
    }
}

fn stress<G: Stepwise>(config: &SharedConfig<G>, seed: u64) {
    let mut memory = region();
    let heap: KeyHeap<'_, G> = KeyHeap::new(&mut memory, config).expect("large enough");
    let (plain, tracked) = (Board::new(), Board::new());
    std::thread::scope(|threads| {
        for thread in 0..THREADS {
            let (heap, plain, tracked) = (&heap, &plain, &tracked);
            threads.spawn(move || work(heap, plain, tracked, seed * THREADS + thread));
        }
    });
    let local = heap.register().expect("the others are gone");
    for key in plain.keys.into_inner().expect("nobody panics") {
        assert!(matches!(
            local.free(key),
            Ok(()) | Err(Refused::StaleHandle)
        ));
    }
    for key in tracked.keys.into_inner().expect("nobody panics") {
        assert!(matches!(
            local.free(key),
            Ok(()) | Err(Refused::StaleHandle)
        ));
    }
    heap.compact(u64::MAX);
    heap.check(false).expect("invariants");
    let stats = heap.stats();
    assert_eq!(
        (stats.live_blocks, stats.pages, stats.reserved_blocks),
        (0, 0, 0)
    );
    assert_eq!(tracked.dropped.load(Relaxed), tracked.made.load(Relaxed));
    assert_eq!(heap.parts().total(), MEMORY);
}

#[test]
fn threads_share_keys() {
    for (seed, bound) in bounds().into_iter().take(3).enumerate() {
        let seed = seed as u64;
        stress::<PerClass>(&config(bound, None), seed);
        stress::<PerClass>(&config(bound, Some(64)), seed);
        stress::<PerHeap>(&config(bound, Some(16)), seed);
    }
}
