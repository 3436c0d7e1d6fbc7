//! A shard on surefit's heap: keys, values, index and deadlines are containers of
//! `surefit-collections` in one heap, which has a limit.
//!
//! ```text
//! mod         the limit: who goes, what is refused; deadlines
//!   commands    what a shard does
//!   table       from a hash to a bucket
//!     bucket      records side by side (head: what is known of each; bulk: splitting, merging)
//!       outside     long texts, hashes, lists (outsides: those of a bucket)
//! ```
//! Nothing of a refused write is lost. A write that finds no room evicts other records until it
//! fits. Who goes is decided by a hand that goes round: a record that was used since the hand came
//! by last is passed over once ("second chance").
//!
//! # Invariant
//! - P6 A record lies by the first hash of its key, or by another one if the buckets of those
//!   before were full when it was made. `moved` counts the latter: without them no look-up asks for
//!   more than one hash. A record stays with its hash, so a scan passes it once.

mod bucket;
mod bulk;
mod commands;
mod hash;
mod head;
mod outside;
mod outsides;
mod table;
#[cfg(test)]
mod tests;
mod waiting;

use std::fmt;
use std::time::Duration;

use surefit_compact::os::{Limits, OsHeapError};
use surefit_compact::{Bound, Config, Geometry, GeometrySpec, Spacing};
use surefit_core::Refused;

use self::bucket::{Bucket, MOST};
use self::hash::{HASHES, Seeded};
use self::head::{At, Head, Place};
use self::outside::{Heap, Outside};
use self::table::Table;
use self::waiting::Waiting;
use super::{Error, Figures};

/// Sizes of page-blocks: from 600 bytes on nearly all that a page holds another number of, because
/// most of a shard is buckets; below, where little is, only about four in each power of two. Each
/// size may have a page that is not full, which is much in a small shard.
const SIZES: &[u32] = &[
    16, 24, 32, 40, 48, 64, 80, 96, 128, 160, 192, 224, 256, 320, 384, 448, 536, 600, 648, 704,
    768, 808, 856, 904, 952, 1016, 1072, 1152, 1248, 1360, 1472, 1632, 1808, 2048, 2336, 2720,
    3264, 4096,
];

static CONFIG: Config = {
    let spec = GeometrySpec {
        spacing: Spacing::Explicit(SIZES),
        ..GeometrySpec::DEFAULT
    };
    let Ok(geometry) = Geometry::new(&spec) else {
        panic!("the geometry is valid");
    };
    let Ok(config) = Config::new(geometry, Bound::DEFAULT) else {
        panic!("the configuration is valid");
    };
    config
};

/// The least limit of a shard: below it, pages that are not full are too large a part.
pub const LEAST_LIMIT: usize = 4 << 20;

/// For how long a page is empty before it is given back.
const KEPT: Duration = Duration::from_millis(200);

/// System calls of a tick, at most: clients wait for the shard meanwhile.
const CALLS: u32 = 8;

/// Buckets in which a tick searches for expired records.
const STEP: usize = 64;

/// Objects that a tick frees, about, of expired records and of what waits: 4,096 of each. One
/// bucket, hash or list may have some more.
const MANY: usize = 4096;

/// A shard on surefit's heap.
pub struct Packed {
    heap: Heap,
    table: Table,
    /// What was dropped and is still to be freed.
    waiting: Waiting,
    seed: Seeded,
    /// The bucket where the search for a record to evict goes on.
    evict_hand: usize,
    /// That where the search for expired ones does.
    expire_hand: usize,
    /// Records that lie where another hash than the first one of their keys says (P6).
    moved: usize,
    evicted: u64,
    expired: u64,
}

/// A record, and its bucket.
#[derive(Clone, Copy)]
struct Found {
    bucket: usize,
    at: At,
}

/// The hashes of a key.
type Spared = [u32; HASHES as usize];

/// Bytes above which records are evicted: what is above them is room for what an eviction itself
/// needs for a moment.
const fn soft(limit: usize) -> usize {
    limit - limit / 32
}

impl Packed {
    /// A shard that holds at most `limit` bytes, in an address space of `region` bytes, which no
    /// limit exceeds. The seed makes hashes differ.
    ///
    /// # Errors
    /// [`OsHeapError::TooLow`] below [`LEAST_LIMIT`]; what the heap refuses.
    pub fn new(limit: usize, region: usize, seed: u64) -> Result<Self, OsHeapError> {
        if limit < LEAST_LIMIT {
            return Err(OsHeapError::TooLow {
                needed: LEAST_LIMIT,
            });
        }
        let limits = Limits {
            delay: KEPT,
            calls_per_tick: CALLS,
            ..Limits::new(region, region)
        };
        let mut heap = Heap::new(&CONFIG, limits)?;
        heap.set_limits(soft(limit), limit)?;
        let table = Table::new(&mut heap).map_err(|_| OsHeapError::TooLow {
            needed: LEAST_LIMIT,
        })?;
        Ok(Self {
            heap,
            table,
            waiting: Waiting::default(),
            seed: Seeded(seed),
            evict_hand: 0,
            expire_hand: 0,
            moved: 0,
            evicted: 0,
            expired: 0,
        })
    }

