//! The cache on every store against a simple model: keys, values, order of use, deadlines, limit.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use surefit_cache::cache::{Cache, MOST_KEY_BYTES, Only, Options, Refused};
use surefit_cache::store::Store;
use surefit_cache::store::malloc::Malloc;
use surefit_cache::store::surefit::Surefit;
use surefit_cache::store::tlsf::TlsfStore;

const REGION: usize = 32 << 20;

fn surefit() -> Surefit {
    Surefit::new(REGION).expect("memory")
}

fn tlsf() -> TlsfStore {
    TlsfStore::new(REGION).expect("memory")
}

/// A key of the model.
#[derive(Clone, Debug)]
struct Entry {
    key: Vec<u8>,
    value: Vec<u8>,
    deadline: Option<u64>,
}

/// All live keys, the one used longest ago first.
#[derive(Debug, Default)]
struct Model(Vec<Entry>);

impl Model {
    fn expire(&mut self, now: u64) {
        self.0
            .retain(|it| it.deadline.is_none_or(|deadline| deadline > now));
    }

    fn take(&mut self, key: &[u8]) -> Option<Entry> {
        let at = self.0.iter().position(|it| it.key == key)?;
        Some(self.0.remove(at))
    }
}

fn value_in<S: Store>(cache: &mut Cache<S>, now: u64, key: &[u8]) -> Option<Vec<u8>> {
    let value = cache.get(now, key)?;
    let bytes: Vec<u8> = value.chunks().flatten().copied().collect();
    assert_eq!(bytes.len(), value.len());
    Some(bytes)
}

/// Mostly short, sometimes in pieces.
fn random_value(random: &mut ChaCha8Rng) -> Vec<u8> {
    let longest = [0, 10, 300, 3000, 6000, 40_000][random.random_range(0..6)];
    let len = random.random_range(0..=longest);
    (0..len).map(|_| random.random()).collect()
}

/// A cache and its model, which do the same.
struct Play<S: Store> {
    cache: Cache<S>,
    model: Model,
    now: u64,
    random: ChaCha8Rng,
}

impl<S: Store> Play<S> {
    fn step(&mut self) {
        self.now += self.random.random_range(0..3);
        self.model.expire(self.now);
        let key = format!("key{}", self.random.random_range(0..600)).into_bytes();
        match self.random.random_range(0..10) {
            0 if self.random.random_ratio(1, 20) => self.cache.purge(),
            0..4 => self.set(key),
            4..7 => {
                let entry = self.model.take(&key);
                let value = value_in(&mut self.cache, self.now, &key);
                assert_eq!(value, entry.as_ref().map(|it| it.value.clone()));
                self.model.0.extend(entry);
            }
            7 => {
                let entry = self.model.0.iter().find(|it| it.key == key);
                assert_eq!(self.cache.contains(self.now, &key), entry.is_some());
                let deadline = entry.map(|it| it.deadline);
                assert_eq!(self.cache.deadline(self.now, &key), deadline);
            }
            8 => {
                let was_there = self.model.take(&key).is_some();
                assert_eq!(self.cache.delete(self.now, &key), was_there);
            }
            _ => self.cache.tick(self.now),
        }
    }

    fn set(&mut self, key: Vec<u8>) {
        let random = &mut self.random;
        let only = [Only::Always, Only::Absent, Only::Present][random.random_range(0..3)];
        let lasts = random
            .random_bool(0.3)
            .then(|| random.random_range(0..2000));
        let options = Options {
            deadline: lasts.map(|lasts| self.now + lasts),
            keep_deadline: random.random_bool(0.1),
            only,
        };
        let value = random_value(random);
        let at = self.model.0.iter().position(|it| it.key == key);
        let is_set = match only {
            Only::Always => true,
            Only::Absent => at.is_none(),
            Only::Present => at.is_some(),
        };
        let answer = self.cache.set(self.now, &key, &value, options);
        assert_eq!(answer, Ok(is_set));
        if !is_set {
            return;
        }
        let old = at.map(|at| self.model.0.remove(at));
        let kept = old.filter(|_| options.keep_deadline);
        let deadline = kept.map_or(options.deadline, |old| old.deadline);
        if deadline.is_none_or(|deadline| deadline > self.now) {
            self.model.0.push(Entry {
                key,
                value,
                deadline,
            });
        }
    }

