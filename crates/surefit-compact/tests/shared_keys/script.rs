//! Random scripts from one thread against a model, with every invariant checked after each
//! operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_compact::Key;
use surefit_compact::shared::{KeyPinnedMut, PerClass, PerHeap, SharedConfig, Stepwise};
use surefit_core::Refused;

use crate::objects::{
    Guard, KeyHeap, Lock, Object, Plain, Thread, Tracked, bounds, config, region, seed_of, steps,
};

/// A guard of either kind.
enum Held<'h, 'm, T, G: Stepwise> {
    Shared(Guard<'h, 'm, T, G>),
    Mut(KeyPinnedMut<'h, 'm, T, Lock, G>),
}

/// What the model knows of an object that has not ended.
struct Known<'h, 'm, T, G: Stepwise> {
    key: Key<T>,
    seed: u64,
    live: bool,
    held: Vec<Held<'h, 'm, T, G>>,
}

impl<T, G: Stepwise> Known<'_, '_, T, G> {
    fn is_written(&self) -> bool {
        self.held.iter().any(|held| matches!(held, Held::Mut(_)))
    }

    /// What a shared pin is refused with.
    fn shared_refusal(&self) -> Option<Refused> {
        self.is_written().then_some(Refused::Busy)
    }

    /// What an exclusive pin is refused with.
    fn exclusive_refusal(&self) -> Option<Refused> {
        (!self.held.is_empty()).then_some(Refused::Busy)
    }
}

/// Objects of one type in a heap.
struct Population<'h, 'm, T, G: Stepwise> {
    heap: &'h KeyHeap<'m, G>,
    known: Vec<Known<'h, 'm, T, G>>,
    stale: Vec<Key<T>>,
    dropped: Arc<AtomicU64>,
    /// Values that must have been dropped by now.
    ended: u64,
}

impl<'h, 'm, T: Object, G: Stepwise> Population<'h, 'm, T, G> {
    fn new(heap: &'h KeyHeap<'m, G>) -> Self {
        Self {
            heap,
            known: Vec::new(),
            stale: Vec::new(),
            dropped: Arc::default(),
            ended: 0,
        }
    }

    fn live(&self) -> usize {
        self.known.iter().filter(|known| known.live).count()
    }

    fn guards(&self) -> usize {
        self.known.iter().map(|known| known.held.len()).sum()
    }

    /// One random operation.
    fn step(&mut self, local: &Thread<'h, 'm, G>, random: &mut ChaCha8Rng, grows: bool) {
        let act = random.random_range(0..12);
        if self.known.is_empty() || (grows && act < 5) {
            return self.insert(local, random.random());
        }
        let at = random.random_range(0..self.known.len());
        match act {
            0..=4 => self.free(local, at),
            5 | 6 => self.pin(at),
            7 => self.pin_mut(at, random.random()),
            8 => self.remove(local, at),
            9 | 10 => self.unpin(at),
            _ => self.try_stale(local, random),
        }
    }

    fn insert(&mut self, local: &Thread<'h, 'm, G>, seed: u64) {
        let key = local
            .insert(T::new(seed, &self.dropped))
            .map_err(|full| full.refused);
        self.known.push(Known {
            key: key.expect("room"),
            seed,
            live: true,
            held: Vec::new(),
        });
    }

    fn pin(&mut self, at: usize) {
        let known = &mut self.known[at];
        let expected = if known.live {
            known.shared_refusal()
        } else {
            Some(Refused::StaleHandle)
        };
        match (T::pin(self.heap, known.key), expected) {
            (Ok(guard), None) => {
                assert_eq!(seed_of(guard.words()), known.seed);
                known.held.push(Held::Shared(guard));
            }
            (Err(refused), Some(expected)) => assert_eq!(refused, expected),
            (result, expected) => panic!("pinned: {}, expected {expected:?}", result.is_ok()),
        }
    }

    fn pin_mut(&mut self, at: usize, seed: u64) {
        let known = &mut self.known[at];
        let expected = if known.live {
            known.exclusive_refusal()
        } else {
            Some(Refused::StaleHandle)
        };
        match (self.heap.pin_mut(known.key), expected) {
            (Ok(mut guard), None) => {
                assert_eq!(seed_of(guard.words()), known.seed);
                guard.set(seed);
                known.seed = seed;
                known.held.push(Held::Mut(guard));
            }
            (Err(refused), Some(expected)) => assert_eq!(refused, expected),
            (result, expected) => panic!("pinned: {}, expected {expected:?}", result.is_ok()),
        }
    }

