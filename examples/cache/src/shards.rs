//! Shards: each key belongs to one of them, and each has a lock of its own.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;

use crate::store::{Figures, Store};

/// A shard and its lock.
#[derive(Debug)]
struct Shard<S> {
    store: Mutex<S>,
    /// Threads that wait for the lock.
    waiting: AtomicUsize,
    /// How many got it after they had waited.
    served: AtomicUsize,
}

/// All shards of a cache.
#[derive(Debug)]
pub struct Shards<S> {
    shards: Box<[Shard<S>]>,
    hasher: RandomState,
}

impl<S> Shard<S> {
    fn new(store: S) -> Self {
        let (store, waiting) = (Mutex::new(store), AtomicUsize::new(0));
        let served = AtomicUsize::new(0);
        Self {
            store,
            waiting,
            served,
        }
    }

    fn lock(&self) -> MutexGuard<'_, S> {
        match self.store.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {}
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let guard = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        self.served.fetch_add(1, Ordering::Relaxed);
        guard
    }

    /// Without the lock: if others wait for it, waits until one of them had it. A lock that is
    /// asked for again at once would else be had again before they are awake.
    fn let_one_in(&self) {
        let before = self.served.load(Ordering::Relaxed);
        while self.waiting.load(Ordering::Relaxed) > 0
            && self.served.load(Ordering::Relaxed) == before
        {
            thread::yield_now();
        }
    }
}

impl<S: Store> Shards<S> {
    /// These shards.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(shards: impl IntoIterator<Item = S>) -> Self {
        let shards: Box<[_]> = shards.into_iter().map(Shard::new).collect();
        assert!(!shards.is_empty(), "a cache has a shard");
        Self {
            shards,
            hasher: RandomState::new(),
        }
    }

    /// The shard of a key. A command holds one lock at a time, so there is no order to keep.
    pub fn of(&self, key: &[u8]) -> MutexGuard<'_, S> {
        self.number(self.number_of(key))
    }

    fn number_of(&self, key: &[u8]) -> usize {
        match self.shards.len() {
            1 => 0,
            len => self.hasher.hash_one(key) as usize % len,
        }
    }

    /// Looks for the keys of the next commands: [`Store::look_ahead`].
    pub fn look_ahead<'a>(&self, keys: impl Iterator<Item = &'a [u8]>) {
        let mut keys: Vec<_> = keys.map(|key| (self.number_of(key), key)).collect();
        keys.sort_unstable_by_key(|it| it.0);
        for keys in keys.chunk_by(|one, other| one.0 == other.0) {
            let shard = self.number(keys[0].0);
            shard.look_ahead(keys.iter().map(|it| it.1));
        }
    }

    /// The number of shards.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shards.len()
    }

    /// Whether there is no shard: never.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }

    /// A shard by its number. One in which a command panicked is used further. The bucket that it
    /// changed may be lost: its keys are gone, and their memory is not given back.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn number(&self, number: usize) -> MutexGuard<'_, S> {
        self.shards[number].lock()
    }

    /// Calls `act` with the shard of a key and `size` items at a time, until it fails. Between two
    /// calls others may have the shard: one that waits for it gets it.
    ///
    /// # Errors
    /// What `act` returns.
    ///
    /// # Panics
    /// If the size is 0.
    pub fn in_turns<T, E>(
        &self,
        key: &[u8],
        items: &[T],
        size: usize,
        mut act: impl FnMut(&mut S, &[T]) -> Result<(), E>,
    ) -> Result<(), E> {
        let shard = &self.shards[self.number_of(key)];
        for (turn, items) in items.chunks(size).enumerate() {
            if turn > 0 {
                shard.let_one_in();
            }
            act(&mut shard.lock(), items)?;
        }
        Ok(())
    }

    /// All shards, one after another, each locked while it is looked at.
    pub fn each(&self) -> impl Iterator<Item = MutexGuard<'_, S>> {
        (0..self.len()).map(|number| self.number(number))
    }

    /// The sum of all figures.
    pub fn figures(&self) -> Figures {
        let figures = self.each().map(|shard| shard.figures());
        figures.fold(Figures::default(), Figures::with)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::Shards;
    use crate::store::plain::Plain;

    #[test]
    fn who_waits_gets_the_shard_after_the_next_turn() {
        let shards = &Shards::new([Plain::default()]);
        let turns = &AtomicUsize::new(0);
        thread::scope(|scope| {
            let mut other = None;
            let all = shards.in_turns(b"key", &[0; 1000], 1, |_, _| {
                if turns.fetch_add(1, Ordering::Relaxed) == 2 {
                    other = Some(scope.spawn(|| {
                        let _shard = shards.number(0);
                        turns.load(Ordering::Relaxed)
                    }));
                    while shards.shards[0].waiting.load(Ordering::Relaxed) == 0 {
                        thread::yield_now();
                    }
                }
                Ok::<(), ()>(())
            });
            assert_eq!(all, Ok(()));
            let seen = other.map(|it| it.join().expect("it ends"));
            assert_eq!(seen, Some(3), "not after all 1000");
        });
    }

    #[test]
    fn turns_have_all_items_and_end_with_the_first_error() {
        let shards = Shards::new([Plain::default()]);
        let mut seen = Vec::new();
        let done = shards.in_turns(b"key", &[1, 2, 3, 4, 5, 6, 7], 3, |_, items| {
            seen.push(items.to_vec());
            if items.contains(&5) { Err(5) } else { Ok(()) }
        });
        assert_eq!((done, seen), (Err(5), vec![vec![1, 2, 3], vec![4, 5, 6]]));
    }
}