    /// Half of what lives goes under a limit, and that is the half used longest ago.
    fn halve(&mut self) {
        self.forget_expired();
        assert_eq!(self.cache.len(), self.model.0.len());
        let evicted = self.model.0.len() / 2;
        let mut limit = self.cache.used_bytes();
        while self.cache.len() > self.model.0.len() - evicted {
            limit -= 1;
            self.cache.set_limit(limit);
        }
        self.model.0.drain(..evicted);
        self.cache.set_limit(0);
    }

    fn forget_expired(&mut self) {
        (0..200).for_each(|_| self.cache.tick(self.now));
    }
}

fn plays_like_its_model<S: Store>(store: S) {
    let mut play = Play {
        cache: Cache::new(store, 0, 3),
        model: Model::default(),
        now: 0,
        random: ChaCha8Rng::seed_from_u64(7),
    };
    for step in 0..30_000 {
        play.step();
        if step % 1000 == 0 {
            play.cache.assert_sound();
        }
        if step == 20_000 {
            play.halve();
        }
    }
    let counts = play.cache.counts();
    assert!(counts.expired > 100 && counts.evicted > 100, "{counts:?}");
    for entry in &play.model.0 {
        assert!(play.cache.delete(play.now, &entry.key));
    }
    play.forget_expired();
    assert!(play.cache.is_empty());
    play.cache.assert_sound();
}

#[test]
fn on_surefit_the_cache_plays_like_its_model() {
    plays_like_its_model(surefit());
}

#[test]
fn on_tlsf_the_cache_plays_like_its_model() {
    plays_like_its_model(tlsf());
}

#[test]
fn on_malloc_the_cache_plays_like_its_model() {
    plays_like_its_model(Malloc::default());
}

/// The index follows the number of records up and down, and its chains stay right.
#[test]
fn the_index_grows_and_shrinks_with_the_records() {
    let mut cache = Cache::new(surefit(), 0, 5);
    let key = |number: u32| number.to_be_bytes();
    // Buckets that were given up come back empty.
    for round in 0..4 {
        let (first, kept) = (round * 20_000, round * 20_000 + 19_000);
        for number in first..first + 20_000 {
            assert_eq!(
                cache.set(0, &key(number), b"", Options::default()),
                Ok(true)
            );
        }
        cache.assert_sound();
        let full = cache.used_bytes();
        for number in first..kept {
            assert!(cache.delete(0, &key(number)));
        }
        cache.assert_sound();
        assert!(
            cache.used_bytes() < full / 4,
            "{full} to {}",
            cache.used_bytes()
        );
        assert!((kept..kept + 1_000).all(|number| cache.contains(0, &key(number))));
        assert!((first..kept).all(|number| !cache.contains(0, &key(number))));
    }
    cache.clear();
    assert!(cache.is_empty());
    cache.store().check().expect("sound");
}

#[test]
fn a_limit_holds_at_every_moment_and_the_oldest_go() {
    let limit = 200_000;
    let mut cache = Cache::new(surefit(), limit, 1);
    for number in 0..5_000_u32 {
        let value = vec![1; 100 + number as usize % 400];
        assert_eq!(
            cache.set(0, &number.to_be_bytes(), &value, Options::default()),
            Ok(true)
        );
        assert!(cache.used_bytes() <= limit);
        assert!(cache.contains(0, &number.to_be_bytes()));
        // One key is used again and again; looking whether it is there is no use.
        assert!(cache.get(0, &0_u32.to_be_bytes()).is_some());
        cache.contains(0, &1_u32.to_be_bytes());
    }
    assert!(!cache.contains(0, &1_u32.to_be_bytes()));
    assert!(cache.counts().evicted > 4_000);
    // What does not fit alone is refused, and takes nothing with it but the old value of its key.
    let before = cache.len();
    assert_eq!(
        cache.set(0, b"huge", &vec![1; limit], Options::default()),
        Err(Refused::Full)
    );
    assert!(cache.len() <= before && !cache.contains(0, b"huge"));
    cache.assert_sound();
}

