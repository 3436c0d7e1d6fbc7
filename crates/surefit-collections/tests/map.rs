//! Maps do what those of the standard library do, with good and bad hashers.

mod common;

use std::cell::Cell;
use std::collections::{HashMap as Model, HashSet};
use std::hash::BuildHasher;

use common::{ByConstant, ByDefault, ByShifted, DEFAULT, Numbers, PIECES, SMALL_PIECES};
use common::{boxed, narrow, with_refusals};
use surefit_collections::{ByteHeap, Entry, HashMap, String as Moving};
use surefit_compact::{BoxedHeap, Full, Handle, Heap};
use surefit_core::Refused;

/// Random calls on a map and on one of the standard library.
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
    let mut map = HashMap::<u64, u32, S, H::Names>::default();
    let mut model = Model::new();
    for call in 0..calls {
        let (key, value) = (numbers.next() % keys, numbers.next() as u32);
        // Long runs of insertions and of removals, so that buckets are split and merged.
        let grows = call / 500 % 2 == 0;
        match numbers.below(32) {
            0..=15 if grows => {
                let former = map.insert(heap, key, value).expect("room");
                assert_eq!(former, model.insert(key, value));
            }
            0..=17 => assert_eq!(map.remove(heap, &key), model.remove(&key)),
            18 | 19 => {
                let of_model = model.get_mut(&key);
                match map.get_mut(heap, &key) {
                    Some(there) => {
                        *there ^= value;
                        *of_model.expect("in both") ^= value;
                    }
                    None => assert!(of_model.is_none()),
                }
            }
            20..=23 => {
                let there = map.entry(heap, key).or_insert(value).expect("room");
                assert_eq!(there, model.entry(key).or_insert(value));
            }
            24 => match map.entry(heap, key) {
                Entry::Occupied(mut entry) => {
                    assert_eq!(*entry.key(), key);
                    assert_eq!(entry.insert(value), model[&key]);
                    assert_eq!(*entry.get(), value);
                    assert_eq!(entry.remove(), value);
                    model.remove(&key);
                }
                Entry::Vacant(entry) => {
                    assert_eq!(entry.into_key(), key);
                    assert!(!model.contains_key(&key));
                }
            },
            25 if value % 16 == 0 => {
                map.retain(heap, |key, value| {
                    *value ^= 1;
                    key % 3 != 1
                });
                model.retain(|key, value| {
                    *value ^= 1;
                    key % 3 != 1
                });
            }
            26 if value % 16 == 0 => {
                let copy = map.try_clone(heap).expect("room");
                std::mem::replace(&mut map, copy).free(heap);
            }
            27 if value % 64 == 0 => {
                let taken = numbers.below(model.len() + 1);
                let mut drained = map.drain(heap);
                assert_eq!(drained.len(), model.len());
                for _ in 0..taken {
                    let (key, value) = drained.next().expect("some are left");
                    assert_eq!(model.remove(&key), Some(value));
                }
                drop(drained);
                model.clear();
            }
            28 => {
                for value in map.values_mut(heap) {
                    *value = value.wrapping_add(1);
                }
                model
                    .values_mut()
                    .for_each(|value| *value = value.wrapping_add(1));
            }
            _ => {}
        }
        check(heap);
        if call % 10 == 0 || model.len() < 70 {
            assert_eq!(map.check(heap), Ok(()));
        }
        assert_eq!(map.len(), model.len());
        assert_eq!(map.get(heap, &key), model.get(&key));
        assert_eq!(map.contains_key(heap, &!key), model.contains_key(&!key));
        if call % 37 == 0 {
            let all: Model<u64, u32> = map.iter(heap).map(|(k, v)| (*k, *v)).collect();
            assert_eq!(map.iter(heap).count(), model.len());
            assert_eq!(all, model, "seed {seed}");
            assert!(
                model
                    .iter()
                    .all(|(key, value)| map.get(heap, key) == Some(value))
            );
        }
    }
    map.free(heap);
}

/// Calls on maps with all hashers in one heap, which is empty afterwards.
macro_rules! scripts {
    ($heap:expr, $check:expr, $calls:expr, $keys:expr) => {
        for seed in 0..3 {
            script::<_, ByDefault>($heap, $check, seed, $calls, $keys);
            script::<_, ByShifted>($heap, $check, seed, $calls, $keys);
            script::<_, ByConstant>($heap, $check, seed, $calls / 4, $keys.min(300));
        }
    };
}

