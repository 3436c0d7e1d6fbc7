//! The cache: keys and values of bytes, a limit, least recently used goes first, deadlines.
//!
//! Records, index and order of use lie in the store. Time is a number that the caller passes: no
//! function here reads a clock.

mod index;
mod order;
mod records;
mod renamed;

use std::hash::{DefaultHasher, Hasher};

pub use records::{MOST_KEY_BYTES, MOST_VALUE_BYTES};

use crate::store::{Name, Store};
use index::{Found, Index};
use order::Order;
use records::{Link, Records, Shape};
use renamed::Renamed;

/// Buckets that one step of the search for expired records looks at.
const STEP: usize = 64;

/// The most steps of one tick.
const STEPS: usize = 16;

/// What was counted since the cache was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Records that gave way to others under the limit.
    pub evicted: u64,
    /// Records that were found to be expired.
    pub expired: u64,
    /// Keys that were asked for and found.
    pub hits: u64,
    /// Keys that were asked for and not found.
    pub misses: u64,
}

/// When a value is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Only {
    /// Always.
    #[default]
    Always,
    /// Only if the key is absent.
    Absent,
    /// Only if the key is present.
    Present,
}

/// How a value is set.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// When it expires, in milliseconds on the caller's clock.
    pub deadline: Option<u64>,
    /// Keep the deadline that the key has.
    pub keep_deadline: bool,
    /// The condition.
    pub only: Only,
}

/// Why a value was not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The key is longer than [`MOST_KEY_BYTES`].
    LongKey,
    /// The value is longer than [`MOST_VALUE_BYTES`].
    LongValue,
    /// The record does not fit under the limit, or into the store, even alone.
    Full,
}

/// A value of the cache.
#[derive(Debug)]
pub struct Value<'a, S: Store> {
    records: &'a Records<S>,
    name: S::Name,
    shape: Shape,
}

impl<'a, S: Store> Value<'a, S> {
    /// The length in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shape.value_len
    }

    /// Whether the value has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes in order, one contiguous piece at a time; a piece may be empty.
    pub fn chunks(&self) -> impl Iterator<Item = &'a [u8]> + use<'a, S> {
        self.records.value(self.name, &self.shape)
    }
}

/// A cache over a store.
///
/// # Examples
/// ```
/// use surefit_cache::cache::{Cache, Options};
/// use surefit_cache::store::malloc::Malloc;
///
/// let mut cache = Cache::new(Malloc::default(), 1 << 20, 1);
/// cache.set(0, b"key", b"value", Options::default()).unwrap();
/// assert_eq!(cache.get(0, b"key").unwrap().len(), 5);
/// ```
#[derive(Debug)]
pub struct Cache<S: Store> {
    records: Records<S>,
    index: Index<S::Name>,
    order: Order<S::Name>,
    limit: usize,
    /// Records with a deadline.
    mortal: usize,
    /// The bucket where the search for expired records goes on.
    hand: usize,
    seed: u64,
    counts: Counts,
}

impl<S: Store> Cache<S> {
    /// A cache whose records and index together are at most `limit` bytes; 0 means no limit but the
    /// store's. The seed makes hashes differ between runs.
    pub fn new(store: S, limit: usize, seed: u64) -> Self {
        Self {
            records: Records::new(store),
            index: Index::new(),
            order: Order::new(),
            limit,
            mortal: 0,
            hand: 0,
            seed,
            counts: Counts::default(),
        }
    }