    fn free(&mut self, local: &Thread<'h, 'm, G>, at: usize) {
        let known = &mut self.known[at];
        let expected = if known.live {
            Ok(())
        } else {
            Err(Refused::StaleHandle)
        };
        assert_eq!(local.free(known.key), expected);
        known.live = false;
        self.settle(at);
    }

    fn remove(&mut self, local: &Thread<'h, 'm, G>, at: usize) {
        let known = &mut self.known[at];
        let expected = if known.live {
            known.exclusive_refusal()
        } else {
            Some(Refused::StaleHandle)
        };
        match (local.remove(known.key), expected) {
            (Ok(value), None) => {
                assert_eq!(seed_of(value.words()), known.seed);
                known.live = false;
                drop(value);
                self.settle(at);
            }
            (Err(refused), Some(expected)) => assert_eq!(refused, expected),
            (result, expected) => panic!("removed: {}, expected {expected:?}", result.is_ok()),
        }
    }

    fn unpin(&mut self, at: usize) {
        let known = &mut self.known[at];
        if let Some(held) = known.held.pop() {
            let words = match &held {
                Held::Shared(guard) => guard.words(),
                Held::Mut(guard) => guard.words(),
            };
            assert_eq!(seed_of(words), known.seed, "a guard keeps its object");
            drop(held);
        }
        self.settle(at);
    }

    /// An object that is neither live nor held has ended.
    fn settle(&mut self, at: usize) {
        if !self.known[at].live && self.known[at].held.is_empty() {
            self.ended += 1;
            self.stale.push(self.known.swap_remove(at).key);
        }
    }

    fn try_stale(&self, local: &Thread<'h, 'm, G>, random: &mut ChaCha8Rng) {
        if self.stale.is_empty() {
            return;
        }
        let key = self.stale[random.random_range(0..self.stale.len())];
        assert!(!self.heap.contains(key));
        assert_eq!(T::pin(self.heap, key).err(), Some(Refused::StaleHandle));
        assert_eq!(self.heap.pin_mut(key).err(), Some(Refused::StaleHandle));
        assert_eq!(local.free(key), Err(Refused::StaleHandle));
        assert_eq!(local.remove(key).err(), Some(Refused::StaleHandle));
    }

    fn assert_dropped(&self) {
        let dropped = if T::DROPS { self.ended } else { 0 };
        assert_eq!(self.dropped.load(Relaxed), dropped);
    }

    fn clear(&mut self, local: &Thread<'h, 'm, G>) {
        for at in (0..self.known.len()).rev() {
            if self.known[at].live {
                self.free(local, at);
            }
        }
        while let Some(at) = self.known.len().checked_sub(1) {
            self.unpin(at);
        }
        self.assert_dropped();
    }
}

fn script<G: Stepwise>(config: &SharedConfig<G>, seed: u64) {
    let mut memory = region();
    let heap: KeyHeap<'_, G> = KeyHeap::new(&mut memory, config).expect("large enough");
    let local = heap.register().expect("the first");
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut plain: Population<'_, '_, Plain, G> = Population::new(&heap);
    let mut tracked: Population<'_, '_, Tracked, G> = Population::new(&heap);
    let mut most_guards = 0;
    for step in 0..steps(1500) {
        let grows = step % 500 < 300;
        if random.random() {
            plain.step(&local, &mut random, grows);
        } else {
            tracked.step(&local, &mut random, grows);
        }
        heap.check(true).expect("invariants");
        tracked.assert_dropped();
        most_guards = most_guards.max(plain.guards() + tracked.guards());
        let waiting = heap.stats().live_blocks as usize - plain.live() - tracked.live();
        assert!(
            waiting <= most_guards,
            "Y2: {waiting} freed objects wait, {most_guards} guards"
        );
    }
    plain.clear(&local);
    tracked.clear(&local);
    heap.compact(0);
    heap.check(false).expect("invariants");
    let stats = heap.stats();
    assert_eq!(
        (stats.live_blocks, stats.pages, stats.retired_keys),
        (0, 0, 0)
    );
    assert_eq!(heap.parts().total(), crate::objects::MEMORY);
}

#[test]
fn keys_name_what_the_model_says() {
    for (seed, bound) in bounds().into_iter().enumerate() {
        let seed = seed as u64;
        for increment in [None, Some(64), Some(16)] {
            script::<PerClass>(&config(bound, increment), seed);
        }
        script::<PerHeap>(&config(bound, Some(64)), seed);
    }
}
