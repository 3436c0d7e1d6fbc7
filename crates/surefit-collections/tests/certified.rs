//! A heap of exactly the bytes of its certificate never refuses the container.

mod common;

use std::hash::BuildHasher;
use std::num::NonZeroUsize;

use common::{
    ByConstant, ByDefault, ByNumber, CONTAINERS, DEFAULT, NO_PIECES, Numbers, PIECES, SMALL_PIECES,
    TINY, boxed,
};
use surefit_collections::{BTreeMap, HashMap, LruCache, Release, Vec as MovingVec, VecDeque};
use surefit_compact::certify::{Demand, heap_bytes};
use surefit_compact::{BoxedHeap, Config, Heap, Narrow, Wide, Width};

/// Calls on a map of up to `most` entries in a heap of exactly its certificate.
fn certified<W: Width, S: BuildHasher + Default + Clone>(config: &'static Config, most: usize) {
    let demand = HashMap::<u64, u32, S>::for_demand::<W>(config, most).expect("few entries");
    let bytes = heap_bytes::<W>(config, &Demand::Joint(demand));
    let mut heap: BoxedHeap<W> = Heap::boxed(bytes, config).expect("large enough");
    let mut map = HashMap::<u64, u32, S>::default();
    let mut numbers = Numbers::new(most as u64);
    for call in 0..8 * most {
        let key = numbers.next() % (2 * most as u64);
        let grows = call / most % 2 == 0;
        if (grows || key % 4 == 0) && map.len() < most {
            map.insert(&mut heap, key, 7).expect("it is certified");
        } else {
            map.remove(&mut heap, &key);
        }
    }
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_certified_heap_never_refuses_its_map() {
    for most in [1, 10, 100, 1000, 4000] {
        certified::<Wide, ByDefault>(&DEFAULT, most);
        certified::<Wide, ByDefault>(&CONTAINERS, most);
        certified::<Wide, ByConstant>(&CONTAINERS, most.min(400));
        certified::<Wide, ByDefault>(&PIECES, most);
        certified::<Wide, ByConstant>(&DEFAULT, most.min(400));
        certified::<Wide, ByConstant>(&PIECES, most.min(400));
        certified::<Narrow, ByDefault>(&TINY, most.min(800));
    }
    for most in [1, 10, 100, 400, 1024] {
        certified::<Wide, ByDefault>(&NO_PIECES, most);
        certified::<Wide, ByConstant>(&NO_PIECES, most);
    }
    assert!(HashMap::<u64, u64, ByConstant>::for_demand::<Wide>(&NO_PIECES, 1025).is_none());
    assert!(HashMap::<u64, u64, ByDefault>::for_demand::<Wide>(&DEFAULT, usize::MAX).is_none());
    assert!(HashMap::<u128, (), ByDefault>::for_demand::<Wide>(&DEFAULT, 1).is_none());
    // A bucket has 128 bytes.
    assert!(HashMap::<u8, u8, ByDefault>::for_demand::<Wide>(&SMALL_PIECES, 1).is_none());
    assert!(LruCache::<u8, u8, ByDefault>::for_demand::<Wide>(&SMALL_PIECES, 1).is_none());
}

/// A large value: a bucket's room is soon most of what the map has.
type Large = [u64; 31];

/// A map that is emptied into its last bucket alone, whichever that is, and grows again.
fn emptied_often(empty: fn(&mut BoxedHeap<Wide>, &mut HashMap<u64, Large, ByNumber>, usize)) {
    let demand = HashMap::<u64, Large, ByNumber>::for_demand::<Wide>(&DEFAULT, 900);
    let bytes = heap_bytes::<Wide>(&DEFAULT, &Demand::Joint(demand.expect("few entries")));
    let mut heap = boxed(bytes, &DEFAULT);
    let mut map = HashMap::<u64, Large, ByNumber>::default();
    let mut key = 0;
    for last in 1..28 {
        // All go to the bucket that opens next.
        while map.len() < 32 * last + last / 2 + 2 {
            key += 1;
            if bucket_of_64(key) == last {
                let inserted = map.insert(&mut heap, key, [0; 31]);
                assert_eq!(inserted.expect("it is certified"), None);
            }
        }
        let left = map.len() - last;
        empty(&mut heap, &mut map, left);
        assert_eq!(heap.check(), Ok(()));
    }
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

/// The bucket of a key by its number, of 64 buckets.
fn bucket_of_64(key: u64) -> usize {
    let product = u128::from(key) * 0x9E37_79B9_7F4A_7C15;
    ((product as u64 ^ (product >> 64) as u64) & 63) as usize
}

#[test]
fn a_bucket_that_is_emptied_keeps_no_room() {
    emptied_often(|heap, map, entries| {
        let mut drain = map.drain(heap);
        drain.by_ref().take(entries).for_each(drop);
        std::mem::forget(drain);
    });
    emptied_often(|heap, map, entries| {
        let mut left = entries;
        map.retain(heap, |_, _| {
            left = left.saturating_sub(1);
            left == 0
        });
    });
    emptied_often(|heap, map, entries| {
        let left = std::cell::Cell::new(entries);
        // The callback's panic leaves the rest as it is.
        let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            map.retain(heap, |_, _| {
                left.set(left.get().checked_sub(1).expect("enough were released"));
                false
            });
        }));
        assert!(stopped.is_err());
    });
}

