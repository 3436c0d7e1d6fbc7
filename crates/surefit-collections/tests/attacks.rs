//! The worst that safe code can pass: other heaps, any numbers, callbacks that panic, iterators
//! that are forgotten, keys that do not know what they are.

mod common;

use std::cell::Cell;
use std::hash::{BuildHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};

use common::bomb::{Bomb, FUSE, burn, panics};
use common::{ByConstant, ByDefault, DEFAULT, NO_PIECES, Numbers, PIECES, SMALL_PIECES, boxed};
use surefit_collections::{
    ByteString, Entry, HashMap, Release, String as Moving, TryClone, Vec as MovingVec,
};
use surefit_compact::os::{Limits, OsHeap};
use surefit_compact::{ByteVec, Handle, Heap, Wide};
use surefit_core::Refused;

#[test]
#[expect(clippy::cognitive_complexity, reason = "a line for each call")]
fn a_vector_refuses_another_heap() {
    let (mut one, mut two) = (boxed(1 << 20, &DEFAULT), boxed(1 << 20, &DEFAULT));
    let mut vec = MovingVec::<u64>::new();
    // Without an object it is of any heap.
    vec.extend_from_slice(&mut two, &[]).expect("nothing to do");
    vec.extend_from_slice(&mut one, &[1, 2, 3]).expect("room");
    let foreign = Err(Refused::ForeignHandle);
    assert_eq!(vec.reserve(&mut two, 0), foreign);
    assert_eq!(vec.reserve_exact(&mut two, 0), foreign);
    assert_eq!(vec.shrink_to(&mut two, 0), foreign);
    assert_eq!(vec.shrink_to_fit(&mut two), foreign);
    assert_eq!(vec.extend_from_slice(&mut two, &[4]), foreign);
    assert_eq!(vec.push(&mut two, 4).map_err(|full| full.refused), foreign);
    assert_eq!(
        vec.insert(&mut two, 0, 4).map_err(|full| full.refused),
        foreign
    );
    assert_eq!(
        vec.extend(&mut two, [4]).map_err(|full| full.refused),
        foreign
    );
    assert!(panics(|| vec.get(&two, 0).copied()));
    assert!(panics(|| vec.get_mut(&two, 0).copied()));
    assert!(panics(|| vec.first(&two).copied()));
    assert!(panics(|| vec.last(&two).copied()));
    assert!(panics(|| vec.as_slice(&two).map(<[u64]>::len)));
    assert!(panics(|| vec.as_slice_mut(&two).map(|slice| slice.len())));
    assert!(panics(|| vec.slice_at(&two, 0).len()));
    assert!(panics(|| vec.slice_at_mut(&two, 0).len()));
    assert!(panics(|| vec.slices(&two).count()));
    assert!(panics(|| vec.slices_mut(&two).count()));
    assert!(panics(|| vec.iter(&two).count()));
    assert!(panics(|| vec.iter_mut(&two).count()));
    assert!(panics(|| format!("{:?}", vec.debug(&two))));
    assert!(panics(|| vec.pop(&two)));
    assert!(panics(|| vec.remove(&two, 0)));
    assert!(panics(|| vec.swap_remove(&two, 0)));
    assert!(panics(|| vec.swap(&two, 0, 1)));
    assert!(panics(|| vec.truncate(&mut two, 0)));
    assert!(panics(|| vec.clear(&mut two)));
    assert!(panics(|| vec.retain(&mut two, |_| false)));
    assert!(panics(|| vec.drain(&mut two, 0..1).count()));
    assert_eq!(
        vec.try_clone(&mut two).map(|vec| vec.len()),
        Err(Refused::ForeignHandle)
    );
    assert_eq!(vec.push_within_capacity(&two, 4), Err(4));
    assert_eq!((vec.check(&one), vec.check(&two).is_err()), (Ok(()), true));
    assert_eq!(vec.as_slice(&one), Some(&[1, 2, 3][..]));
    assert!(panics(|| vec.free(&mut two)), "and the object leaks");
    assert_eq!((one.check(), two.check()), (Ok(()), Ok(())));
    assert_eq!(
        (one.live_blocks().count(), two.live_blocks().count()),
        (1, 0)
    );
}

