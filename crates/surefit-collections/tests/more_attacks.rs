//! The worst that safe code can pass to deques and caches: other heaps, any numbers, callbacks that
//! panic, iterators that are forgotten.

mod common;

use std::num::NonZeroUsize;

use common::bomb::{Bomb, burn, panics, with_fuse};
use common::{ByConstant, ByDefault, DEFAULT, NO_PIECES, SMALL_PIECES, boxed};
use surefit_collections::{BTreeMap, Entry, HashMap, LruCache, Release, VecDeque};
use surefit_compact::{BoxedHeap, Handle, Heap};
use surefit_core::Refused;

#[test]
#[expect(clippy::cognitive_complexity, reason = "a line for each call")]
fn a_deque_refuses_another_heap() {
    for len in [3_u64, 40] {
        let (mut one, mut two) = (boxed(1 << 20, &SMALL_PIECES), boxed(1 << 20, &SMALL_PIECES));
        let mut deque = VecDeque::<u64>::new();
        // Without an object it is of any heap.
        assert_eq!(deque.pop_back(&mut two), None);
        deque.shrink_to_fit(&mut two).expect("nothing to do");
        deque.extend(&mut one, 0..len).expect("room");
        let foreign = Err(Refused::ForeignHandle);
        let refused = deque.push_back(&mut two, 4).expect_err("another heap");
        assert_eq!(
            (refused.value, refused.refused),
            (4, Refused::ForeignHandle)
        );
        assert_eq!(
            deque.push_front(&mut two, 4).map_err(|full| full.refused),
            foreign
        );
        assert_eq!(
            deque.extend(&mut two, [4]).map_err(|full| full.refused),
            foreign
        );
        assert_eq!(deque.shrink_to_fit(&mut two), foreign);
        assert_eq!(
            deque.try_clone(&mut two).map(|deque| deque.len()),
            Err(Refused::ForeignHandle)
        );
        assert!(panics(|| deque.get(&two, 0).copied()));
        assert!(panics(|| deque.get_mut(&two, 0).copied()));
        assert!(panics(|| deque.front(&two).copied()));
        assert!(panics(|| deque.front_mut(&two).copied()));
        assert!(panics(|| deque.back(&two).copied()));
        assert!(panics(|| deque.back_mut(&two).copied()));
        assert!(panics(|| deque.slices(&two).count()));
        assert!(panics(|| deque
            .slices_mut(&two)
            .map(|slice| slice.len())
            .sum::<usize>()));
        assert!(panics(|| deque.iter(&two).count()));
        assert!(panics(|| deque.iter_mut(&two).count()));
        assert!(panics(|| format!("{:?}", deque.debug(&two))));
        assert!(panics(|| deque.pop_back(&mut two)));
        assert!(panics(|| deque.pop_front(&mut two)));
        assert!(panics(|| deque.swap(&two, 0, 1)));
        assert!(panics(|| deque.remove(&mut two, 1)));
        assert_eq!(
            deque.insert(&mut two, 1, 4).map_err(|full| full.refused),
            foreign
        );
        assert!(panics(|| deque.truncate(&mut two, 0)));
        assert!(panics(|| deque.clear(&mut two)));
        assert!(panics(|| deque.retain(&mut two, |_| false)));
        assert!(panics(|| deque.drain(&mut two, 0..1).count()));
        assert!(deque.check(&two).is_err());
        assert_eq!(deque.check(&one), Ok(()));
        assert!(deque.iter(&one).copied().eq(0..len));
        let live = one.live_blocks().count();
        assert!(panics(|| deque.free(&mut two)), "and the objects leak");
        assert_eq!((one.check(), two.check()), (Ok(()), Ok(())));
        assert_eq!(one.live_blocks().count(), live);
        assert_eq!(two.live_blocks().count(), 0);
    }
}