#[test]
fn a_map_does_what_one_of_the_standard_library_does() {
    for config in [&DEFAULT, &PIECES] {
        let mut heap = boxed(2 << 20, config);
        scripts!(
            &mut heap,
            |heap| assert_eq!(heap.check(), Ok(())),
            4000,
            2000
        );
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn a_map_in_a_small_heap_does_so() {
    let mut heap = narrow(60 << 10);
    scripts!(
        &mut heap,
        |heap| assert_eq!(heap.check(), Ok(())),
        2000,
        200
    );
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_branded_map_does_so() {
    let mut memory = vec![std::mem::MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &DEFAULT).expect("large enough");
    heap.branded(|heap| {
        scripts!(
            heap,
            |heap| assert_eq!(heap.as_heap().check(), Ok(())),
            2000,
            500
        );
    });
    assert_eq!(heap.live_blocks().count(), 0);
}

/// A walk through a map that grows or shrinks between the steps.
fn walk<S: BuildHasher + Default>(seed: u64, keys: u64) {
    let mut numbers = Numbers::new(seed);
    let mut heap = boxed(2 << 20, &DEFAULT);
    let mut map = HashMap::<u64, u64, S>::default();
    for _ in 0..numbers.next() % keys {
        let key = numbers.next() % keys;
        map.insert(&mut heap, key, !key).expect("room");
    }
    let mut staying: HashSet<u64> = map.keys(&heap).copied().collect();
    let (mut next, mut seen) = (Some(0), HashSet::new());
    while let Some(place) = next {
        let mut shown = Vec::new();
        next = map.scan(&heap, place, |key, value| shown.push((*key, *value)));
        assert!(next.is_none_or(|next| next > place));
        for (key, value) in shown {
            assert_eq!(map.get(&heap, &key), Some(&value));
            seen.insert(key);
        }
        for _ in 0..numbers.below(100) {
            let key = numbers.next() % keys;
            // It grows, it shrinks, or it does both.
            if numbers.next() % 4 < seed % 4 + 1 {
                map.remove(&mut heap, &key);
                staying.remove(&key);
            } else {
                map.insert(&mut heap, key, !key).expect("room");
            }
        }
        assert_eq!(map.check(&heap), Ok(()));
    }
    assert!(staying.is_subset(&seen), "seed {seed}");
    map.free(&mut heap);
}

#[test]
fn a_walk_shows_every_entry_that_stays() {
    for seed in 0..40 {
        walk::<ByDefault>(seed, 4000);
        walk::<ByShifted>(seed, 2000);
        walk::<ByConstant>(seed, 200);
    }
    let heap = boxed(1 << 20, &DEFAULT);
    let none = HashMap::<u64, u64, ByDefault>::default();
    for place in [0, 1, u64::MAX] {
        let next = none.scan(&heap, place, |_, _| unreachable!("there are none"));
        assert_eq!(next, None);
    }
}

thread_local! {
    static HASHES: Cell<u64> = const { Cell::new(0) };
}

/// Counts the hashers that it makes.
#[derive(Clone, Default)]
struct Counting(ByDefault);

impl BuildHasher for Counting {
    type Hasher = <ByDefault as BuildHasher>::Hasher;

    fn build_hasher(&self) -> Self::Hasher {
        HASHES.set(HASHES.get() + 1);
        self.0.build_hasher()
    }
}

/// A third of the splits hash again what they move. If all did, an insertion would take 2.4 hashes.
#[test]
fn most_splits_hash_nothing_again() {
    let mut heap = boxed(8 << 20, &DEFAULT);
    let mut map = HashMap::<u64, u64, Counting>::default();
    let keys = 100_000;
    HASHES.set(0);
    (0..keys).for_each(|key| assert_eq!(map.insert(&mut heap, key, key).expect("room"), None));
    let hashes = HASHES.get();
    assert!(hashes < keys * 8 / 5, "{hashes} of {keys} keys");
    assert_eq!(map.check(&heap), Ok(()));
    HASHES.set(0);
    (0..keys).for_each(|key| assert_eq!(map.remove(&mut heap, &key), Some(key)));
    assert_eq!(HASHES.get(), keys, "merges hash nothing");
    map.free(&mut heap);
}

/// A drain that is forgotten takes buckets away without a merge.
#[test]
fn a_map_grows_and_shrinks_again_from_where_a_drain_was_forgotten() {
    let mut numbers = Numbers::new(7);
    let mut heap = boxed(2 << 20, &DEFAULT);
    for most in [100, 1000, 10_000] {
        let mut map = HashMap::<u64, u64, ByDefault>::default();
        let mut model = Model::new();
        for turn in 0..60 {
            for _ in 0..numbers.below(most) {
                let key = numbers.next();
                map.insert(&mut heap, key, !key).expect("room");
                model.insert(key, !key);
            }
            let keys: Vec<u64> = model.keys().copied().collect();
            for key in keys.iter().take(numbers.below(keys.len() + 1)) {
                assert_eq!(map.remove(&mut heap, key), model.remove(key));
            }
            let mut drained = map.drain(&mut heap);
            for (key, value) in drained.by_ref().take(numbers.below(model.len() + 1)) {
                assert_eq!(model.remove(&key), Some(value));
            }
            std::mem::forget(drained);
            assert_eq!(map.check(&heap), Ok(()), "turn {turn}");
            let all: Model<u64, u64> = map.iter(&heap).map(|(k, v)| (*k, *v)).collect();
            assert_eq!(all, model, "turn {turn}");
        }
        map.free(&mut heap);
    }
    assert_eq!(heap.live_blocks().count(), 0);
}

/// Inserts numbers, and says how many of the heap's bytes are in use.
fn filled(heap: &mut BoxedHeap, numbers: u64) -> HashMap<u64, u64, ByDefault> {
    let mut map = HashMap::default();
    for key in 0..numbers {
        map.insert(heap, key, !key).expect("room");
    }
    map
}

#[test]
fn a_map_gives_back_what_it_does_not_need() {
    let mut heap = boxed(8 << 20, &DEFAULT);
    let mut map = filled(&mut heap, 20_000);
    let full = heap
        .live_blocks()
        .map(|block| u64::from(block.block_bytes))
        .sum::<u64>();
    assert!(full < 20_000 * 26, "{full}");
    for key in 100..20_000 {
        assert_eq!(map.remove(&mut heap, &key), Some(!key));
    }
    assert_eq!(heap.check(), Ok(()));
    let few = heap
        .live_blocks()
        .map(|block| u64::from(block.block_bytes))
        .sum::<u64>();
    assert!(few < full / 50, "{few} of {full}");
    assert!((0..100).all(|key| map.get(&heap, &key) == Some(&!key)));
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_refused_insertion_changes_nothing() {
    let mut heap = boxed(256 << 10, &DEFAULT);
    let mut refusals = 0;
    for len in [0, 1, 8, 14, 28, 40, 100, 897, 898, 1000] {
        let mut map = filled(&mut heap, len);
        let (count, former) = with_refusals(&mut heap, |heap| {
            let inserted = map.insert(heap, u64::MAX, 7);
            if let Err(full) = &inserted {
                assert_eq!(full.value, (u64::MAX, 7));
                assert_eq!(map.len() as u64, len);
                assert!((0..len).all(|key| map.get(heap, &key) == Some(&!key)));
                assert!(!map.contains_key(heap, &u64::MAX));
            }
            inserted
        });
        refusals += count;
        assert_eq!(former, None);
        assert_eq!(map.get(&heap, &u64::MAX), Some(&7));

        let (count, copy) = with_refusals(&mut heap, |heap| {
            let before = heap.live_blocks().count();
            let copy = map.try_clone(heap);
            assert!(copy.is_ok() || heap.live_blocks().count() == before);
            copy
        });
        refusals += count;
        assert!(
            copy.iter(&heap)
                .all(|(key, value)| map.get(&heap, key) == Some(value))
        );
        assert_eq!(copy.len(), map.len());
        copy.free(&mut heap);
        map.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
    assert!(refusals > 10, "{refusals}");
}

#[test]
fn a_removal_in_a_full_heap_is_never_refused() {
    let mut heap = boxed(256 << 10, &DEFAULT);
    let mut map = filled(&mut heap, 3000);
    let fillers = common::Fillers::fill(&heap);
    for key in (0..3000).rev() {
        assert_eq!(map.remove(&mut heap, &key), Some(!key));
        assert!(key % 64 > 0 || (0..key).all(|key| map.get(&heap, &key) == Some(&!key)));
    }
    assert!(map.is_empty());
    map.free(&mut heap);
    fillers.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_map_fills_a_heap_and_says_so() {
    for bytes in [64 << 10, 100 << 10, 150 << 10] {
        let mut heap = boxed(bytes, &DEFAULT);
        let mut map = HashMap::<u64, u64, ByDefault>::default();
        let full = (0..).find_map(|key| map.insert(&mut heap, key, !key).err());
        let Some(Full { value, refused }) = full else {
            unreachable!("a heap holds every number")
        };
        assert!(matches!(refused, Refused::NoPage | Refused::NoHandle));
        assert_eq!(value.0, map.len() as u64);
        assert!((0..value.0).all(|key| map.get(&heap, &key) == Some(&!key)));
        assert_eq!(heap.check(), Ok(()));
        map.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn what_a_map_discards_is_released() {
    let mut heap = boxed(1 << 20, &PIECES);
    let mut map = HashMap::<Moving, Handle<u64>, ByDefault>::default();
    let insert =
        |map: &mut HashMap<Moving, Handle<u64>, ByDefault>, heap: &mut BoxedHeap, i: u64| {
            let key = Moving::from_text(heap, &format!("{:0>1$}", i, i as usize)).expect("room");
            let value = heap.insert(i).expect("room");
            map.insert(heap, key, value).expect("room")
        };
    for i in 1..200 {
        assert!(insert(&mut map, &mut heap, i).is_none());
    }
    for i in 1..50 {
        let former = insert(&mut map, &mut heap, i).expect("it is there");
        assert_eq!(heap.remove(former), i);
    }
    let value = map
        .remove(&mut heap, format!("{:0>77}", 77).as_str())
        .expect("it is there");
    assert_eq!(heap.remove(value), 77);
    map.retain(&mut heap, |key, _| key.len() % 2 == 0);
    assert_eq!(map.len(), 99);
    let key = Moving::from_text(&heap, "02").expect("room");
    let value = heap.insert(0).expect("room");
    assert_eq!(heap.get(map.get(&heap, "02").expect("it is there")), &2);
    map.entry(&mut heap, key)
        .or_insert(value)
        .expect("it is there");
    let mut drained = map.drain(&mut heap);
    let (key, value) = drained.next().expect("99");
    drop(drained);
    key.free(&mut heap);
    heap.free(value);
    assert!(map.is_empty());
    map.clear(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
    assert_eq!(heap.check(), Ok(()));
}

#[test]
fn maps_in_a_map_are_freed_with_it() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut outer = HashMap::<u64, HashMap<u64, Moving, ByDefault>, ByDefault>::default();
    for i in 0..40 {
        let mut inner = HashMap::default();
        for j in 0..i {
            let text = Moving::from_text(&heap, &format!("{i} of {j}")).expect("room");
            inner.insert(&mut heap, j, text).expect("room");
        }
        outer.insert(&mut heap, i, inner).expect("room");
    }
    let text = outer.get(&heap, &30).and_then(|inner| inner.get(&heap, &7));
    assert!(text.expect("it is there").equals(&heap, "30 of 7"));
    outer.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn an_entry_is_looked_up_once() {
    let mut heap = boxed(64 << 10, &DEFAULT);
    let mut map = HashMap::with_hasher(ByDefault::default());
    let counted = |map: &mut HashMap<u64, u32, ByDefault>, heap: &mut BoxedHeap, key| {
        let entry = map.entry(heap, key).and_modify(|count| *count += 1);
        *entry.or_insert_with(|| 1).expect("room")
    };
    assert_eq!(counted(&mut map, &mut heap, 7), 1);
    assert_eq!(counted(&mut map, &mut heap, 7), 2);
    let Entry::Occupied(mut entry) = map.entry(&mut heap, 7) else {
        panic!("it is there")
    };
    *entry.get_mut() += 1;
    assert_eq!((*entry.key(), *entry.get()), (7, 3));
    *entry.into_mut() += 1;
    let Entry::Vacant(entry) = map.entry(&mut heap, 8) else {
        panic!("it is not there")
    };
    assert_eq!(*entry.key(), 8);
    *entry.insert(5).expect("room") += 1;
    assert_eq!(
        (map.get(&heap, &7), map.get(&heap, &8)),
        (Some(&4), Some(&6))
    );
    let fillers = common::Fillers::fill(&heap);
    let refused = (9..).find_map(|key| match map.entry(&mut heap, key) {
        Entry::Vacant(entry) => entry.insert(1).err(),
        Entry::Occupied(_) => None,
    });
    let refused = refused.expect("a full heap");
    assert_eq!(refused.value, (map.len() as u64 + 7, 1));
    fillers.free(&mut heap);
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_heap_whose_pieces_hold_no_bucket_refuses_every_entry() {
    let mut heap = boxed(1 << 20, &SMALL_PIECES);
    let mut map = HashMap::<u8, u8, ByDefault>::default();
    let full = map.insert(&mut heap, 1, 2).expect_err("pieces of 64 bytes");
    assert_eq!(full.value, (1, 2));
    assert_eq!(full.refused, Refused::TooLarge { limit: 64 });
    let full = map.entry(&mut heap, 3).or_insert(4);
    assert_eq!(
        full.expect_err("as well").refused,
        Refused::TooLarge { limit: 64 }
    );
    assert!(map.is_empty() && map.get(&heap, &1).is_none());
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}