#[test]
#[expect(clippy::cognitive_complexity, reason = "a line for each call")]
fn a_string_refuses_another_heap() {
    let (mut one, mut two) = (boxed(1 << 20, &DEFAULT), boxed(1 << 20, &DEFAULT));
    let mut text = Moving::from_text(&one, "text").expect("room");
    let mut bytes = ByteString::from_bytes(&one, b"text").expect("room");
    let foreign = Err(Refused::ForeignHandle);
    assert_eq!(text.push_str(&mut two, "s"), foreign);
    assert_eq!(bytes.push_bytes(&mut two, b"s"), foreign);
    assert!(panics(|| text.as_str(&two).is_some()));
    assert!(panics(|| text.equals(&two, "text")));
    assert!(panics(|| text.display(&two).to_string()));
    assert_eq!(
        text.try_clone(&two).map(|text| text.len()),
        Err(Refused::ForeignHandle)
    );
    assert!(panics(|| bytes.as_slice(&two).is_some()));
    assert!(panics(|| bytes.equals(&two, b"text")));
    assert!(panics(|| bytes.slices(&two).count()));
    assert_eq!(
        bytes.try_clone(&two).map(|text| text.len()),
        Err(Refused::ForeignHandle)
    );
    assert_eq!((text.check(&one), bytes.check(&one)), (Ok(()), Ok(())));
    assert!(text.check(&two).is_err() && bytes.check(&two).is_err());
    assert_eq!((text.len(), bytes.len(), bytes.is_empty()), (4, 4, false));
    assert_eq!(text.as_bytes().len(), 4);
    let vec = bytes.into_vec();
    assert_eq!(vec.as_slice(&one), Some(&b"text"[..]));
    ByteString::from_vec(vec).free(&mut one);
    assert!(panics(|| text.free(&mut two)), "and the text leaks");
    assert_eq!((one.check(), two.check()), (Ok(()), Ok(())));
    assert_eq!(
        (one.live_blocks().count(), two.live_blocks().count()),
        (1, 0)
    );
}

#[test]
#[expect(clippy::cognitive_complexity, reason = "a line for each call")]
fn a_map_refuses_another_heap() {
    let (mut one, mut two) = (boxed(1 << 20, &DEFAULT), boxed(1 << 20, &DEFAULT));
    let mut map = HashMap::<u64, u64, ByDefault>::default();
    assert_eq!(
        map.get(&two, &1),
        None,
        "without an object it is of any heap"
    );
    map.insert(&mut one, 1, 2).expect("room");
    let refused = map.insert(&mut two, 3, 4).expect_err("another heap");
    assert_eq!(
        (refused.value, refused.refused),
        ((3, 4), Refused::ForeignHandle)
    );
    assert_eq!(
        map.try_clone(&mut two).map(|map| map.len()),
        Err(Refused::ForeignHandle)
    );
    assert!(panics(|| map.get(&two, &1).copied()));
    assert!(panics(|| map.get_key_value(&two, &1).is_some()));
    assert!(panics(|| map.get_mut(&two, &1).copied()));
    assert!(panics(|| map.contains_key(&two, &1)));
    assert!(panics(|| map.remove(&mut two, &1)));
    assert!(panics(|| map.remove_entry(&mut two, &1)));
    assert!(panics(|| map
        .entry(&mut two, 1)
        .and_modify(|value| *value = 0)
        .or_insert(7)
        .is_ok()));
    assert!(panics(|| map.retain(&mut two, |_, _| false)));
    assert!(panics(|| map.drain(&mut two).count()));
    assert!(panics(|| map.clear(&mut two)));
    assert!(panics(|| map.iter(&two).count()));
    assert!(panics(|| map.iter_mut(&two).count()));
    assert!(panics(|| map.keys(&two).count()));
    assert!(panics(|| map.values(&two).count()));
    assert!(panics(|| map.values_mut(&two).count()));
    assert!(panics(|| map.scan(&two, 0, |_, _| ())));
    assert!(panics(
        || map.scan(&one, u64::MAX, |_, _| panic!("a closure"))
    ));
    assert!(panics(|| format!("{:?}", map.debug(&two))));
    assert_eq!(format!("{:?}", map.debug(&one)), "{1: 2}");
    assert_eq!((map.check(&one), map.check(&two).is_err()), (Ok(()), true));
    assert_eq!((map.len(), map.is_empty()), (1, false));
    assert!(panics(|| map.free(&mut two)), "and the objects leak");
    assert_eq!((one.check(), two.check()), (Ok(()), Ok(())));
    assert_eq!(two.live_blocks().count(), 0);
}

