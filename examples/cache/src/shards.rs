//! Shards: each key belongs to one of them, and each has a lock of its own.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::store::{Figures, Store};

/// All shards of a cache.
#[derive(Debug)]
pub struct Shards<S> {
    shards: Box<[Mutex<S>]>,
    hasher: RandomState,
}

impl<S: Store> Shards<S> {
    /// These shards.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(shards: impl IntoIterator<Item = S>) -> Self {
        let shards: Box<[_]> = shards.into_iter().map(Mutex::new).collect();
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
        self.shards[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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
