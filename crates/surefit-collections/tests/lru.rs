//! Caches do what a list of entries in the order of their last use does.

mod common;

use std::hash::BuildHasher;
use std::num::NonZeroUsize;

use common::{ByConstant, ByDefault, ByShifted, DEFAULT, Numbers, PIECES};
use common::{boxed, narrow, with_refusals};
use surefit_collections::{ByteHeap, LruCache, Release, String as Moving};
use surefit_compact::{BoxedHeap, Full, Handle, Heap};
use surefit_core::Refused;

/// Entries, the oldest first.
#[derive(Default)]
struct Model(Vec<(u64, u32)>);

impl Model {
    fn at(&self, key: u64) -> Option<usize> {
        self.0.iter().position(|entry| entry.0 == key)
    }

    fn take(&mut self, key: u64) -> Option<u32> {
        self.at(key).map(|at| self.0.remove(at).1)
    }

    /// Makes a key the newest, with a value; what it had.
    fn put(&mut self, key: u64, value: u32, capacity: usize) -> Option<u32> {
        let former = self.take(key);
        self.0.push((key, value));
        self.shorten(capacity);
        former
    }

    fn shorten(&mut self, capacity: usize) {
        let more = self.0.len().saturating_sub(capacity);
        self.0.drain(..more);
    }

    fn get(&mut self, key: u64) -> Option<u32> {
        let value = self.take(key)?;
        self.0.push((key, value));
        Some(value)
    }
}

fn capacity(most: usize) -> NonZeroUsize {
    NonZeroUsize::new(most).expect("not zero")
}

/// Random calls on a cache and on its model.
#[expect(
    clippy::cognitive_complexity,
    clippy::too_many_lines,
    reason = "an arm for each call"
)]
fn script<H, S>(heap: &mut H, check: impl Fn(&H), seed: u64, calls: usize, keys: u64)
where
    H: ByteHeap,
    S: BuildHasher + Default + Clone,
{
    let mut numbers = Numbers::new(seed);
    let mut most = 1 + numbers.below(keys as usize);
    let mut cache = LruCache::<u64, u32, S, H::Names>::with_hasher(capacity(most), S::default());
    let mut model = Model::default();
    for call in 0..calls {
        let (key, value) = (numbers.next() % keys, numbers.next() as u32);
        let grows = call / 400 % 2 == 0;
        match numbers.below(32) {
            0..=11 if grows => {
                let former = cache.put(heap, key, value).expect("room");
                assert_eq!(former, model.put(key, value, most));
            }
            12..=14 => {
                let oldest = (model.at(key).is_none() && model.0.len() == most).then(|| model.0[0]);
                let out = cache.push(heap, key, value).expect("room");
                let former = model.put(key, value, most);
                assert_eq!(out, former.map(|former| (key, former)).or(oldest));
            }
            0..=4 => assert_eq!(cache.pop(heap, &key), model.take(key)),
            5..=7 => {
                let oldest = (!model.0.is_empty()).then(|| model.0.remove(0));
                assert_eq!(cache.pop_lru(heap), oldest);
            }
            15..=17 => assert_eq!(cache.get(heap, &key).copied(), model.get(key)),
            18 => {
                if let Some(there) = cache.get_mut(heap, &key) {
                    *there ^= value;
                    let there = model.get(key).expect("in both");
                    model.0.last_mut().expect("it was put there").1 = there ^ value;
                } else {
                    assert!(model.at(key).is_none());
                }
            }
            19 => {
                if let Some(there) = cache.peek_mut(heap, &key) {
                    *there = value;
                    let at = model.at(key).expect("in both");
                    model.0[at].1 = value;
                }
            }
            20 => assert_eq!(cache.promote(heap, &key), model.get(key).is_some()),
            21 | 22 => {
                let value = model.take(key);
                assert_eq!(cache.demote(heap, &key), value.is_some());
                model.0.splice(0..0, value.map(|value| (key, value)));
            }
            23 if value % 16 == 0 => {
                most = 1 + numbers.below(keys as usize);
                cache.resize(heap, capacity(most));
                assert_eq!(cache.cap().get(), most);
                model.shorten(most);
            }
            24 if value % 16 == 0 => {
                let keep = |key: u64, value: &mut u32| {
                    *value ^= 1;
                    key % 3 != u64::from(*value) % 3
                };
                cache.retain(heap, |key, value| keep(*key, value));
                model.0.retain_mut(|(key, value)| keep(*key, value));
            }
            25 if value % 16 == 0 => {
                let copy = cache.try_clone(heap).expect("room");
                std::mem::replace(&mut cache, copy).free(heap);
            }
            26 if value % 64 == 0 => {
                cache.clear(heap);
                model.0.clear();
            }
            28 => {
                for (key, value) in cache.iter_mut(heap) {
                    *value ^= *key as u32;
                }
                for (key, value) in &mut model.0 {
                    *value ^= *key as u32;
                }
            }
            29 => {
                let (mut next, mut seen) = (Some(0), Vec::new());
                while let Some(place) = next {
                    next = cache.scan(heap, place, |key, value| seen.push((*key, *value)));
                }
                let mut all = model.0.clone();
                all.sort_unstable();
                seen.sort_unstable();
                // Entries of a bucket that is being split are shown twice.
                seen.dedup();
                assert_eq!(seen, all);
            }
            27 => assert_eq!(
                cache.pop_entry(heap, &key),
                model.take(key).map(|value| (key, value))
            ),
            _ => {}
        }
        check(heap);
        assert_eq!(cache.check(heap), Ok(()), "seed {seed}, call {call}");
        assert_eq!(
            (cache.len(), cache.is_empty()),
            (model.0.len(), model.0.is_empty())
        );
        let there = model.at(key).map(|at| &model.0[at].1);
        assert_eq!(cache.peek(heap, &key), there);
        assert_eq!(cache.contains(heap, &key), there.is_some());
        assert_eq!(
            cache.peek_lru(heap),
            model.0.first().map(|(key, value)| (key, value))
        );
        let newest_first = model.0.iter().rev().map(|(key, value)| (key, value));
        assert!(
            cache.iter(heap).eq(newest_first),
            "seed {seed}, call {call}"
        );
    }
    cache.free(heap);
}