#[test]
#[expect(clippy::cognitive_complexity, reason = "a line for each call")]
fn indices_and_ranges_of_any_number_panic_and_change_nothing() {
    let mut heap = boxed(1 << 20, &SMALL_PIECES);
    let mut vec = MovingVec::<u64>::new();
    vec.extend(&mut heap, 0..100).expect("room");
    for index in [100, 101, 1 << 30, 1 << 31, usize::MAX - 1, usize::MAX] {
        assert_eq!(vec.get(&heap, index), None);
        assert_eq!(vec.get_mut(&heap, index), None);
        assert!(vec.slice_at(&heap, index).is_empty());
        assert!(vec.slice_at_mut(&heap, index).is_empty());
        assert!(panics(|| vec.remove(&heap, index)));
        assert!(panics(|| vec.swap_remove(&heap, index)));
        assert!(panics(|| vec.swap(&heap, 0, index)));
        assert!(panics(|| vec.swap(&heap, index, 0)));
        assert!(index == 100 || panics(|| vec.insert(&mut heap, index, 7).is_ok()));
        assert!(index == 100 || panics(|| vec.drain(&mut heap, ..index).count()));
        assert!(panics(|| vec.drain(&mut heap, ..=index).count()));
        assert!(index == 100 || panics(|| vec.drain(&mut heap, index..).count()));
        vec.truncate(&mut heap, index);
    }
    #[expect(clippy::reversed_empty_ranges, reason = "as whoever attacks writes it")]
    let reversed = 7..3;
    assert!(panics(|| vec.drain(&mut heap, reversed).count()));
    assert!(vec.iter(&heap).copied().eq(0..100));
    assert_eq!(heap.check(), Ok(()));
    vec.free(&mut heap);
}

#[test]
fn capacities_of_any_number_are_served_or_refused() {
    for config in [&DEFAULT, &SMALL_PIECES, &NO_PIECES] {
        let mut heap = boxed(256 << 10, config);
        for shift in 0..usize::BITS {
            for capacity in [(1_usize << shift) - 1, 1 << shift, (1 << shift) + 1] {
                let mut vec = MovingVec::<[u64; 3]>::new();
                for served in [
                    vec.reserve(&mut heap, capacity),
                    vec.reserve_exact(&mut heap, capacity),
                    vec.shrink_to(&mut heap, capacity / 2),
                    vec.shrink_to_fit(&mut heap),
                ] {
                    assert!(served.is_ok() || capacity > 500, "{capacity}: {served:?}");
                }
                vec.free(&mut heap);
                if let Ok(vec) = MovingVec::<[u64; 3]>::with_capacity(&heap, capacity) {
                    assert!(vec.capacity(&heap) >= capacity);
                    vec.free(&mut heap);
                }
                assert_eq!(heap.live_blocks().count(), 0);
            }
        }
        let mut vec = MovingVec::<u8>::new();
        vec.push(&mut heap, 7).expect("room");
        for more in [usize::MAX, usize::MAX - 1, isize::MAX as usize] {
            assert!(matches!(
                vec.reserve(&mut heap, more),
                Err(Refused::TooLarge { .. })
            ));
            assert!(matches!(
                vec.reserve_exact(&mut heap, more),
                Err(Refused::TooLarge { .. })
            ));
        }
        assert_eq!(vec.pop(&heap), Some(7));
        vec.free(&mut heap);
    }
}

