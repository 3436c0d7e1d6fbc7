//! Ordered maps do what those of the standard library do.

mod common;

use std::cmp::Ordering;
use std::collections::BTreeMap as Model;
use std::fmt::Debug;
use std::ops::Bound::{self, Excluded, Included, Unbounded};

use common::bomb::{Bomb, burn, panics, with_fuse};
use common::{DEFAULT, Element, NO_PIECES, Numbers, PIECES, SMALL_PIECES};
use common::{boxed, narrow, with_refusals};
use surefit_collections::btree_map::Entry;
use surefit_collections::{
    BTreeMap, ByteHeap, ByteString, Compare, Release, String as Moving, TryClone,
};
use surefit_compact::{BoxedHeap, Full, Handle, Heap};
use surefit_core::Refused;

/// A bound of any kind.
fn bound(numbers: &mut Numbers, keys: u64) -> Bound<u64> {
    let key = numbers.next() % (keys + 2);
    match numbers.below(5) {
        0 => Unbounded,
        1 | 2 => Included(key),
        _ => Excluded(key),
    }
}

/// Random calls on a map and on one of the standard library.
#[expect(
    clippy::cognitive_complexity,
    clippy::too_many_lines,
    reason = "an arm for each call"
)]
fn script<H, T>(heap: &mut H, check: impl Fn(&H), seed: u64, calls: usize, keys: u64)
where
    H: ByteHeap,
    T: Element + Release<H> + TryClone<H, Partial: Release<H>>,
{
    let mut numbers = Numbers::new(seed);
    let mut map = BTreeMap::<u64, T, H::Names>::new();
    let mut model = Model::<u64, T>::new();
    for call in 0..calls {
        let (key, value) = (numbers.next() % keys, T::of(numbers.next()));
        let grows = call / 300 % 2 == 0;
        match numbers.below(32) {
            0..=11 if grows => {
                for more in 0..4 {
                    let key = (key + more * 7) % keys;
                    let former = map.insert(heap, key, value).expect("room");
                    assert_eq!(former, model.insert(key, value));
                }
            }
            0..=11 => {
                for more in 0..4 {
                    let key = (key + more * 5) % keys;
                    assert_eq!(map.remove(heap, &key), model.remove(&key));
                }
            }
            12 => assert_eq!(map.pop_first(heap), model.pop_first()),
            13 => assert_eq!(map.pop_last(heap), model.pop_last()),
            14 => {
                let former = map.remove_entry(heap, &key);
                assert_eq!(former, model.remove_entry(&key));
            }
            15 => {
                let there = map.get_mut(heap, &key);
                let of_model = model.get_mut(&key);
                assert_eq!(there.is_some(), of_model.is_some());
                if let (Some(there), Some(of_model)) = (there, of_model) {
                    (*there, *of_model) = (value, value);
                }
            }
            16 if key % 8 == 0 => {
                let divisor = 1 + numbers.next() % 9;
                let mut seen = Vec::new();
                map.retain(heap, |key, there| {
                    seen.push(*key);
                    if key % 2 == 0 {
                        *there = value;
                    }
                    key % divisor == 0
                });
                assert!(seen.iter().eq(model.keys()), "in their order");
                model.retain(|key, there| {
                    if key % 2 == 0 {
                        *there = value;
                    }
                    key % divisor == 0
                });
            }
            17 => {
                let copy = map.try_clone(heap).expect("room");
                std::mem::replace(&mut map, copy).free(heap);
            }
            18 if key % 16 == 0 => {
                map.clear(heap);
                model.clear();
            }
            19 => {
                for (number, (key, there)) in map.iter_mut(heap).enumerate() {
                    *there = T::of(key ^ number as u64);
                }
                for (number, (key, there)) in model.iter_mut().enumerate() {
                    *there = T::of(key ^ number as u64);
                }
            }
            21 | 22 => {
                let there = map.entry(heap, key).or_insert(value).expect("room");
                assert_eq!(there, model.entry(key).or_insert(value));
            }
            23 => match map.entry(heap, key) {
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
            20 => {
                map.values_mut(heap).for_each(|there| *there = value);
                model.values_mut().for_each(|there| *there = value);
            }
            _ => {}
        }
        check(heap);
        assert_eq!(map.check(heap), Ok(()), "seed {seed}, call {call}");
        assert_eq!((map.len(), map.is_empty()), (model.len(), model.is_empty()));
        assert!(map.iter(heap).eq(model.iter()), "seed {seed}, call {call}");
        assert!(map.iter(heap).rev().eq(model.iter().rev()));
        assert_eq!(map.get(heap, &key), model.get(&key));
        assert_eq!(map.get_key_value(heap, &key), model.get_key_value(&key));
        assert_eq!(map.contains_key(heap, &!key), model.contains_key(&!key));
        assert_eq!(map.first_key_value(heap), model.first_key_value());
        assert_eq!(map.last_key_value(heap), model.last_key_value());
        let bounds = (bound(&mut numbers, keys), bound(&mut numbers, keys));
        ranges(&map, heap, &model, bounds, &mut numbers);
    }
    assert!(map.keys(heap).eq(model.keys()) && map.values(heap).eq(model.values()));
    assert_eq!(format!("{:?}", map.debug(heap)), format!("{model:?}"));
    map.free(heap);
}

/// Compares a range that is taken from both ends in any order.
fn ranges<H: ByteHeap, T: PartialEq + Debug>(
    map: &BTreeMap<u64, T, H::Names>,
    heap: &H,
    model: &Model<u64, T>,
    bounds: (Bound<u64>, Bound<u64>),
    numbers: &mut Numbers,
) {
    let start = match bounds.0 {
        Included(key) => key,
        Excluded(key) => key + 1,
        Unbounded => 0,
    };
    let end = match bounds.1 {
        Included(key) => key + 1,
        Excluded(key) => key,
        Unbounded => u64::MAX,
    };
    // The standard library's panics if it is reversed.
    let mut expected = model.range(start..end.max(start));
    let mut range = map.range(heap, bounds);
    loop {
        let (one, other) = match numbers.below(2) {
            0 => (range.next(), expected.next()),
            _ => (range.next_back(), expected.next_back()),
        };
        assert_eq!(one, other, "{bounds:?}");
        if one.is_none() {
            assert!(range.next().is_none() && range.next_back().is_none());
            return;
        }
    }
}

/// Scripts of several values in one heap, which is empty afterwards.
macro_rules! scripts {
    ($heap:expr, $check:expr, $calls:expr, $keys:expr) => {
        for seed in 0..3 {
            script::<_, u64>($heap, $check, seed, $calls, $keys);
            script::<_, ()>($heap, $check, seed, $calls, $keys);
            script::<_, ((u64, u64), (u64, (u64, u64)))>($heap, $check, seed, $calls, $keys);
        }
    };
}

#[test]
fn a_map_does_what_one_of_the_standard_library_does() {
    for config in [&DEFAULT, &SMALL_PIECES, &PIECES] {
        let mut heap = boxed(2 << 20, config);
        scripts!(
            &mut heap,
            |heap| assert_eq!(heap.check(), Ok(())),
            900,
            1200
        );
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn a_map_without_pieces_does_so() {
    let mut heap = boxed(1 << 20, &NO_PIECES);
    scripts!(&mut heap, |heap| assert_eq!(heap.check(), Ok(())), 600, 300);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_map_in_a_small_heap_does_so() {
    let mut heap = narrow(60 << 10);
    scripts!(&mut heap, |heap| assert_eq!(heap.check(), Ok(())), 600, 60);
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
            600,
            300
        );
    });
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn an_entry_is_looked_up_once() {
    let mut heap = boxed(64 << 10, &DEFAULT);
    let mut map = BTreeMap::new();
    let counted = |map: &mut BTreeMap<u64, u32>, heap: &mut BoxedHeap, key| {
        let entry = map.entry(heap, key).and_modify(|count| *count += 1);
        *entry.or_insert_with(|| 1).expect("room")
    };
    for turn in 1..4 {
        for key in 0..200 {
            assert_eq!(counted(&mut map, &mut heap, key * 7 % 200), turn);
        }
    }
    let Entry::Occupied(mut entry) = map.entry(&mut heap, 7) else {
        panic!("it is there")
    };
    *entry.get_mut() += 1;
    assert_eq!((*entry.key(), *entry.get()), (7, 4));
    *entry.into_mut() += 1;
    let Entry::Vacant(entry) = map.entry(&mut heap, 800) else {
        panic!("it is not there")
    };
    assert_eq!(*entry.key(), 800);
    *entry.insert(5).expect("room") += 1;
    assert_eq!(
        (map.get(&heap, &7), map.get(&heap, &800)),
        (Some(&5), Some(&6))
    );
    let fillers = common::Fillers::fill(&heap);
    let refused = (1000..).find_map(|key| match map.entry(&mut heap, key) {
        Entry::Vacant(entry) => entry.insert(1).err(),
        Entry::Occupied(_) => None,
    });
    let refused = refused.expect("a full heap");
    assert_eq!(refused.value, (1000 + map.len() as u64 - 201, 1));
    assert_eq!(map.check(&heap), Ok(()));
    fillers.free(&mut heap);
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

/// A map of numbers.
fn filled(heap: &mut BoxedHeap, numbers: u64) -> BTreeMap<u64, u64> {
    let mut map = BTreeMap::new();
    for key in 0..numbers {
        map.insert(heap, key * 2, !key).expect("room");
    }
    map
}

#[test]
fn a_refused_call_changes_nothing() {
    for config in [&DEFAULT, &SMALL_PIECES] {
        let mut heap = boxed(256 << 10, config);
        let mut refusals = 0;
        for len in [0, 1, 4, 8, 31, 32, 47, 300, 511, 512, 1000] {
            let mut map = filled(&mut heap, len);
            for key in [u64::MAX, len | 1] {
                let (count, former) = with_refusals(&mut heap, |heap| {
                    let inserted = map.insert(heap, key, 7);
                    if let Err(full) = &inserted {
                        assert_eq!(full.value, (key, 7));
                        assert!(
                            map.iter(heap)
                                .map(|(key, _)| *key)
                                .eq((0..len).map(|i| 2 * i))
                        );
                    }
                    assert_eq!(map.check(heap), Ok(()));
                    inserted
                });
                refusals += count;
                assert_eq!(former, None);
                assert_eq!(map.remove(&mut heap, &key), Some(7));
            }
            let (count, copy) = with_refusals(&mut heap, |heap| {
                let before = heap.live_blocks().count();
                let copy = map.try_clone(heap);
                assert!(copy.is_ok() || heap.live_blocks().count() == before);
                copy
            });
            refusals += count;
            assert!(copy.iter(&heap).eq(map.iter(&heap)));
            assert_eq!(copy.check(&heap), Ok(()));
            copy.free(&mut heap);
            map.free(&mut heap);
            assert_eq!(heap.live_blocks().count(), 0);
        }
        assert!(refusals > 20, "{refusals}");
    }
}

#[test]
fn a_removal_in_a_full_heap_is_never_refused() {
    let mut heap = boxed(256 << 10, &DEFAULT);
    let mut map = filled(&mut heap, 3000);
    let fillers = common::Fillers::fill(&heap);
    let mut numbers = Numbers::new(5);
    while !map.is_empty() {
        let key = numbers.next() % 6000;
        map.remove(&mut heap, &key);
        assert!(key % 64 > 0 || map.check(&heap) == Ok(()));
    }
    map.free(&mut heap);
    fillers.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_map_fills_a_heap_and_says_so() {
    let mut heap = boxed(100 << 10, &DEFAULT);
    let mut map = BTreeMap::new();
    let full = (0_u64..).find_map(|key| map.insert(&mut heap, key, !key).err());
    let Some(Full { value, refused }) = full else {
        unreachable!("a heap holds every number")
    };
    assert!(matches!(refused, Refused::NoPage | Refused::NoHandle));
    assert_eq!(value.0, map.len() as u64);
    assert!(map.keys(&heap).copied().eq(0..value.0));
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
    let mut heap = boxed(1 << 20, &SMALL_PIECES);
    let mut large = BTreeMap::new();
    let full = large
        .insert(&mut heap, 1_u8, [7; 64])
        .expect_err("too long");
    assert_eq!(full.refused, Refused::TooLarge { limit: 64 });
    large.free(&mut heap);
    let mut one = BTreeMap::new();
    assert_eq!(one.insert(&mut heap, (), ()), Ok(None));
    assert_eq!(one.insert(&mut heap, (), ()), Ok(Some(())));
    one.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
#[expect(clippy::cognitive_complexity, reason = "a line for each call")]
fn strings_are_in_the_order_of_their_bytes() {
    for config in [&DEFAULT, &SMALL_PIECES] {
        let mut heap = boxed(1 << 20, config);
        let mut numbers = Numbers::new(1);
        let mut texts = BTreeMap::<Moving, u32>::new();
        let mut bytes = BTreeMap::<ByteString, u32>::new();
        let (mut texts_model, mut bytes_model) = (Model::new(), Model::new());
        for number in 0..400 {
            // Long common beginnings, some longer than a piece.
            let text = "x".repeat(numbers.below(150)) + &(numbers.below(20)).to_string();
            let key = Moving::from_text(&heap, &text).expect("room");
            let former = texts.insert(&mut heap, key, number).expect("room");
            let key = ByteString::from_bytes(&heap, text.as_bytes()).expect("room");
            assert_eq!(bytes.insert(&mut heap, key, number).expect("room"), former);
            assert_eq!(former, bytes_model.insert(text.as_bytes().to_vec(), number));
            texts_model.insert(text, number);
        }
        assert!(texts.values(&heap).eq(texts_model.values()));
        assert!(bytes.values(&heap).eq(bytes_model.values()));
        for (text, number) in &texts_model {
            assert_eq!(texts.get(&heap, text.as_str()), Some(number));
            assert_eq!(bytes.get(&heap, text.as_bytes()), Some(number));
            let from = texts.range::<_, str>(&heap, (Included(text.as_str()), Unbounded));
            assert_eq!(from.count(), texts_model.range(text.clone()..).count());
            assert!(!texts.contains_key(&heap, (text.clone() + "y").as_str()));
            let key = Moving::from_text(&heap, text).expect("room");
            assert_eq!(key.compare("xx1", &heap), text.as_str().cmp("xx1"));
            assert_eq!(key.compare(text.as_str(), &heap), Ordering::Equal);
            key.free(&mut heap);
        }
        assert_eq!((texts.check(&heap), bytes.check(&heap)), (Ok(()), Ok(())));
        texts.free(&mut heap);
        bytes.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
#[expect(clippy::cognitive_complexity, reason = "a line for each call")]
fn a_map_refuses_another_heap() {
    for len in [1_u64, 100] {
        let (mut one, mut two) = (boxed(1 << 20, &DEFAULT), boxed(1 << 20, &DEFAULT));
        let mut map = BTreeMap::<u64, u64>::new();
        // Without an object it is of any heap.
        assert_eq!(map.get(&two, &1), None);
        assert_eq!(map.pop_first(&mut two), None);
        map.clear(&mut two);
        for key in 0..len {
            map.insert(&mut one, key, 2).expect("room");
        }
        let refused = map.insert(&mut two, 3, 4).expect_err("another heap");
        assert_eq!(
            (refused.value, refused.refused),
            ((3, 4), Refused::ForeignHandle)
        );
        assert_eq!(
            map.try_clone(&mut two).map(|map| map.len()),
            Err(Refused::ForeignHandle)
        );
        assert!(panics(|| map.entry(&mut two, 0).or_insert(7).is_ok()));
        assert!(panics(|| map.get(&two, &0).copied()));
        assert!(panics(|| map.get_key_value(&two, &0).is_some()));
        assert!(panics(|| map.get_mut(&two, &0).copied()));
        assert!(panics(|| map.contains_key(&two, &0)));
        assert!(panics(|| map.remove(&mut two, &0)));
        assert!(panics(|| map.remove_entry(&mut two, &0)));
        assert!(panics(|| map.pop_first(&mut two)));
        assert!(panics(|| map.pop_last(&mut two)));
        assert!(panics(|| map.first_key_value(&two).is_some()));
        assert!(panics(|| map.last_key_value(&two).is_some()));
        assert!(panics(|| map.iter(&two).count()));
        assert!(panics(|| map.range(&two, 0..7).count()));
        assert!(panics(|| map.iter_mut(&two).count()));
        assert!(panics(|| map.keys(&two).count()));
        assert!(panics(|| map.values(&two).count()));
        assert!(panics(|| map.values_mut(&two).count()));
        assert!(panics(|| format!("{:?}", map.debug(&two))));
        assert!(panics(|| map.clear(&mut two)));
        assert!(panics(|| map.retain(&mut two, |_, _| false)));
        assert!(map.check(&two).is_err());
        assert_eq!((map.check(&one), map.len() as u64), (Ok(()), len));
        assert!(panics(|| map.free(&mut two)), "and the objects leak");
        assert_eq!((one.check(), two.check()), (Ok(()), Ok(())));
        assert_eq!(two.live_blocks().count(), 0);
    }
}

/// A map of so many bombs.
fn bombs(heap: &mut BoxedHeap, count: u64) -> BTreeMap<Bomb, Handle<u64>> {
    let mut map = BTreeMap::new();
    for number in 0..count {
        let key = Bomb::new(heap, number * 37 % count);
        let value = heap.insert(number).expect("room");
        assert!(map.insert(heap, key, value).expect("room").is_none());
    }
    map
}

#[test]
fn a_comparison_a_closure_or_a_release_that_panics_leaves_a_map_whole() {
    for fuse in 0..80 {
        let mut heap = boxed(1 << 20, &DEFAULT);
        let mut map = bombs(&mut heap, 200);
        let probe = Bomb::new(&heap, 50);
        for call in 0..6 {
            let key = Bomb::new(&heap, 1000 + call);
            let value = heap.insert(call).expect("room");
            with_fuse(fuse, || match call {
                0 => _ = map.insert(&mut heap, key, value).expect("room"),
                1 => map.retain(&mut heap, |bomb, _| {
                    burn();
                    bomb.number % 3 > 0
                }),
                2 => _ = map.get(&heap, &probe),
                3 => _ = map.remove(&mut heap, &probe),
                4 => _ = map.range::<_, Bomb>(&heap, &probe..).count(),
                _ => _ = map.contains_key(&heap, &key),
            });
            assert_eq!(map.check(&heap), Ok(()), "fuse {fuse}, call {call}");
            assert!(map.keys(&heap).all(|bomb| bomb.is_whole(&heap)));
        }
        with_fuse(fuse, || map.clear(&mut heap));
        assert!(map.is_empty());
        assert_eq!(heap.check(), Ok(()));
        map.free(&mut heap);
    }
}

#[test]
fn what_a_map_discards_is_released() {
    for fuse in [0, 1, 7, 99, usize::MAX] {
        let mut heap = boxed(1 << 20, &DEFAULT);
        let map = bombs(&mut heap, 100);
        assert_eq!(with_fuse(fuse, || map.free(&mut heap)), fuse < 100);
        assert_eq!(heap.live_blocks().count(), 0);

        let mut map = bombs(&mut heap, 100);
        let panicked = with_fuse(fuse, || {
            map.retain(&mut heap, |bomb, _| bomb.number % 2 == 0)
        });
        assert_eq!(panicked, fuse < 50);
        assert_eq!(map.len(), 50);
        assert_eq!(map.check(&heap), Ok(()));
        assert!(
            map.keys(&heap)
                .all(|bomb| bomb.number % 2 == 0 && bomb.is_whole(&heap))
        );
        map.clear(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);

        let mut map = bombs(&mut heap, 100);
        let (first, value) = map.pop_first(&mut heap).expect("a hundred");
        assert_eq!((first.number, heap.remove(value)), (0, 0));
        first.release(&mut heap);
        let mut copied = BTreeMap::<u64, Moving>::new();
        for key in 0..100 {
            let text = Moving::from_text(&heap, "text").expect("room");
            copied.insert(&mut heap, key, text).expect("room");
        }
        assert_eq!(copied.iter_mut(&heap).count(), 100);
        let copy = copied.try_clone(&mut heap).expect("room");
        assert!(copy.values(&heap).all(|text| text.equals(&heap, "text")));
        (copy, copied).release(&mut heap);
        map.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

/// Keys that are in no order.
#[derive(PartialEq, Eq, Debug)]
struct Whatever(u64);

impl PartialOrd for Whatever {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Whatever {
    fn cmp(&self, _: &Self) -> Ordering {
        thread_local! {
            static NUMBERS: std::cell::RefCell<Numbers> = std::cell::RefCell::new(Numbers::new(3));
        }
        let number = NUMBERS.with(|numbers| numbers.borrow_mut().next());
        number.cmp(&(u64::MAX >> 17))
    }
}

impl<H> Release<H> for Whatever {}

#[test]
fn keys_without_an_order_leak_nothing() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut map = BTreeMap::<Whatever, Handle<u64>>::new();
    let mut numbers = Numbers::new(9);
    for call in 0..10_000 {
        let key = numbers.next() % 500;
        if numbers.below(100) < if call / 2000 % 2 == 0 { 70 } else { 10 } {
            let value = heap.insert(key).expect("room");
            if let Some(former) = map.insert(&mut heap, Whatever(key), value).expect("room") {
                heap.free(former);
            }
        } else if let Some(value) = map.remove(&mut heap, &Whatever(key)) {
            heap.free(value);
        }
        let range = map.range(&heap, Whatever(key)..Whatever(key + 9));
        assert!(range.count() <= map.len());
    }
    assert_eq!(map.iter(&heap).count(), map.len());
    assert_eq!(heap.check(), Ok(()));
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_copy_of_a_map_without_entries_has_no_object() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut map = BTreeMap::<u64, u64>::new();
    for _ in 0..2 {
        let copy = map.try_clone(&mut heap).expect("nothing is allocated");
        assert_eq!((copy.len(), copy.check(&heap)), (0, Ok(())));
        assert_eq!(heap.live_blocks().count(), 0);
        map.insert(&mut heap, 1, 2).expect("room");
        map.remove(&mut heap, &1);
    }
}