/// A store that is smaller than the limit evicts too, instead of failing.
#[test]
fn a_full_store_evicts() {
    let mut cache = Cache::new(Surefit::new(1 << 20).expect("memory"), 0, 1);
    for number in 0..2_000_u32 {
        let value = vec![7; 5_000];
        assert_eq!(
            cache.set(0, &number.to_be_bytes(), &value, Options::default()),
            Ok(true)
        );
    }
    assert!(cache.len() > 100 && cache.counts().evicted > 1_500);
    cache.assert_sound();
    cache.store().check().expect("sound");
}

#[test]
fn records_of_every_shape_come_back() {
    fn shapes<S: Store>(store: S) {
        let mut cache = Cache::new(store, 0, 1);
        for key in [0, 1, 255, 256, MOST_KEY_BYTES] {
            for value in [
                0, 1, 255, 256, 1800, 2000, 4070, 4080, 4090, 4096, 65_535, 65_536, 300_000,
            ] {
                for deadline in [None, Some(5)] {
                    let key = vec![b'k'; key];
                    let value: Vec<u8> = (0..value).map(|at| (at % 251) as u8).collect();
                    let options = Options {
                        deadline,
                        ..Options::default()
                    };
                    assert_eq!(cache.set(0, &key, &value, options), Ok(true));
                    assert_eq!(value_in(&mut cache, 0, &key), Some(value));
                    assert_eq!(cache.deadline(0, &key), Some(deadline));
                }
            }
        }
        cache.assert_sound();
        assert_eq!(cache.len(), 5);
        cache.clear();
    }
    shapes(surefit());
    shapes(tlsf());
    shapes(Malloc::default());
    let mut cache = Cache::new(surefit(), 0, 1);
    let long = vec![b'k'; MOST_KEY_BYTES + 1];
    assert_eq!(
        cache.set(0, &long, b"", Options::default()),
        Err(Refused::LongKey)
    );
}

#[test]
fn deadlines_pass_with_the_caller_s_clock() {
    let mut cache = Cache::new(surefit(), 0, 1);
    let until = |deadline| Options {
        deadline: Some(deadline),
        ..Options::default()
    };
    cache.set(0, b"lazy", b"1", until(10)).expect("room");
    assert!(cache.contains(9, b"lazy"));
    assert!(!cache.contains(10, b"lazy"), "not at its deadline");
    assert!(cache.is_empty());
    for number in 0..3_000_u32 {
        cache
            .set(20, &number.to_be_bytes(), b"1", until(100))
            .expect("room");
    }
    (0..10).for_each(|_| cache.tick(99));
    assert_eq!(cache.len(), 3_000);
    (0..10).for_each(|_| cache.tick(100));
    assert!(cache.is_empty(), "ticks find what nobody asks for");
    assert_eq!(cache.counts().expired, 3_001);
}

/// Most keys go, and the names of the others become the lowest there are: the address table shrinks
/// with what lives.
#[test]
fn a_purge_renumbers_what_lives() {
    let mut cache = Cache::new(surefit(), 0, 1);
    let key = |number: usize| format!("key:{number}").into_bytes();
    let value = |number: usize| vec![number.to_le_bytes()[0]; [10, 300, 9000][number % 3]];
    let count = 6000;
    for number in 0..count {
        let set = cache.set(0, &key(number), &value(number), Options::default());
        assert_eq!(set, Ok(true));
    }
    for number in (0..count).filter(|number| number % 6 < 3) {
        assert!(cache.delete(0, &key(number)));
    }
    for number in (0..count).filter(|number| number % 60 > 5 && number % 6 > 2) {
        assert!(cache.delete(0, &key(number)));
    }
    let table = |cache: &Cache<Surefit>| cache.store().usage().administrative_bytes;
    let before = table(&cache);
    cache.purge();
    cache.assert_sound();
    cache.store().check().expect("sound");
    // The table had more than 10,000 entries of four bytes, and less than a tenth of them live.
    assert!(
        table(&cache) + 30_000 < before,
        "{} of {before}",
        table(&cache)
    );
    for number in 0..count {
        let kept = (number % 60 <= 5 && number % 6 > 2).then(|| value(number));
        assert_eq!(value_in(&mut cache, 0, &key(number)), kept);
    }
    // The order of use was renumbered too.
    cache.set_limit(1);
    assert!(cache.is_empty());
    cache.store().check().expect("sound");
}