/// Calls on caches with all hashers in one heap.
macro_rules! scripts {
    ($heap:expr, $check:expr, $calls:expr, $keys:expr) => {
        for seed in 0..4 {
            script::<_, ByDefault>($heap, $check, seed, $calls, $keys);
            script::<_, ByShifted>($heap, $check, seed, $calls, $keys);
            script::<_, ByConstant>($heap, $check, seed, $calls, $keys.min(60));
        }
    };
}

#[test]
fn a_cache_does_what_its_model_does() {
    for config in [&DEFAULT, &PIECES] {
        let mut heap = boxed(2 << 20, config);
        scripts!(
            &mut heap,
            |heap| assert_eq!(heap.check(), Ok(())),
            1600,
            300
        );
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn a_cache_in_a_small_heap_does_so() {
    let mut heap = narrow(60 << 10);
    scripts!(&mut heap, |heap| assert_eq!(heap.check(), Ok(())), 800, 100);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_branded_cache_does_so() {
    let mut memory = vec![std::mem::MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &DEFAULT).expect("large enough");
    heap.branded(|heap| {
        scripts!(
            heap,
            |heap| assert_eq!(heap.as_heap().check(), Ok(())),
            800,
            200
        );
    });
    assert_eq!(heap.live_blocks().count(), 0);
}

/// A cache with so many entries, of any number.
fn filled(heap: &mut BoxedHeap, numbers: u64) -> LruCache<u64, u64, ByDefault> {
    let mut cache = LruCache::unbounded_with_hasher(ByDefault::default());
    for key in 0..numbers {
        cache.put(heap, key, !key).expect("room");
    }
    cache
}

#[test]
fn a_refused_call_changes_nothing() {
    let mut heap = boxed(256 << 10, &DEFAULT);
    let mut refusals = 0;
    for len in [0, 1, 4, 8, 31, 32, 33, 64, 100, 512, 1000] {
        let mut cache = filled(&mut heap, len);
        let (count, former) = with_refusals(&mut heap, |heap| {
            let put = cache.put(heap, u64::MAX, 7);
            if let Err(full) = &put {
                assert_eq!(full.value, (u64::MAX, 7));
                assert!(cache.iter(heap).map(|(key, _)| *key).eq((0..len).rev()));
                assert!(!cache.contains(heap, &u64::MAX));
            }
            assert_eq!(cache.check(heap), Ok(()));
            put
        });
        refusals += count;
        assert_eq!(former, None);
        assert_eq!(cache.peek(&heap, &u64::MAX), Some(&7));
        let (count, copy) = with_refusals(&mut heap, |heap| {
            let before = heap.live_blocks().count();
            let copy = cache.try_clone(heap);
            assert!(copy.is_ok() || heap.live_blocks().count() == before);
            copy
        });
        refusals += count;
        assert!(copy.iter(&heap).eq(cache.iter(&heap)));
        assert_eq!(copy.check(&heap), Ok(()));
        copy.free(&mut heap);
        cache.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
    assert!(refusals > 15, "{refusals}");
}

#[test]
fn a_cache_takes_what_room_there_is_and_gives_it_back() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut cache = LruCache::<u64, Moving, _>::unbounded_with_hasher(ByDefault::default());
    let mut numbers = Numbers::new(3);
    let mut refusals = 0;
    for key in 0..20_000_u64 {
        let text = "x".repeat(numbers.below(200));
        let value = loop {
            match Moving::from_text(&heap, &text) {
                Ok(value) => break value,
                Err(_) => {
                    refusals += 1;
                    cache.pop_lru(&mut heap).release(&mut heap);
                }
            }
        };
        let mut entry = (key, value);
        while let Err(Full { value, refused }) = cache.put(&mut heap, entry.0, entry.1) {
            assert!(matches!(refused, Refused::NoPage | Refused::NoHandle));
            refusals += 1;
            entry = value;
            cache.pop_lru(&mut heap).release(&mut heap);
        }
        let newest = cache.iter(&heap).next().expect("it was put there");
        assert!(*newest.0 == key && newest.1.equals(&heap, &text));
        let oldest = *cache.peek_lru(&heap).expect("there is one").0;
        assert_eq!(
            cache.len() as u64,
            key + 1 - oldest,
            "the oldest went first"
        );
    }
    assert!(
        refusals > 9000 && cache.len() > 3000,
        "{refusals} {cache:?}"
    );
    assert_eq!(cache.check(&heap), Ok(()));
    while cache.len() > 10 {
        cache.pop_lru(&mut heap).release(&mut heap);
    }
    let blocks = heap.live_blocks();
    let bytes = blocks
        .map(|block| u64::from(block.block_bytes))
        .sum::<u64>();
    assert!(bytes < 10 * 250 + 4500, "{bytes}");
    cache.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn what_a_cache_discards_is_released() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut cache =
        LruCache::<Moving, Handle<u64>, _>::with_hasher(capacity(50), ByDefault::default());
    let put = |cache: &mut LruCache<Moving, Handle<u64>, ByDefault>, heap: &mut BoxedHeap, i| {
        let key = Moving::from_text(heap, &format!("key {i}")).expect("room");
        let value = heap.insert(i).expect("room");
        cache.put(heap, key, value).expect("room")
    };
    for i in 0..80 {
        assert!(put(&mut cache, &mut heap, i).is_none());
    }
    assert_eq!(cache.len(), 50);
    let former = put(&mut cache, &mut heap, 70).expect("it is there");
    assert_eq!(heap.remove(former), 70);
    let value = cache.pop(&mut heap, "key 40").expect("it is there");
    assert_eq!(heap.remove(value), 40);
    cache.resize(&mut heap, capacity(30));
    cache.retain(&mut heap, |key, _| key.len() % 2 == 0);
    assert!(cache.iter(&heap).all(|(key, _)| key.len() % 2 == 0));
    assert!(cache.len() > 10);
    cache.clear(&mut heap);
    assert!(cache.is_empty());
    cache.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
    assert_eq!(heap.check(), Ok(()));
}