    /// Bytes of the pages that hold something, and of the heap's tables.
    fn used(&self) -> usize {
        let stats = self.heap.stats();
        stats.resident_bytes - stats.empty_bytes
    }

    fn figures_now(&self) -> Figures {
        let stats = self.heap.stats();
        Figures {
            keys: self.table.records(),
            used: self.used(),
            held: stats.resident_bytes,
            limit: stats.hard_limit,
            evicted: self.evicted,
            expired: self.expired,
        }
    }

    /// The record of a key, whose first hash this is.
    #[inline]
    fn find(&self, hash: u32, key: &[u8]) -> Option<Found> {
        let find = |hash| {
            let bucket = self.table.home(hash);
            let found = self.table.bucket(&self.heap, bucket);
            let at = found.find(&self.heap, hash, key)?;
            Some(Found { bucket, at })
        };
        find(hash).or_else(|| match self.moved {
            0 => None,
            _ => (1..HASHES).find_map(|number| find(self.seed.of_number(number, key))),
        })
    }

    /// The record of a key. One whose deadline has come is removed instead.
    fn live(&mut self, now: u64, hash: u32, key: &[u8]) -> Option<Found> {
        let Found {
            bucket: number,
            mut at,
        } = self.find(hash, key)?;
        let bucket = self.table.bucket_mut(&self.heap, number);
        if bucket
            .deadline(&self.heap, &at)
            .is_some_and(|deadline| deadline <= now)
        {
            self.expired += 1;
            self.remove_found(Found { bucket: number, at });
            return None;
        }
        if !at.head.has(Head::USED) {
            bucket.touch(&self.heap, &mut at);
        }
        Some(Found { bucket: number, at })
    }

    fn remove_found(&mut self, found: Found) {
        let Found { bucket, at } = found;
        let outside = self.table.with(&mut self.heap, bucket, |bucket, heap| {
            bucket.remove(heap, &at)
        });
        self.free(outside);
        self.moved -= usize::from(at.head.number() > 0);
        self.table.balance(&mut self.heap);
    }

    /// Frees what was outside, or lets a part of it wait.
    fn free(&mut self, outside: Option<Outside>) {
        if let Some(outside) = outside {
            self.waiting.free(&mut self.heap, outside, MANY);
        }
    }

    /// Frees some of what waits; whether there was something.
    fn free_some(&mut self) -> bool {
        self.waiting.free_some(&mut self.heap, MANY) > 0
    }

    fn is_full(&self, hash: u32) -> bool {
        let bucket = self.table.bucket(&self.heap, self.table.home(hash));
        bucket.is_full(&self.heap)
    }

    /// By which hash a new record of a key is to lie: the first one whose bucket is not full, or
    /// the first one if all are.
    fn place_of_new(&mut self, now: u64, hash: u32, key: &[u8]) -> Place {
        let first = Place { hash, number: 0 };
        if !self.is_full(hash) || self.expire_in(self.table.home(hash), now, MANY).0 > 0 {
            return first;
        }
        let places = (1..HASHES).map(|number| Place {
            hash: self.seed.of_number(number, key),
            number,
        });
        let mut places = places.filter(|place| !self.is_full(place.hash));
        places.next().unwrap_or(first)
    }

    /// What no eviction for this key may remove: records with these hashes.
    fn spared(&self, hash: u32, key: &[u8]) -> Spared {
        let mut spared = [hash; HASHES as usize];
        if self.moved > 0 {
            spared = std::array::from_fn(|number| self.seed.of_number(number as u16, key));
        }
        spared
    }

    // ---- the limit -----------------------------------------------------------------------------

    /// Does what needs about `bytes` of room; makes room as long as it is refused.
    ///
    /// # Errors
    /// [`Error::Full`] if it takes more than half of the limit, or does not fit when nothing is
    /// left but the record of this key, whose first hash this is.
    fn fit<R>(
        &mut self,
        now: u64,
        hash: u32,
        key: &[u8],
        bytes: usize,
        mut act: impl FnMut(&mut Self) -> Result<R, Refused>,
    ) -> Result<R, Error> {
        let limit = self.heap.limits().soft;
        if bytes > limit / 2 {
            return Err(Error::Full);
        }
        while self.used() + bytes > limit && self.make_room(hash, key) {}
        loop {
            let is_room = match act(self) {
                Ok(result) => {
                    self.table.balance(&mut self.heap);
                    return Ok(result);
                }
                // A full bucket is no full heap: other buckets' records need not go.
                Err(Refused::TooLarge { limit: MOST }) => {
                    let relieved = self.relieve(now, hash, key);
                    relieved.unwrap_or_else(|_| self.make_room(hash, key))
                }
                Err(_) => self.make_room(hash, key),
            };
            if !is_room {
                return Err(Error::Full);
            }
        }
    }