#[test]
#[expect(clippy::cognitive_complexity, reason = "a line for each call")]
fn a_cache_refuses_another_heap() {
    let (mut one, mut two) = (boxed(1 << 20, &DEFAULT), boxed(1 << 20, &DEFAULT));
    let mut cache = LruCache::<u64, u64, _>::unbounded_with_hasher(ByDefault::default());
    // Without an object it is of any heap.
    assert_eq!(cache.get(&two, &1), None);
    assert_eq!(cache.pop_lru(&mut two), None);
    cache.put(&mut one, 1, 2).expect("room");
    let refused = cache.put(&mut two, 3, 4).expect_err("another heap");
    assert_eq!(
        (refused.value, refused.refused),
        ((3, 4), Refused::ForeignHandle)
    );
    let refused = cache.push(&mut two, 3, 4).expect_err("another heap");
    assert_eq!(
        (refused.value, refused.refused),
        ((3, 4), Refused::ForeignHandle)
    );
    assert_eq!(
        cache.try_clone(&mut two).map(|cache| cache.len()),
        Err(Refused::ForeignHandle)
    );
    assert!(panics(|| cache.get(&two, &1).copied()));
    assert!(panics(|| cache.get_mut(&two, &1).copied()));
    assert!(panics(|| cache.peek(&two, &1).copied()));
    assert!(panics(|| cache.peek_mut(&two, &1).copied()));
    assert!(panics(|| cache.contains(&two, &1)));
    assert!(panics(|| cache.promote(&two, &1)));
    assert!(panics(|| cache.demote(&two, &1)));
    assert!(panics(|| cache.pop(&mut two, &1)));
    assert!(panics(|| cache.pop_entry(&mut two, &1)));
    assert!(panics(|| cache.pop_lru(&mut two)));
    assert!(panics(|| cache.peek_lru(&two).is_some()));
    assert!(panics(|| cache.iter(&two).count()));
    assert!(panics(|| cache.iter_mut(&two).count()));
    assert!(panics(|| cache.scan(&two, 1, |_, _| ())));
    assert!(panics(|| format!("{:?}", cache.debug(&two))));
    assert!(panics(|| cache.retain(&mut two, |_, _| false)));
    assert!(panics(|| cache.clear(&mut two)));
    cache.put(&mut one, 3, 4).expect("room");
    assert!(panics(|| cache.resize(&mut two, NonZeroUsize::MIN)));
    assert_eq!(format!("{:?}", cache.debug(&one)), "{3: 4, 1: 2}");
    assert!(cache.check(&two).is_err());
    assert_eq!(cache.check(&one), Ok(()));
    assert!(panics(|| cache.free(&mut two)), "and the objects leak");
    assert_eq!((one.check(), two.check()), (Ok(()), Ok(())));
    assert_eq!(two.live_blocks().count(), 0);
}

#[test]
fn indices_and_ranges_of_any_number_panic_and_change_nothing() {
    let mut heap = boxed(1 << 20, &SMALL_PIECES);
    let mut deque = VecDeque::<u64>::new();
    deque.extend(&mut heap, 1..100).expect("room");
    deque.push_front(&mut heap, 0).expect("room");
    for index in [100, 101, 1 << 30, 1 << 31, usize::MAX - 1, usize::MAX] {
        assert_eq!(deque.get(&heap, index), None);
        assert_eq!(deque.get_mut(&heap, index), None);
        assert!(panics(|| deque.swap(&heap, 0, index)));
        assert_eq!(deque.remove(&mut heap, index), None);
        assert!(index == 100 || panics(|| deque.insert(&mut heap, index, 7)));
        assert!(panics(|| deque.swap(&heap, index, 0)));
        assert!(index == 100 || panics(|| deque.drain(&mut heap, ..index).count()));
        assert!(panics(|| deque.drain(&mut heap, ..=index).count()));
        assert!(index == 100 || panics(|| deque.drain(&mut heap, index..).count()));
        deque.truncate(&mut heap, index);
    }
    #[expect(clippy::reversed_empty_ranges, reason = "as whoever attacks writes it")]
    let reversed = 7..3;
    assert!(panics(|| deque.drain(&mut heap, reversed).count()));
    assert!(deque.iter(&heap).copied().eq(0..100));
    assert_eq!((deque.check(&heap), heap.check()), (Ok(()), Ok(())));
    deque.free(&mut heap);
}