#[test]
fn a_certified_heap_never_refuses_its_vector() {
    fn vector<T: Copy + std::fmt::Debug + Send + Release<BoxedHeap>>(
        config: &'static Config,
        most: usize,
        value: T,
    ) {
        let demand = MovingVec::<T>::for_demand::<Wide>(config, most).expect("few elements");
        let bytes = heap_bytes::<Wide>(config, &Demand::Joint(demand));
        let mut heap = boxed(bytes, config);
        let mut vec = MovingVec::new();
        let mut numbers = Numbers::new(most as u64);
        for _ in 0..20 {
            for _ in 0..numbers.below(most - vec.len() + 1) {
                vec.push(&mut heap, value).expect("it is certified");
            }
            vec.truncate(&mut heap, numbers.below(most));
            vec.shrink_to_fit(&mut heap).expect("it is certified");
        }
        vec.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
    for config in [&DEFAULT, &CONTAINERS, &SMALL_PIECES] {
        for most in [1, 7, 100, 1000, 20_000] {
            vector(config, most, 7_u8);
            vector(config, most, 7_u64);
            vector(config, most, ((7_u64, 7_u64), 7_u64));
        }
    }
    for most in [1, 7, 100, 600] {
        vector(&NO_PIECES, most, 7_u8);
        vector(&NO_PIECES, most, ((7_u64, 7_u64), 7_u64));
    }
    vector(&NO_PIECES, 1500, 7_u64);
    for most in [3000, 1 << 40, usize::MAX] {
        assert!(MovingVec::<u64>::for_demand::<Wide>(&NO_PIECES, most).is_none());
    }
    assert!(MovingVec::<u64>::for_demand::<Wide>(&DEFAULT, usize::MAX).is_none());
    assert!(MovingVec::<[u8; 65]>::for_demand::<Wide>(&SMALL_PIECES, 1).is_none());
}

#[test]
fn a_certified_heap_never_refuses_its_deque() {
    fn deque<W: Width, T: Copy + std::fmt::Debug + Send + Release<BoxedHeap<W>>>(
        config: &'static Config,
        most: usize,
        value: T,
    ) {
        let demand = VecDeque::<T>::for_demand::<W>(config, most).expect("few elements");
        let bytes = heap_bytes::<W>(config, &Demand::Joint(demand));
        let mut heap: BoxedHeap<W> = Heap::boxed(bytes, config).expect("large enough");
        let mut deque = VecDeque::new();
        let mut numbers = Numbers::new(most as u64);
        for call in 0..60 {
            for turn in 0..numbers.below(2 * most) {
                // A queue in one direction, in the other one, and a stack at each end.
                let (at_front, grows) = (call % 4 < 2, call % 3 > 0);
                if deque.len() < most && (grows || turn % 2 == 0) {
                    match at_front {
                        true => deque.push_front(&mut heap, value).expect("it is certified"),
                        false => deque.push_back(&mut heap, value).expect("it is certified"),
                    }
                } else if at_front == (call % 5 < 3) {
                    deque.pop_back(&mut heap);
                } else {
                    deque.pop_front(&mut heap);
                }
            }
            if call % 7 == 0 {
                deque.truncate(&mut heap, numbers.below(most));
                deque.shrink_to_fit(&mut heap).expect("it is certified");
            }
        }
        deque.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
    for config in [&DEFAULT, &CONTAINERS, &SMALL_PIECES, &NO_PIECES] {
        let largest = [5000, 800][usize::from(config.piece_bytes().is_none())];
        for most in [1, 2, 7, 100, largest] {
            deque::<Wide, _>(config, most, 7_u8);
            deque::<Wide, _>(config, most, 7_u64);
            deque::<Wide, _>(config, most, ((7_u64, 7_u64), 7_u64));
        }
    }
    // Where no object is in pieces, the ring is in a page.
    for most in [8250, 16_300] {
        deque::<Wide, _>(&NO_PIECES, most, 7_u64);
    }
    for most in [1, 5, 50, 500] {
        deque::<Narrow, _>(&TINY, most, 7_u64);
    }
    assert!(VecDeque::<u64>::for_demand::<Wide>(&DEFAULT, usize::MAX).is_none());
    assert!(VecDeque::<[u8; 65]>::for_demand::<Wide>(&SMALL_PIECES, 1).is_none());
}

#[test]
fn a_certified_heap_never_refuses_its_cache() {
    fn cache<W: Width, S: BuildHasher + Default>(config: &'static Config, most: usize) {
        type Cache<S> = LruCache<u64, u32, S>;
        let demand = Cache::<S>::for_demand::<W>(config, most).expect("few entries");
        let bytes = heap_bytes::<W>(config, &Demand::Joint(demand));
        let mut heap: BoxedHeap<W> = Heap::boxed(bytes, config).expect("large enough");
        let capacity = NonZeroUsize::new(most).expect("not zero");
        let mut cache = Cache::with_hasher(capacity, S::default());
        let mut numbers = Numbers::new(most as u64);
        for call in 0..8 * most {
            let key = numbers.next() % (2 * most as u64);
            if call / most % 2 == 0 || key % 4 == 0 {
                cache.put(&mut heap, key, 7).expect("it is certified");
            } else {
                cache.pop_lru(&mut heap);
            }
        }
        cache.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
    for most in [1, 10, 100, 1000, 4000] {
        cache::<Wide, ByDefault>(&DEFAULT, most);
        cache::<Wide, ByDefault>(&CONTAINERS, most);
        cache::<Wide, ByDefault>(&PIECES, most);
        cache::<Wide, ByConstant>(&DEFAULT, most.min(400));
        cache::<Narrow, ByDefault>(&TINY, most.min(800));
    }
    assert!(LruCache::<u64, u64, ByDefault>::for_demand::<Wide>(&DEFAULT, usize::MAX).is_none());
}

#[test]
fn a_certified_heap_never_refuses_its_ordered_map() {
    fn map<W: Width, V: Copy + std::fmt::Debug + Send + Release<BoxedHeap<W>>>(
        config: &'static Config,
        most: usize,
        value: V,
    ) {
        let demand = BTreeMap::<u64, V>::for_demand::<W>(config, most).expect("few entries");
        let bytes = heap_bytes::<W>(config, &Demand::Joint(demand));
        let mut heap: BoxedHeap<W> = Heap::boxed(bytes, config).expect("large enough");
        let mut map = BTreeMap::new();
        let mut numbers = Numbers::new(most as u64);
        for call in 0..12 * most as u64 {
            // Any keys, and keys in order, so that nodes are half full.
            let key = match call / most as u64 % 4 {
                0 | 1 => call,
                _ => numbers.next() % (2 * most as u64),
            };
            if call / most as u64 % 3 < 2 && map.len() < most {
                map.insert(&mut heap, key, value).expect("it is certified");
            } else if call % 2 == 0 {
                map.pop_first(&mut heap);
            } else {
                map.remove(&mut heap, &key);
            }
        }
        map.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
    for config in [&DEFAULT, &CONTAINERS, &SMALL_PIECES, &NO_PIECES] {
        for most in [1, 10, 31, 32, 100, 1000, 4000] {
            map::<Wide, u64>(config, most, 7);
            map::<Wide, ()>(config, most, ());
            map::<Wide, _>(config, most, ((1_u64, 2_u64), (3_u64, 4_u64)));
        }
    }
    for most in [1, 10, 100, 500] {
        map::<Narrow, u32>(&TINY, most, 7);
    }
    assert!(BTreeMap::<u64, u64>::for_demand::<Wide>(&DEFAULT, usize::MAX).is_none());
}