    /// The number of records, the expired ones that nobody found yet included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.index.records
    }

    /// Whether there is no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of all records and of the index.
    #[must_use]
    pub fn used_bytes(&self) -> usize {
        self.records.bytes + self.index.bytes()
    }

    /// The limit in bytes; 0 means none.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Changes the limit. Records go at once if there are too many for it.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        self.make_room(0);
    }

    /// What was counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.records.store
    }

    /// Gives back memory that the store does not need. Linear in the cache.
    pub fn purge(&mut self) {
        self.renumber();
        self.records.store.purge();
    }

    /// Gives the store's objects other names if the store can, so that its tables shrink.
    fn renumber(&mut self) {
        if !S::RENUMBERS {
            return;
        }
        let mut objects = self.index.objects();
        objects.extend(self.order.objects(&self.records));
        let before = objects.clone();
        // SAFETY: every object of the index and of the records is live, has this length, and is
        // named once here.
        unsafe { self.records.store.renumber(&mut objects) };
        let renamed = Renamed::new(&before, &objects);
        if renamed.is_empty() {
            return;
        }
        self.index.rename(&mut self.records, &renamed);
        self.order.rename(&mut self.records, &renamed);
    }

    // ---- commands ------------------------------------------------------------------------------

    /// The value of a key, which is now the one used last.
    pub fn get(&mut self, now: u64, key: &[u8]) -> Option<Value<'_, S>> {
        let found = self.find_live(now, key);
        match found {
            Some(_) => self.counts.hits += 1,
            None => self.counts.misses += 1,
        }
        let name = found?.name;
        self.order.touch(&mut self.records, name);
        Some(Value {
            shape: self.records.shape(name),
            records: &self.records,
            name,
        })
    }

    /// Sets a value, unless the condition forbids it: then `false`.
    ///
    /// # Errors
    /// Why the value was not set. After [`Refused::Full`] the key has no value.
    pub fn set(
        &mut self,
        now: u64,
        key: &[u8],
        value: &[u8],
        options: Options,
    ) -> Result<bool, Refused> {
        if key.len() > MOST_KEY_BYTES {
            return Err(Refused::LongKey);
        }
        if value.len() > MOST_VALUE_BYTES {
            return Err(Refused::LongValue);
        }
        let hash = self.hash(key);
        let old = self.find_live(now, key);
        match options.only {
            Only::Absent if old.is_some() => return Ok(false),
            Only::Present if old.is_none() => return Ok(false),
            _ => {}
        }
        let mut deadline = options.deadline;
        if let Some(old) = old {
            if options.keep_deadline {
                deadline = self.records.shape(old.name).deadline;
            }
            self.remove(old);
        }
        if deadline.is_some_and(|deadline| deadline <= now) {
            return Ok(true); // expired before it was set
        }
        let shape = Shape::new::<S>(key.len(), value.len(), deadline);
        let name = self.create(&shape, key, value).ok_or(Refused::Full)?;
        let seed = self.seed;
        let rehash = |key: &[u8]| hash_of(seed, key);
        if !self.index.insert(&mut self.records, hash, name, rehash) {
            self.records.free(name);
            return Err(Refused::Full);
        }
        self.order.push(&mut self.records, name);
        self.mortal += usize::from(deadline.is_some());
        Ok(true)
    }

    /// Deletes a key; whether it was there.
    pub fn delete(&mut self, now: u64, key: &[u8]) -> bool {
        let found = self.find_live(now, key);
        if let Some(found) = found {
            self.remove(found);
        }
        found.is_some()
    }

    /// Whether a key is there. This is no use of it.
    pub fn contains(&mut self, now: u64, key: &[u8]) -> bool {
        self.find_live(now, key).is_some()
    }

    /// The deadline of a key: `None` without the key, `Some(None)` without a deadline.
    pub fn deadline(&mut self, now: u64, key: &[u8]) -> Option<Option<u64>> {
        let found = self.find_live(now, key)?;
        Some(self.records.shape(found.name).deadline)
    }

    /// Deletes everything.
    pub fn clear(&mut self) {
        while let Some(name) = self.order.oldest() {
            self.remove_named(name);
        }
    }

    /// Housekeeping: looks for expired records in a few buckets, and in more as long as a quarter
    /// of the records there is expired; then the store's own.
    pub fn tick(&mut self, now: u64) {
        for _ in 0..STEPS {
            if self.mortal == 0 || !self.expire_some(now) {
                break;
            }
        }
        self.records.store.tick(now);
    }

    // ---- inside --------------------------------------------------------------------------------

    fn hash(&self, key: &[u8]) -> u32 {
        hash_of(self.seed, key)
    }

    /// Finds a key; an expired record is removed instead.
    fn find_live(&mut self, now: u64, key: &[u8]) -> Option<Found<S::Name>> {
        let found = self.index.find(&self.records, self.hash(key), key)?;
        if self.mortal > 0 && self.is_expired(now, found.name) {
            self.counts.expired += 1;
            self.remove(found);
            return None;
        }
        Some(found)
    }

    fn is_expired(&self, now: u64, name: S::Name) -> bool {
        let deadline = self.records.shape(name).deadline;
        deadline.is_some_and(|deadline| deadline <= now)
    }

    fn remove(&mut self, found: Found<S::Name>) {
        let is_mortal = self.records.shape(found.name).deadline.is_some();
        self.index.remove(&mut self.records, found);
        self.order.remove(&mut self.records, found.name);
        self.records.free(found.name);
        self.mortal -= usize::from(is_mortal);
    }

    /// Removes a record that only its name is known of.
    fn remove_named(&mut self, name: S::Name) {
        let shape = self.records.shape(name);
        let key = self.records.key(name, &shape);
        let found = self.index.find(&self.records, self.hash(key), key);
        self.remove(found.expect("every record is in the index"));
    }

    /// Makes a record, in the place of others if there is no room.
    fn create(&mut self, shape: &Shape, key: &[u8], value: &[u8]) -> Option<S::Name> {
        if !self.make_room(shape.bytes()) {
            return None;
        }
        loop {
            if let Some(name) = self.records.create(shape, key, value) {
                return Some(name);
            }
            if !self.evict() {
                return None;
            }
        }
    }

    /// Evicts until `bytes` more are under the limit; whether they are.
    fn make_room(&mut self, bytes: usize) -> bool {
        if self.limit == 0 {
            return true;
        }
        while self.used_bytes() + bytes > self.limit {
            if !self.evict() {
                return false;
            }
        }
        true
    }

    /// Removes the record used longest ago; `false` if there is none.
    fn evict(&mut self) -> bool {
        let Some(name) = self.order.oldest() else {
            return false;
        };
        self.remove_named(name);
        self.counts.evicted += 1;
        true
    }

    /// Removes the expired records of a few buckets; whether there were many.
    fn expire_some(&mut self, now: u64) -> bool {
        let (mut seen, mut expired) = (0, 0);
        for _ in 0..STEP {
            self.hand = if self.hand + 1 < self.index.buckets() {
                self.hand + 1
            } else {
                0
            };
            for name in self.index.chain(&self.records, self.hand) {
                seen += 1;
                if self.is_expired(now, name) {
                    self.remove_named(name);
                    expired += 1;
                }
            }
        }
        self.counts.expired += expired;
        expired * 4 > seen
    }

    /// Verifies that index, order of use and counters agree. Linear in the cache.
    ///
    /// # Panics
    /// If they do not.
    pub fn assert_sound(&self) {
        let (mut records, mut bytes, mut mortal) = (0, 0, 0);
        for bucket in 0..self.index.buckets() {
            for name in self.index.chain(&self.records, bucket) {
                let shape = self.records.shape(name);
                let key = self.records.key(name, &shape);
                let found = self.index.find(&self.records, self.hash(key), key);
                assert_eq!(
                    found.map(|found| found.name),
                    Some(name),
                    "found by its key"
                );
                (records, bytes) = (records + 1, bytes + shape.bytes());
                mortal += usize::from(shape.deadline.is_some());
            }
        }
        assert_eq!((records, mortal), (self.index.records, self.mortal));
        assert_eq!(bytes, self.records.bytes);
        let (mut in_order, mut name) = (0, self.order.oldest().unwrap_or(S::Name::NIL));
        while name != S::Name::NIL {
            in_order += 1;
            name = self.records.link(name, Link::Newer);
        }
        assert_eq!(
            in_order, records,
            "every record is in the order of use once"
        );
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half of a hash")]
fn hash_of(seed: u64, key: &[u8]) -> u32 {
    let mut hasher = DefaultHasher::new();
    hasher.write_u64(seed);
    hasher.write(key);
    hasher.finish() as u32
}