#[test]
fn elements_without_bytes_and_elements_that_no_piece_holds() {
    for config in [&DEFAULT, &SMALL_PIECES, &NO_PIECES] {
        let mut heap = boxed(1 << 20, config);
        let mut deque = VecDeque::<()>::new();
        for turn in 0..10_000 {
            match turn % 3 {
                0 => deque.push_front(&mut heap, ()).expect("room"),
                _ => deque.push_back(&mut heap, ()).expect("room"),
            }
        }
        assert_eq!(deque.check(&heap), Ok(()));
        assert_eq!((deque.len(), deque.iter(&heap).count()), (10_000, 10_000));
        assert_eq!(deque.drain(&mut heap, 10..).count(), 9990);
        deque.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
    let mut heap = boxed(1 << 20, &SMALL_PIECES);
    let mut large = VecDeque::<[u8; 65]>::new();
    let full = large
        .push_front(&mut heap, [7; 65])
        .expect_err("a piece has 64 bytes");
    assert_eq!(
        (full.value, full.refused),
        ([7; 65], Refused::TooLarge { limit: 64 })
    );
    let mut whole = VecDeque::<[u8; 64]>::new();
    whole
        .extend(&mut heap, (0..100).map(|i| [i; 64]))
        .expect("one in a piece");
    assert_eq!(whole.check(&heap), Ok(()));
    assert!(whole.iter(&heap).map(|it| it[63]).eq(0..100));
    whole.free(&mut heap);
    #[repr(align(32768))]
    struct Aligned;
    impl<H> Release<H> for Aligned {}
    let mut aligned = VecDeque::<(Aligned, u8)>::new();
    assert!(aligned.push_back(&mut heap, (Aligned, 7)).is_err());
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn aligned_elements_stay_aligned_when_they_move() {
    #[derive(Clone, Copy, Debug)]
    #[repr(align(64))]
    struct Line(u8);
    impl<H> Release<H> for Line {}
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut deques: Vec<VecDeque<Line>> = Vec::new();
    for i in 0..200_usize {
        let mut deque = VecDeque::new();
        for _ in 0..i * 7 % 90 {
            deque.push_front(&mut heap, Line(i as u8)).expect("room");
        }
        deques.push(deque);
        if deques.len() > 40 {
            deques.swap_remove(i * 11 % 40).free(&mut heap);
        }
        for line in deques.iter().flat_map(|deque| deque.iter(&heap)) {
            assert_eq!(std::ptr::from_ref(line).addr() % 64, 0);
        }
    }
    assert!(deques.iter().all(|deque| {
        let first = deque.front(&heap).map(|line| line.0);
        deque.iter(&heap).all(|line| Some(line.0) == first)
    }));
    deques.into_iter().for_each(|deque| deque.free(&mut heap));
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn iterators_that_are_forgotten_lose_nothing() {
    for (range, first) in [(10..20, 10), (0..30, 0), (90..100, 90)] {
        let mut heap = boxed(1 << 20, &SMALL_PIECES);
        let mut deque = VecDeque::<Handle<u64>>::new();
        for i in 0..100 {
            let handle = heap.insert(i).expect("room");
            deque.push_back(&mut heap, handle).expect("room");
        }
        let mut drained = deque.drain(&mut heap, range);
        let taken = drained.next().expect("some");
        std::mem::forget(drained);
        assert_eq!((heap.remove(taken), deque.len()), (first, 99));
        assert_eq!(deque.check(&heap), Ok(()));
        deque.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn a_release_that_panics_stops_no_other() {
    for fuse in 0..40 {
        let mut heap = boxed(1 << 20, &common::PIECES);
        let mut deque = VecDeque::new();
        let mut cache = LruCache::unbounded_with_hasher(ByDefault::default());
        for i in 0..40 {
            let bombs = (Bomb::new(&heap, i), Some(Bomb::new(&heap, i)));
            deque.push_back(&mut heap, bombs).expect("room");
            let bomb = Bomb::new(&heap, i);
            cache.put(&mut heap, i, bomb).expect("room");
        }
        assert!(with_fuse(fuse, || deque.free(&mut heap)));
        assert!(with_fuse(fuse, || cache.free(&mut heap)));
        assert_eq!(heap.live_blocks().count(), 0);
        assert_eq!(heap.check(), Ok(()));
    }
}

#[test]
fn a_release_or_a_closure_that_panics_in_a_deque_that_stays_leaves_the_rest_there() {
    for fuse in 0..30 {
        let mut heap = boxed(1 << 20, &SMALL_PIECES);
        let mut deque = VecDeque::new();
        for i in 0..100 {
            let bomb = Bomb::new(&heap, i);
            deque.push_back(&mut heap, bomb).expect("room");
        }
        let even = |bomb: &mut Bomb| {
            burn();
            bomb.number % 2 == 0
        };
        with_fuse(fuse, || deque.truncate(&mut heap, 90));
        with_fuse(fuse, || deque.retain(&mut heap, even));
        with_fuse(fuse, || drop(deque.drain(&mut heap, 5..9)));
        with_fuse(fuse, || drop(deque.drain(&mut heap, ..9)));
        with_fuse(fuse, || deque.clear(&mut heap));
        assert!(deque.iter(&heap).all(|bomb| bomb.is_whole(&heap)));
        assert_eq!(deque.check(&heap), Ok(()));
        let live = heap.live_blocks().count();
        let copies = deque.len();
        let panicked = with_fuse(fuse, || {
            let copy = deque.try_clone(&mut heap).expect("room");
            copy.free(&mut heap);
        });
        // A copy that panics leaks what was copied; nothing else does.
        assert!(panicked || heap.live_blocks().count() == live);
        assert!(heap.live_blocks().count() <= 2 * live + copies);
        assert!(deque.iter(&heap).all(|bomb| bomb.is_whole(&heap)));
        deque.free(&mut heap);
        assert!(panicked || heap.live_blocks().count() == 0);
        assert_eq!(heap.check(), Ok(()));
    }
}

#[test]
fn a_release_that_panics_in_a_cache_that_shrinks_leaves_it_its_capacity() {
    for fuse in 0..31 {
        let mut heap = boxed(1 << 20, &DEFAULT);
        let capacity = |most| NonZeroUsize::new(most).expect("not zero");
        let mut cache = LruCache::<u64, Bomb, _>::with_hasher(capacity(50), ByDefault::default());
        for i in 0..50 {
            let bomb = Bomb::new(&heap, i);
            cache.put(&mut heap, i, bomb).expect("room");
        }
        let panicked = with_fuse(fuse, || cache.resize(&mut heap, capacity(20)));
        assert_eq!(panicked, fuse < 30);
        let left = if panicked { 49 - fuse } else { 20 };
        let most = if panicked { 50 } else { 20 };
        assert_eq!((cache.len(), cache.cap().get()), (left, most));
        assert_eq!(cache.check(&heap), Ok(()));
        cache.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn a_hasher_a_comparison_or_a_release_that_panics_leaves_a_cache_whole() {
    for fuse in 0..60 {
        let mut heap = boxed(1 << 20, &DEFAULT);
        let most = NonZeroUsize::new(50).expect("not zero");
        let mut cache = LruCache::<Bomb, u64, _>::with_hasher(most, ByConstant::default());
        for i in 0..60_u64 {
            let bomb = Bomb::new(&heap, i);
            with_fuse(fuse, || cache.put(&mut heap, bomb, i).is_ok());
            assert_eq!(cache.check(&heap), Ok(()));
        }
        assert!(
            cache
                .iter(&heap)
                .all(|(bomb, number)| bomb.is_whole(&heap) && bomb.number == *number)
        );
        let probe = Bomb::new(&heap, 40);
        for call in 0..8 {
            with_fuse(fuse, || match call {
                0 => _ = cache.get(&heap, &probe),
                1 => _ = cache.get_mut(&heap, &probe),
                2 => _ = cache.demote(&heap, &probe),
                3 => _ = cache.pop(&mut heap, &probe),
                4 => cache.retain(&mut heap, |bomb, _| {
                    burn();
                    bomb.number % 5 != 0
                }),
                5 => cache.resize(&mut heap, NonZeroUsize::MIN.saturating_add(20)),
                6 => {
                    let bomb = Bomb::new(&heap, 41);
                    drop(cache.push(&mut heap, bomb, 7));
                }
                _ => cache.clear(&mut heap),
            });
            assert_eq!(cache.check(&heap), Ok(()), "call {call}");
        }
        cache.free(&mut heap);
        assert_eq!(heap.check(), Ok(()));
    }
}

#[test]
fn a_cache_of_a_branded_heap_and_of_a_region_serves() {
    let mut memory = vec![std::mem::MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &DEFAULT).expect("large enough");
    heap.branded(|heap| {
        let mut cache = LruCache::unbounded_with_hasher(ByDefault::default());
        let mut deque = VecDeque::new();
        for i in 0..1000_u32 {
            cache.put(heap, i, ()).expect("room");
            deque.push_front(heap, i).expect("room");
        }
        assert_eq!(cache.pop_lru(heap), Some((0, ())));
        assert_eq!(deque.pop_front(heap), Some(999));
        cache.release(heap);
        deque.release(heap);
    });
    assert_eq!(heap.live_blocks().count(), 0);
    let by_default = LruCache::<u8, u8, _>::new(NonZeroUsize::MIN);
    assert_eq!((by_default.cap().get(), by_default.len()), (1, 0));
    by_default.free(&mut heap);
    let unbounded = LruCache::<u8, u8, _>::unbounded();
    assert_eq!(
        (unbounded.cap(), unbounded.is_empty()),
        (NonZeroUsize::MAX, true)
    );
    let _ = unbounded.hasher();
    unbounded.free(&mut heap);
}

/// Calls that take or return keys and values, each with every fuse: whatever panics, what the map
/// does not have is released.
macro_rules! nothing_leaks {
    ($map:ty, $new:expr, $insert:ident, $calls:expr) => {
        let calls: &[fn(&mut $map, &mut BoxedHeap, &Bomb)] = &$calls;
        for (number, call) in calls.iter().enumerate() {
            let mut panics = 0;
            for fuse in 0..100 {
                let mut heap = boxed(1 << 20, &DEFAULT);
                let mut map = $new;
                for number in 0..64 {
                    let (key, value) = bombs(&heap, number);
                    let former = map.$insert(&mut heap, key, value).expect("room");
                    assert!(former.is_none());
                }
                // A key that is there, and one that is not.
                for number in [63, 64] {
                    let asked = Bomb::new(&heap, number);
                    let panicked = with_fuse(fuse, || call(&mut map, &mut heap, &asked));
                    panics += u32::from(panicked);
                    heap.free(asked.owned);
                }
                map.free(&mut heap);
                let left = heap.live_blocks().count();
                assert_eq!(left, 0, "call {number}, fuse {fuse}");
            }
            assert!(panics > 1, "some fuse is short enough for call {number}");
        }
    };
}

fn bombs(heap: &BoxedHeap, number: u64) -> (Bomb, Option<Bomb>) {
    (
        Bomb::new(heap, number),
        Some(Bomb::new(heap, number + 1000)),
    )
}

/// A value, from user code that may panic.
fn computed() -> Option<Bomb> {
    burn();
    None
}

#[test]
fn what_a_map_is_given_or_gives_back_does_not_leak_in_a_panic() {
    type Map = HashMap<Bomb, Option<Bomb>, ByDefault>;
    nothing_leaks!(
        Map,
        Map::default(),
        insert,
        [
            |map, heap, asked| {
                let (key, value) = bombs(heap, asked.number);
                map.insert(heap, key, value).expect("room").release(heap);
            },
            |map, heap, asked| {
                let key = Bomb::new(heap, asked.number);
                map.entry(heap, key).or_insert(None).expect("room");
            },
            |map, heap, asked| {
                let key = Bomb::new(heap, asked.number);
                map.entry(heap, key).or_insert_with(computed).expect("room");
            },
            |map, heap, asked| {
                let key = Bomb::new(heap, asked.number);
                match map.entry(heap, key) {
                    Entry::Occupied(entry) => entry.remove().release(heap),
                    Entry::Vacant(entry) => entry.into_key().release(heap),
                }
            },
            |map, heap, asked| map.remove(heap, asked).release(heap),
        ]
    );
}

#[test]
fn what_an_ordered_map_is_given_or_gives_back_does_not_leak_in_a_panic() {
    type Map = BTreeMap<Bomb, Option<Bomb>>;
    nothing_leaks!(
        Map,
        Map::new(),
        insert,
        [
            |map, heap, asked| {
                let (key, value) = bombs(heap, asked.number);
                map.insert(heap, key, value).expect("room").release(heap);
            },
            |map, heap, asked| {
                let key = Bomb::new(heap, asked.number);
                map.entry(heap, key).or_insert(None).expect("room");
            },
            |map, heap, asked| {
                let key = Bomb::new(heap, asked.number);
                map.entry(heap, key).or_insert_with(computed).expect("room");
            },
            |map, heap, asked| map.remove(heap, asked).release(heap),
        ]
    );
}

#[test]
fn what_a_cache_is_given_or_gives_back_does_not_leak_in_a_panic() {
    type Cache = LruCache<Bomb, Option<Bomb>, ByDefault>;
    let most = NonZeroUsize::new(64).expect("not zero");
    nothing_leaks!(
        Cache,
        Cache::with_hasher(most, ByDefault::default()),
        put,
        [
            |cache, heap, asked| {
                let (key, value) = bombs(heap, asked.number);
                cache.put(heap, key, value).expect("room").release(heap);
            },
            |cache, heap, asked| {
                let (key, value) = bombs(heap, asked.number);
                cache.push(heap, key, value).expect("room").release(heap);
            },
            |cache, heap, asked| cache.pop(heap, asked).release(heap),
        ]
    );
}

#[test]
fn an_emptied_cache_with_objects_refuses_another_heap() {
    let (mut one, mut two) = (boxed(1 << 20, &DEFAULT), boxed(1 << 20, &DEFAULT));
    let mut cache = LruCache::<u64, u64, _>::unbounded_with_hasher(ByDefault::default());
    cache.clear(&mut two);
    cache.put(&mut one, 1, 2).expect("room");
    assert_eq!(cache.pop(&mut one, &1), Some(2));
    assert!(cache.is_empty() && one.live_blocks().count() > 0);
    assert!(panics(|| cache.clear(&mut two)));
    cache.clear(&mut one);
    cache.free(&mut one);
    assert_eq!(one.live_blocks().count(), 0);
}