    /// Frees some of what waits, or evicts a record, but not that of this key; `false` if there is
    /// neither.
    fn make_room(&mut self, hash: u32, key: &[u8]) -> bool {
        self.free_some() || self.evict(self.spared(hash, key))
    }

    /// Makes room in the bucket of a key, which has as many bytes as it may: what is expired goes,
    /// else the largest text moves outside. If the buckets of all hashes are full of records, one
    /// of the first bucket goes. `false` if there is none.
    ///
    /// # Errors
    /// If the heap has no room. Nothing has changed.
    fn relieve(&mut self, now: u64, hash: u32, key: &[u8]) -> Result<bool, Refused> {
        let number = match self.find(hash, key) {
            Some(found) => found.bucket,
            None => {
                let place = self.place_of_new(now, hash, key);
                let number = self.table.home(place.hash);
                if self.is_full(place.hash) {
                    return Ok(self.evict_any_in(number, self.spared(hash, key)));
                }
                number
            }
        };
        if self.expire_in(number, now, MANY).0 > 0 {
            return Ok(true);
        }
        let bucket = |bucket: &mut Bucket, heap: &mut _| bucket.move_outside(heap);
        Ok(self.table.with(&mut self.heap, number, bucket)?
            || self.evict_any_in(number, self.spared(hash, key)))
    }

    /// Removes a record that was not used for long, but none that is spared; `false` if there is
    /// no other.
    fn evict(&mut self, spared: Spared) -> bool {
        // In the second round no record was used since the first.
        for _ in 0..=2 * self.table.len() {
            if self.evict_hand >= self.table.len() {
                self.evict_hand = 0;
            }
            let number = self.evict_hand;
            if self.evict_in(number, spared) {
                return true;
            }
            self.forget_uses(number);
            self.evict_hand += 1;
        }
        false
    }

    /// Removes a record of a bucket, but none that is spared; whether there was one.
    fn evict_any_in(&mut self, bucket: usize, spared: Spared) -> bool {
        self.evict_in(bucket, spared) || {
            self.forget_uses(bucket);
            self.evict_in(bucket, spared)
        }
    }

    fn forget_uses(&mut self, bucket: usize) {
        self.table
            .bucket_mut(&self.heap, bucket)
            .forget_uses(&self.heap);
    }

    /// Removes a record of a bucket that is not marked as used, but none that is spared; whether
    /// there was one.
    fn evict_in(&mut self, bucket: usize, spared: Spared) -> bool {
        let victim = self
            .table
            .bucket(&self.heap, bucket)
            .records(&self.heap)
            .find(|at| !at.head.has(Head::USED) && !spared.contains(&at.head.hash));
        let Some(at) = victim else {
            return false;
        };
        self.evicted += 1;
        self.remove_found(Found { bucket, at });
        true
    }

    // ---- deadlines -----------------------------------------------------------------------------

    /// Removes the expired records of a few buckets; whether they were a quarter of what is there,
    /// or had too many objects to look further.
    fn expire_some(&mut self, now: u64) -> bool {
        let (mut seen, mut expired, mut freed) = (0, 0, 0);
        for _ in 0..STEP.min(self.table.len()) {
            if self.expire_hand >= self.table.len() {
                self.expire_hand = 0;
            }
            let number = self.expire_hand;
            seen += self.table.bucket(&self.heap, number).len(&self.heap);
            let (records, objects) = self.expire_in(number, now, MANY - freed);
            (expired, freed) = (expired + records, freed + objects);
            self.table.balance(&mut self.heap);
            if freed >= MANY {
                return true;
            }
            self.expire_hand += 1;
        }
        expired * 4 > seen
    }

    /// Removes the expired records of a bucket; returns how many, and how many objects of theirs
    /// were freed: about `most`, the others wait.
    fn expire_in(&mut self, number: usize, now: u64, most: usize) -> (usize, usize) {
        let bucket = self.table.bucket(&self.heap, number);
        let expired = bucket.records(&self.heap).filter(|at| {
            let deadline = bucket.deadline(&self.heap, at);
            deadline.is_some_and(|deadline| deadline <= now)
        });
        let expired: Vec<_> = expired.collect();
        if expired.is_empty() {
            return (0, 0);
        }
        let remove = |bucket: &mut Bucket, heap: &mut Heap| bucket.remove_all(heap, &expired);
        let outside = self.table.with(&mut self.heap, number, remove);
        let freed = self.waiting.free_all(&mut self.heap, outside, most);
        let moved = expired.iter().filter(|at| at.head.number() > 0);
        self.moved -= moved.count();
        self.expired += expired.len() as u64;
        (expired.len(), freed)
    }

    /// One tick; whether more waits.
    fn keep_house(&mut self, now: u64) -> bool {
        let are_many = self.expire_some(now);
        // Where the system refuses, a later tick tries again.
        let given = self.heap.tick(Duration::from_millis(now));
        self.free_some();
        are_many || !self.waiting.is_empty() || given.is_ok_and(|given| given.calls >= CALLS)
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (records, buckets) = (self.table.records(), self.table.len());
        write!(f, "Packed({records} records in {buckets} buckets)")
    }
}