#[test]
fn elements_without_bytes_and_elements_that_no_piece_holds() {
    let mut heap = boxed(1 << 20, &SMALL_PIECES);
    let mut vec = MovingVec::<()>::new();
    assert_eq!(vec.capacity(&heap), usize::MAX);
    for _ in 0..1000 {
        vec.push(&mut heap, ()).expect("no room is needed");
    }
    assert_eq!((vec.len(), vec.iter(&heap).count()), (1000, 1000));
    vec.shrink_to_fit(&mut heap).expect("nothing to do");
    vec.reserve(&mut heap, usize::MAX - 1000)
        .expect("nothing to do");
    assert!(vec.reserve(&mut heap, usize::MAX).is_err());
    assert_eq!(vec.drain(&mut heap, 10..).count(), 990);
    vec.free(&mut heap);

    let mut set = HashMap::<(), (), ByDefault>::default();
    let refused = set
        .insert(&mut heap, (), ())
        .expect_err("no bucket has room");
    assert_eq!(refused.refused, Refused::TooLarge { limit: 64 });
    let mut wider = boxed(1 << 20, &PIECES);
    assert_eq!(set.insert(&mut wider, (), ()), Ok(None));
    assert_eq!(set.insert(&mut wider, (), ()), Ok(Some(())));
    assert_eq!(set.check(&wider), Ok(()));
    set.free(&mut wider);
    assert_eq!(heap.live_blocks().count(), 0);

    let mut large = MovingVec::<[u8; 65]>::new();
    let full = large
        .push(&mut heap, [7; 65])
        .expect_err("a piece has 64 bytes");
    assert_eq!(
        (full.value, full.refused),
        ([7; 65], Refused::TooLarge { limit: 64 })
    );
    #[repr(align(32768))]
    struct Aligned;
    impl<H> Release<H> for Aligned {}
    let mut aligned = MovingVec::<(Aligned, u8)>::new();
    assert!(aligned.push(&mut heap, (Aligned, 7)).is_err());
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn aligned_elements_stay_aligned_when_they_move() {
    #[derive(Clone, Copy)]
    #[repr(align(64))]
    struct Line(u8);
    impl<H> Release<H> for Line {}
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut numbers = Numbers::new(1);
    let mut vecs: Vec<MovingVec<Line>> = Vec::new();
    for i in 0..400 {
        let mut vec = MovingVec::new();
        vec.extend_from_slice(&mut heap, &vec![Line(i as u8); numbers.below(100)])
            .expect("room");
        vecs.push(vec);
        if vecs.len() > 40 {
            vecs.swap_remove(numbers.below(40)).free(&mut heap);
        }
        for line in vecs.iter().flat_map(|vec| vec.iter(&heap)) {
            assert_eq!(std::ptr::from_ref(line).addr() % 64, 0);
        }
    }
    assert!(vecs.iter().all(|vec| {
        let first = vec.first(&heap).map(|line| line.0);
        vec.iter(&heap).all(|line| Some(line.0) == first)
    }));
    vecs.into_iter().for_each(|vec| vec.free(&mut heap));
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn iterators_that_are_forgotten_lose_nothing() {
    let mut heap = boxed(1 << 20, &PIECES);
    let mut vec = MovingVec::<Handle<u64>>::new();
    let mut map = HashMap::<u64, Handle<u64>, ByDefault>::default();
    for i in 0..100 {
        let handle = heap.insert(i).expect("room");
        vec.push(&mut heap, handle).expect("room");
        let handle = heap.insert(i).expect("room");
        map.insert(&mut heap, i, handle).expect("room");
    }
    let mut drained = vec.drain(&mut heap, 10..20);
    let taken = drained.next().expect("ten");
    std::mem::forget(drained);
    assert_eq!((heap.remove(taken), vec.len()), (10, 99));
    let mut drained = map.drain(&mut heap);
    let taken: Vec<_> = drained.by_ref().take(60).collect();
    std::mem::forget(drained);
    assert_eq!((map.len(), map.check(&heap)), (40, Ok(())));
    for (key, handle) in taken {
        assert!(!map.contains_key(&heap, &key));
        assert_eq!(heap.remove(handle), key);
    }
    assert_eq!(
        map.keys(&heap)
            .filter(|key| map.contains_key(&heap, *key))
            .count(),
        40
    );
    vec.free(&mut heap);
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn a_release_that_panics_stops_no_other() {
    for fuse in 0..40 {
        let mut heap = boxed(1 << 20, &PIECES);
        FUSE.set(usize::MAX);
        let mut vec = MovingVec::new();
        let mut map = HashMap::<u64, Bomb, ByDefault>::default();
        for i in 0..40 {
            let bombs = (Bomb::new(&heap, i), Some(Bomb::new(&heap, i)));
            vec.push(&mut heap, bombs).expect("room");
            let bomb = Bomb::new(&heap, i);
            map.insert(&mut heap, i, bomb).expect("room");
        }
        FUSE.set(fuse);
        assert!(panics(|| vec.free(&mut heap)));
        FUSE.set(fuse);
        assert!(panics(|| map.free(&mut heap)) == (fuse < 40));
        assert_eq!(heap.live_blocks().count(), 0);
        assert_eq!(heap.check(), Ok(()));
    }
}

#[test]
fn a_release_that_panics_in_a_container_that_stays_leaves_the_rest_there() {
    for fuse in 0..30 {
        let mut heap = boxed(1 << 20, &DEFAULT);
        FUSE.set(usize::MAX);
        let mut vec = MovingVec::new();
        let mut map = HashMap::<u64, Bomb, ByConstant>::default();
        for i in 0..100 {
            let bomb = Bomb::new(&heap, i);
            vec.push(&mut heap, bomb).expect("room");
            let bomb = Bomb::new(&heap, i);
            map.insert(&mut heap, i, bomb).expect("room");
        }
        for call in 0..4 {
            FUSE.set(fuse);
            let _ = catch_unwind(AssertUnwindSafe(|| match call {
                0 => vec.truncate(&mut heap, 90),
                1 => vec.retain(&mut heap, |bomb| {
                    burn();
                    bomb.number % 2 == 0
                }),
                2 => drop(vec.drain(&mut heap, 5..9)),
                _ => map.retain(&mut heap, |key, _| {
                    burn();
                    key % 2 == 0
                }),
            }));
            FUSE.set(usize::MAX);
            assert!(
                vec.iter(&heap)
                    .all(|bomb| *heap.get(&bomb.owned) == bomb.number)
            );
            assert!(
                map.iter(&heap)
                    .all(|(key, bomb)| *heap.get(&bomb.owned) == *key)
            );
            assert_eq!((vec.check(&heap), map.check(&heap)), (Ok(()), Ok(())));
        }
        FUSE.set(fuse);
        let _ = catch_unwind(AssertUnwindSafe(|| map.clear(&mut heap)));
        FUSE.set(usize::MAX);
        assert!(map.keys(&heap).all(|key| map.contains_key(&heap, key)));
        vec.free(&mut heap);
        map.free(&mut heap);
        assert_eq!(heap.live_blocks().count(), 0);
    }
}

#[test]
fn a_hasher_or_a_comparison_that_panics_changes_nothing() {
    for fuse in 0..60 {
        let mut heap = boxed(1 << 20, &DEFAULT);
        FUSE.set(usize::MAX);
        let mut map = HashMap::<Bomb, u64, ByDefault>::default();
        let mut inserted = 0;
        for i in 0..60 {
            let bomb = Bomb::new(&heap, i);
            // With a long fuse nothing panics; with a short one, somewhere in here.
            FUSE.set(fuse);
            let call = AssertUnwindSafe(|| map.insert(&mut heap, bomb, i).is_ok());
            inserted += u64::from(catch_unwind(call).is_ok());
            FUSE.set(usize::MAX);
            assert_eq!(map.len() as u64, inserted);
        }
        for (bomb, value) in map.iter(&heap) {
            assert_eq!(*heap.get(&bomb.owned), *value);
            assert_eq!(map.get(&heap, bomb), Some(value));
            FUSE.set(0);
            assert!(panics(|| map.contains_key(&heap, bomb)));
            FUSE.set(usize::MAX);
        }
        assert_eq!((map.len() as u64, map.check(&heap)), (inserted, Ok(())));
        let mut empty = HashMap::<Bomb, u64, ByDefault>::default();
        let bomb = Bomb::new(&heap, 7);
        FUSE.set(1);
        assert!(matches!(empty.entry(&mut heap, bomb), Entry::Vacant(_)));
        FUSE.set(usize::MAX);
        map.free(&mut heap);
        assert_eq!(heap.check(), Ok(()));
        // A key that was passed to a call that panicked is released, and only then. The key of a
        // vacant entry that is dropped leaks what it owns.
        assert_eq!(heap.live_blocks().count(), 1);
    }
}

/// Hashes that have nothing to do with the keys.
#[derive(Clone, Default)]
struct Whatever;

impl BuildHasher for Whatever {
    type Hasher = Whatever;

    fn build_hasher(&self) -> Self {
        Self
    }
}

impl Hasher for Whatever {
    fn finish(&self) -> u64 {
        thread_local! {
            static NUMBERS: std::cell::RefCell<Numbers> = std::cell::RefCell::new(Numbers::new(3));
        }
        NUMBERS.with(|numbers| numbers.borrow_mut().next() << 16)
    }

    fn write(&mut self, _: &[u8]) {}
}

#[test]
fn a_hasher_that_returns_anything_leaks_nothing() {
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut map = HashMap::<u64, Handle<u64>, Whatever>::default();
    let mut numbers = Numbers::new(9);
    for call in 0..20_000 {
        let key = numbers.next() % 500;
        if numbers.below(100) < if call / 4000 % 2 == 0 { 60 } else { 20 } {
            let value = heap.insert(key).expect("room");
            if let Some(former) = map.insert(&mut heap, key, value).expect("room") {
                heap.free(former);
            }
        } else if let Some(value) = map.remove(&mut heap, &key) {
            assert_eq!(heap.remove(value), key);
        }
    }
    assert_eq!(map.iter(&heap).count(), map.len());
    assert_eq!(heap.check(), Ok(()));
    map.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn containers_live_in_every_kind_of_heap() {
    let mut heap = OsHeap::<Wide>::new(&DEFAULT, Limits::new(1 << 20, 1 << 20)).expect("a heap");
    let mut map = HashMap::<u64, Moving, _>::new();
    for i in 0..500 {
        let text = Moving::from_text(&heap, &"x".repeat(i as usize % 90)).expect("room");
        map.insert(&mut heap, i, text).expect("room");
    }
    assert!(
        map.get(&heap, &77)
            .expect("it is there")
            .equals(&heap, &"x".repeat(77))
    );
    assert_eq!(map.hasher().hash_one(7), map.hasher().hash_one(7));
    map.free(&mut heap);
    assert_eq!(heap.heap().live_blocks().count(), 0);

    let mut memory = vec![std::mem::MaybeUninit::uninit(); 1 << 20];
    let mut heap: Heap = Heap::new(&mut memory, &DEFAULT).expect("large enough");
    let mut bytes = MovingVec::new();
    let other = ByteVec::with_capacity(&heap, 7).expect("room");
    bytes.push(&mut heap, other).expect("room");
    bytes.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), 0);
}

#[test]
fn elements_may_change_behind_a_shared_reference() {
    #[derive(Debug)]
    struct Count(AtomicU64);
    impl<H> Release<H> for Count {}
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut vec = MovingVec::new();
    for i in 0..5000 {
        vec.push(&mut heap, Count(AtomicU64::new(i))).expect("room");
    }
    let Count(first) = vec.get(&heap, 0).expect("an element");
    std::thread::scope(|threads| {
        threads.spawn(|| first.fetch_add(7, Ordering::Relaxed));
        let rest = vec.iter(&heap).skip(1);
        rest.for_each(|Count(one)| _ = one.fetch_add(1, Ordering::Relaxed));
    });
    let all = vec
        .iter(&heap)
        .map(|Count(one)| one.load(Ordering::Relaxed));
    assert_eq!(all.sum::<u64>(), 4999 * 2500 + 7 + 4999);
    vec.free(&mut heap);
}

#[test]
fn values_without_a_copy_are_not_copied_in_part() {
    /// A value that can be copied so often.
    #[derive(Debug)]
    struct Few(Cell<u32>);
    impl<H> Release<H> for Few {}
    impl<H> TryClone<H> for Few {
        type Partial = std::convert::Infallible;
        fn try_clone_in(&self, _: &H) -> Result<Self, (Option<Self::Partial>, Refused)> {
            let left = self.0.get().checked_sub(1).ok_or((None, Refused::Busy))?;
            self.0.set(left);
            Ok(Self(Cell::new(left)))
        }
    }
    let mut heap = boxed(1 << 20, &DEFAULT);
    let mut vec = MovingVec::new();
    for i in 0..50 {
        let text = Moving::from_text(&heap, "text").expect("room");
        vec.push(&mut heap, (text, Few(Cell::new(51 - i))))
            .expect("room");
    }
    let live = heap.live_blocks().count();
    let copy = vec.try_clone(&mut heap).expect("each can be copied once");
    copy.free(&mut heap);
    assert_eq!(heap.live_blocks().count(), live);
    while vec.last(&heap).is_some_and(|(_, few)| few.0.get() > 0) {
        vec.try_clone(&mut heap)
            .expect("each can be copied")
            .free(&mut heap);
    }
    assert_eq!(
        vec.try_clone(&mut heap).map(|vec| vec.len()),
        Err(Refused::Busy)
    );
    assert_eq!(heap.live_blocks().count(), live);
    vec.free(&mut heap);
}
